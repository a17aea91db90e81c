"""What one session shows of the commands of its project: how each was called, how often it worked and how it failed.

Knows no other session. The counts are of calls; what a pipe hides or a chain of commands blurs is left out rather than guessed.
"""

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from preheat.calls.files import base_name, changed_files, file_names_in
from preheat.calls.seen import JudgedCall, JudgedSession
from preheat.commands import command_text, understand
from preheat.lessons.typed import TypedCommand, folder_after_cd, split_commands
from preheat.safe_text.letters import one_line
from preheat.safe_text.reasons import junk_reason

MOST_USED = 300
MOST_TEXTS = 3
MOST_SEQS = 5
MOST_PROGRAMS = 100
_PURPOSES = frozenset(("test", "build", "lint", "typecheck", "format", "package", "run", "other"))
"""Looking, editing, version control and requests are done the same way in every project."""
_FOLDER_ARGUMENTS = ("workdir", "cwd", "working_directory", "dir")
_WRITTEN = re.compile(r">>?\s*([\w./-]+\.\w+)|\btee\s+(?:-a\s+)?([\w./-]+\.\w+)")
_NOT_FOUND = re.compile(
    r"(?i)command not found|not recognized as|(?:^|[:\s])not found$|no such command|is not installed|executable file not found"
)
_SPEAKERS = frozenset(("command", "zsh", "bash", "sh", "line", "eval"))
"""Words of these messages that are no program."""
_NO_FOLDER = re.compile(r"(?i)\bcd\b.*(?:no such file|cannot find|can't cd|does not exist)|cannot find path")
_ASTRAY = re.compile(
    r"(?i)does not contain main module|go\.mod file not found|cannot find main module|could not find \S+ in \S+ or any parent"
    r"|could not find `?cargo\.toml|(?:enoent|no such file|could not read|no|cannot find)\b.*\b(?:package\.json|pyproject\.toml)"
    r"|no package\.json|no makefile found|no rule to make target|missing script|no such script|script not found"
    r"|no justfile found|no taskfile|no project or solution file|no pom in this directory|not part of a gradle build"
)
"""What programs say that look for their project where they are started."""
_VARIABLE = re.compile(r"\$\w|(?:^|[\s=\"'])\.\.[\\/]")
"""Variables and paths from an unknown folder: such a text means something else in another session."""


class CommandUse(msgspec.Struct, frozen=True, gc=False):
    """One form of one way of calling a command, in one folder."""

    purpose: str
    way: str
    core: str
    form: str
    folder: str
    ok: int = 0
    finding: int = 0
    mistakes: int = msgspec.field(default=0, name="misuse")
    """Stored under the name that version 0.1.0 gave it."""
    environment: int = 0
    texts: tuple[tuple[str, int], ...] = ()
    """The texts that ran, most frequent first."""
    failing: tuple[tuple[str, int], ...] = ()
    signatures: tuple[str, ...] = ()
    seqs: tuple[int, ...] = ()
    """Places of calls that ran, the last ones; likewise of those that failed."""
    bad_seqs: tuple[int, ...] = ()
    last: float | None = None

    @property
    def ran_count(self) -> int:
        return self.ok + self.finding

    @property
    def failed_count(self) -> int:
        return self.mistakes + self.environment


class Missing(msgspec.Struct, frozen=True, gc=False):
    """Something that a call did not find: a program, the folder of a `cd` that had worked before, a project."""

    name: str
    seq: int
    signature: str
    at: float | None = None
    text: str = ""
    folder: str = ""
    """The folder in which it was looked for, if the call names one."""


class CommandNotes(msgspec.Struct, frozen=True, gc=False):
    """The commands of one session."""

    used: tuple[CommandUse, ...] = ()
    missing: tuple[Missing, ...] = ()
    """Programs that the shell did not know."""
    stayed: tuple[Missing, ...] = ()
    """Folders that a `cd` did not find because the shell was in them already."""
    astray: tuple[Missing, ...] = ()
    """Programs that did not find their project where they were started."""
    moved: int = 0
    """Calls that went to a folder first and worked."""
    programs: dict[str, int] = {}
    """How often each program ran."""


class _Counts:
    """The calls of one form while they are counted."""

    def __init__(self, first: TypedCommand) -> None:
        self.first = first
        self.causes: Counter[str] = Counter()
        self.ran: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.signatures: Counter[str] = Counter()
        self.seqs: list[int] = []
        self.bad_seqs: list[int] = []
        self.last: float | None = None

    def add(self, command: TypedCommand, call: JudgedCall) -> None:
        record = call.record
        cause = "ok" if call.worked else record.cause or "mistake"
        self.causes[cause] += 1
        good = call.ran
        (self.seqs if good else self.bad_seqs).append(record.seq)
        if not (junk_reason(command.text) or _VARIABLE.search(command.text)):
            (self.ran if good else self.failed)[command.text] += 1
        if not good and record.signature:
            self.signatures[one_line(record.signature)] += 1
        if call.call.at is not None:
            self.last = max(call.call.at, self.last or 0.0)

    def value(self) -> CommandUse:
        first, causes = self.first, self.causes
        return CommandUse(
            first.purpose, first.way, first.core, first.form, first.folder,
            causes["ok"], causes["finding"], causes["mistake"], causes["environment"],
            most_frequent(self.ran), most_frequent(self.failed), tuple(text for text, _ in most_frequent(self.signatures)),
            tuple(self.seqs[-MOST_SEQS:]), tuple(self.bad_seqs[-MOST_SEQS:]), self.last,
        )  # fmt: skip


