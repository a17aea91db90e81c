"""Why a call did not succeed: the agent's mistake, bad news from a tool that worked, or the world around it.

Decided by the message of the failure first, then by what the call was for. Knows no agent.
"""

import re

import re2

from preheat.commands import Understanding
from preheat.model.outcome import Cause


def _any(*words: str) -> "re2._Regexp[str]":
    """One of many words: a list this long is for an engine that tries them all at once."""
    return re2.compile("(?im)" + "|".join(words))


_ENVIRONMENT = _any(
    # What is not on the machine
    r"command not found|is not recognized as|executable (?:file )?not found|not installed|missing dependenc|posix_spawn",
    r"No module named ['\"]?[^.'\"]|ModuleNotFoundError|cannot find module '[^./]|unable to locate package",
    r"Could not find a version that satisfies|No matching distribution|unsupported engine|GLIBC|wrong ELF",
    r"not supported on this platform|Working directory .* was deleted",
    # The network and what is behind it
    r"could not resolve|couldn't resolve|getaddrinfo|name resolution|no such host|\b(?:ENOTFOUND|EAI_AGAIN)\b",
    r"connection (?:refused|reset|timed out|closed|error)|\bE(?:CONN(?:REFUSED|RESET)|TIMEDOUT)\b|unreachable|no route to host",
    r"timed out|timeout (?:exceeded|expired)|deadline exceeded|certificate (?:verify|has expired|is not)|\bSSL\b|TLS handshake",
    r"\b(?:HTTP|status(?: code)?|error)[ :]*(?:401|403|429|5\d\d)\b|rate limit|too many requests|quota exceeded",
    r"service unavailable|temporarily unavailable|internal server error|bad gateway",
    r"cannot connect to the docker daemon|is the docker daemon running|address already in use|EADDRINUSE",
    r"npm error code E(?:NOTFOUND|AI_AGAIN|CONN|401|403)",
    # Rights
    r"(?:operation|permission)s? (?:not permitted|denied)|\bE(?:ACCES|PERM)\b|read-only file system",
    r"sandbox.{0,60}(?:denied|blocked|not permitted|not allowed)|dubious ownership",
    r"unauthori[sz]ed|forbidden|authentication (?:required|failed)|bad credentials|not logged in|login required",
    r"host key verification|(?:locate|no|expired) credentials|credentials? (?:not found|have expired)",
    # Room, locks, signals
    r"no space left|disk quota|out of memory|cannot allocate|\bENOMEM\b|core dumped|^Killed",
    r"index\.lock|\.lock'?: File exists|Another git process|database is locked|resource temporarily unavailable",
)
"""The world around the call. Where several tables know a message, the first one decides."""

_MISTAKE = _any(
    # Something that is not there
    r"no such (?:file|tool|command|option|table|column|remote|ref|key)|does not exist|doesn't exist|not found\b|\bENOENT\b",
    r"cannot find (?:path|the (?:path|file))|cannot (?:open|stat|access|remove)|can't (?:open|read|cd)|no matches found",
    r"is a directory|not a directory|\bE(?:ISDIR|NOTDIR)\b|not a git repository|pathspec|did not match any|ambiguous argument",
    r"unknown revision|needed a single revision|no (?:pull requests|emails?|events?|results?|files?|contacts?) found",
    r"status code 4(?:00|04|05|10|22)|\b404\b",
    # A call in the wrong form
    r"(?:unknown|unrecognized|illegal|invalid|unexpected|bad) (?:option|flag|command|subcommand|argument|tool|skill|shorthand)",
    r"(?:unknown|invalid|bad) (?:switch|predicate|primary|choice|parameter|path|value|input|request|json|revision|pattern)",
    r"flag provided but not defined|usage:|missing (?:operand|script|required|argument|value|file)|too (?:many|few) arguments",
    r"requires (?:an? )?(?:argument|value)|validation error|InputValidationError|argument (?:validation|error)|non-uuid",
    r"must be (?:a|an|one of)|expected .* (?:but|got)|unexpected keyword argument|exceeds maximum|action in triple backticks",
    r"syntax error|parse error|unexpected (?:EOF|token|end of file)|unterminated|unmatched|bad substitution|event not found",
    r"read-only variable|unbound variable|not a valid|ambiguous redirect",
    # An edit that does not fit
    r"string to replace|could not find (?:the )?(?:exact|oldString|old_string|text)|0 occurrences|not unique|multiple matches",
    r"found \d+ (?:matches|occurrences)|has not been read|has been (?:unexpectedly )?modified since|no changes to make",
    r"are (?:exactly )?(?:the same|identical)|corrupt patch|patch (?:does not apply|failed)|verification failed",
    # A state that was not looked at
    r"nothing to commit|no changes added|would be overwritten|(?:uncommitted|unstaged) changes|already exists|not empty",
    r"already (?:checked out|used|on)|paths are ignored|refusing to|ImproperlyConfigured|settings are not configured",
)
"""The agent's own mistake."""

