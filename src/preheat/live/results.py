"""Hashes that are equal for equal calls and results, which tests fail in an output and how many, and whether a call polls.

A hash is the same on every machine and in every run. Knows one call at a time and no session.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any
from zlib import crc32

import msgspec

from preheat.commands import Understanding
from preheat.model.session import PREHEAT_MARK

_END_CHARACTERS = 3_000
"""Characters at either end of a long result that are normalised."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_PREHEAT_TEXT = re.compile(rf"{PREHEAT_MARK}([\w-]+)[^>]*>.*?(?:</{PREHEAT_MARK[1:]}\1>|\Z)", re.DOTALL)
_VOLATILE = re.compile(
    r"/(?:tmp|var/folders)/[\w./-]+|\b(?=[\da-fpP])(?:"  # where each of the others can begin: a quick rejection
    r"20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b"
    r"|\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?|h)\b"  # how long it took
    r"|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-fx])(?:0x)?[0-9a-f]{7,64}(?:-[0-9a-f]{4,12})*\b|1[5-9]\d{8}(?:\d{3})?\b"
    r"|(?:pid|PID|process|port)[ :=]+\d+)"
)
"""What differs between equal results: times, addresses, hashes, temporary paths."""

_GAP = re.compile(r"[ \t]+")
_OUTPUT_LIMIT = re.compile(r" ?\| ?(?:head|tail|cat|less)(?: -[\w-]+| \d+)* ?(?=$|[;|&\n)])")
_REDIRECTION = re.compile(r" ?[012]?>&[12]| ?[012&]?> ?/dev/null| ?(?:;|&&|\|\|) ?(?:echo\b[^;|&\n]*|true) ?$")
_PREFIX = re.compile(
    r"^\s*(?:cd\s+(?:\.|\"\.\"|'\.')\s*(?:&&|;)\s*)+|\b(?:g?timeout(?:\s+-\S+)*\s+\d+[smh]?|time)\s+(?=\S)"
)
"""What does not change a command: the folder it is in already, a time limit."""
_DESCRIPTIVE_ARGUMENTS = frozenset(
    ["description", "timeout", "timeout_ms", "timeoutMs", "yield_time_ms", "max_output_tokens", "explanation", "justification",
     "toolSummary", "toolAction", "task_progress", "is_background", "run_in_background", "requires_approval", "reason"]
)  # fmt: skip
"""Arguments that describe a call and do not change what it does."""


def _hash(*parts: str) -> int:
    """A positive hash of some texts."""
    digest = blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def hash_call(tool: str, command: str, arguments: dict[str, Any]) -> int:
    """A hash that is equal for the same call. `command` is its shell text with relative paths, empty where it has none."""
    if command:
        folder = arguments.get("workdir") or arguments.get("cwd")
        return _hash(tool, plain_command(command), folder if isinstance(folder, str) else "")
    kept = {name: value for name, value in arguments.items() if name not in _DESCRIPTIVE_ARGUMENTS}
    try:
        text = msgspec.json.encode(kept, order="deterministic").decode()
    except (TypeError, ValueError, RecursionError):  # a lone surrogate, or a key that is no text
        text = repr(sorted(kept.items(), key=repr))
    return _hash(tool, text)


_SKETCHED_LINES = 24
_LEAST_LETTERS = re.compile(r"(?:\w\W*){6}")
"""What a line must have to tell one place from another: a closing bracket is everywhere."""
_CHANGED_CHARACTERS = 20_000
_PLACE_ARGUMENTS = frozenset(
    ["file_path", "path", "filepath", "filePath", "target_file", "notebook_path", "uri", "TargetFile", "cell_id"]
)
"""Arguments that say where a call changes something, not what."""
_PATCH = "*** Begin Patch"


