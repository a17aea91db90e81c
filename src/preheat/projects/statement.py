"""What a session says of the project that it worked in: the folder of its calls, the remote, the name in the manifest.

Knows one session and no file: the folder may be gone, or have been on another machine. An output counts only for a call that was
made in the session's own folder, because agents visit other repositories too.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from preheat.calls.files import file_of
from preheat.commands import command_text
from preheat.model.project import SessionPlace
from preheat.model.session import Session, ToolCall, ToolResult, pair_calls_with_results
from preheat.projects.folders import folder_name, is_absolute, is_foreign, is_home, is_temporary, is_within, main_folder
from preheat.remotes import normalise_remote

_MOST_CALLS = 4000
_LONGEST = 4096
"""Characters of a command, and of the beginning and the end of an output."""
_WORKDIRS = ("workdir", "cwd", "working_directory", "workingDirectory", "dir_path", "directory")
_PATH = r"""("[^"\n]+"|'[^'\n]+'|[^\s;&|)]+)"""
_CHANGE = re.compile(rf"(?:^|&&|;|\|\||\n)\s*\(?\s*(?:cd|pushd)\s+(?:--\s+)?{_PATH}|\bgit\s+-C\s+{_PATH}")
_TALKS = re.compile(r"\bgit\b[^\n;&|]*\b(?:push|pull|fetch|remote|ls-remote|config)\b|\bgh\s+pr\s+create\b")
_MOVED = re.compile(r"repository moved\b.{0,80}new location:?\s*(?:remote:\s*)*(\S+)", re.DOTALL)
_PEER = re.compile(r"^(?:To|From) (\S+)\s*$", re.MULTILINE)
_LISTED = re.compile(r"^(\S+)\s+(\S+)\s+\((?:fetch|push)\)", re.MULTILINE)
_REQUEST = re.compile(r"^(https://[^/\s]+/\S+?)(?:/-)?/(?:pull|merge_requests)/\d+\s*$", re.MULTILINE)
_NAMED = re.compile(r"\b(?:get-url|remote\.[\w.-]+\.url)\b")
_MANIFEST_NAMES = {
    "package.json": re.compile(r'"name"\s*:\s*"([^"\n]+)"'),
    "composer.json": re.compile(r'"name"\s*:\s*"([^"\n]+)"'),
    "pyproject.toml": re.compile(r"\[(?:project|tool\.poetry)\][^\[]*?\bname\s*=\s*[\"']([^\"'\n]+)", re.DOTALL),
    "Cargo.toml": re.compile(r"\[package\][^\[]*?\bname\s*=\s*\"([^\"\n]+)", re.DOTALL),
    "go.mod": re.compile(r"\bmodule\s+(\S+)"),
    "setup.cfg": re.compile(r"\[metadata\][^\[]*?\bname\s*=\s*(\S+)", re.DOTALL),
    "setup.py": re.compile(r"\bname\s*=\s*[\"']([^\"'\n]+)[\"']"),
}
"""How each manifest names its package."""
_READS = re.compile(
    rf"^\s*(?:cat|head|sed|bat|less|more|nl|type)\b[^|;&]*?([\w./\\:-]*\b(?:{'|'.join(map(re.escape, _MANIFEST_NAMES))}))\s*$"
)
_PLACED_SHARE = 0.6
"""Share of the calls outside that one folder must hold to be the place of work."""
_NARROW_SHARE = 0.8


class _Visit(NamedTuple):
    """A call, and the folder in which it was made."""

    call: ToolCall
    result: ToolResult | None
    folder: str
    stated: bool
    """Whether the call names the folder; else it is where the session started."""
    by_command: bool
    """Whether a command was run there; else a file there was named."""


def read_statement(session: Session, find_root: Callable[[str], str] = lambda folder: "") -> SessionPlace:
    """What a session says. `find_root` gives the root of the checkout around a folder, where that exists."""
    visits = list(_visits(session))
    home = _find_home(session, visits, find_root)
    inside = [visit for visit in visits if is_within(visit.folder, home)] if home else []
    at_start = bool(session.repository) and bool(home) and _overlap(home, session.project)
    # A folder below may hold another repository; a worktree there is of this one.
    remote, former = _read_remote([visit for visit in inside if home in (visit.folder, main_folder(visit.folder))])
    return SessionPlace(
        home=home,
        remote=session.repository if at_start else remote,
        certain=at_start,
        former=former,
        commit=session.commit if home and _overlap(home, session.project) else "",
        manifest=_read_manifest(inside, home),
    )


def _overlap(one: str, other: str) -> bool:
    return is_within(one, other) or is_within(other, one)


# Where the calls are.
def _visits(session: Session) -> Iterator[_Visit]:
    start = session.project.rstrip("/\\") or session.project
    for number, (call, result) in enumerate(pair_calls_with_results(session)):
        if number >= _MOST_CALLS:
            return
        if call.kind == "shell":
            folder = _command_folder(call, start)
            yield _Visit(call, result, folder or start, bool(folder), True)
        elif call.kind in ("read", "edit", "write"):
            path = file_of(call)
            folder = _above(path) if is_absolute(path) else ""
            yield _Visit(call, result, folder or start, bool(folder), False)


