"""Which paths a shell text needs to be there, so that it fails if they are not. Pure, and precise before complete.

Only the last statement counts, whose exit code is the call's, and in it only words that a program surely takes for a file to read
or a folder to enter. Nothing is said of what is quoted with blanks, expanded, remote, conditional, made by the text itself, or of
what follows a command that may make files. Knows no disk.
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import isabs, join, normpath
from typing import NamedTuple

from preheat.commands.parse import parse
from preheat.commands.understand import read_single
from preheat.commands.values import Command, Pipeline, Simple, Statement

_LONGEST = 4_096
_PATH = re.compile(r"[\w.@+/~-][\w.@+/ ~,-]*")
_OUTPUT = re.compile(r"(?<![<>=&-])\d?>>?\s*([^\s&|;<>()]+)")
_SILENCED = re.compile(r"2>\s*/dev/null|&>\s*/dev/null|2>&-")
_REMOTE = frozenset(
    ["ssh", "docker", "podman", "kubectl", "wsl", "vagrant", "su", "docker-compose", "nix", "chroot", "xargs", "find"]
)
_NOWHERE = frozenset([".", "..", "-", "/", "~"])
REDACTED = "REDACTED"
"""In a path from which a secret was taken: it is not the one that the call has."""


class NeededPath(NamedTuple):
    """A path that has to be there."""

    path: str
    """Absolute."""
    typed: str
    program: str
    is_folder: bool
    place: int = 0
    """The place of its command among those of the statement."""
    is_awaited: bool = False
    """Another command runs only if this path's has worked."""


class _Reader(NamedTuple):
    """How a program takes operands."""

    skipped: int = 0
    """Operands before the first file."""
    flags: str = ""
    """Letters of options without a value; a word behind any other option is not looked at."""
    most: int = 99
    pattern_options: tuple[str, ...] = ()
    """Options that take the place of the skipped operand."""


_GREP = _Reader(1, "abcEFGHhiIlLnoPqrRsTUvVwxyZz", pattern_options=("-e", "-f", "--regexp", "--file"))
READERS: dict[str, _Reader] = {
    "cat": _Reader(0, "AbEnstTuve"), "nl": _Reader(0, "p"), "wc": _Reader(0, "clLmw"), "bat": _Reader(0, "pAn"),
    "head": _Reader(0, "qvz0123456789"), "tail": _Reader(0, "qvzrf0123456789"), "less": _Reader(0, "NRSXFEi"),
    "ls": _Reader(0, "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1"), "stat": _Reader(0, "LxF"), "file": _Reader(0, "bikLz"),
    "du": _Reader(0, "abchHklmsSx"), "diff": _Reader(0, "uqrNabBwiyE"), "cmp": _Reader(0, "bls"),
    "grep": _GREP, "egrep": _GREP, "fgrep": _GREP,
    "rg": _Reader(1, "acFhHiIlLnNopPqsSUvVwxz0u", pattern_options=("-e", "-f", "--regexp", "--file", "--files")),
    "sed": _Reader(1, "nEr", pattern_options=("-e", "-f", "--expression", "--file", "-i")),
    "awk": _Reader(1, "", pattern_options=("-f",)), "jq": _Reader(1, "rcMCSesnj", pattern_options=("-n",)),
    "chmod": _Reader(1, "Rv"),
    "source": _Reader(0, "", 1), ".": _Reader(0, "", 1),
    "python": _Reader(0, "uBIOsSE", 1), "python3": _Reader(0, "uBIOsSE", 1), "node": _Reader(0, "", 1),
    "ruby": _Reader(0, "w", 1),
    "bash": _Reader(0, "xeu", 1), "sh": _Reader(0, "xeu", 1), "zsh": _Reader(0, "xe", 1), "tsx": _Reader(0, "", 1),
    "pytest": _Reader(0, "qvxsl"),
}  # fmt: skip
"""Programs that fail where one of their operands is not there."""
_INLINE = frozenset(["-c", "-m", "-e", "-p", "--eval", "--print", "-", "-s", "--version", "--help", "-h"])
_FOLDERS = frozenset(["cd", "pushd"])
_QUIET = frozenset(
    ["cd", "pushd", "popd", "echo", "printf", "pwd", "true", "export", "which", "date", "set", "[", "test", *READERS]
) - frozenset(
    ["python", "python3", "node", "ruby", "bash", "sh", "zsh", "tsx", "pytest", "source", ".", "sed", "rm", "rmdir"]
)
"""Programs that make and remove nothing, so that the tree is the same after them."""
_GIT_LOOKS = frozenset(
    ["status", "log", "diff", "show", "branch", "rev-parse", "ls-files", "blame", "remote", "config", "add"]
)


def needed_paths(text: str, folder: str) -> list[NeededPath]:
    """The paths that have to be there for a shell text to succeed."""
    if not folder or len(text) > _LONGEST or "<<" in text or "\\\n" in text:
        return []
    script, is_complete = parse(text)
    if not is_complete or not script:
        return []
    made = frozenset(word.strip("'\"") for word in _OUTPUT.findall(text))
    walk = _Walk(folder, made)
    for statement in script[:-1]:
        if not walk.pass_over(statement):
            return []
    return [] if _SILENCED.search(text) else list(walk.find_needs(script[-1]))


