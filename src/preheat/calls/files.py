"""Which files a call is about, and which files of the project it read, changed, made or removed.

Knows one call at a time, and no agent: arguments go by their usual names. A path begins at the project; what lies outside of
it, or is made by a program and by nobody else, is not named.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from posixpath import normpath
from typing import Any, Literal, NamedTuple, TypeAlias

from preheat.commands import CHECKS, Command, command_text, understand
from preheat.model.session import ToolCall
from preheat.safe_text.reasons import transient_reason
from preheat.text_cache import cache_short_texts

_NAMES = ("file_path", "path", "filePath", "notebook_path", "target_file", "filename", "file", "absolute_path")
_PATCHES = ("text", "patchText", "patch", "input")
_PATCHED = re.compile(r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)([^\n\t]+)", re.MULTILINE)
_MENTIONED = re.compile(r"[\w-][\w.-]*\.[A-Za-z]\w{0,9}")
_LONGEST_PATCH = 8192
"""A longer command holds a file's text; the names that matter stand before it."""


def file_of(call: ToolCall) -> str:
    """The file that a read, an edit or a write is about; empty where the arguments do not say."""
    return _file_argument(call.input) or next(iter(_files_of_patch(call.input)), "")


def _file_argument(arguments: dict[str, Any]) -> str:
    for name in _NAMES:
        value = arguments.get(name)
        if value and value.__class__ is str:
            return value
    return ""


def changed_files(call: ToolCall) -> str:
    """The files that an edit or a write changes, one on a line."""
    return _file_argument(call.input) or "\n".join(_files_of_patch(call.input))


def _files_of_patch(arguments: dict[str, Any]) -> list[str]:
    for name in _PATCHES:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return [path.strip() for path in _PATCHED.findall(value)]
    changes = arguments.get("changes")
    if isinstance(changes, dict):
        return [path for path in changes if isinstance(path, str)]
    if isinstance(changes, list):
        paths = (change.get("path") for change in changes if isinstance(change, dict))
        return [path for path in paths if isinstance(path, str)]
    return []


def written_files(call: ToolCall) -> list[str]:
    """The files that a call writes whole: that of a write, those that a patch adds."""
    if call.kind == "write":
        return [path for path in [_file_argument(call.input)] if path]
    patches = (call.input.get(name) for name in _PATCHES)
    return [path.strip() for text in patches if isinstance(text, str) for path in _ADDED.findall(text)]


def changed_lines(call: ToolCall) -> tuple[str, ...]:
    """The lines that an edit adds or removes, as far as its arguments show both; empty for a write, which does not."""
    found: list[str] = []
    edits = call.input.get("edits")
    for each in (call.input, *(edits if isinstance(edits, list) else ())):
        texts = [_text_argument(each, names) for names in (_OLD, _NEW)] if isinstance(each, dict) else []
        if any(texts):
            old, new = (text.splitlines() for text in texts)
            found += [line for line in new if line not in old] + [line for line in old if line not in new]
    for name in _PATCHES:
        text = call.input.get(name)
        if isinstance(text, str):
            found += (line[1:] for line in text.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---"))
    return tuple(found[:_MOST_LINES])


_OLD, _NEW = ("old_string", "oldString", "old_str"), ("new_string", "newString", "new_str")
_MOST_LINES = 400


def _text_argument(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), "")


def base_name(path: str) -> str:
    """The last part of a path, whichever way it is written."""
    return path.rstrip("/\\").rpartition("/")[2].rpartition("\\")[2]


def file_names_in(command: str) -> tuple[str, ...]:
    """The names of files in a path or in a shell command: words with an ending, or the last part of a path without one."""
    found = tuple(dict.fromkeys(_MENTIONED.findall(command[:_LONGEST_PATCH])))
    return found or (base_name(command[:_LONGEST_PATCH]),)


# Which files of the project a call touched, and how
TouchKind: TypeAlias = Literal["read", "changed", "made", "removed"]
"""`made`: written whole. `removed` may name a folder: all that is below it goes with it."""

