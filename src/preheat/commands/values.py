"""A parsed shell text and an understood one. Frozen values; parsing is in `parse`, understanding in `understand`."""

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


# The shape of a shell text
class Simple(msgspec.Struct, frozen=True, gc=False):
    """Words, and what the shell does around them."""

    words: tuple[str, ...]
    writes: bool = False
    """Its output goes into a file."""
    heredoc: str | None = None
    inner: tuple["Script", ...] = ()
    """The scripts in `$(…)`, backquotes and `<(…)`."""


class Compound(msgspec.Struct, frozen=True, gc=False):
    """Several scripts that stand as one command. A part marked True gives its exit code to the whole.

    `loop` is one that waits for something (`while`, `until`), `each` one over words (`for`), `branches` are `if` and `case`.
    """

    kind: Literal["group", "loop", "each", "branches", "function"]
    parts: tuple[tuple[bool, "Script"], ...]
    name: str = ""
    writes: bool = False


Item: TypeAlias = Simple | Compound


class Pipeline(msgspec.Struct, frozen=True, gc=False):
    items: tuple[Item, ...]
    negated: bool = False


class Statement(msgspec.Struct, frozen=True, gc=False):
    """Pipelines joined by `&&` and `||` (one operator fewer than pipelines)."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    background: bool = False


Script: TypeAlias = tuple[Statement, ...]

Token: TypeAlias = Item | str
"""A command, or one of the operators `;` `&` `&&` `||` `|` `!`."""


def group_tokens(tokens: list[Token]) -> Script:
    """Commands and operators in the order of the text, bound as the shell binds them.

    The parser's own tree is not used for that: it lets a redirection swallow a whole `&&` list and a here-document the
    rest of its line.
    """
    if len(tokens) == 1 and not isinstance(tokens[0], str):
        return (Statement((Pipeline((tokens[0],)),)),)
    statements: list[Statement] = []
    pipelines: list[Pipeline] = []
    operators: list[str] = []
    items: list[Item] = []
    negated = piped = False
    for part in (*tokens, ";"):
        goes_on = piped or not items
        if not isinstance(part, str) and goes_on:
            items.append(part)
            piped = False
        elif part == "|":
            piped = True
        elif part == "!" and goes_on:
            negated = not negated
        else:
            if items:
                pipelines.append(Pipeline(tuple(items), negated))
            items, negated, piped = [], False, False
            if part == "&&" or part == "||":
                if len(operators) < len(pipelines):
                    operators.append(part)
                continue
            if pipelines:
                statements.append(Statement(tuple(pipelines), tuple(operators[: len(pipelines) - 1]), part == "&"))
            pipelines, operators = [], []
            if not isinstance(part, str):  # a line break between two commands gives no token
                items.append(part)
            negated = part == "!"
    return tuple(statements)
