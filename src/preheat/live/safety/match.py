"""Which safety rules a call fits. Knows the rules only as data, and nothing of what is done about a match.

Commands are looked at as they are understood: wrappers, `bash -c` and pipes are seen through, and a word in quotes is a word.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import re2

from preheat.calls.files import changed, file_of
from preheat.commands import Command, Understanding, text_of, understand
from preheat.commands.heredocs import without_heredocs
from preheat.commands.words import has_flag, names, operands
from preheat.live.safety.rule import SEVERITIES, Match, Rule, Severity
from preheat.model.session import ToolCall

_LONGEST = 8192
"""Letters of a text that are looked at."""
_SHOWN = 120
_VALUED: dict[str, tuple[str, ...]] = {
    "git": ("-C", "-c", "--git-dir", "--work-tree"),
    "kubectl": ("-n", "--namespace", "--context", "--kubeconfig"),
    "oc": ("-n", "--namespace", "--context"),
    "helm": ("-n", "--namespace", "--kube-context"),
    "docker": ("--context", "-H", "--host"),
    "gh": ("-R", "--repo"),
    "terraform": ("-chdir",),
    "kill": (),
}
"""Options with a value that may stand before what a program is told."""
_SSH_VALUED = ("-i", "-p", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m", "-O", "-S", "-W", "-w")
_SHELLS = names("sh bash zsh dash ksh fish ash")
_SAYS = names("echo printf")
_LAST_CHANGED = names("cp ln install scp rsync")
_ALL_CHANGED = names("tee touch truncate rm unlink mv rmdir")
_REST_CHANGED = names("chown chgrp")
_IN_PLACE = names("sed perl gsed")
_PATTERN_FIRST = names("grep egrep fgrep rg ag ack sed gsed awk gawk jq yq perl")
_PATTERN_GIVEN = ("-e", "-f", "--regexp", "--file", "--expression", "-pattern")
_SHOWS = frozenset(["read", "search"])
_TARGET = re.compile(r"(?<![<>=&-])[012&]?>{1,2}\|?\s*(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s;&|<>()\"']+))")
_QUOTED = re.compile(r"\\.|(?<![\w$])\#[^\n]*|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_WRITES = re.compile(r">+\|?\s*[\"']?[~/$A-Z]")
"""Output goes to where a rule on paths may be about."""
_KEPT = re.compile(r"(?:[>=]\s*|\s-\w*c\s+|\beval\s+)$")
"""Before quotes that belong to the shell's own grammar: a target, a value, a script."""


class _Ready(NamedTuple):
    """A rule with its patterns made ready."""

    rule: Rule
    told: "re.Pattern[str] | None"
    flags: tuple[tuple[str, ...], ...]
    without: tuple[str, ...]
    operand: "re.Pattern[str] | None"
    words: "re.Pattern[str] | None"
    unless: "re.Pattern[str] | None"
    after: frozenset[str]
    unless_before: frozenset[str]
    sent: "re.Pattern[str] | None"


class _One:
    """One command, with what most of its rules ask for."""

    __slots__ = ("command", "given", "joined", "options", "told")

    def __init__(self, command: Command) -> None:
        words = command.words
        self.command = command
        self.joined = " ".join(words)
        self.given = operands(words, _VALUED.get(command.program, ()))
        self.told = " ".join(self.given)
        self.options = [word for word in words[1:] if word[:1] == "-"]


class _Said:
    """One shell text. What few rules ask for is made when it is asked for."""

    __slots__ = ("_sent", "commands", "text")

    def __init__(self, text: str, commands: tuple[Command, ...]) -> None:
        self.text = text
        self.commands = commands
        self._sent: str | None = None

    def is_inside(self, one: _One) -> bool:
        """Whether it stands in a substitution."""
        return f"$({one.joined}" in self.text or f"`{one.joined}" in self.text

    def sent(self, one: _One) -> str:
        if self._sent is None:
            said = (" ".join(each.words[1:]) for each in self.commands if each.program in _SAYS)
            bodies = (heredoc.body for heredoc in without_heredocs(self.text)[1])
            self._sent = "\n".join((*said, *bodies))
        return f"{one.joined}\n{self._sent}" if self._sent else one.joined


