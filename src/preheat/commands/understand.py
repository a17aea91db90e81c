"""A shell text of a call: its commands, the main one, and whose exit code can be seen. Knows no program by itself."""

import shlex
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec

from preheat.commands.parse import parse
from preheat.commands.plain import words_only
from preheat.commands.programs import FAMILIES, FILTERS, TRIVIAL
from preheat.commands.purposes import purpose_of
from preheat.commands.values import (
    CHECKS,
    Command,
    Compound,
    Item,
    Pipeline,
    Purpose,
    Script,
    Simple,
    Statement,
    Understanding,
)
from preheat.commands.words import base_name, name_set, operands
from preheat.commands.wrappers import SCRIPTED, SHELLS, script_of, unwrap

# The shell text in the arguments of a call
_NAMES = (
    "command", "cmd", "commands", "script", "shell_command", "bash_command", "command_line", "commandLine", "CommandLine",
    "keystrokes", "code", "text",
)  # fmt: skip
_HOLDERS = ("action", "args", "arguments", "input", "parameters")


def command_text(arguments: Mapping[str, Any]) -> str:
    """The shell text of a call; empty where there is none (a call that reads from or writes to a running command)."""
    usual = arguments.get("command")
    if usual and type(usual) is str:
        return usual
    for name in _NAMES:
        text = _text(name, arguments.get(name))
        if text:
            return text
    for name in _HOLDERS:
        inside = arguments.get(name)
        if isinstance(inside, str) and name == "input":
            return inside
        if isinstance(inside, Mapping):
            text = next((text for key in _NAMES if (text := _text(key, inside.get(key)))), "")
            if text:
                return text
    return ""


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value:
        return ""
    if name == "commands":  # several texts, one after the other
        return "\n".join(filter(None, (_text("command", each) for each in value)))
    if not all(isinstance(word, str) for word in value):
        return ""
    words = tuple(value)
    script = script_of(words)
    if script is not None:
        return script
    return words[0] if len(words) == 1 else shlex.join(words)


# One simple command by its words
_FEW, _SHORT = 3, 100
"""Words, and characters, of a command that is remembered: `cd app` and `tail -5` come again, a long one hardly does."""


class SingleCommand(msgspec.Struct, frozen=True, gc=False):
    """One command, and the script that it starts, if it does."""

    command: Command
    script: str | None
    """What a shell is started with: `bash -c SCRIPT`."""


def read_single(words: tuple[str, ...], writes: bool) -> SingleCommand:
    """The command that some words are. `writes`: its output goes into a file."""
    if len(words) <= _FEW and len("".join(words)) <= _SHORT:
        return _remembered_single(words, writes)
    return _single(words, writes)


def _single(words: tuple[str, ...], writes: bool) -> SingleCommand:
    words, wrappers = unwrap(words)
    program = base_name(words[0])
    purpose = purpose_of(words, writes, wrappers[-1] if wrappers else "", program)
    return SingleCommand(Command(program, words, purpose, wrappers), script_of(words) if program in SCRIPTED else None)


_remembered_single = lru_cache(maxsize=1024)(_single)


# A whole shell text
_CACHED = 4096
"""Characters of the longest text that is remembered, so that the cache stays small."""

_LONG = 65_536
"""Characters of long texts that are remembered: several stages ask for the same text one after the other."""

_NESTED = 3
"""Scripts within scripts (`bash -c "bash -c …"`) that are followed."""

_WEIGHTS: dict[Purpose, float] = {
    **dict.fromkeys(CHECKS, 6.0), "vcs": 5.0, "run": 5.0, "package": 5.0, "other": 5.0, "edit": 4.0, "format": 4.0,
    "poll": 3.0, "network": 2.0, "search": 1.0, "list": 1.0, "read": 1.0,
}  # fmt: skip
_FILTER, _TRIVIAL, _SUBSTITUTED = 0.5, 0.0, 0.75
_LOOKS: frozenset[Purpose] = frozenset(("search", "list", "read"))
_VCS_LOOKS = name_set(
    "status diff log show blame branch remote rev-parse ls-files describe shortlog reflog rev-list cat-file ls-tree merge-base"
    " config tag view list checks whatchanged name-rev for-each-ref show-ref var count-objects check-ignore info"
)
_SIGNALS = frozenset(("kill", "pkill", "killall", "taskkill", "stop-process"))
_INLINE = frozenset(("-c", "-e", "-ne", "-pe", "-p", "-n", "-"))
_INTERPRETERS = frozenset(("perl", "python", "python3", "node", "ruby"))
_SLEEPS = frozenset(("sleep", "start-sleep"))
_LEAVES = frozenset(("exit", "return"))

Codes = tuple[tuple[int, ...], tuple[int, ...]]
"""Numbers of the commands whose code is reported, and of those whose failure makes the whole fail."""
_NOBODY: Codes = ((), ())