def _command_folder(call: ToolCall, start: str) -> str:
    """The folder that a command names as its own; empty if it names none."""
    folder = next((value for name in _WORKDIRS if isinstance(value := call.input.get(name), str) and value), "")
    folder = _join(start, folder) if folder else ""
    for change in _CHANGE.finditer(command_text(call.input)[:_LONGEST]):
        target = (change[1] or change[2]).strip("\"'")
        if target.startswith(("$", "-", "~")) or "$" in target:
            continue
        folder = _join(folder or start, target)
    return folder


def _join(base: str, path: str) -> str:
    path = path.rstrip("/\\") or path
    if is_absolute(path):
        return posixpath.normpath(path) if path[0] == "/" else path
    return posixpath.normpath(f"{base}/{path}") if base[:1] == "/" else base


def _above(path: str) -> str:
    return path.rpartition("\\" if "\\" in path else "/")[0]


def _find_home(session: Session, visits: list[_Visit], find_root: Callable[[str], str]) -> str:
    """The folder that a session worked in: where it started, unless most of its calls were elsewhere."""
    start = session.project.rstrip("/\\") or session.project
    named = [visit for visit in visits if visit.stated and not is_temporary(visit.folder) and not is_home(visit.folder)]
    if is_home(start):
        return _busiest(named, find_root, _PLACED_SHARE)
    # To read elsewhere is no work there, nor to run what is installed there.
    outside = [
        visit
        for visit in named
        if not is_within(visit.folder, start) and visit.call.kind != "read" and not is_foreign(visit.folder)
    ]
    if 2 * len(outside) <= len(visits):
        return _narrow(session, visits, start, find_root)
    return _busiest(outside, find_root, _PLACED_SHARE) or start


def _narrow(session: Session, visits: list[_Visit], start: str, find_root: Callable[[str], str]) -> str:
    """The folder below the start that nearly all calls name, if the start itself is in no repository."""
    if session.branch or session.repository or session.commit or find_root(start):
        return start
    below = [visit for visit in visits if visit.stated and visit.folder != start and is_within(visit.folder, start)]
    if len(below) < _NARROW_SHARE * len(visits) or not below:
        return start
    found = _busiest(below, find_root, _NARROW_SHARE)
    return found if found and any(visit.by_command and visit.folder == found for visit in below) else start


def _busiest(visits: list[_Visit], find_root: Callable[[str], str], share: float) -> str:
    """The folder that holds so large a share of the calls: a checkout's root, else a folder in which commands were run, else the
    deepest one."""
    counts = Counter(visit.folder for visit in visits)
    by_root: Counter[str] = Counter()
    for folder, number in counts.items():
        if root := find_root(folder):
            by_root[root] += number
    for root, number in by_root.most_common(1):
        if number >= share * len(visits) and not is_home(root):
            return root
    run_in = Counter(visit.folder for visit in visits if visit.by_command)
    wanted = share * len(visits)
    for folder, _ in sorted(run_in.items(), key=lambda each: (-each[1], len(each[0]), each[0])):
        if sum(number for each, number in counts.items() if is_within(each, folder)) >= wanted:
            return folder
    return _deepest(counts, wanted)


def _deepest(counts: Counter[str], wanted: float) -> str:
    held: Counter[str] = Counter()
    for folder, number in counts.items():
        while folder and not is_home(folder):
            held[folder] += number
            folder = _above(folder)
    enough = [folder for folder, number in held.items() if number >= wanted]
    return max(enough, key=lambda folder: (len(folder), folder), default="")


# What outputs say.
def _read_remote(visits: list[_Visit]) -> tuple[str, str]:
    """The remote that the outputs of git name most, and the one under which it was known before it moved."""
    named: Counter[str] = Counter()
    former = moved_to = ""
    for visit in visits:
        if visit.call.kind != "shell" or visit.result is None:
            continue
        command = command_text(visit.call.input)[:_LONGEST]
        if not _TALKS.search(command):
            continue
        text = visit.result.text
        text = text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"
        found = list(_remotes_in(command, text))
        named.update(found)
        if found and (moved := _MOVED.search(text)) and (new := normalise_remote(moved[1])):
            former, moved_to = found[0], new
    if moved_to:
        return moved_to, "" if former == moved_to else former
    return (max(named, key=lambda remote: (named[remote], remote)) if named else ""), ""


def _remotes_in(command: str, text: str) -> Iterator[str]:
    listed = {name: remote for name, address in _LISTED.findall(text) if (remote := normalise_remote(address))}
    if listed and "remote" in command:
        yield listed.get("origin") or next(iter(listed.values()))
        return
    if _NAMED.search(command) and (remote := normalise_remote(text.strip().partition("\n")[0])):
        yield remote
        return
    for found in (*_PEER.findall(text), *_REQUEST.findall(text)):
        if remote := normalise_remote(found):
            yield remote


def _read_manifest(visits: list[_Visit], home: str) -> str:
    """The name in the first manifest at the root of the place of work that was read."""
    for visit in visits:
        if visit.result is None or visit.result.is_error:
            continue
        if visit.call.kind == "read":
            path, folder = file_of(visit.call), ""
        elif visit.call.kind == "shell":
            read = _READS.match(command_text(visit.call.input)[:_LONGEST].rpartition("&&")[2])
            path, folder = (read[1], visit.folder) if read else ("", "")
        else:
            continue
        pattern = _MANIFEST_NAMES.get(folder_name(path)) if path else None
        where = _above(path) if is_absolute(path) else _join(folder or home, _above(path) or ".")
        if pattern is not None and where == home and (found := pattern.search(visit.result.text[:_LONGEST])):
            return found[1][:100]
    return ""
