"""Why a call did not succeed: the agent's mistake, bad news from a tool that worked, the world around it, or unknown.

Decided by who speaks in the message of the failure (the shell, the program, what it was asked to check), then by what the call
was for. Only evidence makes a failure a mistake: what shows nothing stays `unknown`. Knows no agent and no other call.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import re2

from preheat.commands import Understanding
from preheat.commands.words import operands
from preheat.model.outcome import Cause
from preheat.model.session import ToolKind


def _any(*words: str) -> "re2._Regexp[str]":
    """One of many words: a list this long is for an engine that tries them all at once."""
    return re2.compile("(?im)" + "|".join(words))


_ENVIRONMENT = _any(
    # What is not on the machine
    r"command not found|is not recognized as|executable (?:file )?not found|not installed|missing dependenc|posix_spawn",
    r"^(?:\S*/)?(?:da|a|k)?sh: (?:\d+: |line \d+: )?[\w.+-]+: not found|cannot execute: required file|bad interpreter",
    r"exec format error",
    r"No module named ['\"]?[^.'\"]|ModuleNotFoundError|cannot find module ['\"][^./]|cannot find package ['\"]?[@a-z]",
    r"unable to locate package",
    r"failed to resolve import ['\"][^./]|no required module provides package|cannot load such file -- [^./]|GemNotFound",
    r"cannot import name '[^'\n]*' from '[^'\n]*' \([^)\n]*(?:site|dist)-packages|was removed in the \w+ \d",
    r"executable doesn't exist at",
    r"Could not find a version that satisfies|No matching distribution|GLIBC|wrong ELF",
    r"unsupported[ _](?:engine|environment|platform|runtime)|version is incompatible|could not be found in (?:this|your)",
    r"the command ['\"`]?[\w.-]+['\"`]? (?:could not be|was not|is not) (?:found|available)",
    # A dependency that does not fit what runs it
    r"(?:cannot find module|ERR_MODULE_NOT_FOUND\]?:).{0,40}/node_modules/|'node:[\w/]+' does not provide an export",
    r"requires (?:Python|Node|Go|Java) [<>=v]",
    r"not supported on this platform|Working directory .* was deleted|toolchain .* is not installed",
    # The network and what is behind it
    r"could not resolve host|couldn't resolve|getaddrinfo|name resolution|no such host|\b(?:ENOTFOUND|EAI_AGAIN)\b",
    r"connection (?:refused|reset|timed out|closed|error|lost)|\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|PIPE)\b",
    r"unreachable|no route to host",
    r"not connected|server (?:is )?(?:not running|unavailable|disconnected)|failed to (?:connect|reconnect)",
    r"could ?n[o']t connect|socket hang up",
    r"timed? ?out\b|timeout (?:exceeded|expired|of \d|after|waiting)|deadline exceeded",
    r"certificate (?:verify|has expired|is not)|\bSSL\b|TLS handshake",
    r"\b(?:HTTP|status(?: code)?|error)[ :]*(?:3\d\d|401|403|407|429|5\d\d)\b|rate.?limit|too many requests|quota",
    r"insufficient (?:credit|fund|balance)",
    r"usage limit|limit (?:reached|exceeded)|overloaded|out of credits|billing",
    r"service unavailable|temporarily unavailable|internal server error|bad gateway|gateway time",
    r"cannot connect to the docker daemon|is the docker daemon running|address already in use|EADDRINUSE",
    r"port \d+ is (?:already )?(?:in use|allocated)",
    r"npm error code E(?:NOTFOUND|AI_AGAIN|CONN|401|403)",
    # Rights, secrets, policies
    r"(?:operation|permission|access)s?(?: is| was)? (?:not permitted|denied)|\bE(?:ACCES|PERM)\b|read-only file system",
    r"insufficient permission",
    r"sandbox.{0,60}(?:denied|blocked|not permitted|not allowed)|dubious ownership|requires elevation",
    r"must be (?:run as )?root|not in the sudoers",
    r"blocked (?:for|by|due to|because)|^\W*blocked\b|for security reasons|(?:security|organi[sz]ation|access) polic",
    r"not allowed by|policy (?:denied|violation|forbids|prevents)",
    r"unauthori[sz]ed|forbidden|authentication (?:required|failed|error|agent|token)|not (?:logged|signed) in|logged out",
    r"log ?in (?:required|to|first)",
    r"bad credentials|(?:locate|no|expired|missing|invalid|load) credentials?",
    r"credentials? (?:not found|have expired|expired|required|are)|please (?:log|sign) in",
    r"(?:a )?password (?:is|was|for|required|:)|no password|passphrase|askpass|a terminal is required",
    r"could not read (?:username|password)|terminal prompts disabled",
    r"\bvault\b|keychain|keyring|secret(?:s)? (?:not found|manager|store)",
    r"(?:api|access)[ _-]?(?:key|token)s?\b.{0,40}(?:missing|not set|required|invalid|expired|not found)",
    r"(?:missing|set|requires?|no|invalid|expired) .{0,30}(?:api|access|auth)[ _-]?(?:key|token)",
    r"environment variables? .{0,60}(?:not set|missing|required|not found)",
    r"\b(?:[Mm]issing|[Ss]et|[Rr]equires?) (?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b",
    r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+ (?:environment variable |env var )?(?:is|are|must be|was)? ?"
    r"(?:not set|unset|required|missing|not defined|undefined)",
    r"host key verification",
    # Room, locks, signals
    r"no space left|disk quota|out of memory|cannot allocate|\bENOMEM\b|core dumped|^Killed|heap out of memory",
    r"index\.lock|\.lock'?: File exists|Another git process|database is locked|resource temporarily unavailable",
    r"resource busy|is being used by another|\bENOSPC\b|build database",
    # What a package manager brings
    r"could not resolve (?:package )?dependenc|failed to (?:clone|download|fetch)\b|externally-managed",
)
"""The world around the call. Where several tables know a message, the first one decides."""

_MISTAKE = _any(
    # Something that is not there
    r"no such (?:file|tool|command|option|table|column|remote|ref|key)|does(?: not|n't) (?:exist|appear|match|have|contain)",
    r"not found\b|\bENOENT\b",
    r"cannot find (?:path|the (?:path|file))|cannot (?:open|stat|access|remove)|can't (?:open|read|cd)|no matches found",
    r"(?:failed|unable) to (?:find|open|read)",
    r"is a directory|not a directory|\bE(?:ISDIR|NOTDIR)\b|not a git repository|pathspec|did not match any|ambiguous argument",
    r"unknown revision|needed a single revision",
    r"no (?:pull requests|emails?|events?|results?|files?|contacts?|targets?|library targets) found",
    r"no \w+ files? (?:listed|found|matching)|not (?:a )?(?:known|recogni[sz]ed|tracked|registered|available)",
    r"status code 4(?:00|04|05|10|22)|\b404\b|HTTP 4(?:00|04|05|10|22)",
    # A call in the wrong form
    r"(?:unknown|unrecognized|illegal|invalid|unexpected|bad) "
    r"(?:option|flag|command|subcommand|argument|tool|skill|shorthand|usage)",
    r"(?:unknown|invalid|bad) "
    r"(?:switch|predicate|primary|choice|parameter|path|value|input|request|json|revision|pattern|\w+ field|field)",
    r"flag provided but not defined|usage:|missing (?:operand|script|required|argument|value|file)",
    r"too (?:many|few) arguments|\bEUSAGE\b",
    r"accepts (?:at most|at least|between|\d+)|requires? (?:an? |at least )?(?:argument|value|operand|parameter|\d)",
    r"validation error|InputValidationError",
    r"argument (?:validation|error)|non-uuid|is (?:required|mandatory)|incompatible with|mutually exclusive",
    r"cannot (?:be )?(?:used|combined|specify)",
    r"must (?:be|have|not|match|specify|provide|add up)|expected .* (?:but|got)|unexpected keyword argument",
    r"exceeds? (?:the )?max|action in triple backticks",
    r"syntax ?error|parse(?:r)? ?error|unexpected (?:EOF|token|end of file)|unterminated|unmatched|bad substitution",
    r"event not found|not allowed in a regex",
    r"regex parse|read-only variable|unbound variable|not a valid|ambiguous redirect|expression (?:was )?expected",
    r"could ?n[o']t find",
    # An edit that does not fit
    r"string to replace|could not find (?:the )?(?:exact|oldString|old_string|text)|0 occurrences|not unique|multiple matches",
    r"found \d+ (?:matches|occurrences)|has not been read|has been (?:unexpectedly )?modified since|no changes to make",
    r"no replacement",
    r"are (?:exactly )?(?:the same|identical)|corrupt patch|patch (?:does not apply|failed)|verification failed",
    # A state that was not looked at
    r"nothing to commit|no changes added|would be overwritten|(?:uncommitted|unstaged|local) changes|has changes",
    r"already exists|not empty",
    r"\[(?:remote )?rejected\]|failed to push|file exists|no commits between|can only install|(?:out of|not in) sync",
    r"in sync with",
    r"already (?:checked out|used|on|in progress)|paths are ignored|refusing to|ImproperlyConfigured",
    r"settings are not configured|only be used (?:when|with|if)",
)
"""The agent's own mistake."""

