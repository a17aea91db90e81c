"""What a safety rule is: conditions on a command or a path, as data. Knows no single rule and not how one is matched."""

from typing import Literal, TypeAlias

import msgspec

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