class Matcher:
    """Finds the rules that calls fit."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._by_program: dict[str, tuple[_Ready, ...]] = {}
        self._by_wrapper: dict[str, tuple[_Ready, ...]] = {}
        self._any: list[_Ready] = []
        self._around: list[tuple[Rule, re.Pattern[str]]] = []
        self._changes: list[tuple[Rule, re.Pattern[str]]] = []
        self._shows: list[tuple[Rule, re.Pattern[str], re.Pattern[str] | None]] = []
        for rule in rules:
            self._add(rule)
        self._signs = _some([*(rule for rule, _ in self._around), *(each.rule for each in self._any)])

    def _add(self, rule: Rule) -> None:
        if rule.around:
            self._around.append((rule, re.compile(rule.around)))
        elif rule.changes:
            self._changes.append((rule, re.compile(rule.changes)))
        elif rule.shows:
            self._shows.append((rule, re.compile(rule.shows), _pattern(rule.unless)))
        else:
            ready = _ready(rule)
            if rule.programs:
                for program in rule.programs.split():
                    name = program.lower()
                    self._by_program[name] = (*self._by_program.get(name, ()), ready)
            elif rule.through:
                for program in rule.through.split():
                    self._by_wrapper[program] = (*self._by_wrapper.get(program, ()), ready)
            else:
                self._any.append(ready)

    def call(self, call: ToolCall, *, unsaved: bool = False) -> tuple[Match, ...]:
        """The rules that a tool call fits, worst first; `unsaved`: the session has changes that are not committed."""
        if call.kind == "shell":
            return self.command(text_of(call.input), unsaved=unsaved)
        found: dict[str, Match] = {}
        if call.kind in ("edit", "write"):
            for path in changed(call).split("\n"):
                self._changed(path, found)
        elif call.kind == "read":
            path = file_of(call)
            for rule, pattern, _ in self._shows if path else ():
                if pattern.fullmatch(path):
                    found[rule.id] = _match(rule, rule.severity, path)
        return _sorted(found)

    def command(self, text: str, *, unsaved: bool = False) -> tuple[Match, ...]:
        """The same for a shell text."""
        return self.understood(text[:_LONGEST], understand(text), unsaved=unsaved)

    def understood(self, text: str, understood: Understanding, *, unsaved: bool = False) -> tuple[Match, ...]:
        """The same for one that is understood already."""
        found: dict[str, Match] = {}
        commands = understood.commands
        for command in commands:
            if command.program == "ssh" and (script := _far_script(command)):
                commands += understand(script).commands
        said = _Said(text, commands)
        for place, command in enumerate(commands):
            rules = self._by_program.get(command.program) or self._by_program.get(command.program.lower(), ())
            if command.wrappers:
                for wrapper in command.wrappers:
                    rules += self._by_wrapper.get(wrapper, ())
            if rules:
                one = _One(command)
                self._try(rules, one, said, place, found, unsaved)
            self._paths(command, found)
        signs = self._signs.search(text) is not None
        if signs:
            for place, command in enumerate(commands):
                self._try(tuple(self._any), _One(command), said, place, found, unsaved)
        if signs or (">" in text and _WRITES.search(text)):
            self._look_around(bare_text(text), found, signs)
        return _sorted(found) if found else ()

    def _try(
        self, rules: tuple[_Ready, ...], one: _One, said: _Said, place: int, found: dict[str, Match], unsaved: bool
    ) -> None:
        for ready in rules:
            rule = ready.rule
            if rule.id not in found and _fits(ready, one, said, place):
                severity = rule.unsaved if unsaved and rule.unsaved else rule.severity
                found[rule.id] = _match(rule, severity, one.joined)

    def _paths(self, command: Command, found: dict[str, Match]) -> None:
        for path in _changed_by(command):
            self._changed(path, found)
        if command.purpose in _SHOWS:
            for path in _shown_by(command):
                for rule, pattern, unless in self._shows:
                    if pattern.fullmatch(path):
                        joined = " ".join(command.words)
                        if unless is None or not unless.search(joined):
                            found.setdefault(rule.id, _match(rule, rule.severity, joined))

    def _changed(self, path: str, found: dict[str, Match]) -> None:
        for rule, pattern in self._changes:
            if pattern.fullmatch(path):
                found.setdefault(rule.id, _match(rule, rule.severity, path))

    def _look_around(self, bared: str, found: dict[str, Match], signs: bool) -> None:
        for groups in _TARGET.findall(bared):
            self._changed(next(filter(None, groups), ""), found)
        for rule, pattern in self._around if signs else ():
            if hit := pattern.search(bared):
                found.setdefault(rule.id, _match(rule, rule.severity, bared[hit.start() : hit.start() + _SHOWN]))


def bare_text(text: str) -> str:
    """A shell text without here-documents, comments and quoted words, as far as these are only words."""
    stripped = without_heredocs(text)[0] if "<<" in text else text
    if "'" not in stripped and '"' not in stripped and "#" not in stripped:
        return stripped

    def replaced(match: "re.Match[str]") -> str:
        found = match[0]
        if found[0] in "'\"":
            if (
                found[1:3] == "$("
                or found[1:2] == "`"
                or _KEPT.search(stripped, max(0, match.start() - 12), match.start())
            ):
                return found
            return "''"
        return "" if found[0] == "#" else found

    return _QUOTED.sub(replaced, stripped)


def _fits(ready: _Ready, one: _One, said: _Said, place: int) -> bool:
    """The cheap conditions come first."""
    rule = ready.rule
    if ready.told and not ready.told.match(one.told):
        return False
    if ready.flags and not (one.options and all(has_flag(one.options, *group) for group in ready.flags)):
        return False
    if ready.operand and not any(map(ready.operand.fullmatch, one.given)):
        return False
    if ready.words and not ready.words.search(one.joined):
        return False
    if ready.without and has_flag(one.options, *ready.without):
        return False
    if ready.unless and ready.unless.search(one.joined):
        return False
    if rule.bare and not _is_bare(one.command, said.text):
        return False
    if ready.sent and not ready.sent.search(said.sent(one)):
        return False
    if ready.after and not any(each.program in ready.after for each in said.commands[:place]):
        return False
    if rule.printed and said.is_inside(one):
        return False
    later = said.commands[place + 1 :] if ready.unless_before else ()
    return not any(each.program in ready.unless_before for each in later)


def _is_bare(command: Command, text: str) -> bool:
    if command.program in _SHELLS:
        return "-s" in command.words or not [word for word in operands(command.words, ("-o", "+o")) if word != "-"]
    return "<<" not in text and not [word for word in operands(command.words) if word != "-"]


def _far_script(command: Command) -> str:
    """What is run on the other machine."""
    return " ".join(operands(command.words, _SSH_VALUED)[1:])


def _changed_by(command: Command) -> list[str]:
    program = command.program
    if program in _ALL_CHANGED:
        return operands(command.words)
    if program in _LAST_CHANGED:
        return operands(command.words)[1:][-1:]
    if program in _REST_CHANGED or (program in _IN_PLACE and has_flag(command.words[1:], "-i", "--in-place")):
        return operands(command.words)[1:]
    return []


def _shown_by(command: Command) -> list[str]:
    given = operands(command.words)
    if command.program in _PATTERN_FIRST and not any(word.startswith(_PATTERN_GIVEN) for word in command.words[1:]):
        return given[1:]
    return given


def _ready(rule: Rule) -> _Ready:
    return _Ready(
        rule,
        re.compile(rf"(?:{rule.told})(?: |$)" if rule.told and not rule.told.endswith("$)") else rule.told)
        if rule.told
        else None,
        tuple(tuple(group.split()) for group in rule.flags),
        tuple(rule.without.split()),
        _pattern(rule.operand),
        _pattern(rule.words),
        _pattern(rule.unless),
        names(rule.after),
        names(rule.unless_before),
        _pattern(rule.sent),
    )


def _some(rules: Iterable[Rule]) -> Any:
    """One quick pattern that finds the signs of any of some rules."""
    return re2.compile("|".join(re2.escape(sign) for rule in rules for sign in rule.signs.split()) or "$^")


def _pattern(text: str) -> "re.Pattern[str] | None":
    return re.compile(text, re.DOTALL) if text else None


def _match(rule: Rule, severity: Severity, shown: str) -> Match:
    line = " ".join(shown[: 4 * _SHOWN].split())
    return Match(rule.id, severity, rule.what, line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…")


def _sorted(found: dict[str, Match]) -> tuple[Match, ...]:
    return tuple(sorted(found.values(), key=lambda match: (SEVERITIES.index(match.severity), match.rule)))
