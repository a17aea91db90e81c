"""Who belongs together: the project of every session, from what sessions and working trees say, and from people's corrections.

A project is known by its remote, else by its root commits, else by its folder; never by a name alone. Knows no archive. Keys:

    remote:HOST/OWNER/NAME         a repository; `#PACKAGE` after it: a package in it
    path:FOLDER                    a folder, or a repository without a remote
    manifest:FOLDER#NAME           one of several projects that were in the same folder
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from preheat.model.project import ProjectCorrection, SessionPlace
from preheat.projects.folders import (
    collection_groups,
    folder_name,
    is_home,
    is_shared,
    is_within,
    main_folder,
    split_path,
)

_CLEAR_SHARE = 0.8
"""Share of the sessions of a folder that name a remote which must name the same one, for the others to belong there too."""
_FEWEST_BESIDE = 2
"""Worktrees beside it that must name the same remote, for one that names none."""
NO_PROJECT = ""


class PlacedSession(NamedTuple):
    """A session and its place; `order` sorts sessions by time (see `order_of`)."""

    id: int
    order: tuple[float, str]
    place: SessionPlace


class AssignedProjects(NamedTuple):
    """The projects of an archive."""

    names: dict[str, str]
    """The name of each project by its key."""
    sessions: dict[int, str]
    """The key of each session's project; empty where it has none."""
    lookup: dict[str, str]
    """The key of the project by each thing that it is known by: a remote, a folder, a commit, a corrected folder."""
    reasons: dict[int, str]
    """Why a session has no project."""


class _Folder(NamedTuple):
    """A folder in which sessions worked, as all of them say."""

    remote: str
    """The remote that nearly all of those name that name one; empty if there is none."""
    split: bool
    """Whether they name different ones."""


def order_of(started_at: float | None, key: str) -> tuple[float, str]:
    """Where a session comes among the others: by its start, those without one last; whatever order they were read in."""
    return math.inf if started_at is None else started_at, key


def path_key(folder: str) -> str:
    return f"path:{folder}"


def remote_key(remote: str, package: str = "") -> str:
    """The key of a repository, or of a package in it; hosts and owners are the same in any case of letters."""
    return f"remote:{remote.casefold()}" + (f"#{package}" if package else "")


def assign_projects(
    sessions: Sequence[PlacedSession],
    corrections: Iterable[ProjectCorrection] = (),
    named: Mapping[str, str] | None = None,
) -> AssignedProjects:
    """Assign every session; `named` are the names that projects have already."""
    decided = {each.what: each.into for each in corrections}
    ordered = sorted(sessions, key=lambda each: each.order)
    moved = {each.place.former.casefold(): each.place.remote for each in ordered if each.place.former}
    bases = {each.id: _base(each.place) for each in ordered}
    folders = _describe_folders(ordered, bases, moved)
    keys: dict[int, str] = {}
    reasons: dict[int, str] = {}
    fixed = {what: _follow(into, decided) for what, into in decided.items() if what.startswith("folder:")}
    free: list[PlacedSession] = []
    for each in ordered:
        folder = _corrected_folder(each.place, bases[each.id], decided)
        if folder:
            keys[each.id] = fixed[folder]
        else:
            keys[each.id], reasons[each.id] = _first_key(each.place, bases[each.id], folders, moved)
            free.append(each)
    _join_collections(free, bases, keys)
    _join_commits(free, keys)
    _join_subfolders(free, bases, folders, keys)
    keys = {session: _follow(key, decided) for session, key in keys.items()}
    lookup = {**_make_lookup(free, bases, folders, keys, moved), **{key: key for key in keys.values() if key}, **fixed}
    shown = {each.place.remote or (each.place.tree.remote if each.place.tree else "") for each in ordered} - {""}
    names = _name(list(dict.fromkeys(keys[each.id] for each in ordered if keys[each.id])), named or {}, shown)
    return AssignedProjects(names, keys, lookup, {each: why for each, why in reasons.items() if not keys[each]})


def _base(place: SessionPlace) -> str:
    """The folder by which a place is known: that of the repository where a worktree belongs to one."""
    if place.tree is not None and is_within(place.home, place.tree.root):
        return "" if is_home(place.tree.main) else place.tree.main
    return main_folder(place.home)


def _remote_of(place: SessionPlace, moved: Mapping[str, str]) -> str:
    remote = place.remote or (place.tree.remote if place.tree is not None else "")
    return moved.get(remote.casefold(), remote)