def understand(text: str) -> Understanding:
    """What a shell text is for. Takes any text, and time in proportion to its length."""
    if len(text) <= _CACHED:
        return _remembered(text)
    return _remembered_long(text) if len(text) <= _LONG else _understand(text)


def _understand(text: str) -> Understanding:
    words = words_only(text)
    if words and (understood := _alone(Simple(words))):
        return understood
    script, complete = parse(text)
    only = _only(script)
    if only is not None and complete and (understood := _alone(only)):
        return understood
    return understand_script(script, complete)


def understand_script(script: Script, complete: bool) -> Understanding:
    """The understanding of any parsed script."""
    reading = _Reading()
    decides, seen = reading.script(script)
    commands = tuple(reading.commands)
    if not commands:
        return Understanding((), "other", None, (), False, complete)
    main = reading.weights.index(max(reading.weights))  # the first of equals
    deciding = tuple([commands[n] for n in (decides if len(decides) < 2 else dict.fromkeys(decides))])
    masked = main not in seen or any(each.purpose in CHECKS and n not in seen for n, each in enumerate(commands))
    return Understanding(commands, commands[main].purpose, commands[main], deciding, masked, complete)


_remembered = lru_cache(maxsize=8192)(_understand)
_remembered_long = lru_cache(maxsize=64)(_understand)


def _only(script: Script) -> Simple | None:
    """What a script consists of that is nothing but one command."""
    if len(script) != 1 or script[0].operators or script[0].background:
        return None
    pipeline = script[0].pipelines[0]
    item = pipeline.items[0]
    if len(pipeline.items) > 1 or pipeline.negated or not isinstance(item, Simple):
        return None
    return item if item.words and not item.inner else None


def _alone(simple: Simple) -> Understanding | None:
    """The short way for a text that is nothing but one command, as most are. None where there is more to it."""
    found = read_single(simple.words, simple.writes)
    command = found.command
    if found.script or command.program in _LEAVES or (simple.heredoc and command.program in SHELLS):
        return None
    alone = (command,)
    return Understanding(alone, command.purpose, command, alone, False, True)


def is_look(command: Command) -> bool:
    """Whether a command only shows something."""
    if command.purpose == "vcs":
        return not _VCS_LOOKS.isdisjoint(operands(command.words, ("-C", "-c", "-R", "--repo"))[:2])
    return command.purpose in _LOOKS


def is_trivial(command: Command) -> bool:
    """Whether a command only prepares or announces: `cd`, `echo`, `export`."""
    return command.program.lower() in TRIVIAL


