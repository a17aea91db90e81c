"""Which commands the sessions of a project ran, in which form and folder, and how that went. Knows no lesson and no wording.

The counts are of calls; what a pipe hides or a chain of commands blurs is left out. A way is a program with what starts it and
its subcommand (`npx vitest`, `mise run test`); an aspect of a way is a group of its forms: the whole suite, the single test.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.files import base_name
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.placeholders import commonest_text, generalise
from preheat.commands import command_text, understand
from preheat.commands.words import name_set
from preheat.lessons.call_facts import changed_names, find_written_names
from preheat.lessons.replacements import find_place, find_replacement
from preheat.lessons.typed_commands import TypedCommand, folder_after_cd, split_commands
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import junk_reason

# What one session shows of the commands of its project
MOST_USED = 300
MOST_TEXTS = 3
MOST_SEQS = 5
MOST_PROGRAMS = 100
_PURPOSES = frozenset(("test", "build", "lint", "typecheck", "format", "package", "run", "other"))
"""Looking, editing, version control and requests are done the same way in every project."""
_FOLDER_ARGUMENTS = ("workdir", "cwd", "working_directory", "dir")
_NOT_FOUND = re.compile(
    r"(?i)command not found|not recognized as|(?:^|[:\s])not found$|no such command|is not installed|executable file not found"
)
_SPEAKERS = frozenset(("command", "zsh", "bash", "sh", "line", "eval"))
"""Words of these messages that are no program."""
_NO_FOLDER = re.compile(r"(?i)\bcd\b.*(?:no such file|cannot find|can't cd|does not exist)|cannot find path")
ASTRAY = re.compile(
    r"(?i)does not contain main module|go\.mod file not found|cannot find main module|could not find \S+ in \S+ or any parent"
    r"|could not find `?cargo\.toml|(?:enoent|no such file|could not read|no|cannot find)\b.*\b(?:package\.json|pyproject\.toml)"
    r"|no package\.json|no makefile found|no rule to make target|missing script|no such script|script not found"
    r"|no justfile found|no taskfile|no project or solution file|no pom in this directory|not part of a gradle build"
)
"""What programs say that look for their project where they are started."""
_UNMATCHED = re.compile(r"(?:zsh|\(eval\)):\w+: no matches found|zsh: no matches found")
_ZSH = re.compile(r"(?:^|\n)(?:zsh|\(eval\)):(?:\w+:)*\d")
"""What only this shell puts before a message."""
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
    seconds: tuple[float, ...] = ()
    """How long calls of it alone took, the last ones."""
    limits: tuple[float, ...] = ()
    """The time limits, in seconds, that calls of it were given, the last ones."""

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
    instead: str = ""
    """How the session then started the same program, or another with the same arguments; empty where it did not."""


class CommandNotes(msgspec.Struct, frozen=True, gc=False):
    """The commands of one session."""

    used: tuple[CommandUse, ...] = ()
    missing: tuple[Missing, ...] = ()
    """Programs that the shell did not know."""
    stayed: tuple[Missing, ...] = ()
    """Folders that a `cd` did not find because the shell was in them already."""
    astray: tuple[Missing, ...] = ()
    """Programs that did not find their project where they were started."""
    unmatched: tuple[Missing, ...] = ()
    """Patterns that matched no file, where the shell refuses that."""
    moved: int = 0
    """Calls that went to a folder first and worked."""
    programs: dict[str, int] = {}
    """How often the shell itself started each program."""
    shell: str = ""
    """The shell, where one of its messages says which it is."""


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
        self.seconds: list[float] = []
        self.limits: list[float] = []

    def add(self, command: TypedCommand, call: JudgedCall, is_alone: bool) -> None:
        record = call.record
        if is_alone and call.ran and record.seconds is not None:
            self.seconds.append(round(record.seconds, 1))
        if is_alone and call.ran and (limit := _time_limit(call.call.input)) is not None:
            self.limits.append(limit)
        # A failure of unknown cause counts with those that came from outside: against the command, not as a mistake.
        cause = "ok" if call.worked else "environment" if record.cause in (None, "unknown") else record.cause
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
            tuple(self.seconds[-MOST_SEQS:]), tuple(self.limits[-MOST_SEQS:]),
        )  # fmt: skip


_LIMITS = {"timeout": 1000.0, "timeout_ms": 1000.0, "timeoutMs": 1000.0, "timeout_seconds": 1.0, "timeout_sec": 1.0}
"""Arguments for a time limit, and how many of their units are a second."""


def _time_limit(arguments: dict[str, object]) -> float | None:
    for name, unit in _LIMITS.items():
        value = arguments.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return float(value) / (unit if value >= unit else 1.0)
    return None


def most_frequent(counts: Counter[str], number: int = MOST_TEXTS) -> tuple[tuple[str, int], ...]:
    """The most frequent, equals by the alphabet."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number])


