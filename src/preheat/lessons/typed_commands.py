"""A shell text as the commands that were typed in it, each with its quotes and prefixes, without filters of its output.

Knows no session and no verdict. A text that is no plain list of commands (here-documents, substitutions, loops) gives nothing:
it is a script for one case, and no way of working.
"""

import re
from itertools import takewhile
from posixpath import normpath
from typing import NamedTuple

from preheat.calls.shell import command_form
from preheat.commands import Command, Purpose, understand
from preheat.commands.programs import FILTERS, TRIVIAL
from preheat.commands.words import name_set
from preheat.text_cache import cache_short_texts

LONGEST = 2000
"""Characters of a text that is looked at."""
MOST_TEXT = 200
"""Characters of one command that is kept."""

_WORD = r"""(?:[^\s'"\\;&|<>()`]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")"""
_TOKEN = re.compile(
    rf"(?P<gap>[ \t]+|\\\n)|(?P<redirect>(?:[0-9]|&)?>>?(?:&[0-9-]|[ \t]*{_WORD}+)|<(?!<)[ \t]*{_WORD}+)"
    rf"|(?P<operator>&&|\|\||\|&|[;|\n]|&)|(?P<word>{_WORD}+)",
    re.DOTALL,
)
_CASE = re.compile(r"<<|\$\(|`|\$\{")
"""What makes a text a script."""
_KEYWORDS = name_set(
    "if then else elif fi for while until do done case esac select function { } [[ ! set source . trap eval"
)
_IDLE = name_set("timeout gtimeout time nohup env sudo nice stdbuf unbuffer caffeinate command exec xargs")
"""Programs before a command that are no part of how it is called here."""
_LIMIT = re.compile(r"(?:g?timeout(?:\s+-\S+)*\s+\d+[smh]?|time|nohup|unbuffer|caffeinate)\s+(?=\S)")
_LEAVE = re.compile(r"^(?:builtin )?(?:cd|pushd)$")
_ELSEWHERE = re.compile(r"(?:[A-Za-z]:)?[\\/]|[~$-]")
_ABOVE = re.compile(r"\.\.(?:/|$)")
_ASKING = frozenset(("--help", "--version", "-h", "-V", "help", "version"))
_INTERPRETERS = name_set("python pypy node nodejs tsx ts-node ruby perl php bash sh zsh lua Rscript deno")
_INLINE = frozenset(("-c", "-e", "-ne", "-pe", "-p", "-n", "-lne"))
_LITERAL = re.compile(r"""^(['"])(.*)\1$""", re.DOTALL)


class TypedCommand(NamedTuple):
    """One command of a shell text."""

    text: str
    """As typed, without redirections, filters and time limits; a prefix such as `CI=1` or `npx` stays."""
    folder: str
    """The folder that the text goes to first, relative to the project; empty where it goes to none."""
    purpose: Purpose
    way: str
    """The starter, the program and its subcommand, without what differs from case to case."""
    core: str
    """The way without what starts it."""
    form: str
    program: str


@cache_short_texts
def split_commands(text: str, folder: str = "") -> tuple[TypedCommand, ...]:
    """The commands of a text (its paths already relative) that starts in a folder; nothing where it is a script."""
    if len(text) > LONGEST or _CASE.search(text):
        return ()
    pipelines = _pipelines(text)
    if pipelines is None:
        return ()
    found: list[TypedCommand] = []
    here: str | None = folder
    for pipeline in pipelines:
        first = pipeline[0]
        if _LEAVE.match(first[0]):
            here = folder_after_cd(here, first[1]) if len(first) == 2 else None
            continue
        if first[0] in _KEYWORDS:
            return ()
        if here is None or not all(_is_filter(part) for part in pipeline[1:]):
            continue
        one = _typed_command(" ".join(first), here)
        if one is not None:
            found.append(one)
    return tuple(found)


def folder_after_cd(folder: str | None, target: str) -> str | None:
    """The folder after a `cd`; None where that is outside of the project or unknown."""
    literal = _LITERAL.match(target)
    target = literal[2] if literal else target
    target = target.replace("\\", "/")
    if folder is None or _ELSEWHERE.match(target):
        return None
    path = normpath(f"{folder}/{target}" if folder else target)
    return "" if path == "." else None if _ABOVE.match(path) else path


def _pipelines(text: str) -> list[list[list[str]]] | None:
    """Pipelines of commands of words; None for a text that has other signs."""
    pipelines: list[list[list[str]]] = [[[]]]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        if token["word"]:
            word = token["word"]
            if word.startswith("#") and not pipelines[-1][-1]:  # a comment: to the end of its line
                at = text.find("\n", at)
                at = len(text) if at < 0 else at
                continue
            pipelines[-1][-1].append(word)
        elif token["operator"] in ("|", "|&"):
            pipelines[-1].append([])
        elif token["operator"]:
            pipelines.append([[]])
    return [parts for pipeline in pipelines if (parts := [part for part in pipeline if part])]


def _is_filter(words: list[str]) -> bool:
    """Whether a part of a pipeline only shows what came before; a program with a script of its own does more."""
    if words[0].rstrip(".0123456789") in _INTERPRETERS:
        return not _INLINE.isdisjoint(words)
    return words[0] in FILTERS or words[0] in ("tee", "cat", "less", "more")


def _typed_command(text: str, folder: str) -> TypedCommand | None:
    text = _LIMIT.sub("", text, count=1)
    if not text or len(text) > MOST_TEXT or "\n" in text:
        return None
    seen = understand(text)
    main = seen.main
    if main is None or main.program.lower() in TRIVIAL or not seen.complete or len(seen.commands) != 1:
        return None
    form = command_form(text)
    if not form or not _ASKING.isdisjoint(main.words) or main.program.startswith("$"):
        return None
    core = _core(form, main)
    starters = [name for name in main.wrappers if name not in _IDLE]
    if not core:
        return None
    return TypedCommand(text, folder, seen.purpose, " ".join((*starters, core)), core, form, main.program)


def _core(form: str, main: Command) -> str:
    """What a form begins with, and the script where an interpreter runs one; empty for a script within the command."""
    words = list(takewhile(lambda word: word[:1] not in ("-", "…"), form.split()))
    if not words:  # a program whose name reads like an option: `-.`
        return ""
    operands = [word for word in main.words[1:] if not word.startswith("-")]
    if main.program.rstrip(".0123456789") in _INTERPRETERS:
        inline = any(word in ("-c", "-e", "-p", "-") for word in main.words[1:3]) or not operands
        return "" if inline else f"{words[0]} {operands[0].removeprefix('./')}"
    if "." in main.program:  # a script: what follows is its case
        return words[0]
    runs_path = main.purpose == "run" and words[-1] == "run" and len(operands) > 1 and "/" in operands[1]
    if runs_path:  # `go run ./cmd/app`
        words.append(operands[1])
    return " ".join(words)
