"""Safety rules as data, and the matcher that finds the rules a tool call meets.

Commands are matched as `preheat.commands` understands them: through wrappers, `bash -c`, pipes and quotes. Knows no single rule,
and not what is done about a match.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import re2

from preheat.calls.files import changed_files, file_of
from preheat.commands import Command, Understanding, command_text, understand
from preheat.commands.syntax import without_heredocs
from preheat.commands.words import has_flag, name_set, operands
from preheat.model.session import ToolCall

# What a safety rule is
Severity: TypeAlias = Literal["critical", "high", "medium"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium")
"""Worst first. Critical: cannot be undone and reaches beyond the project; high: loses work or weakens protection; medium: a
person should decide."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule is met if all its conditions hold. Texts are regular expressions unless their docstring says otherwise."""

    id: str
    severity: Severity
    effect: str
    """One sentence: what such a command does."""
    example: str
    """A command that meets the rule."""
    counterexample: str
    """A similar command that does not meet it."""

    # A command.
    programs: str = ""
    """Names, with spaces between; empty: any."""
    arguments: str = ""
    """The beginning of its arguments without options, joined by single spaces."""
    flags: tuple[str, ...] = ()
    """Of each entry one option must be present: `-r -R --recursive`."""
    without: str = ""
    """Options of which none may be present."""
    operand: str = ""
    """One of its arguments without options matches this fully."""
    words: str = ""
    """Found somewhere in the command, its words joined by single spaces."""
    unless: str = ""
    """Found nowhere in the command."""
    is_without_operands: bool = False
    """It has no arguments but options: it reads its input."""
    is_printed: bool = False
    """Its output is printed: it does not stand in `$(…)`."""
    wrappers: str = ""
    """It is started through one of these programs."""
    after: str = ""
    """One of these programs comes earlier in the same text."""
    unless_before: str = ""
    """None of these programs comes later in the same text: they would take its output."""

    # A text.
    input_text: str = ""
    """Found in the input of the program: its words, here-documents, the words of `echo` or `printf` in the same text."""
    shell_text: str = ""
    """Found in the shell text outside of quotes, comments and here-documents: redirections, assignments."""

    signs: str = ""
    """For a rule without programs: texts separated by spaces; every text that meets the rule contains one of them."""

    # A path.
    changes: str = ""
    """A path that a tool or command changes, or that output is redirected to."""
    shows: str = ""
    """A path whose contents a tool or a command shows."""

    # The state of the session.
    severity_when_unsaved: Severity | None = None
    """The severity while the session has uncommitted changes."""


class Match(msgspec.Struct, frozen=True):
    """A rule that a call meets."""

    rule: str
    severity: Severity
    what: str
    shown: str
    """The command or path on one line, cut."""