def collect_commands(seen: JudgedSession) -> CommandNotes:
    """The commands that a session ran."""
    counts: dict[tuple[str, ...], _Counts] = {}
    missing: list[Missing] = []
    stayed: list[Missing] = []
    astray: list[Missing] = []
    unmatched: list[Missing] = []
    programs: Counter[str] = Counter()
    visited: set[str] = set()
    moved_calls = 0
    own: set[str] = set()
    shell = ""
    for each in seen.calls:
        call = each.call
        if (
            not shell
            and each.failed
            and call.kind == "shell"
            and each.result
            and _ZSH.search(each.result.text[:_MESSAGES])
        ):
            shell = "zsh"
        if call.kind in ("write", "edit") and each.worked:
            own.update(changed_names(each))
        text = seen.relative(command_text(call.input)) if call.kind == "shell" else ""
        if not text:
            continue
        commands = split_commands(text, _starting_folder(seen, call.input))
        target = _first_cd(text)
        if target and each.ran:
            visited.add(target)
            moved_calls += 1
        if missing and each.ran:
            note_replacement(missing, commands, each.record.seq, text)
        _note_missing(each, text, target if target in visited else "", missing, stayed)
        if each.failed and _UNMATCHED.search(each.record.signature):
            unmatched.append(_make_missing(each, "zsh", text))
        if each.failed and commands and ASTRAY.search(each.record.signature):
            programs_here = Counter(command.program for command in commands)
            name = max(programs_here, key=lambda program: programs_here[program])  # of equals the first
            astray.append(_make_missing(each, name, text, commands[0].folder))
            continue
        if not commands and each.ran and (main := understand(text).main) is not None and not main.wrappers:
            programs[main.program] += 1  # a script within the call: no way of working, but the shell knows the program
        judged = list(_judged_commands(each, text, commands))
        for command in judged:
            if each.ran and command.way == command.core:  # what another program starts, the shell need not know
                programs[command.program] += 1
            if command.purpose in _PURPOSES and not _runs_own_script(command, own):
                key = (command.purpose, command.way, command.form, command.folder)
                counts.setdefault(key, _Counts(command)).add(command, each, len(commands) == 1)
        own.update(find_written_names(text))
    found = sorted((each.value() for each in counts.values()), key=_by_weight)[:MOST_USED]
    return CommandNotes(
        tuple(found),
        tuple(missing),
        tuple(stayed),
        tuple(astray),
        tuple(unmatched[-MOST_SEQS:]),
        moved_calls,
        dict(most_frequent(programs, MOST_PROGRAMS)),
        shell,
    )


_MESSAGES = 2000
"""Characters of a result in which the shell's own message is looked for."""


def _by_weight(used: CommandUse) -> tuple[object, ...]:
    return (-(used.ran_count + used.failed_count), used.way, used.form, used.folder, used.purpose)


def _starting_folder(seen: JudgedSession, arguments: dict[str, object]) -> str:
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


_SOON = 10
"""Calls after one that did not find its program, within which the next ones show what is used instead."""


def note_replacement(missing: list[Missing], commands: Sequence[TypedCommand], seq: int, text: str) -> None:
    """Notes beside programs that were not found how they, or others in their place, were started soon after."""
    for place, each in enumerate(missing):
        if not each.instead and seq - each.seq <= _SOON:
            ways = (find_place(each, command, text) or find_replacement(each, command) for command in commands)
            instead = next(filter(None, ways), "")
            if instead:
                missing[place] = msgspec.structs.replace(each, instead=instead)


def _make_missing(call: JudgedCall, name: str, text: str, folder: str = "") -> Missing:
    return Missing(name, call.record.seq, one_line(call.record.signature), call.call.at, one_line(text), folder)


def _unknown_program(text: str, signature: str) -> str:
    """The program that the shell's message names, if the text calls it."""
    words = set(re.findall(r"[\w.+-]+", signature))
    for command in understand(text).commands:
        for name in (*command.wrappers, command.program):
            is_quoted = f"`{name}" in text  # within double quotes: meant as a quotation, run by the shell
            if name in words and len(name) > 1 and name.islower() and name not in _SPEAKERS and not is_quoted:
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
    if "||" in text:
        return _main_command(text, commands) if call.ran else ()
    if call.worked:  # the judge has read the output of all: none of them complains
        return commands
    if call.ran:  # the judge speaks of the main one; what stands before it with `&&` worked
        main = _main_command(text, commands)
        is_chain = ";" not in text and "\n" not in text.strip()
        place = commands.index(main[0]) if main else 0
        return [*(commands[:place] if is_chain else ()), *main]
    return ()