class _Walk:
    """One walk over the statements of a text, in order."""

    def __init__(self, folder: str, made: frozenset[str]) -> None:
        self.folder = folder
        self.made = set(made)

    def pass_over(self, statement: Statement) -> bool:
        """Follow a statement that only comes before; False where the tree may be another one after it."""
        if statement.background or "||" in statement.operators:
            return False
        for pipeline in statement.pipelines:
            for command in _commands(pipeline):
                if command is None or not self.follow(command):
                    return False
        return True

    def follow(self, command: Command) -> bool:
        """Take a command's effect in; False if it is not known."""
        if command.wrappers and not _REMOTE.isdisjoint(command.wrappers):
            return False
        if command.program in _FOLDERS:
            target = command.words[1] if len(command.words) == 2 else ""
            if not _is_path(target):
                return False
            self.folder = normpath(join(self.folder, target))
            return isabs(self.folder) and not target.startswith("~")
        if command.program in ("mkdir", "touch"):
            self.made.update(word for word in command.words[1:] if not word.startswith("-"))
            return True
        if command.program == "git":
            return len(command.words) > 1 and command.words[1] in _GIT_LOOKS
        return command.program in _QUIET

    def find_needs(self, statement: Statement) -> Iterator[NeededPath]:
        if statement.background or "||" in statement.operators:
            return
        for place, pipeline in enumerate(statement.pipelines):
            if pipeline.negated:
                return
            commands = list(_commands(pipeline))
            first = commands[0]
            if first is None:
                return
            if len(commands) == 1 or first.program in _FOLDERS:
                is_awaited = place + 1 < len(statement.pipelines)
                yield from (each._replace(place=place, is_awaited=is_awaited) for each in self._operands(first))
            for command in commands:
                if command is None or not self.follow(command):
                    return

    def _operands(self, command: Command) -> Iterator[NeededPath]:
        if command.wrappers and not _REMOTE.isdisjoint(command.wrappers):
            return
        is_folder = command.program in _FOLDERS
        for word in command.words[1:2] if is_folder else _read_operands(command):
            if (
                not _is_path(word)
                or word in self.made
                or any(word.startswith(f"{made.rstrip('/')}/") for made in self.made)
            ):
                continue
            if is_folder and len(command.words) != 2:
                continue
            path = normpath(join(self.folder, word))
            if isabs(path) and not word.startswith("~"):
                yield NeededPath(path, word, command.program, is_folder)


def _commands(pipeline: Pipeline) -> Iterator[Command | None]:
    """The commands of a pipeline; None for what is no simple command, or substitutes the output of others."""
    for item in pipeline.items:
        yield (
            read_single(item.words, item.writes).command
            if isinstance(item, Simple) and item.words and not item.inner
            else None
        )


def _read_operands(command: Command) -> Sequence[str]:
    """The words that a command reads as files."""
    words = command.words[1:]
    reader = READERS.get(command.program)
    if reader is None or (reader.most == 1 and not _INLINE.isdisjoint(words)):
        return ()
    found: list[str] = []
    skipped = reader.skipped
    is_doubtful = False
    for word in words:
        if word == "--":
            return ()
        if word.startswith("-") and len(word) > 1:
            letters = word[1:]
            if word.split("=")[0] in reader.pattern_options:
                skipped, is_doubtful = 0, True
            else:
                is_doubtful = not ("=" in word or set(letters) <= set(reader.flags))
            continue
        if is_doubtful:
            is_doubtful = False
            skipped = reader.skipped if not word else skipped  # `sed -i ''`: the next one is the script
            continue
        if skipped:
            skipped -= 1
            continue
        found.append(word)
        if len(found) == reader.most:
            break
    return found


def _is_path(word: str) -> bool:
    """Whether a word can only be a whole path: no variable, pattern, range, address or option, and nothing taken out of it."""
    return (
        word not in _NOWHERE
        and not word.startswith("-")
        and bool(_PATH.fullmatch(word))
        and "//" not in word
        and REDACTED not in word
        and not word.replace(",", "").isdigit()
    )


def last_commands(text: str, folder: str) -> list[tuple[Command, str]]:
    """The commands of the last statement of a shell text, each with the folder in which it runs; none where that is not sure, or
    where the text goes on if one of them fails."""
    if not folder or len(text) > _LONGEST or "<<" in text:
        return []
    script, is_complete = parse(text)
    if not is_complete or not script:
        return []
    walk = _Walk(folder, frozenset())
    for statement in script[:-1]:
        if not walk.pass_over(statement):
            return []
    found: list[tuple[Command, str]] = []
    if "||" in script[-1].operators:
        return []
    for pipeline in script[-1].pipelines:
        first = next(_commands(pipeline), None)
        if first is None:
            return []
        if first.program in _FOLDERS:
            if not walk.follow(first):
                return []
        elif not _REMOTE.isdisjoint(first.wrappers) or first.program in _REMOTE:
            return []
        else:
            found.append((first, walk.folder))
    return found