# Finds the safety rules that a tool call meets.
_LONGEST = 8192
"""Characters of a text that are read."""
_SHOWN = 120
_VALUE_OPTIONS: dict[str, tuple[str, ...]] = {
    "git": ("-C", "-c", "--git-dir", "--work-tree"),
    "kubectl": ("-n", "--namespace", "--context", "--kubeconfig"),
    "oc": ("-n", "--namespace", "--context"),
    "helm": ("-n", "--namespace", "--kube-context"),
    "docker": ("--context", "-H", "--host"),
    "gh": ("-R", "--repo"),
    "terraform": ("-chdir",),
    "kill": (),
}
"""Options with a value that may stand before the subcommand."""
_SSH_VALUED = ("-i", "-p", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m", "-O", "-S", "-W", "-w")
_SHELLS = name_set("sh bash zsh dash ksh fish ash")
_PRINTING = name_set("echo printf")
_CHANGE_LAST = name_set("cp ln install scp rsync")
_CHANGE_ALL = name_set("tee touch truncate rm unlink mv rmdir")
_CHANGE_REST = name_set("chown chgrp")
_IN_PLACE = name_set("sed perl gsed")
_PATTERN_FIRST = name_set("grep egrep fgrep rg ag ack sed gsed awk gawk jq yq perl")
_PATTERN_OPTIONS = ("-e", "-f", "--regexp", "--file", "--expression", "-pattern")
_SHOWING_PURPOSES = frozenset(["read", "search"])
_REDIRECTION = re.compile(r"(?<![<>=&-])[012&]?>{1,2}\|?\s*(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s;&|<>()\"']+))")
_QUOTED = re.compile(r"\\.|(?<![\w$])\#[^\n]*|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_WRITES = re.compile(r">+\|?\s*[\"']?[~/$A-Z]")
"""A redirection to a path that a rule may be about."""
_BEFORE_KEPT_QUOTES = re.compile(r"(?:[>=]\s*|\s-\w*c\s+|\beval\s+)$")
"""What stands before quotes that are kept: a redirection target, a value, a script."""


class _CompiledRule(NamedTuple):
    """A rule with compiled patterns."""

    rule: Rule
    arguments: "re.Pattern[str] | None"
    flags: tuple[tuple[str, ...], ...]
    without: tuple[str, ...]
    operand: "re.Pattern[str] | None"
    words: "re.Pattern[str] | None"
    unless: "re.Pattern[str] | None"
    after: frozenset[str]
    unless_before: frozenset[str]
    input_text: "re.Pattern[str] | None"


class _PreparedCommand:
    """One command, prepared for the conditions of rules."""

    __slots__ = ("arguments", "command", "joined", "operands", "options")

    def __init__(self, command: Command) -> None:
        words = command.words
        self.command = command
        self.joined = " ".join(words)
        self.operands = operands(words, _VALUE_OPTIONS.get(command.program, ()))
        self.arguments = " ".join(self.operands)
        self.options = [word for word in words[1:] if word[:1] == "-"]


class _ShellText:
    """One shell text with its commands."""

    __slots__ = ("_input", "commands", "text")

    def __init__(self, text: str, commands: tuple[Command, ...]) -> None:
        self.text = text
        self.commands = commands
        self._input: str | None = None

    def is_inside(self, one: _PreparedCommand) -> bool:
        """Whether a command stands in a substitution."""
        return f"$({one.joined}" in self.text or f"`{one.joined}" in self.text

    def input_of(self, one: _PreparedCommand) -> str:
        """The words of a command, and the texts that may be its input."""
        if self._input is None:
            printed = (" ".join(each.words[1:]) for each in self.commands if each.program in _PRINTING)
            bodies = (heredoc.body for heredoc in without_heredocs(self.text)[1])
            self._input = "\n".join((*printed, *bodies))
        return f"{one.joined}\n{self._input}" if self._input else one.joined


class Matcher:
    """Finds the rules that calls meet."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._by_program: dict[str, tuple[_CompiledRule, ...]] = {}
        self._by_wrapper: dict[str, tuple[_CompiledRule, ...]] = {}
        self._any: list[_CompiledRule] = []
        self._shell_texts: list[tuple[Rule, re.Pattern[str]]] = []
        self._changes: list[tuple[Rule, re.Pattern[str]]] = []
        self._shows: list[tuple[Rule, re.Pattern[str], re.Pattern[str] | None]] = []
        for rule in rules:
            self._add(rule)
        self._signs = _sign_pattern([*(rule for rule, _ in self._shell_texts), *(each.rule for each in self._any)])

    def _add(self, rule: Rule) -> None:
        if rule.shell_text:
            self._shell_texts.append((rule, re.compile(rule.shell_text)))
        elif rule.changes:
            self._changes.append((rule, re.compile(rule.changes)))
        elif rule.shows:
            self._shows.append((rule, re.compile(rule.shows), _pattern(rule.unless)))
        else:
            compiled = _compile_rule(rule)
            if rule.programs:
                for program in rule.programs.split():
                    name = program.lower()
                    self._by_program[name] = (*self._by_program.get(name, ()), compiled)
            elif rule.wrappers:
                for program in rule.wrappers.split():
                    self._by_wrapper[program] = (*self._by_wrapper.get(program, ()), compiled)
            else:
                self._any.append(compiled)

    def match_call(self, call: ToolCall, *, unsaved: bool = False) -> tuple[Match, ...]:
        """The rules that a tool call meets, worst first; `unsaved`: the session has uncommitted changes."""
        if call.kind == "shell":
            return self.match_command(command_text(call.input), unsaved=unsaved)
        found: dict[str, Match] = {}
        if call.kind in ("edit", "write"):
            for path in changed_files(call).split("\n"):
                self._match_changed(path, found)
        elif call.kind == "read":
            path = file_of(call)
            for rule, pattern, _ in self._shows if path else ():
                if pattern.fullmatch(path):
                    found[rule.id] = _match(rule, rule.severity, path)
        return _worst_first(found)

    def match_command(self, text: str, *, unsaved: bool = False) -> tuple[Match, ...]:
        """The rules that a shell text meets, worst first."""
        return self.match_understood(text[:_LONGEST], understand(text), unsaved=unsaved)

    def match_understood(self, text: str, understood: Understanding, *, unsaved: bool = False) -> tuple[Match, ...]:
        found: dict[str, Match] = {}
        commands = understood.commands
        for command in commands:
            if command.program == "ssh" and (script := _remote_script(command)):
                commands += understand(script).commands
        shell_text = _ShellText(text, commands)
        for place, command in enumerate(commands):
            rules = self._by_program.get(command.program) or self._by_program.get(command.program.lower(), ())
            if command.wrappers:
                for wrapper in command.wrappers:
                    rules += self._by_wrapper.get(wrapper, ())
            if rules:
                one = _PreparedCommand(command)
                self._match_rules(rules, one, shell_text, place, found, unsaved)
            self._match_paths(command, found)
        signs = self._signs.search(text) is not None
        if signs:
            for place, command in enumerate(commands):
                self._match_rules(tuple(self._any), _PreparedCommand(command), shell_text, place, found, unsaved)
        if signs or (">" in text and _WRITES.search(text)):
            self._match_outside_quotes(_without_quoted(text), found, signs)
        return _worst_first(found) if found else ()

    def _match_rules(
        self,
        rules: tuple[_CompiledRule, ...],
        one: _PreparedCommand,
        shell_text: _ShellText,
        place: int,
        found: dict[str, Match],
        unsaved: bool,
    ) -> None:
        for compiled in rules:
            rule = compiled.rule
            if rule.id not in found and _meets(compiled, one, shell_text, place):
                severity = rule.severity_when_unsaved if unsaved and rule.severity_when_unsaved else rule.severity
                found[rule.id] = _match(rule, severity, one.joined)

    def _match_paths(self, command: Command, found: dict[str, Match]) -> None:
        for path in _changed_by(command):
            self._match_changed(path, found)
        if command.purpose in _SHOWING_PURPOSES:
            for path in _shown_by(command):
                for rule, pattern, unless in self._shows:
                    if pattern.fullmatch(path):
                        joined = " ".join(command.words)
                        if unless is None or not unless.search(joined):
                            found.setdefault(rule.id, _match(rule, rule.severity, joined))

    def _match_changed(self, path: str, found: dict[str, Match]) -> None:
        for rule, pattern in self._changes:
            if pattern.fullmatch(path):
                found.setdefault(rule.id, _match(rule, rule.severity, path))

    def _match_outside_quotes(self, unquoted: str, found: dict[str, Match], signs: bool) -> None:
        for groups in _REDIRECTION.findall(unquoted):
            self._match_changed(next(filter(None, groups), ""), found)
        for rule, pattern in self._shell_texts if signs else ():
            if hit := pattern.search(unquoted):
                found.setdefault(rule.id, _match(rule, rule.severity, unquoted[hit.start() : hit.start() + _SHOWN]))


def _without_quoted(text: str) -> str:
    """A shell text without here-documents, comments and quoted words that are only data."""
    stripped = without_heredocs(text)[0] if "<<" in text else text
    if "'" not in stripped and '"' not in stripped and "#" not in stripped:
        return stripped

    def shorten_quotes(match: "re.Match[str]") -> str:
        found = match[0]
        if found[0] in "'\"":
            if (
                found[1:3] == "$("
                or found[1:2] == "`"
                or _BEFORE_KEPT_QUOTES.search(stripped, max(0, match.start() - 12), match.start())
            ):
                return found
            return "''"
        return "" if found[0] == "#" else found

    return _QUOTED.sub(shorten_quotes, stripped)


def _meets(compiled: _CompiledRule, one: _PreparedCommand, shell_text: _ShellText, place: int) -> bool:
    """Whether a command meets all conditions of a rule; cheap conditions come first."""
    rule = compiled.rule
    if compiled.arguments and not compiled.arguments.match(one.arguments):
        return False
    if compiled.flags and not (one.options and all(has_flag(one.options, *group) for group in compiled.flags)):
        return False
    if compiled.operand and not any(map(compiled.operand.fullmatch, one.operands)):
        return False
    if compiled.words and not compiled.words.search(one.joined):
        return False
    if compiled.without and has_flag(one.options, *compiled.without):
        return False
    if compiled.unless and compiled.unless.search(one.joined):
        return False
    if rule.is_without_operands and not _has_no_operands(one.command, shell_text.text):
        return False
    if compiled.input_text and not compiled.input_text.search(shell_text.input_of(one)):
        return False
    if compiled.after and not any(each.program in compiled.after for each in shell_text.commands[:place]):
        return False
    if rule.is_printed and shell_text.is_inside(one):
        return False
    later = shell_text.commands[place + 1 :] if compiled.unless_before else ()
    return not any(each.program in compiled.unless_before for each in later)


def _has_no_operands(command: Command, text: str) -> bool:
    if command.program in _SHELLS:
        return "-s" in command.words or not [word for word in operands(command.words, ("-o", "+o")) if word != "-"]
    return "<<" not in text and not [word for word in operands(command.words) if word != "-"]


def _remote_script(command: Command) -> str:
    """The command that `ssh` runs on the other machine."""
    return " ".join(operands(command.words, _SSH_VALUED)[1:])


def _changed_by(command: Command) -> list[str]:
    program = command.program
    if program in _CHANGE_ALL:
        return operands(command.words)
    if program in _CHANGE_LAST:
        return operands(command.words)[1:][-1:]
    if program in _CHANGE_REST or (program in _IN_PLACE and has_flag(command.words[1:], "-i", "--in-place")):
        return operands(command.words)[1:]
    return []


def _shown_by(command: Command) -> list[str]:
    paths = operands(command.words)
    if command.program in _PATTERN_FIRST and not any(word.startswith(_PATTERN_OPTIONS) for word in command.words[1:]):
        return paths[1:]
    return paths


def _compile_rule(rule: Rule) -> _CompiledRule:
    return _CompiledRule(
        rule,
        re.compile(
            rf"(?:{rule.arguments})(?: |$)" if rule.arguments and not rule.arguments.endswith("$)") else rule.arguments
        )
        if rule.arguments
        else None,
        tuple(tuple(group.split()) for group in rule.flags),
        tuple(rule.without.split()),
        _pattern(rule.operand),
        _pattern(rule.words),
        _pattern(rule.unless),
        name_set(rule.after),
        name_set(rule.unless_before),
        _pattern(rule.input_text),
    )


def _sign_pattern(rules: Iterable[Rule]) -> Any:
    """One fast pattern that finds the signs of any of these rules."""
    return re2.compile("|".join(re2.escape(sign) for rule in rules for sign in rule.signs.split()) or "$^")


def _pattern(text: str) -> "re.Pattern[str] | None":
    return re.compile(text, re.DOTALL) if text else None


def _match(rule: Rule, severity: Severity, shown: str) -> Match:
    line = " ".join(shown[: 4 * _SHOWN].split())
    return Match(rule.id, severity, rule.effect, line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…")


def _worst_first(found: dict[str, Match]) -> tuple[Match, ...]:
    return tuple(sorted(found.values(), key=lambda match: (SEVERITIES.index(match.severity), match.rule)))