def _main_command(text: str, commands: tuple[TypedCommand, ...]) -> list[TypedCommand]:
    main = understand(text).main
    return [each for each in commands if main is not None and each.program == main.program][-1:]


def _runs_own_script(command: TypedCommand, own: set[str]) -> bool:
    """Whether a command runs what the session itself has just written."""
    return not own.isdisjoint(base_name(word.strip("'\"")) for word in command.core.split())


# The ways of calling commands that a project's sessions show, added up
ENOUGH_CALLS = 3
ENOUGH_SESSIONS = 2
_MOST_ASPECTS = 3
_OWN_ASPECT = 0.1
"""Share of a way's calls that makes an aspect of its own."""
_SELECTING = name_set(
    "-run -k -t -g --grep --testNamePattern --testPathPattern --testPathPatterns --test-name-pattern --filter-tests"
    " --test -R --tests --only"
)
_SWITCHING = name_set("-tags --tags --features --all-features --filter --project --workspace -p -race")
_USUAL = 0.5
_CLEAR = 0.8
_FILE = re.compile(r"\s[^\s-][^\s]*\w\.[A-Za-z]\w{0,4}['\"]?(?=\s|$)")
"""An argument that names a file: a command with one is about that file only."""
_RECURS, _OFTEN = 3, 0.15
"""Sessions, and their share, in which the very same text makes it the command."""
_WORKS = 0.7
_FAILS = 0.25


class SessionCommands(NamedTuple):
    """One session of a project: which it is, when, and what it shows."""

    session: str
    position: int
    """0-based among the project's sessions, the oldest first."""
    at: float | None
    commands: CommandNotes
    agent: str = ""


class Use(NamedTuple):
    """What one session shows of one form."""

    source: SessionCommands
    used: CommandUse


class Tally:
    """Calls of several uses together."""

    def __init__(self, uses: Iterable[Use]) -> None:
        self.uses = sorted(uses, key=lambda use: (use.source.position, use.used.form, use.used.folder))
        self.ran = sum(use.used.ran_count for use in self.uses)
        self.passed = sum(use.used.ok for use in self.uses)
        self.failed = sum(use.used.failed_count for use in self.uses)
        self.sessions = len({use.source.session for use in self.uses if use.used.ran_count})
        self.failed_sessions = len({use.source.session for use in self.uses if use.used.failed_count})

    @property
    def share(self) -> float:
        return self.ran / (self.ran + self.failed) if self.ran + self.failed else 0.0

    @property
    def is_working(self) -> bool:
        return self.ran > 0 and self.share >= _WORKS

    @property
    def is_failing(self) -> bool:
        return self.failed >= 2 and self.share <= _FAILS

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that ran, by the number of their sessions."""
        found: Counter[str] = Counter()
        for form, _ in {(use.used.form, use.source.session) for use in self.uses if use.used.ran_count}:
            found[form] += 1
        return tuple(sorted(found, key=lambda form: (-found[form], form)))

    @property
    def signatures(self) -> tuple[str, ...]:
        """The messages of those that failed, by how many sessions met them."""
        found = Counter(signature for use in self.uses for signature in use.used.signatures)
        return tuple(sorted(found, key=lambda text: (-found[text], text)))

    def texts(self, failing: bool = False) -> Counter[tuple[str, str]]:
        """Folder and text, counted by sessions: many calls in one session count once."""
        found: Counter[tuple[str, str]] = Counter()
        for use in self.uses:
            for text, _ in use.used.failing if failing else use.used.texts:
                found[use.used.folder, text] += 1
        return found

    def newest(self, sessions: int) -> "Tally":
        """The uses of the newest third of the project's sessions."""
        first = sessions - sessions // 3
        return Tally(use for use in self.uses if use.source.position >= first)


class Aspect(NamedTuple):
    """One way of calling a command, used for one thing."""

    purpose: str
    way: str
    core: str
    name: str
    """The name that `aspect_of` gives."""
    tally: Tally


def group_by_way(sessions: Sequence[SessionCommands]) -> dict[tuple[str, str], list[Use]]:
    """By purpose and way, what the sessions show of it."""
    found: dict[tuple[str, str], list[Use]] = {}
    for each in sessions:
        for used in each.commands.used:
            found.setdefault((used.purpose, used.way), []).append(Use(each, used))
    return dict(sorted(found.items()))


