"""What a project's own instructions state: the commands and paths in a Markdown text, compared by meaning and not by wording.

Pure. Knows no file name and no agent. A command that a text advises against is not stated, but forbidden.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

from preheat.commands.common import names_mise_task

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+-]*)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_SHELL = frozenset(["", "sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "text"])
_PROMPT = re.compile(r"^\s*(?:\$|%|>|❯)\s+")
_PROGRAM = re.compile(r"\.{0,2}[\w@][\w./@+-]*|\./[\w./-]+")
_PATH = re.compile(r"(?:[\w@.~-]+/)+[\w@.*-]*|[\w-]+\.[a-z]{1,5}")
_CD = re.compile(r"\s*cd\s+([\w@./-]+)/?\s*")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=.*")
_OPERATORS = frozenset(["&&", "||", ";", "|", "&", "|&"])
_RUNNERS = frozenset(["npm", "pnpm", "yarn", "bun"])
_OWN_COMMANDS = {"bun": frozenset(["test", "build"])}
"""What a package runner does itself, so that `run` before it means something else."""
_PLACEHOLDER = re.compile(r"\b(?:NAME|PATH|FOLDER|PACKAGE|VALUE|FILE)\b")
_NEVER = re.compile(r"(?i)\b(?:never|do not|don't|avoid|not)\b[^.`\n]{0,60}$")
"""Words before a command that is advised against."""
_FAILS = re.compile(r"(?i)\s*(?:fails|failed|has failed|does not work|doesn't work|no longer works|is gone)\b")
"""Words behind a command that does not work: the lines that we propose have them."""
_LARGEST = 262_144
_MOST = 500
"""Commands, paths and pieces of code that are kept of a text."""
_PREFIXES = frozenset(["sudo", "time", "command", "exec", "env"])
_CUSTOMS = {
    "commit": re.compile(r"(?i)\bconventional commits?\b|\bcommit (?:messages?|titles?|subjects?|format|style)\b"),
    "branch": re.compile(
        r"(?i)\bbranch(?:es)? (?:nam|prefix|called|off|from)|\b(?:feature|topic|short-lived) branch|\bname (?:the|your) branch"
    ),
    "pull_request": re.compile(r"(?i)\bpull requests?\b|\b(?:draft|open|create|opening) (?:an? )?PRs?\b"),
    "--draft": re.compile(
        r"(?i)--draft\b|\bdraft (?:PRs?|pull requests?)\b|\b(?:PRs?|pull requests?) as (?:a )?drafts?\b"
    ),
    "--squash": re.compile(r"(?i)--squash\b|\bsquash(?:ed)?(?:[ -]and)?[ -]merg|\bmerged? (?:\w+ ){0,2}squash"),
    "--merge": re.compile(r"(?i)\bgh pr merge[^\n]*--merge\b|\bmerge commits?\b"),
    "--rebase": re.compile(
        r"(?i)\bgh pr merge[^\n]*--rebase\b|\brebased?(?:[ -]and)?[ -]merg|\bmerged? (?:\w+ ){0,2}rebas"
    ),
}
"""What a text says on how changes are made, in whatever words; switches are those of `gh pr create` and `gh pr merge`."""
CUSTOM_SWITCHES = frozenset(name for name in _CUSTOMS if name.startswith("--"))
_LONGEST = 2_000
"""Characters of a line that are read."""

Words = tuple[str, ...]


class StatedCommand(NamedTuple):
    """A command in a text."""

    line: int
    """The number of its line, from 0."""
    text: str
    """The command as it stands there."""
    words: Words
    """Its words in the form in which they are compared."""
    fence: int | None
    """The line of the fence that opens the block around it; None if it stands in a sentence."""
    folder: str = ""
    """The folder that a `cd` on a line of its own above it in the block goes to; empty without one."""

    @property
    def whole_text(self) -> str:
        """The command with its folder, as it would be typed on one line."""
        return f"cd {self.folder} && {self.text}" if self.folder else self.text


class StatedPath(NamedTuple):
    """A path in a text."""

    line: int
    """The number of its line, from 0."""
    path: str


class Statements(NamedTuple):
    """What texts state."""

    commands: tuple[StatedCommand, ...] = ()
    forbidden: tuple[StatedCommand, ...] = ()
    """Commands that they advise against."""
    places: tuple[StatedPath, ...] = ()
    paths: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    """Everything in backticks and blocks, with single blanks: names too."""
    customs: frozenset[str] = frozenset()
    """Of `commit`, `branch`, `pull_request` and its switches those on which they say something in words."""

    def states(self, command: str) -> bool:
        """Whether a command is stated as it is or with more arguments; a placeholder in it stands for any word."""
        parts = command_parts(command)
        return bool(parts) and all(any(_begins(each.words, words) for each in self.commands) for words in parts)

    def forbids(self, command: str) -> bool:
        """Whether a command is advised against."""
        parts = command_parts(command)
        return bool(parts) and all(any(each.words == words for each in self.forbidden) for words in parts)

    def warns_of(self, command: str) -> bool:
        """Whether a part of a command is advised against, as it is or with more arguments."""
        return any(_begins(words, each.words) for words in command_parts(command) for each in self.forbidden)

    def find_command(self, command: str) -> StatedCommand | None:
        """Where a command is stated: alone, with more arguments or with fewer; None if it is not."""
        wanted = command_parts(command)
        if not wanted:
            return None
        found = [self._find_part(words) for words in wanted]
        return found[0] if all(each is not None for each in found) else None

    def _find_part(self, words: Words) -> StatedCommand | None:
        return next((each for each in self.commands if is_same_command(each.words, words)), None)

    def has_paths(self, paths: Iterable[str]) -> bool:
        """Whether all of these paths are named."""
        return all(path.strip("/") in self.paths for path in paths)


NO_STATEMENTS = Statements()


def read_statements(*texts: str) -> Statements:
    """The commands and paths that Markdown texts name in code; lines are counted in each text."""
    commands: list[StatedCommand] = []
    forbidden: list[StatedCommand] = []
    places: list[StatedPath] = []
    codes: dict[str, None] = {}
    for text in texts:
        _read(text[:_LARGEST], commands, forbidden, places, codes)
    return Statements(
        tuple(commands[:_MOST]),
        tuple(forbidden[:_MOST]),
        tuple(places[:_MOST]),
        frozenset(each.path for each in places[:_MOST]),
        frozenset(list(codes)[:_MOST]),
        frozenset(name for name, said in _CUSTOMS.items() if any(said.search(text[:_LARGEST]) for text in texts)),
    )


def _read(
    text: str,
    commands: list[StatedCommand],
    forbidden: list[StatedCommand],
    places: list[StatedPath],
    codes: dict[str, None],
) -> None:
    fence: tuple[str, str, int] | None = None
    place = ""
    for number, line in enumerate(text.splitlines()):
        line = line[:_LONGEST]
        found = _FENCE.match(line)
        if fence is not None:
            if found and found[1].startswith(fence[0]) and not found[2]:
                fence = None
            else:
                code = _PROMPT.sub("", line).partition(" #")[0]
                codes[" ".join(code.split())] = None
                place = _follow(place, code)
                commands += _read_command(code, number, fence[2], place) if fence[1] in _SHELL else ()
        elif found:
            fence, place = (found[1], found[2].lower(), number), ""
        else:
            for span in _SPAN.finditer(line):
                code = _PROMPT.sub("", span[2])
                codes[" ".join(code.split())] = None
                is_no = _NEVER.search(line[: span.start()]) or _FAILS.match(line, span.end())
                where = forbidden if is_no else commands
                where += _read_command(code, number, None)
                places += (StatedPath(number, each.strip("/")) for each in code.split() if _PATH.fullmatch(each))


def _follow(place: str, code: str) -> str:
    """The folder below the project after a line of a block: a `cd` alone changes it for the lines that follow."""
    found = _CD.fullmatch(code)
    if found is None or found[1].startswith("/"):
        return place
    joined = posixpath.normpath(posixpath.join(place, found[1]))
    return "" if joined == "." or joined.startswith("..") else joined


def _read_command(text: str, line: int, fence: int | None, folder: str = "") -> list[StatedCommand]:
    text = text.strip()
    if not text or text.startswith("#"):
        return []
    return [StatedCommand(line, text, words, fence, folder) for words in command_parts(text)]


def command_parts(text: str) -> list[Words]:
    """The commands of a chain in the form in which they are compared: without `cd`, variables and `sudo`; `npm run test` is
    `npm test`. Empty where a text is no command."""
    lexer = shlex.shlex(text[:_LONGEST], posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # an open quote
        return []
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in _OPERATORS:
            parts.append([])
        else:
            parts[-1].append(token)
    found = [_normalise(part) for part in parts]
    return [words for words in found if words]


def _normalise(part: list[str]) -> Words:
    while part and (_VARIABLE.fullmatch(part[0]) or part[0] in _PREFIXES):
        part = part[1:]
    if not part or part[0] == "cd" or not _PROGRAM.fullmatch(part[0]):
        return ()
    if part[0] in _RUNNERS and part[1:2] == ["run"] and part[2:3] and part[2] not in _OWN_COMMANDS.get(part[0], ()):
        part = [part[0], *part[2:]]
    if names_mise_task(part):
        part = [part[0], "run", *part[1:]]
    return tuple(part)


def _begins(stated: Words, words: Words) -> bool:
    """Whether a stated command is another one, or that with further arguments."""
    return len(stated) >= len(words) and all(
        one == other or _PLACEHOLDER.search(other) for one, other in zip(stated, words, strict=False)
    )


def is_same_command(stated: Words, words: Words) -> bool:
    """Whether two commands say the same: one is the other with further arguments. The bare name of a program says nothing."""
    shorter, longer = sorted((stated, words), key=len)
    if len(shorter) < 2:
        return shorter == longer
    return longer[: len(shorter)] == shorter