class _Reading:
    """One walk over one script, nested scripts included."""

    __slots__ = ("commands", "errexit", "functions", "nested", "pipefail", "substituted", "weights")

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.weights: list[float] = []
        self.functions: dict[str, Codes] = {}
        self.errexit = self.pipefail = False
        self.nested = self.substituted = 0

    def script(self, script: Script) -> Codes:
        if len(script) == 1:
            codes = self.statement(script[0])
            return codes if self.leaves_with(codes) is None else _NOBODY
        decides, seen = _NOBODY
        before: tuple[int, ...] = ()
        first = len(self.commands)
        for statement in script:
            start = len(self.commands)
            codes = self.statement(statement)
            left = self.leaves_with(codes)
            if left is not None:  # `cmd | tee log; exit ${PIPESTATUS[0]}` hands on what came before
                decides = seen = tuple(range(first, start)) if "status[" in left.lower() else before or seen
            elif self.errexit:
                decides, seen = decides + codes[0], seen + codes[1]
            else:
                decides, seen = codes
            before += codes[1]
        return decides, seen

    def leaves_with(self, codes: Codes) -> str | None:
        """The argument of an `exit` that hands a code on."""
        if len(codes[0]) != 1:
            return None
        command = self.commands[codes[0][0]]
        if command.program not in _LEAVES or len(command.words) > 2:
            return None
        argument = command.words[1] if len(command.words) == 2 else "$?"
        return argument if argument.startswith("$") else None

    def statement(self, statement: Statement) -> Codes:
        decides, seen = self.pipeline(statement.pipelines[0])
        if not statement.operators:
            return _NOBODY if statement.background else (decides, seen)
        for operator, pipeline in zip(statement.operators, statement.pipelines[1:], strict=True):
            after = self.pipeline(pipeline)
            if operator == "&&":
                decides, seen = decides + after[0], seen + after[1]
            else:
                decides, seen = after[0], seen + after[1] if self.always_fails(after) else after[1]
        return _NOBODY if statement.background else (decides, seen)

    def always_fails(self, codes: Codes) -> bool:
        command = self.commands[codes[0][-1]] if codes[0] else None
        if command is None:
            return False
        if command.program in _LEAVES:
            return command.words[1:2] not in ((), ("0",))
        return command.program == "false"

    def pipeline(self, pipeline: Pipeline) -> Codes:
        items = pipeline.items
        every = [self.item(items[0], False)]
        if len(items) > 1:
            every += [self.item(item, True) for item in items[1:]]
        if pipeline.negated:
            return _NOBODY
        if self.pipefail:
            return tuple(n for codes in every for n in codes[0]), tuple(n for codes in every for n in codes[1])
        return every[-1]

    def item(self, item: Item, piped: bool) -> Codes:
        return self.simple(item, piped) if isinstance(item, Simple) else self.compound(item)

    def compound(self, compound: Compound) -> Codes:
        start = len(self.commands)
        decides: tuple[int, ...] = ()
        seen: tuple[int, ...] = ()
        for counts, script in compound.parts:
            codes = self.script(script)
            if counts:
                decides, seen = decides + codes[0], seen + codes[1]
        if compound.kind in ("loop", "each"):
            self.mark_polling(start, compound.kind == "loop")
        if compound.kind == "function":
            self.functions[compound.name] = decides, seen
            return _NOBODY
        return decides, seen

    def mark_polling(self, start: int, waits: bool) -> None:
        """Looks and requests in a loop that sleeps wait for something; a `for` does when it can break off."""
        programs = {command.program.lower() for command in self.commands[start:]}
        if programs.isdisjoint(_SLEEPS) or not (waits or "break" in programs):
            return
        for number in range(start, len(self.commands)):
            command = self.commands[number]
            if command.purpose == "network" or (is_look(command) and not is_trivial(command)):
                self.commands[number] = Command(command.program, command.words, "poll", command.wrappers)
                self.weights[number] = max(self.weights[number], _WEIGHTS["poll"])

    def simple(self, simple: Simple, piped: bool) -> Codes:
        codes = _NOBODY
        if simple.words:
            found = read_single(simple.words, simple.writes)
            command = found.command
            inside = found.script or (_heredoc(command, simple) if simple.heredoc else None)
            codes = self.nest(inside, command) if inside and self.nested < _NESTED else self.command(command, piped)
        if simple.inner:
            self.substituted += 1
            for script in simple.inner:
                inner = self.script(script)
                codes = codes if simple.words else inner  # `x=$(cmd)` reports the code of `cmd`
            self.substituted -= 1
        return codes

    def nest(self, text: str, shell: Command) -> Codes:
        script, _complete = parse(text)
        start = len(self.commands)
        outside = self.errexit, self.pipefail
        self.errexit, self.pipefail = False, False
        self.options(shell.words)
        self.nested += 1
        codes = self.script(script)
        self.nested -= 1
        self.errexit, self.pipefail = outside
        around = (*shell.wrappers, shell.program)
        for number in range(start, len(self.commands)):
            inner = self.commands[number]
            self.commands[number] = Command(inner.program, inner.words, inner.purpose, around + inner.wrappers)
        return codes

    def command(self, command: Command, piped: bool) -> Codes:
        program = command.program
        if program in self.functions:
            self.add(Command(program, command.words, "other", command.wrappers), _TRIVIAL)
            return self.functions[program]
        if program == "set":
            self.options(command.words)
        self.add(command, self.weight(command, piped))
        number = (len(self.commands) - 1,)
        return number, number

    def add(self, command: Command, weight: float) -> None:
        self.commands.append(command)
        self.weights.append(max(weight - _SUBSTITUTED, 0.0) if self.substituted else weight)

    def weight(self, command: Command, piped: bool) -> float:
        """How much a text is for this command: checks before actions, edits, waiting, looking, and only then `cd`."""
        program = command.program.lower()
        filters = piped and program in FILTERS and "xargs" not in command.wrappers
        if filters and (program not in _INTERPRETERS or not _INLINE.isdisjoint(command.words)):
            return _FILTER
        prepares = program in FAMILIES and command.purpose == "other"  # `nvm use 18`
        if prepares or (program in TRIVIAL and command.purpose in ("other", "list")):
            return _TRIVIAL
        if program in _SIGNALS:
            return _WEIGHTS["network"]
        if command.purpose == "vcs" and is_look(command):
            return _WEIGHTS["read"]
        return _WEIGHTS[command.purpose]

    def options(self, words: tuple[str, ...]) -> None:
        """`set -e`, `set -euo pipefail`, `bash -ec …`."""
        for before, word in pairwise(words):
            if word == "pipefail":
                self.pipefail = before[:1] == "-"
            elif word[:1] in ("-", "+") and word[1:2] != "-" and "e" in word[1:]:
                self.errexit = word[0] == "-"


def _heredoc(command: Command, simple: Simple) -> str | None:
    """The here-document that a shell runs as its script."""
    return None if command.program not in SHELLS or operands(command.words, ("-o",)) else simple.heredoc
