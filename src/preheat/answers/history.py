"""What earlier sessions of a project show of its commands: which always fail, which programs are not there, what worked. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice, takewhile
from typing import NamedTuple

import msgspec

from preheat.commands import understand
from preheat.commands.values import Command
from preheat.commands.words import name_set
from preheat.model.outcome import FAILURES, Cause, Status

FEWEST_SESSIONS = 2
"""Earlier sessions in which a command must have failed before it is called known to fail."""
_LONGEST = 300
_MOST_KEPT = 2_000
_MOST_FLAGS = 40
_PLAIN_WRAPPERS = frozenset(
    [
        "env",
        "timeout",
        "gtimeout",
        "time",
        "nice",
        "command",
        "nohup",
        "sudo",
        "exec",
        "stdbuf",
        "xargs",
        "bash",
        "sh",
        "zsh",
    ]
)
"""Wrappers that find only what is on the path."""
_FILTER = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head|grep|egrep|cat|tee|sed|wc|rg|awk|jq)\b[^|;&]*)$")
_SEPARATOR = re.compile(r"&&|;|\|\|")
_PREPARING = re.compile(r"(?:cd|export|source|set|echo|mkdir|rm|sleep|cat|for|if|while|git add)\b|\.|\[")
_PLAIN_STEP = re.compile(r"[\w./@:=+, -]+(?:2>&1)?")
_NO_COMMAND = frozenset(["", "cd", "echo", "export", "set", "true", "sleep"])
OTHER_NAMES = {"python": "python3", "pip": "pip3", "timeout": "gtimeout"}
"""Under which name a machine may have a program that it does not have by its usual one."""


class PastCommand(NamedTuple):
    """A shell call of an earlier session."""

    session: str
    command: str
    """The shell text on one line, with paths relative to the project."""
    status: Status
    cause: Cause | None
    signature: str
    next_worked: str = ""
    """The command that succeeded at the same thing a few calls later; empty if none did."""


class KnownFailure(msgspec.Struct, frozen=True):
    """A command that failed in several sessions and never worked."""

    sessions: int
    error: str
    use: str = ""
    """What worked instead, in most sessions."""
    worked: int = 0
    """Sessions in which that worked."""


class WorkingUse(msgspec.Struct, frozen=True):
    """How a program was started when it worked."""

    command: str
    sessions: int


class History(msgspec.Struct, frozen=True):
    """What earlier sessions of a project show; empty in its first session."""

    failing: dict[str, KnownFailure] = {}
    """By the command without what only filters its output (`without_filters`)."""
    failing_first: dict[str, KnownFailure] = {}
    """By the first command of a chain (`first_step`): chains that begin with it failed with one error, and none worked."""
    missing_programs: dict[str, KnownFailure] = {}
    """By program: the shell did not find it, and it never worked by that name."""
    uses: dict[str, WorkingUse] = {}
    """By program: the shortest way in which it was started most often by another one (`mise exec -- go`); of one that was never
    found and never started so, the other name by which it ran (`python3`)."""
    refused_flags: dict[str, int] = {}
    """By program and flag: in how many sessions the program refused it, two or more, where it never took it."""
    refuses_patterns: bool = False
    """A command was refused because a pattern of it matched no file: its shell passes none on."""
    flags: dict[str, dict[str, int]] = {}
    """By program and subcommand: flags of calls that worked, with the number of sessions, those of most first."""


NO_HISTORY = History()


def comparable(command: str) -> str:
    """A command as it is compared with earlier ones: on one line, white space as one blank."""
    return " ".join(command.split())


def without_filters(command: str) -> str:
    """A command as it is compared, without what only filters or joins its output at the end."""
    text = comparable(command)
    while (shorter := _FILTER.sub("", text).strip()) != text:
        text = shorter
    return text


def first_step(command: str) -> str:
    """The first command of a chain, or the only one; empty where it only prepares the others, or is no plain one."""
    first = _SEPARATOR.split(without_filters(command), maxsplit=1)[0].strip()
    return "" if _PREPARING.match(first) or not _PLAIN_STEP.fullmatch(first) else without_filters(first)


def program_and_subcommand(command: Command) -> str:
    """The program with its subcommand, if it looks like one; with both words of those that have a topic first: the flags of
    `gh pr list` are not those of `gh pr diff`."""
    most = 2 if command.program in _BY_TOPIC else 1
    words = takewhile(lambda word: word.replace("-", "").isalpha() and not word.startswith("-"), command.words[1:])
    return " ".join([command.program, *islice(words, most)])


_BY_TOPIC = name_set("gh glab aws az gcloud")


def summarise_history(calls: Iterable[PastCommand]) -> History:
    """The history of a project from the shell calls of its earlier sessions."""
    failed: defaultdict[str, dict[str, PastCommand]] = defaultdict(dict)
    worked: set[str] = set()
    repairs: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    lost: defaultdict[str, set[str]] = defaultdict(set)
    refused: defaultdict[str, set[str]] = defaultdict(set)
    taken: set[str] = set()
    refuses = False
    run: defaultdict[str, set[str]] = defaultdict(set)
    uses: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    flags: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    first_failed: defaultdict[str, defaultdict[str, dict[str, PastCommand]]] = defaultdict(lambda: defaultdict(dict))
    first_worked: set[str] = set()
    for call in calls:
        text = without_filters(call.command)
        if not text or len(text) > _LONGEST or text.endswith("…"):  # the archive cuts long ones
            continue
        if call.status in FAILURES and call.cause != "finding":
            failed[text].setdefault(call.session, call)
            if call.signature and (step := first_step(call.command)):
                first_failed[step][call.signature].setdefault(call.session, call)
            if call.next_worked:
                repairs[text][comparable(call.next_worked)].add(call.session)
            if program := missing_program(call.signature):
                lost[program].add(call.session)
            if (flag := refused_flag(call.signature)) and (named := _program_with(call.command, flag)):
                refused[f"{named} {flag}"].add(call.session)
            refuses = refuses or refuses_patterns(call.signature)
            continue
        if call.status not in ("ok", "empty", *FAILURES):
            continue
        worked.add(text)
        first_worked.add(first_step(call.command))
        for program in programs_of(call.command):
            run[program].add(call.session)
        main = understand(call.command).main
        if main is None or main.program in _NO_COMMAND:
            continue
        taken.update(f"{main.program} {word.partition('=')[0]}" for word in main.words if word.startswith("-"))
        _note_use(call, text, main, uses, flags)
    return History(
        failing={
            text: _make_known(found, repairs[text])
            for text, found in failed.items()
            if len(found) >= FEWEST_SESSIONS and text not in worked
        },
        failing_first={
            step: _make_known(found, {})
            for step, by_error in first_failed.items()
            if step not in first_worked and len(found := max(by_error.values(), key=len)) >= FEWEST_SESSIONS
        },
        missing_programs={
            program: KnownFailure(len(sessions), "command not found")
            for program, sessions in lost.items()
            if (len(sessions) >= FEWEST_SESSIONS or program not in uses) and program not in run
        },
        refused_flags={
            key: len(sessions)
            for key, sessions in refused.items()
            if (len(sessions) >= FEWEST_SESSIONS or tuple(key.split(" ", 1)) in OTHER_FAMILY) and key not in taken
        },
        refuses_patterns=refuses,
        uses={
            **{
                program: WorkingUse(name, len(run[name]))
                for program, name in OTHER_NAMES.items()
                if program in lost and program not in run and name in run
            },
            **{program: use for program, found in uses.items() if (use := _most_used(found))},
        },
        flags={
            form: {flag: len(sessions) for flag, sessions in _by_sessions(found)[:_MOST_FLAGS]}
            for form, found in list(flags.items())[:_MOST_KEPT]
        },
    )


def _note_use(
    call: PastCommand,
    text: str,
    main: Command,
    uses: defaultdict[str, defaultdict[str, set[str]]],
    flags: defaultdict[str, defaultdict[str, set[str]]],
) -> None:
    form = program_and_subcommand(main)
    for word in main.words:
        if word.startswith("-") and len(word) > 1:
            flags[form][word.partition("=")[0]].add(call.session)
    if set(main.wrappers) - _PLAIN_WRAPPERS or "/" in main.words[0]:
        uses[main.program][_starting_words(text, main)].add(call.session)


def programs_of(command: str) -> frozenset[str]:
    """The programs that a command line names for the shell to find."""
    found = set[str]()
    for each in understand(command).commands:
        found.update(each.wrappers[:1])
        if not set(each.wrappers) - _PLAIN_WRAPPERS:
            found.add(each.words[0])
    return frozenset(found)


def special_start(command: str) -> tuple[str, str]:
    """The main program of a command line and what it was started by, if that is a path or another program; else empty texts."""
    main = understand(command).main
    if main is None or not (set(main.wrappers) - _PLAIN_WRAPPERS or "/" in main.words[0]):
        return "", ""
    start = _starting_words(comparable(command), main)
    return (main.program, start) if start else ("", "")


def _starting_words(text: str, main: Command) -> str:
    """What stands before and at the program in a text: `mise exec -- go`."""
    words = text.split()
    place = next((number for number, word in enumerate(words) if word == main.words[0]), -1)
    start = place
    while start > 0 and words[start - 1] not in ("&&", ";", "||", "|"):
        start -= 1
    return " ".join(words[start : place + 1]) if place >= 0 else ""


def _most_used(found: defaultdict[str, set[str]]) -> WorkingUse | None:
    ranked = sorted(
        ((len(sessions), text) for text, sessions in found.items() if text),
        key=lambda pair: (-pair[0], len(pair[1]), pair[1]),
    )
    return WorkingUse(ranked[0][1], ranked[0][0]) if ranked else None


def _by_sessions(found: dict[str, set[str]]) -> list[tuple[str, set[str]]]:
    return sorted(found.items(), key=lambda pair: -len(pair[1]))


def _make_known(found: dict[str, PastCommand], repairs: dict[str, set[str]]) -> KnownFailure:
    errors = Counter(call.signature for call in found.values())
    use, sessions = _by_sessions(repairs)[0] if repairs else ("", set[str]())
    return KnownFailure(len(found), errors.most_common(1)[0][0], use, len(sessions))


_FLAG = re.compile(
    r"(?i)(?:unknown|unrecogni[sz]ed|unexpected|invalid|no such|illegal|unsupported|bad)\s+(?:shorthand\s+)?"
    r"(?:option|flag|argument|arguments|switch)s?[\s:'\"`]*(?:--\s+)?['\"`]?(-{0,2}[A-Za-z][\w-]*)"
)
_UNDEFINED_FLAG = re.compile(r"flag provided but not defined: (-{1,2}[\w-]+)")
_NO_MATCH = re.compile(r"(?:zsh(?::\w+)?|\(eval\)(?::\w+)?): no matches found")


def refused_flag(message: str) -> str:
    """The flag that a program refused, by its message; empty if the message says something else."""
    found = _FLAG.search(message) or _UNDEFINED_FLAG.search(message)
    if found is None:
        return ""
    name = found[1]
    return name if name.startswith("-") else f"-{name}" if len(name) == 1 else f"--{name}"


OTHER_FAMILY = {
    ("grep", "-P"): ("-E",), ("cat", "-A"): ("-v", "-e", "-t"), ("cat", "-E"): ("-e",), ("cat", "-T"): ("-t",),
    ("sed", "-r"): ("-E",), ("stat", "-c"): ("-f",), ("readlink", "-e"): ("-f",),
}  # fmt: skip
"""Flags of GNU programs that those of BSD and macOS do not have, with what does it there: one refusal shows which they are."""
_PATH_LOOP = re.compile(r"\bfor path in\b[^:;]*(?:;|\n)\s*do\b|\bread (?:-r )?path\b|(?:^|[;&|(\n])\s*path=")
_NO_SHELL = re.compile(
    r"<<-?\s*(['\"]?)(\w+)\1.*?(?:^\s*\2\s*$|\Z)|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.MULTILINE | re.DOTALL
)
"""Here-documents and what stands in quotes: texts of other languages."""
_PATH_SET = re.compile(r"\bPATH=")
_LONGEST_SCRIPT = 4_000
_BUILTINS = frozenset(
    [
        "[",
        "[[",
        "cd",
        "echo",
        "eval",
        "exit",
        "export",
        "false",
        "local",
        "print",
        "printf",
        "pwd",
        "read",
        "return",
        "set",
        "test",
        "true",
        "unset",
        "for",
        "if",
        "while",
        "case",
    ]
)
"""Programs that the shell finds wherever it looks."""


def loops_over_path(command: str) -> bool:
    """Whether a command line uses `path` as a variable of its own, which in zsh is the list of folders with programs."""
    if "path" not in command or _PATH_LOOP.search(_NO_SHELL.sub("_", command[:_LONGEST_SCRIPT])) is None:
        return False
    return not _BUILTINS.issuperset(programs_of(command) or {""})


def sets_path(command: str) -> bool:
    """Whether a command line changes where the shell finds programs."""
    return loops_over_path(command) or _PATH_SET.search(command[:_LONGEST_SCRIPT]) is not None


def refuses_patterns(message: str) -> bool:
    """Whether a shell refused a command because a pattern of it matched no file."""
    return _NO_MATCH.search(message) is not None


def _program_with(command: str, flag: str) -> str:
    """The program of a command line that was given a flag; empty if none was."""
    return next(
        (
            each.program
            for each in understand(command).commands
            if any(word.partition("=")[0] == flag for word in each.words[1:])
        ),
        "",
    )


def missing_program(message: str) -> str:
    """The program that a shell did not find, by its message; empty if the message says something else."""
    for line in message.splitlines():
        before, found, after = line.partition("command not found")
        if not found:
            before, found, after = line.partition(": not found")
        if not found:
            continue
        name = after.strip(" :").split(" ")[0] or before.rstrip(": ").rpartition(":")[2].strip().rpartition(" ")[2]
        if name and all(letter.isalnum() or letter in "-_.+" for letter in name):
            return name
    return ""