_PATH = re.compile(r"[\w@.+-][\w@.+/ -]*")
_SHELL_PATH = re.compile(r"[\w@.+-][\w@.+/-]*")
_ENDING = re.compile(r"[^.]\.[A-Za-z][A-Za-z0-9]{0,9}$")
_KNOWN = frozenset(
    ["Makefile", "Dockerfile", "Justfile", "justfile", "Rakefile", "Gemfile", "Procfile", "Jenkinsfile", "LICENSE"]
)
_DOTTED = re.compile(r"^\.[a-z][\w.-]+$")
_MADE = re.compile(
    r"(?i)(?:^|/)(?:node_modules|bower_components|vendor|third_party|site-packages|dist|build|out|target|coverage|tmp|temp|logs?"
    r"|__pycache__|__generated__|generated|\.git|\.venv|venv|\.next|\.nuxt|\.cache|\.tox|\.terraform|\.gradle|\.?worktrees)/"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb|go\.sum|go\.work\.sum)$"
    r"|\.(?:lock|log|map|pyc|orig|rej|bak|tmp|swp|pid|prof|min\.js|min\.css|pb\.go|output)$"
    r"|_pb2(?:_grpc)?\.pyi?$|[._](?:generated|gen)\.\w+$"
)
_WORKTREE = re.compile(r"^\.(?:[\w-]+/)?worktrees/[^/]+/")
_DELETED = re.compile(r"^\*\*\* Delete File: ([^\n]+)", re.MULTILINE)
_ADDED = re.compile(r"^\*\*\* Add File: ([^\n]+)", re.MULTILINE)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n.*?(?:^\s*\2\s*$|\Z)", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"(?<![<>=&\d-])(>>?)\s*([\w@.+/-]+)")
_MISSING = re.compile(r"(?i)no such file|does not exist|file not found|cannot find the (?:path|file)|not exist")
_FIRST_IS_PATTERN = frozenset(["grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "perl", "jq", "yq"])
_PATTERN_GIVEN = frozenset(["-e", "-f", "--regexp", "--file", "--expression"])
_LOOKS = frozenset(["read", "search"])
_MAKERS = frozenset(["touch", "tee", "install"])
_REMOVERS = frozenset(["rm", "unlink", "trash"])
_LONGEST_TEXT = 8192
_MOST = 30
"""Files of one call; a call that names more is about none in particular."""


class Touch(NamedTuple):
    """A file of the project, and what a call does to it."""

    path: str
    how: TouchKind


def find_touches(call: ToolCall, relative: Callable[[str], str]) -> list[Touch]:
    """The files that a call named, as it named them, whether or not it worked; `relative` makes paths begin at the project."""
    if call.kind == "shell":
        return list(_by_command(relative(command_text(call.input)[:_LONGEST_TEXT])))
    return list(_limit(_by_tool(call, relative)))


@cache_short_texts
def _by_command(text: str) -> tuple[Touch, ...]:
    return _limit(_by_shell(text))


def _limit(found: Iterable[Touch]) -> tuple[Touch, ...]:
    """Each file once; an empty list where there are too many."""
    every = list(found)
    return tuple(dict.fromkeys(every)) if len(every) <= _MOST else ()


def says_missing(signature: str) -> bool:
    """Whether the message of a failure says that a file is not there."""
    return bool(_MISSING.search(signature))


def project_path(path: str, folder: str = "") -> str:
    """A path as the project has it; empty where it lies outside, or is nothing that people write."""
    path = path.strip().replace("\\", "/")
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return ""
    path = normpath(f"{folder}/{path}" if folder else path)
    path = _WORKTREE.sub("", path)
    if path in ("", ".") or path.startswith("..") or "REDACTED" in path or not _PATH.fullmatch(path):
        return ""
    return "" if _MADE.search(path) or transient_reason(path) else path


def _by_tool(call: ToolCall, relative: Callable[[str], str]) -> Iterator[Touch]:
    how: TouchKind = "read"
    if call.kind == "read":
        named = [file_of(call)]
    elif call.kind in ("edit", "write"):
        how, named = "changed" if call.kind == "edit" else "made", changed_files(call).split("\n")
    else:
        return
    text = next((value for value in call.input.values() if isinstance(value, str) and "*** Delete File" in value), "")
    deleted = {path.strip() for path in _DELETED.findall(text)} - {path.strip() for path in _ADDED.findall(text)}
    for path in named:
        found = _file(relative(path))
        if found:
            yield Touch(found, "removed" if path in deleted else how)


@cache_short_texts
def _file(path: str) -> str:
    """A file as the project has it; empty where it is none of the project's."""
    found = project_path(path)
    return found if found and is_file(found) else ""


def _by_shell(text: str) -> Iterator[Touch]:
    plain = _HEREDOC.sub(r"\3\n", text)
    folder = ""
    for command in understand(text).commands:
        if command.program in ("cd", "pushd", "set-location"):
            folder = _folder_after(folder, command)
            if folder == "?":  # an unknown folder: later paths are unknown too
                return
            continue
        for path, how in _named_files(command):
            found = project_path(path, folder) if _SHELL_PATH.fullmatch(path) else ""
            if found and (is_file(found) or how == "removed"):
                yield Touch(found, how)
    for arrow, path in _TARGET.findall(plain):
        found = project_path(path, folder)
        if found and is_file(found):
            yield Touch(found, "changed" if arrow == ">>" else "made")


def _folder_after(folder: str, command: Command) -> str:
    path = command.words[1] if len(command.words) > 1 else "~"
    if path == ".":
        return folder
    return project_path(path, folder) or "?"


def _named_files(command: Command) -> Iterator[tuple[str, TouchKind]]:
    """The words of a command that may be files, and what it does to them."""
    program, words = command.program, command.words[1:]
    if program == "git":
        program, words = (words[0], words[1:]) if words else ("", ())
        if program not in ("rm", "mv", "blame"):
            return
    operands = [word for word in words if not word.startswith("-")]
    if program in _REMOVERS:
        yield from ((word, "removed") for word in operands)
    elif program in ("mv", "cp") and len(operands) > 1:
        yield from ((word, "removed" if program == "mv" else "read") for word in operands[:-1])
        yield operands[-1], "made"
    elif command.purpose in _LOOKS or command.purpose == "edit" or program == "blame":
        if program in _FIRST_IS_PATTERN and _PATTERN_GIVEN.isdisjoint(words):
            operands = operands[1:]
        how: TouchKind = "read" if command.purpose != "edit" else "made" if program in _MAKERS else "changed"
        yield from ((word, how) for word in operands)
    elif command.purpose in CHECKS:
        yield from ((word.partition("::")[0], "read") for word in operands if "/" in word)


def is_file(path: str) -> bool:
    """Whether a path reads like that of a file, not of a folder."""
    name = base_name(path)
    return bool(_ENDING.search(name)) or name in _KNOWN or bool(_DOTTED.match(name) and "/" not in path)