def _describe_folders(
    sessions: Iterable[PlacedSession], bases: Mapping[int, str], moved: Mapping[str, str]
) -> dict[str, _Folder]:
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in sessions:
        if bases[each.id]:
            votes[bases[each.id]][_remote_of(each.place, moved).casefold()] += 1
    found: dict[str, _Folder] = {}
    for folder, counts in votes.items():
        del counts[""]
        most, number = max(counts.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        is_clear = number >= _CLEAR_SHARE * counts.total()
        found[folder] = _Folder(most if is_clear else "", len(counts) > 1 and not is_clear)
    return found


def _corrected_folder(place: SessionPlace, base: str, decided: Mapping[str, str]) -> str:
    """The correction of the innermost folder around a place; empty if there is none."""
    found = [
        what
        for what in decided
        if what.startswith("folder:") and (is_within(place.home, what[7:]) or (base and is_within(base, what[7:])))
    ]
    return max(found, key=len, default="")


def _first_key(
    place: SessionPlace, base: str, folders: Mapping[str, _Folder], moved: Mapping[str, str]
) -> tuple[str, str]:
    """The key of a place by itself and its folder; or none, and why."""
    if not base:
        return NO_PROJECT, "a home folder is no project"
    folder, own = folders[base], _remote_of(place, moved)
    package = place.tree.package if place.tree is not None else ""
    remote = own if place.certain or folder.split else folder.remote
    if remote:
        return remote_key(remote, package), ""
    if folder.split or is_shared(base):
        if place.manifest and not folder.split:
            return f"manifest:{base}#{place.manifest}", ""
        why = "other repositories were in the same folder, and nothing says which one this was"
        return NO_PROJECT, why if folder.split else "the folder is of a container, and nothing says what was in it"
    return path_key(f"{base}/{package}" if package else base), ""


# Joining.
def _join_collections(sessions: Iterable[PlacedSession], bases: Mapping[int, str], keys: dict[int, str]) -> None:
    """A worktree that names no remote belongs to the one that all others of its group in the same collection name."""
    remotes: defaultdict[tuple[str, str], defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    silent: list[PlacedSession] = []
    for each in sessions:
        key = keys[each.id]
        if key.startswith("path:"):
            silent.append(each)
        elif key.startswith("remote:"):
            for group in collection_groups(bases[each.id]):
                remotes[group][key].add(bases[each.id])
    for each in silent:
        for group in collection_groups(bases[each.id]):
            found: Mapping[str, set[str]] = remotes.get(group, {})
            if len(found) == 1 and len(folders := next(iter(found.values()))) >= _FEWEST_BESIDE:
                keys[each.id] = next(key for key, value in found.items() if value is folders)
                break


def _commits(place: SessionPlace) -> tuple[str, ...]:
    roots = place.tree.commits if place.tree is not None else ()
    return (*roots, place.commit) if place.commit else roots


def _join_commits(sessions: Sequence[PlacedSession], keys: dict[int, str]) -> None:
    """Repositories without a remote that have a commit in common are one; of a project with a remote, if it is the only one."""
    holders: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for each in sessions:
        if keys[each.id].startswith(("path:", "remote:")):
            for commit in _commits(each.place):
                holders[commit][keys[each.id]] = None
    into: dict[str, str] = {}
    for keys_of_commit in holders.values():
        remotes = [key for key in keys_of_commit if key.startswith("remote:")]
        paths = [key for key in keys_of_commit if key.startswith("path:")]
        first = remotes[0] if len(remotes) == 1 else paths[0] if paths and not remotes else ""
        for key in paths:
            if first and _end(key, into) != _end(first, into):
                into[_end(key, into)] = _end(first, into)
    for each in sessions:
        keys[each.id] = _end(keys[each.id], into)


def _end(key: str, into: Mapping[str, str]) -> str:
    while key in into and into[key] != key:
        key = into[key]
    return key


def _join_subfolders(
    sessions: Iterable[PlacedSession], bases: Mapping[int, str], folders: Mapping[str, _Folder], keys: dict[int, str]
) -> None:
    """A folder of which nothing is known but that it lies in a repository belongs to this, unless it has a manifest."""
    with_remote = {folder: seen.remote for folder, seen in folders.items() if seen.remote}
    for each in sessions:
        if not keys[each.id].startswith("path:") or each.place.manifest or each.place.tree is not None:
            continue
        around = [folder for folder in with_remote if is_within(bases[each.id], folder)]
        if around:
            keys[each.id] = remote_key(with_remote[max(around, key=len)])


def _follow(key: str, decided: Mapping[str, str]) -> str:
    """The project that a project was linked to."""
    seen = {key}
    while decided.get(key, key) not in seen:
        key = decided[key]
        seen.add(key)
    return key


# What projects are found by, and named.
def _make_lookup(
    sessions: Iterable[PlacedSession],
    bases: Mapping[int, str],
    folders: Mapping[str, _Folder],
    keys: Mapping[int, str],
    moved: Mapping[str, str],
) -> dict[str, str]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in sessions:
        key, base = keys[each.id], bases[each.id]
        if not key:
            continue
        package = each.place.tree.package if each.place.tree is not None else ""
        remote = _remote_of(each.place, moved)
        if remote and (remote.casefold() == folders[base].remote or each.place.certain):
            found[remote_key(remote, package)][key] += 1
        for commit in _commits(each.place):
            found[f"commit:{commit}"][key] += 1
        if base and not folders[base].split and not is_shared(base):
            for folder in {f"{base}/{package}" if package else base, each.place.home}:
                found[path_key(folder)][key] += 1
    chosen = {what: max(counts, key=lambda key: (counts[key], key)) for what, counts in found.items()}
    for former, remote in moved.items():
        if (now := remote_key(remote)) in chosen:
            chosen.setdefault(remote_key(former), chosen[now])
    # A commit that forks have in common says nothing.
    return {what: key for what, key in chosen.items() if not what.startswith("commit:") or len(found[what]) == 1}


def _name(keys: Sequence[str], named: Mapping[str, str], shown: Iterable[str]) -> dict[str, str]:
    """A name for each project: the shortest that is free. A name once given stays, because lessons and marks go by it."""
    spelled = {remote.casefold(): remote for remote in sorted(shown)}
    found = {key: named[key] for key in keys if key in named}
    taken = {name.casefold() for name in named.values()}
    for key in keys:
        if key in found:
            continue
        for name in _possible_names(key, spelled):
            if name.casefold() not in taken:
                break
        found[key] = name
        taken.add(name.casefold())
    return found


def _possible_names(key: str, spelled: Mapping[str, str]) -> list[str]:
    kind, _, rest = key.partition(":")
    what, _, inside = rest.partition("#")
    what = spelled.get(what, what) if kind == "remote" else what
    if kind == "manifest":
        return [inside, f"{folder_name(what)}/{inside}", rest]
    ending = f"/{inside}" if inside else ""
    parts = split_path(what)
    short = ["/".join(parts[-size:]) + ending for size in range(1, len(parts))]
    return [*short, what + ending, rest, key]