def most_frequent(counts: Counter[str], number: int = MOST_TEXTS) -> tuple[tuple[str, int], ...]:
    """The most frequent, equals by the alphabet."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number])


def collect_commands(seen: JudgedSession) -> CommandNotes:
    """The commands that a session ran."""
    counts: dict[tuple[str, ...], _Counts] = {}
    missing: list[Missing] = []
    stayed: list[Missing] = []
    astray: list[Missing] = []
    programs: Counter[str] = Counter()
    visited: set[str] = set()
    moved_calls = 0
    own: set[str] = set()
    for each in seen.calls:
        call = each.call
        if call.kind in ("write", "edit") and each.worked:
            own.update(
                map(base_name, changed_files(call).split("\n"))
                if changed_files(call)
                else file_names_in(command_text(call.input))
            )
        text = seen.relative(command_text(call.input)) if call.kind == "shell" else ""
        if not text:
            continue
        commands = split_commands(text, _start(seen, call.input))
        target = _first_cd(text)
        if target and each.ran:
            visited.add(target)
            moved_calls += 1
        _note_missing(each, text, target if target in visited else "", missing, stayed)
        if each.failed and commands and _ASTRAY.search(each.record.signature):
            programs_here = Counter(command.program for command in commands)
            name = max(programs_here, key=lambda program: programs_here[program])  # of equals the first
            astray.append(_make_missing(each, name, text, commands[0].folder))
            continue
        for command in _judged_commands(each, text, commands):
            if each.ran:
                programs[command.program] += 1
            if command.purpose in _PURPOSES and not _runs_own_script(command, own):
                key = (command.purpose, command.way, command.form, command.folder)
                counts.setdefault(key, _Counts(command)).add(command, each)
        if ">" in text or "tee" in text:
            own.update(base_name(name) for found in _WRITTEN.findall(text[:8192]) for name in found if name)
    found = sorted((each.value() for each in counts.values()), key=_by_weight)[:MOST_USED]
    return CommandNotes(
        tuple(found),
        tuple(missing),
        tuple(stayed),
        tuple(astray),
        moved_calls,
        dict(most_frequent(programs, MOST_PROGRAMS)),
    )


def _by_weight(used: CommandUse) -> tuple[object, ...]:
    return (-(used.ran_count + used.failed_count), used.way, used.form, used.folder, used.purpose)


def _start(seen: JudgedSession, arguments: dict[str, object]) -> str:
    """The folder in a call's own argument for the working folder."""
    for name in _FOLDER_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return folder_after_cd("", seen.relative(value)) or ""
    return ""


def _first_cd(text: str) -> str:
    found = re.match(r"\s*cd\s+([\w./@-]+)\s*(?:&&|;|\n)", text)
    target = found[1].rstrip("/") if found else ""
    return "" if target in ("", ".", "..", "-") or target.startswith("/") else target


def _note_missing(call: JudgedCall, text: str, target: str, missing: list[Missing], stayed: list[Missing]) -> None:
    record = call.record
    if not call.failed or record.cause == "finding":
        return
    signature = one_line(record.signature)
    if _NOT_FOUND.search(signature):
        name = _unknown_program(text, signature)
        if name:
            missing.append(_make_missing(call, name, text))
    elif target and _NO_FOLDER.search(signature):
        stayed.append(_make_missing(call, target, text))


def _make_missing(call: JudgedCall, name: str, text: str, folder: str = "") -> Missing:
    return Missing(name, call.record.seq, one_line(call.record.signature), call.call.at, one_line(text), folder)


def _unknown_program(text: str, signature: str) -> str:
    """The program that the shell's message names, if the text calls it."""
    words = set(re.findall(r"[\w.+-]+", signature))
    for command in understand(text).commands:
        for name in (*command.wrappers, command.program):
            if name in words and len(name) > 1 and name.islower() and name not in _SPEAKERS:
                return name
    return ""


def _judged_commands(call: JudgedCall, text: str, commands: tuple[TypedCommand, ...]) -> Iterable[TypedCommand]:
    """The commands that the verdict on a call is about."""
    if not (call.ran or (call.failed and call.record.cause)):
        return ()
    if len(commands) <= 1:
        alone = [each for each in understand(text).commands if each.program.lower() not in ("cd", "echo", "export")]
        chained = sum(each.purpose not in ("read", "search", "list", "other") for each in alone) > 1
        return () if chained and not call.ran else commands
    if call.worked and not understand(text).masked:
        return commands
    if call.ran:  # the judge speaks of the main one
        main = understand(text).main
        return [each for each in commands if main is not None and each.program == main.program][:1]
    return ()


def _runs_own_script(command: TypedCommand, own: set[str]) -> bool:
    """Whether a command runs what the session itself has just written."""
    return not own.isdisjoint(base_name(word.strip("'\"")) for word in command.core.split())
