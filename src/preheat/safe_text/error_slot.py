"""The slot for an error: its code, the name of its exception, and which of the messages that programs commonly print it is.

A message that is not known is not handed on: what a tool prints may be written by anybody. The words of a known message are ours
(`MESSAGES`), with a slot for the identifier in it. Light: a session's start loads it.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.safe_text.slots import SLOTS, fit_name
from preheat.safe_text.words import count_unknown

_MOST_NAMES = 2
_LONGEST = 2000
"""Characters that are looked at."""

MESSAGES = (
    "File has not been read yet", "File has been modified since read", "File does not exist", "Path does not exist",
    "String to replace not found in file", "matches of the string to replace, but replace_all is false",
    "old_string and new_string are exactly the same", "Could not find the exact text", "Failed to find expected lines",
    "Failed to find context", "exceeds maximum allowed tokens", "failed due to the following issue", "is a directory",
    "EXACTLY ONE action in triple backticks", "Unknown skill: {name}", "unknown MCP server {name}", "Unknown tool: {tool}",
    "Agent type not found", "Argument Validation Error", "Invalid arguments", "timed out and has been killed",
    "No such file or directory", "not a directory", "Directory not empty", "File exists", "Permission denied",
    "Operation not permitted", "Read-only file system", "No space left on device", "Device or resource busy",
    "Too many open files", "Argument list too long", "Text file busy", "Cross-device link", "Broken pipe",
    "Resource temporarily unavailable", "Cannot allocate memory", "out of memory", "JavaScript heap out of memory",
    "Killed", "Segmentation fault", "core dumped", "stack overflow", "Maximum call stack size exceeded",
    "command not found: {program}", "command not found", "is not recognized as an internal or external command",
    "no such command: {name}", "unrecognized subcommand {name}", "unknown subcommand: {name}", "Unknown command {name}",
    "unknown command {name}", "is not a git command", "illegal option -- {name}", "invalid option -- {name}",
    "unrecognized option {flag}", "unrecognized argument: {flag}", "unrecognized arguments: {flag}",
    "unknown option {flag}", "unknown flag: {flag}", "unknown shorthand flag", "no such option: {flag}",
    "unexpected argument {flag}", "requires an argument", "the following arguments are required", "missing operand",
    "too many arguments", "accepts at most", "flag provided but not defined: {flag}", "unexpected token",
    "unterminated quoted string", "unexpected EOF while looking for matching", "unexpected end of file", "no matches found",
    "bad substitution", "unbound variable", "bad interpreter", "cannot execute binary file", "Exec format error",
    "No module named {name}", "cannot import name {name}", "is a package and cannot be directly executed",
    "name is not defined", "has no attribute {name}", "object is not callable", "object is not subscriptable",
    "unsupported operand type", "missing required positional argument", "required positional argument: {name}",
    "got an unexpected keyword argument {name}", "invalid syntax", "unexpected indent", "unindent does not match",
    "inconsistent use of tabs and spaces", "invalid literal for int", "list index out of range", "division by zero",
    "maximum recursion depth exceeded", "settings are not configured", "externally-managed-environment",
    "No matching distribution found for {name}", "Could not find a version that satisfies the requirement {name}",
    "no such table: {name}", "no such column: {name}", "table already exists", "database is locked",
    "relation does not exist", "column does not exist", "duplicate key value violates unique constraint",
    "violates foreign key constraint", "syntax error at or near", "syntax error near unexpected token", "syntax error",
    "Missing script: {script}", "Cannot find module {path}", "Module not found", "Cannot find package {name}",
    "Could not resolve {path}", "could not determine executable to run", "Cannot find name {name}",
    "or its corresponding type declarations", "does not exist on type {name}", "is not assignable to type",
    "is not assignable to parameter of type", "has no exported member {name}", "implicitly has an 'any' type",
    "is possibly 'undefined'", "is possibly 'null'", "is declared but its value is never read", "is not a function",
    "is not defined", "Cannot read properties of undefined", "Cannot read properties of null",
    "Cannot use import statement outside a module", "require is not defined", "Unsupported engine",
    "unable to resolve dependency tree", "conflicting peer dependency", "lockfile would have been modified",
    "frozen lockfile", "No tests found", "no tests ran", "no test files", "setup failed", "build failed", "Test timed out",
    "Exceeded timeout", "Snapshot obsolete", "fixture not found", "no Go files", "is not in std",
    "no required module provides package", "cannot find package {name}", "updates to go.mod needed", "missing go.sum entry",
    "undefined: {name}", "declared and not used: {name}", "imported and not used", "cannot find value {name}",
    "cannot find type {name}", "cannot find function {name}", "unresolved import {name}", "mismatched types",
    "borrow of moved value", "could not compile", "no method named {name}", "does not live long enough",
    "cannot find symbol", "incompatible types", "package does not exist",
    "Could not resolve package dependencies", "No rule to make target {name}", "missing separator",
    "Could not find a package configuration file", "undefined reference to {name}", "ld returned 1 exit status",
    "not a git repository", "did not match any files", "did not match any file(s) known to git", "bad object",
    "bad revision", "ambiguous argument", "nothing to commit, working tree clean", "nothing added to commit",
    "no changes added to commit", "You have unstaged changes", "uncommitted changes", "would be overwritten by merge",
    "would be overwritten by checkout", "Automatic merge failed", "needs merge", "non-fast-forward", "fetch first",
    "failed to push some refs", "remote ref does not exist", "no upstream branch", "already exists",
    "is already used by worktree", "paths are ignored by one of your .gitignore files",
    "Aborting commit due to empty commit message", "index.lock", "Authentication failed", "could not read Username",
    "Repository not found", "unrelated histories", "patch does not apply", "hunks FAILED", "could not fetch",
    "unknown revision or path not in the working tree", "Unknown JSON field", "no checks reported", "release not found",
    "is still in progress", "no pull requests found", "must first push the current branch to a remote", "Bad credentials",
    "Unauthorized", "Forbidden", "Bad Request", "Internal Server Error", "Too Many Requests", "rate limit exceeded",
    "Service Unavailable", "Bad Gateway", "Gateway Timeout", "Request failed with status code {number}",
    "Could not resolve host", "Connection refused", "Connection reset by peer", "Connection timed out",
    "Operation timed out", "Network is unreachable", "certificate verify failed", "self-signed certificate",
    "address already in use", "port is already allocated", "Cannot connect to the Docker daemon", "pull access denied",
    "no configuration file provided", "manifest unknown", "Script failed", "assertion failed", "Test failed",
    "does not have a valid definition", "has no filesystem location", "must be a valid", "is not installed: {program}",
    "is not installed", "not installed", "no such file", "not found", "not read yet", "not permitted", "access denied",
    "timed out", "timeout",
)  # fmt: skip
"""What programs commonly print, in our words; of several in one text the one that comes first here counts."""

_SLOT = re.compile(r"\{(\w+)\}")
_VALUE = re.compile(r"[ :]{1,3}['\"`‘“]?([^\s'\"`’”;,)]{1,80})")


_BEFORE = re.compile(r"(?:^|[\s:])([^\s:'\"]{1,40}): $")


class _Message(NamedTuple):
    """A known message; literal, so that nothing is compiled when a session starts."""

    before: str
    """The words before the slot."""
    searched: str
    slot: str
    gap: str
    """What stands between the words and the slot."""
    after: str


def _parse(message: str) -> _Message:
    slot = _SLOT.search(message)
    if slot is None:
        return _Message(message, message.lower(), "", "", "")
    before = message[: slot.start()].rstrip(" :")
    return _Message(before, before.lower(), slot[1], message[len(before) : slot.start()], message[slot.end() :])


_PARSED = tuple(map(_parse, MESSAGES))
_ERRNO = (
    "E2BIG|EACCES|EADDRINUSE|EADDRNOTAVAIL|EAGAIN|EBADF|EBUSY|ECONNABORTED|ECONNREFUSED|ECONNRESET|EEXIST|EFAULT|EHOSTUNREACH"
    "|EINTR|EINVAL|EIO|EISDIR|ELOOP|EMFILE|ENAMETOOLONG|ENETUNREACH|ENFILE|ENODEV|ENOENT|ENOEXEC|ENOMEM|ENOSPC|ENOSYS|ENOTCONN"
    "|ENOTDIR|ENOTEMPTY|ENOTFOUND|ENOTSUP|EPERM|EPIPE|EPROTO|EROFS|ETIMEDOUT|EXDEV|ERESOLVE|ETARGET|EUSAGE|EJSONPARSE|EBADENGINE"
    "|ELIFECYCLE|EINTEGRITY|EOTP|ENEEDAUTH"
)
_NAME = re.compile(
    rf"(?<![\w./-])(?:(?P<errno>{_ERRNO})|(?P<code>(?:ERR_[A-Z0-9_]{{3,40}}|TS\d{{4,5}}|TSN"
    r"|[A-Z]{1,4}\d{3,5}|HTTP \d{3}|SIG[A-Z]{3,4}|[Ee]xit (?:code|status) \d{1,3}|os error \d{1,3}|Errno \d{1,3}))"
    r"|(?P<exception>(?:[A-Za-z_]\w{0,30}\.){0,5}[A-Z][A-Za-z]{2,40}(?:Error|Exception|Warning|Failure|Timeout|Exit|Interrupt)"
    r"|(?:[a-z_]\w{0,30}\.){1,5}[A-Z][A-Za-z]{2,40}(?=:|$)))(?![\w-])"
)


@lru_cache(maxsize=2048)
def fit_error(text: str) -> str:
    """An error as code, name of its exception and known message; empty where it has none of them."""
    flat = " ".join(text[:_LONGEST].split())
    names: list[str] = []
    for found in _NAME.finditer(flat):
        name = found[0]
        is_fit = bool(found["errno"]) or (count_unknown(name) <= 2 and bool(fit_name(name) or found["code"]))
        if is_fit and name not in names:
            names.append(name)
    message = _find_message(flat)
    shown = [name for name in names if name not in message][:_MOST_NAMES]
    return ": ".join((*shown, *([message] if message else [])))


def _find_message(flat: str) -> str:
    small = flat.lower()
    if len(small) != len(flat):  # a letter that becomes two
        return ""
    for message in _PARSED:
        start = small.find(message.searched)
        end = start + len(message.searched)
        if start < 0 or small[end : end + 1].isalpha() or (start and small[start - 1].isalpha()):
            continue
        if not message.slot:
            return message.before
        found = _VALUE.match(flat, end)
        value = SLOTS[message.slot](_strip(found[1])) if found else ""
        named = _BEFORE.search(flat, 0, start)
        if not value and message.slot == "program" and named and not _NAME.fullmatch(named[1]):
            value = SLOTS["program"](named[1])  # `bash: pytest: command not found`
        if value and value == _strip(value):
            return f"{message.before}{message.gap}{value}{message.after}"
        return f"{message.before}{message.after}"
    return ""


def _strip(value: str) -> str:
    return value.rstrip(".,:;)?!").lstrip("('\"")


SLOTS["error"] = fit_error
