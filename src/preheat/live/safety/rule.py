"""What a safety rule is: a pattern on an understood command or on a path, as data. Knows no rule and no way to match one."""

from typing import Literal, TypeAlias

import msgspec

Severity: TypeAlias = Literal["critical", "high", "medium"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium")
"""Worst first. Critical cannot be taken back and reaches beyond the project; high loses work or opens a door; medium should be
somebody's decision."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """All conditions that are given must hold. Texts are regular expressions unless they say otherwise."""

    id: str
    severity: Severity
    what: str
    """One sentence: what such a command does."""
    example: str
    """A command, or for a rule on paths only a path, that it is about."""
    counter: str
    """One that looks alike and is not meant."""

    # A command.
    programs: str = ""
    """Names, with spaces between; empty: any."""
    told: str = ""
    """Begins what the program is told: its arguments that are no options, with single spaces."""
    flags: tuple[str, ...] = ()
    """Of each entry one option must be given: `-r -R --recursive`."""
    without: str = ""
    """Options of which none may be given."""
    operand: str = ""
    """One argument that is no option is wholly this."""
    words: str = ""
    """Somewhere in the command, its words with single spaces."""
    unless: str = ""
    """Nowhere in the command."""
    bare: bool = False
    """It has no arguments but options: it reads what it is given."""
    printed: bool = False
    """What it prints is shown: it does not stand in `$(…)`."""
    through: str = ""
    """It is started through one of these programs."""
    after: str = ""
    """One of these programs comes earlier in the same text."""
    unless_before: str = ""
    """None of these programs comes later in the same text: they take what it prints."""

    # A text.
    sent: str = ""
    """Somewhere in what the program is given: its words, here-documents, what `echo` or `printf` say in the same text."""
    around: str = ""
    """Somewhere in the shell text itself, outside of quotes, comments and here-documents: redirections, assignments."""

    signs: str = ""
    """For a rule without programs: texts with spaces between, of which one stands in all that it is about."""

    # A path.
    changes: str = ""
    """A path that a tool changes, a command changes, or output goes to."""
    shows: str = ""
    """A path whose contents a tool or a command shows."""

    # The moment.
    unsaved: Severity | None = None
    """How bad it is while the session has changes that are not committed."""


class Match(msgspec.Struct, frozen=True):
    """A rule that a call fits."""

    rule: str
    severity: Severity
    what: str
    shown: str
    """The command or the path, on one line, capped."""