def split_aspects(purpose: str, way: str, uses: Sequence[Use]) -> list[Aspect]:
    """The aspects of one way, the most used first; what is used little belongs to the first."""
    by_name: dict[str, list[Use]] = {}
    failing = {form for tally in failing_forms(uses) for form in {use.used.form for use in tally.uses}}
    for use in uses:
        if use.used.form not in failing:  # a variant to warn of, and no part of what works
            by_name.setdefault(aspect_of(purpose, use.used.form), []).append(use)
    tallies = {name: Tally(members) for name, members in by_name.items()}
    whole = sum(tally.ran for tally in tallies.values())
    ranked = sorted(tallies, key=lambda name: (-tallies[name].sessions, -tallies[name].ran, name))
    heads = [
        name
        for number, name in enumerate(ranked)
        if not number or (tallies[name].sessions >= ENOUGH_SESSIONS and _is_large_enough(tallies[name].ran, whole))
    ][:_MOST_ASPECTS]
    for name in ranked:
        if name not in heads:
            by_name[heads[0]] += by_name[name]
    return [Aspect(purpose, way, uses[0].used.core, name, Tally(by_name[name])) for name in heads]


def _is_large_enough(ran: int, whole: int) -> bool:
    return ran >= max(ENOUGH_CALLS, _OWN_ASPECT * whole)


def aspect_of(purpose: str, form: str) -> str:
    """What a form is used for: one test or all of them, with or without a part that must be switched on; else its options."""
    options = [word for word in form.split() if word.startswith("-")]
    if purpose != "test":
        return " ".join(options)
    chosen = ["single"] if not _SELECTING.isdisjoint(options) else []
    return " ".join((*chosen, *(option for option in options if option in _SWITCHING)))


def failing_forms(uses: Sequence[Use]) -> list[Tally]:
    """The forms of a way that hardly ever work, where others do."""
    by_form: dict[str, list[Use]] = {}
    for use in uses:
        by_form.setdefault(use.used.form, []).append(use)
    return [tally for form in sorted(by_form) if (tally := Tally(by_form[form])).is_failing]


def home_folders(project_sessions: Sequence[SessionCommands]) -> dict[str, str]:
    """By program, the one folder that its calls go to first, where that is what makes them work.

    A shell may keep its folder, so a call that names none says nothing; a program that did not find its project does."""
    calls_by_folder: dict[str, Counter[str]] = {}
    sessions: dict[tuple[str, str], set[str]] = {}
    bare: Counter[str] = Counter()
    for each in project_sessions:
        for used in each.commands.used:
            program = used.core.partition(" ")[0]
            if used.folder:
                calls_by_folder.setdefault(program, Counter())[used.folder] += used.ran_count
                sessions.setdefault((program, used.folder), set()).add(each.session)
            else:
                bare[program] += used.ran_count
    astray = {missing.name for each in project_sessions for missing in each.commands.astray}
    found: dict[str, str] = {}
    for program, folders in sorted(calls_by_folder.items()):
        folder, count = min(folders.items(), key=lambda item: (-item[1], item[0]))
        clear = count >= ENOUGH_CALLS and count >= _CLEAR * folders.total() and len(sessions[program, folder]) > 1
        if clear and (program in astray or folders.total() > _USUAL * (folders.total() + bare[program])):
            found[program] = folder
    return found


def usual_command(texts: Counter[tuple[str, str]], folder: str | None = None, single: bool = False) -> str:
    """The command as it is usually typed: with its folder, and exactly where the sessions agree or one text recurs.
    `single`: it names a case, so that a text that recurs is chance."""
    if not texts:
        return ""
    total = texts.total()
    if not folder:
        folders: Counter[str] = Counter()
        for (where, _), count in texts.items():
            folders[where] += count
        folder = next((where for where, count in sorted(folders.items()) if where and count > _USUAL * total), "")
    counted: Counter[str] = Counter()
    for (where, text), count in texts.items():
        if where == folder or not folder or not where:
            counted[text] += count
    text, most = commonest_text(counted)
    recurs = most >= _RECURS and most >= _OFTEN * counted.total() and not (single or _FILE.search(text))
    if not recurs and (most < _USUAL * counted.total() or most == 1 < counted.total()):
        text = generalise(counted)
    return f"cd {folder} && {text}" if folder and text else text


def aspect_rank(aspect: Aspect) -> tuple[object, ...]:
    return (-aspect.tally.sessions, -aspect.tally.ran, aspect.way, aspect.name)
