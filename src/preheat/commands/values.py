"""What a shell command is for, as values. Knows no shell syntax and no program."""

from typing import Literal, TypeAlias

import msgspec

Purpose: TypeAlias = Literal[
    "test", "build", "lint", "typecheck", "format", "search", "list", "read",
    "edit", "vcs", "package", "poll", "network", "run", "other",
]  # fmt: skip
"""What somebody wants who types a command."""

CHECKS: frozenset[Purpose] = frozenset(("test", "build", "lint", "typecheck"))
"""Purposes of commands that check the work."""


class Command(msgspec.Struct, frozen=True, gc=False):
    """One simple command, after everything that only starts it was taken away."""

    program: str
    """Base name, without folder and `.exe`."""
    words: tuple[str, ...]
    """Program and arguments; quotes are gone where the text is literal."""
    purpose: Purpose
    wrappers: tuple[str, ...] = ()
    """Programs that started it (`timeout`, `xargs`, `uv`), outermost first."""

    @property
    def checks(self) -> bool:
        return self.purpose in CHECKS


class Understanding(msgspec.Struct, frozen=True, gc=False):
    """A whole shell text."""

    commands: tuple[Command, ...]
    """In order, with those in pipes, subshells, loops, conditions, functions and `$(…)`."""
    purpose: Purpose
    main: Command | None
    """The command that the text is mainly for."""
    decides: tuple[Command, ...]
    """Whose exit code the shell may report when it is not zero; `a || true` gives `true`, a job in the background nobody."""
    masked: bool
    """`main` or a check may fail and the shell still report success: a pipe, `|| true`, `; echo`, `&`."""
    complete: bool
    """False when the text is no proper shell script, or too long to be read whole."""

    @property
    def checks(self) -> bool:
        return self.purpose in CHECKS