_NOT_STARTED = _any(
    r"^(?:\S*/)?(?:ba|z|da)?sh(?::|\[)|^\(eval\)|usage:|missing script|no rule to make target|no targets specified",
    r"(?:unknown|unrecognized) (?:option|command|subcommand|flag|arguments?|shorthand|target)|unexpected argument",
    r"invalid (?:option|choice|reporter)|flag provided but not defined|no such (?:file or directory|command|option)",
    r"file or directory not found|not a (?:directory|git repository)|no tests? (?:files? )?found",
    r"no (?:library|bin|test|example) target",
    r"could not (?:find|load reporter)|package ID specification|not found in workspace",
    r"can't open file|no recipe|did not contain recipe|cannot find (?:package \.|main module|module ..?/)|no Go files",
    r"does not contain main module|go\.mod file not found|not found:|cannot be directly executed|\[setup failed\]",
    r"ImproperlyConfigured",
)
"""A check that was called wrongly and found nothing out."""

_OUTSIDE = _any(
    r"^(?:ssh|curl|fatal|error|npm (?:ERR!|error)|Error|ERROR|E|wget|go|gh|docker)\b[^\n]{0,200}?"
    r"(?:could not resolve|couldn't resolve|operation timed out|connection (?:refused|reset|timed out)|no such host"
    r"|network is unreachable|no route to host|temporary failure|name resolution|ENOTFOUND|EAI_AGAIN|ECONNREFUSED"
    r"|permission denied \(publickey|index\.lock|unable to access|could not read (?:username|password))",
    r"Another git process",
)
"""What stands near the last message of a program that could not reach something, and is the real reason."""
_NEAR = 4_000
_REACHING = frozenset(["vcs", "package", "network"])
_TEST = re.compile(
    r"\s*(?:--- FAIL|FAIL(?:ED)?\b|not ok \d|\(fail\)|[✗×✖●] |E  |AssertionError|(?:ERROR|FAIL): test|\S+ FAILED)"
)
"""A line that names a test or says what was expected: its words are the test's, not the world's."""
_NO_MODULE = re.compile(r"No module named|ModuleNotFound|[Cc]annot find (?:module|package)")
_DIAGNOSTIC = re.compile(r"error\[E\d+\]|\S+:\d+(?::\d+)?:|\S+\(\d+,\d+\): error|.*\berror TS\d+:")
"""A compiler speaks about a place in the code."""
_BARE = re.compile(
    r"(?:\[\S+\] |[@\w./-]+:\w+: )?(?:\*\* \w+ FAILED|.*\bexited (?:with|\()|exit status \d"
    r"|error:? (?:Command failed|script|Recipe)"
    r"|npm (?:ERR!|error)|.*ELIFECYCLE|\S*make(?:\[\d+\])?: \*\*\*|.*ERROR task failed|.*[Cc]ommand failed|Failed: )"
)
"""A verdict that says that something failed and not what."""
_BLOCKED = _any(
    r"\bno such host\b|could not resolve|name resolution|\bE(?:CONNREFUSED|NOTFOUND|AI_AGAIN|TIMEDOUT|PERM|ACCES|NOSPC)\b",
    r"connection refused|operation not permitted|permission denied|no space left|read-only file system|database is locked",
    r"command not found|cannot connect to the docker daemon|failed to (?:clone|download)|could not read (?:username|password)",
    r"environment variables? .{0,60}(?:not set|missing|required)|\b[Mm]issing (?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b",
)
"""What keeps a check from running at all, wherever it stands in its output."""
_UNFIT = re2.compile(r"(?i)unsupported[ _](?:engine|environment)\b")
"""A runner of tasks says that what it runs with is not what the project wants."""
_SOME_PASSED = _any(r"\b[1-9]\d* (?:tests? )?pass(?:ed|ing)?\b|^ok\s+\S|^\s*[✓✔]|\(pass\)|\.\.\. ok$")
_ABOUT_CALL = _any(
    r"[`'\"]--?[a-z][\w-]*|--help\b|\b(?:option|flag|argument)s? --?[a-z]",
    r"\b(?:provided|specified|supplied|requested|given) (?:[\w-]+ ){0,3}"
    r"(?:specifier|scheme|target|name|value|option|argument|path|file|pattern|filter|destination|profile|package)s?\b",
)
"""A program that speaks about how it was called."""
_STOPPED = frozenset([124, 137, 143, -9, -15])
"""Exit codes of a command that was ended from outside."""
_UNREACHED = {"curl": frozenset([5, 6, 7, 28, 35, 52, 55, 56, 60]), "wget": frozenset([4, 5]), "ssh": frozenset([255])}
_NOT_RUN = frozenset([126, 127])
"""The shell's own codes for a program that cannot be run."""
_INLINE = frozenset(["-c", "-e", "-", "--eval", "-p"])
INTERPRETERS = frozenset(
    ["python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "bash", "sh", "tsx", "ts-node", "zsh"]
)
_LOCAL: frozenset[ToolKind] = frozenset(["read", "edit", "write", "search", "plan"])
"""Tools that work on what the agent names: what they refuse is what it named, unless the message says otherwise."""
_SHORT = 600
"""Characters of an output that is but a message."""
_SHORTEST = 3
"""Characters of a word that a message may name."""


def cause_of_tool(message: str, kind: ToolKind, named: Iterable[object] = ()) -> Cause:
    """The cause of a failure of a tool that is no shell; `named` are the values it was called with."""
    if _ENVIRONMENT.search(message):
        return "environment"
    if kind in _LOCAL or _MISTAKE.search(message) or _names_one(message, map(str, named)):
        return "mistake"
    return "unknown"


class Failure(NamedTuple):
    """What is known of a command that failed."""

    message: str
    shell: Understanding
    text: str = ""
    likely: Cause | None = None
    """What the form of the message says by itself."""
    code: int | None = None


def cause_of_command(failure: Failure) -> Cause:
    """The cause of a command's failure."""
    message, shell = failure.message, failure.shell
    if _own_module(message, shell):
        return "mistake"
    if failure.code in _STOPPED or _names_what_nobody_typed(message, shell):
        return "environment"
    if _UNQUOTED.search(message):
        return "mistake"
    if failure.code in _NOT_RUN and not _MISTAKE.search(message):
        return "environment"
    if _is_own_inline(failure):
        return "mistake"
    if shell.checks or failure.likely == "finding":
        return _of_check(failure)
    if _ENVIRONMENT.search(message) or (shell.purpose in _REACHING and _OUTSIDE.search(failure.text[-_NEAR:])):
        return "environment"
    if message.startswith("CONFLICT"):
        return "finding"
    if (
        _MISTAKE.search(message) and "not valid JSON" not in failure.text
    ):  # a parser complains about what it was given to read
        return "mistake"
    return _of_run(failure)


_UNREAD = re.compile(r"JSONDecodeError|is not valid JSON|end of JSON input")
_INLINE_RAISED = ('File "<string>"', 'File "<stdin>"', "[eval", "[stdin")


def _is_own_inline(failure: Failure) -> bool:
    """Whether code that stands in the command raised: what it does not say of the work is wrong in itself, and so is what it
    expected of the pipe before it."""
    if not any(mark in failure.text for mark in _INLINE_RAISED) or _ENVIRONMENT.search(failure.message):
        return False
    inline = [
        each for each in failure.shell.commands
        if each.program in INTERPRETERS and (len(each.words) == 1 or not _INLINE.isdisjoint(each.words))
    ]  # fmt: skip
    if not inline:
        return False
    if _UNREAD.search(failure.text):
        return any("stdin" in word for each in inline for word in each.words)
    return is_own_frame(failure.text, INLINE_FRAMES)


def _names_one(message: str, words: Iterable[str]) -> bool:
    """Whether a message names one of the words that were passed."""
    return any(len(word) >= _SHORTEST and word in message for word in words)


_UNQUOTED = re.compile(r"command not found: [^\n]*[^\w.+@/:\s-]|[^\w.+@/\s-]: command not found")
"""A word that can be no program: quotation went wrong."""
_NO_FILE = re.compile(r"(?:\S*/)?([\w.-]+): ([^:'\"‘’\n]{1,80}): No such file", re.IGNORECASE)
_EXPANDED = re.compile(r"[*?{\[$`]")


def _names_what_nobody_typed(message: str, shell: Understanding) -> bool:
    """Whether a program misses a file that it was not called with: then something between agent and program put it there."""
    found = _NO_FILE.match(message)
    if found is None:
        return False
    program, name = found.groups()
    called = [command for command in shell.commands if command.program == program and program not in INTERPRETERS]
    return bool(called) and not any(
        "xargs" in command.wrappers or any(_is_or_holds(word, name) for word in command.words[1:]) for command in called
    )


def _is_or_holds(word: str, name: str) -> bool:
    return (
        word == name
        or _EXPANDED.search(word) is not None
        or name.startswith(f"{word.rstrip('/')}/")
        or name in word[3:]
    )


_MODULE = re.compile(r"No module named '?([\w.]+)")
_PART = re.compile(r"[A-Za-z]{4,}")


def _own_module(message: str, shell: Understanding) -> bool:
    """A module that is not there, named after what was called: the agent's own, not one that is to be installed."""
    found = _MODULE.search(message)
    if found is None or shell.main is None or not _INLINE.isdisjoint(shell.main.words):
        return False
    called = {part.lower() for word in shell.main.words[1:] for part in _PART.findall(word)}
    return not called.isdisjoint(part.lower() for part in _PART.findall(found[1])) and "-m" not in shell.main.words


def _of_check(failure: Failure) -> Cause:
    """A check that ran and has news is a finding; one that could not start is not."""
    message = failure.message
    if _UNFIT.search(failure.text[:_NEAR]) and "AssertionError" not in failure.text:
        return "environment"
    if _TEST.match(message) and not _NO_MODULE.search(message):
        return "finding"
    if _ENVIRONMENT.search(message):
        return "environment"
    if _DIAGNOSTIC.match(message):
        return "finding"
    if _NOT_STARTED.search(message) or _ABOUT_CALL.search(message):
        return "mistake"
    if not _BARE.match(message):
        return "finding"
    if _quotes_option(failure):
        return "mistake"
    return "environment" if _was_blocked(failure.text) else "finding"


def _quotes_option(failure: Failure) -> bool:
    """Whether a program that did not get far repeats an option of the call."""
    words = failure.shell.main.words if failure.shell.main is not None else ()
    return len(failure.text) < _SHORT and any(word.startswith("--") and word in failure.text for word in words)


def _was_blocked(text: str) -> bool:
    """Whether something outside kept a check from running: it says so, and nothing was checked."""
    return _BLOCKED.search(text[-_NEAR:]) is not None and _SOME_PASSED.search(text) is None


def _of_run(failure: Failure) -> Cause:
    """A program that ran and says something: news about the work, unless the agent's own few lines are at fault. A program that
    ends without a word, or that is nobody's work here, shows nothing."""
    message, shell = failure.message, failure.shell
    main = shell.main
    if main is None:
        return "unknown"
    if failure.code in _UNREACHED.get(main.program, ()):
        return "environment"
    if not message:
        return "unknown"
    if len(failure.text) < _SHORT and _ENVIRONMENT.search(failure.text):
        return "environment"
    if shell.purpose == "vcs":
        return _of_version_control(message, shell)
    if shell.purpose in ("run", "other") and main.program in INTERPRETERS:
        inline = len(main.words) == 1 or not _INLINE.isdisjoint(main.words)
        return "mistake" if inline and is_own_frame(failure.text, INLINE_FRAMES) else "finding"
    if _ABOUT_CALL.search(message):
        return "mistake"
    if shell.purpose in ("run", "format"):
        return "environment" if _BARE.match(message) and _was_blocked(failure.text) else "finding"
    if "audit" in main.words:
        return "finding"
    if shell.purpose in ("package", "network"):
        return "environment"
    if shell.purpose in ("read", "list", "search"):  # the last line of what was shown
        return "unknown"
    return "mistake" if _names_one(message, main.words[1:]) else "unknown"


_FORGE_CHECKS = frozenset([("run", "watch"), ("pr", "checks"), ("run", "view"), ("pr", "merge")])


def _of_version_control(message: str, shell: Understanding) -> Cause:
    """A forge reports on checks; version control refuses what does not fit its state, which could have been looked at."""
    main = shell.main
    if main is not None and main.program == "gh":
        return "finding" if tuple(operands(main.words, ("-R", "--repo"))[:2]) in _FORGE_CHECKS else "unknown"
    return "mistake" if message.startswith(("fatal: ", "error: ")) else "unknown"


# Which code an exception comes from
INLINE_FRAMES = ("<string>", "<stdin>", "[eval", "[stdin", "-e", "<anonymous_script>")
"""What interpreters call code that stands in the command itself."""
_PYTHON = re.compile(r'^\s+File "([^"\n]+)", line \d+', re.MULTILINE)
_THROWN = re.compile(r"^\s+at (?:.*\()?([^\s()]+?):\d+(?::\d+)?\)?$|^\s+at (\S+) \(<anonymous>\)$", re.MULTILINE)
_RUBY = re.compile(r"^(\S+?):\d+:in |^.* at (\S+) line \d+[.,]", re.MULTILINE)
_EXPECTED = re.compile(r"^AssertionError\b|^AssertionError:|is not valid JSON|JSONDecodeError", re.MULTILINE)


def is_own_frame(text: str, own: Sequence[str]) -> bool:
    """Whether the code that raised is one of these files, and what it raised is no statement about the work."""
    if _EXPECTED.search(text):
        return False
    if frames := _PYTHON.findall(text):
        frame = frames[-1]
    elif (found := _THROWN.search(text) or _RUBY.search(text)) is not None:
        frame = found[1] or found[2]
    else:
        return _OWN_CODE.search(text) is not None
    return any(frame == name or frame.startswith(name) or frame.endswith(f"/{name}") for name in own)


_OWN_CODE = re.compile(r"^(?:Syntax|Indentation|Tab|Name|Unicode\w*)Error\b", re.MULTILINE)