_NOT_STARTED = _any(
    r"^(?:\S*/)?(?:ba|z|da)?sh(?::|\[)|^\(eval\)|usage:|missing script|no rule to make target|no targets specified",
    r"(?:unknown|unrecognized) (?:option|command|subcommand|flag|arguments?|shorthand|target)|unexpected argument",
    r"invalid (?:option|choice|reporter)|flag provided but not defined|no such (?:file or directory|command|option)",
    r"file or directory not found|not a (?:directory|git repository)|no tests? (?:files? )?found",
    r"could not (?:find|load reporter)",
    r"can't open file|no recipe|did not contain recipe|cannot find (?:package|main module|module ..?/)|no Go files",
    r"does not contain main module|go\.mod file not found|not found:|cannot be directly executed|\[setup failed\]",
    r"ImproperlyConfigured",
)
"""A check that was called wrongly and found nothing out."""

_OUTSIDE = _any(
    r"^(?:ssh|curl|fatal|error|npm (?:ERR!|error)|Error|ERROR|E|wget|go|gh|docker)\b[^\n]{0,200}?"
    r"(?:could not resolve|couldn't resolve|operation timed out|connection (?:refused|reset|timed out)|no such host"
    r"|network is unreachable|no route to host|temporary failure|name resolution|ENOTFOUND|EAI_AGAIN|ECONNREFUSED"
    r"|permission denied \(publickey|index\.lock|unable to access)",
    r"Another git process",
)
"""What stands near the last message of a program that could not reach something, and is the real reason."""
_NEAR = 4_000
_REACHING = frozenset(["vcs", "package", "network"])
_OWN_CODE = re.compile(r"^(?:Syntax|Indentation|Tab|Name|Unicode\w*)Error\b")
_INLINE = frozenset(["-c", "-e", "-", "--eval", "-p"])
_INTERPRETERS = frozenset(["python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "bash", "sh"])


def cause_of(message: str, shell: Understanding | None, text: str = "", likely: Cause | None = None) -> Cause:
    """The cause of a failure with this message; `shell` is what its command was for, None for other tools.

    `likely` is what the form of the message says, where the purpose of the command does not.
    """
    if shell is None:
        return "environment" if _ENVIRONMENT.search(message) else "mistake"
    if _own_module(message, shell):
        return "mistake"
    if shell.checks or likely == "finding":
        return _of_check(message)
    if _ENVIRONMENT.search(message) or (shell.purpose in _REACHING and _OUTSIDE.search(text[-_NEAR:])):
        return "environment"
    if message.startswith("CONFLICT"):
        return "finding"
    return "mistake" if _MISTAKE.search(message) else _of_run(message, shell)


_MODULE = re.compile(r"No module named '?([\w.]+)")
_PART = re.compile(r"[A-Za-z]{4,}")


def _own_module(message: str, shell: Understanding) -> bool:
    """A module that is not there, named after what was called: the agent's own, not one that is to be installed."""
    found = _MODULE.search(message)
    if found is None or shell.main is None:
        return False
    called = {part.lower() for word in shell.main.words[1:] for part in _PART.findall(word)}
    return not called.isdisjoint(part.lower() for part in _PART.findall(found[1])) and "-m" not in shell.main.words


def _of_check(message: str) -> Cause:
    """A check that ran and has news is a finding; one that could not start is not."""
    if _ENVIRONMENT.search(message):
        return "environment"
    return "mistake" if _NOT_STARTED.search(message) else "finding"


def _of_run(message: str, shell: Understanding) -> Cause:
    """A program that ran: what it reports is news about the work, unless the agent's own few lines are at fault."""
    main = shell.main
    if main is not None and shell.purpose in ("run", "other") and main.program in _INTERPRETERS:
        inline = len(main.words) == 1 or not _INLINE.isdisjoint(main.words)
        return "mistake" if _OWN_CODE.search(message) and inline else "finding"
    return "finding" if shell.purpose in ("run", "format") else "mistake"