def sketch_change(arguments: dict[str, Any]) -> tuple[int, ...]:
    """A few hashes of the lines that an edit takes away or adds: edits of the same place share most of them (`is_same_change`).
    Empty where the arguments do not say what is changed."""
    lines: set[int] = set()
    for name, value in arguments.items():
        if name not in _PLACE_ARGUMENTS and name not in _DESCRIPTIVE_ARGUMENTS:
            for text in _texts(value):
                changed = text[:_CHANGED_CHARACTERS].split("\n")
                if _PATCH in text:
                    changed = [line[1:] for line in changed if line[:1] in ("+", "-")]
                lines.update(
                    crc32("".join(line.split()).encode("utf-8", "replace"))
                    for line in changed
                    if _LEAST_LETTERS.search(line)
                )
    return tuple(sorted(lines)[:_SKETCHED_LINES])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def is_same_change(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two edits are about the same place: they share a third of the lines of the shorter one."""
    shared = len(set(one) & set(other))
    return shared > 0 and 3 * shared >= min(len(one), len(other))


def plain_command(command: str) -> str:
    """A shell text without what only cuts its output, limits its time, or enters the current folder."""
    text = _PREFIX.sub("", _GAP.sub(" ", command))
    while (shorter := _REDIRECTION.sub("", _OUTPUT_LIMIT.sub("", text))) != text:
        text = shorter
    return " ".join(text.split())


def plain_result(text: str) -> str:
    """A result without colours and without texts of Preheat."""
    if PREHEAT_MARK in text:
        text = _PREHEAT_TEXT.sub("", text).rstrip()
    return _COLOUR.sub("", text) if "\x1b" in text or "\r" in text else text


def hash_result(status: str, text: str) -> int:
    """A hash that is equal for the same result. `text` is plain.

    The order of lines does not matter: parallel work ends in any order. Only the two ends of a long text are normalised; its
    middle must be exactly the same."""
    middle = ""
    if len(text) > 2 * _END_CHARACTERS:
        text, middle = f"{text[:_END_CHARACTERS]}\n{text[-_END_CHARACTERS:]}", text[_END_CHARACTERS:-_END_CHARACTERS]
    lines = {line for each in _VOLATILE.sub("#", text).split("\n") if (line := " ".join(each.split()))}
    return _hash(status, middle, *sorted(lines))


_FAILURE_WORDS = re.compile(
    r"(?i)error|fail|exception|panic|assert|expect|undefined|cannot|can't|could not|unexpected|mismatch|not found|no such|invalid"
    r"|missing|unable|refused|denied|not defined|unknown|fatal|warning|\bwant\b|\bgot\b|^E  "
)
_NUMBERS = re.compile(r"\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b|\d+")
_FAILURE_CHARACTERS, _LONGEST_LINE = 30_000, 300


def hash_failure(text: str) -> int:
    """A hash that is equal for the same failure, though line numbers changed; 0 where no line reports one. `text` is plain."""
    lines = {
        _NUMBERS.sub("#", " ".join(line.split()))[:_LONGEST_LINE]
        for line in text[-_FAILURE_CHARACTERS:].split("\n")
        if _FAILURE_WORDS.search(line[:_LONGEST_LINE])
    }
    return _hash(*sorted(lines)) if lines else 0


# Which tests fail, by name.
_FAILING_TESTS = re.compile(
    r"^[ \t]*--- FAIL: (\S+)"  # go test
    r"|^(?:FAILED|ERROR) ([\w./\\-]+::\S+)"  # pytest
    r"|^test (\S+) \.\.\. FAILED"  # cargo test
    r"|^(?:FAIL|ERROR): (\w+ \([\w.]+\))"  # unittest
    r"|^[ \t]*(?:● |FAIL +)(\S.* [›>] .*\S)"  # jest, vitest
    r"|^\(fail\) (.+?)(?: \[[\d.]+ *m?s\])?$"  # bun
    r"|^[ \t]*not ok \d+ (?:- )?(.+)"  # tap, node --test
    r"|^[ \t]*[✗✘✕×] (?:Test )?(.+?)(?: \(?[\d.]+ ?m?s\)?| failed after .*| recorded an issue.*)?$"  # mocha, swift
    r"|^Test Case '(-\[.+\])' failed"  # xctest
    r"|^[ \t]+Failed (\S+) \[",  # dotnet
    re.MULTILINE,
)
_MOST_TESTS = 12


def hash_failing_tests(text: str) -> tuple[int, ...]:
    """Hashes of the names of the tests that an output reports as failing, at most a dozen, in order. `text` is plain."""
    names = {next(filter(None, found)).strip() for found in _FAILING_TESTS.findall(text[-_MOST:]) if any(found)}
    return tuple(sorted(crc32(name.encode("utf-8", "replace")) for name in names)[:_MOST_TESTS])


# The number of failures in the output of a check.
_TAIL, _MOST = 6_000, 100_000
"""Characters from the end in which a total is searched, and in which failures are counted."""
_TOTALS = tuple(
    re.compile(text, re.MULTILINE)
    for text in (
        r"^FAILED \((?:failures=(\d+))?,? ?(?:errors=(\d+))?",  # unittest
        r"^[ \t]*Tests:?\s+(\d+) failed",  # jest, vitest
        r"^[ \t]*(\d+) failing\b",  # mocha
        r"^(?:#|ℹ|i) fail (\d+)$",  # node --test
        r"^[ \t]*(\d+) fail$",  # bun
        r"\b\d+ examples?, (\d+) failures?",  # rspec
        r"^Tests: \d+, Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?",  # phpunit
        r"Tests run: \d+, Failures: (\d+), Errors: (\d+)(?!.*Time elapsed)",  # maven
        r"Failed:\s+(\d+), Passed:",  # dotnet
        r"^Executed \d+ tests?, with (\d+) failures?",  # swift
        r"^\d+ tests? completed, (\d+) failed",  # gradle
        r"could not compile .* due to (\d+) previous error",
        r"\bproblems? \((\d+) errors?, \d+ warnings?\)",  # eslint
        r"^Found (\d+) errors?\b",  # tsc, ruff, mypy
        r"^(\d+) issues?:",  # golangci-lint
        r"^[ \t]*(\d+) errors? generated\.",
    )
)
_PYTEST_TOTAL = re.compile(r"^=* ?((?:\d+ [a-z]+,? )+)in [\d.]+s", re.MULTILINE)
_PYTEST_FAILURES = re.compile(r"(\d+) (?:failed|errors?)\b")
"""The last line of pytest."""
_PARTIAL_TOTALS = (re.compile(r"^test result: \w+\. \d+ passed; (\d+) failed", re.MULTILINE),)
"""One line for each part of the run: they are added up."""
_FAILURE_LINES = tuple(
    re.compile(text, re.MULTILINE)
    for text in (
        r"^--- FAIL: ",  # go test
        r"\berror TS\d+: ",
        r"^error(?:\[E\d+\])?: (?!could not compile|aborting)",  # rustc
        r"^[\w./\\-]+:\d+(?::\d+)?: (?:fatal )?error: ",
        r"^(?:vet: )?[\w./\\-]+\.go:\d+:\d+: ",
        r"^[\w./\\-]+:\d+(?::\d+)? error ",
    )
)
_ALL_PASSED = re.compile(
    r"^(?:=+ )?\d+ passed\b|^[ \t]*Tests:?\s+\d+ passed|^[ \t]*\d+ passing\b|^Success: no issues found|^All checks passed|^OK\b|"
    r"^ok\s+\S+\s|\b\d+ examples?, 0 failures",
    re.MULTILINE,
)


def count_failing(text: str, passed: bool) -> int | None:
    """How many tests or findings an output counts as failing, where it says so. `text` is plain."""
    count = _count(text, passed)
    return count if count or passed else None  # another check of the same call failed


def _count(text: str, passed: bool) -> int | None:
    text, tail = text[-_MOST:], text[-_TAIL:]
    if counted := _PYTEST_TOTAL.findall(tail):
        return sum(map(int, _PYTEST_FAILURES.findall(counted[-1])))
    for pattern in _TOTALS:
        found = pattern.findall(tail)
        if found:
            last = found[-1]
            counts = [int(each) for each in ((last,) if isinstance(last, str) else last) if each]
            if counts:
                return sum(counts)
    for pattern in _PARTIAL_TOTALS:
        if counts := [int(each) for each in pattern.findall(text)]:
            return sum(counts)
    if not passed:
        for pattern in _FAILURE_LINES:
            if count := sum(1 for _ in pattern.finditer(text)):
                return count
    return 0 if passed and _ALL_PASSED.search(tail) else None


# Polling.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WAITING_TOOL_WORDS = frozenset(
    ["wait", "await", "poll", "sleep", "monitor", "output", "stdin", "status", "screenshot", "snapshot", "debug", "debugger",
     "step", "breakpoint", "logs"]
)  # fmt: skip
_WAITING_PROGRAMS = frozenset(["sleep", "start-sleep", "wait", "watch"])
_STATE_PROGRAMS = frozenset(
    [
        "ps",
        "pgrep",
        "jobs",
        "top",
        "htop",
        "uptime",
        "free",
        "squeue",
        "nvidia-smi",
        "lsof",
        "ss",
        "netstat",
        "tasklist",
        "date",
    ]
)
_DEBUGGERS = frozenset(["gdb", "lldb", "dlv", "pdb", "ipdb", "rust-gdb", "rust-lldb", "jdb", "node-inspect"])
_STATE_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "gh": frozenset(["run", "checks", "workflow"]),
    "glab": frozenset(["ci"]),
    "docker": frozenset(["ps", "logs", "inspect", "stats"]),
    "docker-compose": frozenset(["ps", "logs"]),
    "podman": frozenset(["ps", "logs", "inspect"]),
    "kubectl": frozenset(["get", "describe", "logs", "rollout", "wait", "top"]),
    "systemctl": frozenset(["status", "is-active"]),
    "aws": frozenset(["describe-stacks", "describe-instances", "wait", "tail"]),
    "gcloud": frozenset(["describe", "logs"]),
    "az": frozenset(["show", "wait"]),
    "fly": frozenset(["status", "logs"]),
    "vercel": frozenset(["inspect", "logs"]),
}
"""Programs and subcommands that show something that changes by itself."""


_GROWING_FILE = re.compile(r"\.(?:log|out|output)(?:\.\d+)?$")
"""Files that a running program writes: each look shows how far it is."""
_LOOKING_PURPOSES = frozenset(["read", "search"])


def is_polling(tool: str, understood: Understanding | None, arguments: dict[str, Any]) -> bool:
    """Whether a call waits, or reads something that changes by itself."""
    if understood is None or not understood.commands:
        words = {word.lower() for word in _WORD.findall(tool[:200])}
        return (
            bool(words & _WAITING_TOOL_WORDS)
            or "session_id" in arguments
            or "shell_id" in arguments
            or "bash_id" in arguments
            or any(
                isinstance(path := arguments.get(name), str) and _GROWING_FILE.search(path) for name in _PLACE_ARGUMENTS
            )
        )
    if understood.purpose == "poll":
        return True
    for command in understood.commands:
        program = command.program.lower()
        if program in _WAITING_PROGRAMS or program in _DEBUGGERS:
            return True
    main = understood.main
    if main is None:
        return False
    program = main.program.lower()
    if main.purpose in _LOOKING_PURPOSES and any(_GROWING_FILE.search(word) for word in main.words[1:]):
        return True
    if program in _STATE_PROGRAMS or "pdb" in main.words or "inspect" in main.words[:2]:
        return True
    subcommands = _STATE_SUBCOMMANDS.get(program)
    return subcommands is not None and not subcommands.isdisjoint(main.words[1:4])
