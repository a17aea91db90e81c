"""Assigns the sessions of the archive to projects, and lists, shows and corrects that.

Knows nothing of how projects are told apart (`projects.assignment`). Corrections are kept in the state beside the archive:
they cannot be computed again.
"""

import os
import time
from collections import defaultdict
from contextlib import closing

from preheat.app.projects import FoundProject, explain_unknown_project, find_project
from preheat.archive import projects as stored
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import count_lessons
from preheat.archive.queries import count_sessions
from preheat.errors import NotFound, UserError
from preheat.model.listing import SessionFilter
from preheat.model.project import ProjectCorrection, ProjectFolder, ProjectList, ProjectSummary, UnassignedFolder
from preheat.projects.assignment import AssignedProjects, PlacedSession, assign_projects, order_of, path_key
from preheat.projects.folders import is_home
from preheat.state import projects as state_projects
from preheat.state.connect import reading, writing


def assign_archive(connection: ArchiveConnection, always: bool = False) -> None:
    """Assign all sessions, if any has changed since the last time; `always`: also if none has, because of a correction."""
    if connection.read_only or (not always and stored.is_assigned(connection)):
        return
    with connection.transaction():
        assigned, _ = _assign(connection)
        stored.store_projects(connection, assigned.names, assigned.sessions, assigned.lookup)


def _assign(connection: ArchiveConnection) -> tuple[AssignedProjects, list[stored.StoredPlace]]:
    places = list(stored.load_places(connection))
    placed = [PlacedSession(each.session, order_of(each.started_at, each.key), each.place) for each in places]
    corrections = _load_corrections(connection.folder)
    return assign_projects(placed, corrections, stored.load_project_names(connection)), places


def _load_corrections(folder: str) -> list[ProjectCorrection]:
    if not folder:
        return []
    with reading(folder) as state:
        return state_projects.corrections(state)


class Projects:
    """The projects of an archive."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def describe_all(self) -> ProjectList:
        """All projects, those with most sessions first, and the folders that belong to none."""
        with closing(connect(self._folder)) as connection:
            return _describe(connection)

    def show(self, wanted: str) -> ProjectSummary:
        """A project by its name or a folder in it. Raises NotFound."""
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            key = _require(connection, wanted).key
            return next(each for each in _describe(connection).projects if each.key == key)

    def find_key(self, wanted: str) -> str:
        """The key of a project by its name or a folder in it; empty if there is none."""
        if not has_archive(self._folder):
            return ""
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            found = find_project(connection, wanted)
            return found.key if found is not None else ""

    def require_key(self, wanted: str) -> str:
        """The key of a project by its name or a folder in it; empty if sessions ran in folders with this in their path. Raises
        NotFound, with names that are like it, if no session belongs to any."""
        if not has_archive(self._folder):
            return ""
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            found = find_project(connection, wanted)
            if found is not None:
                return found.key
            if not count_sessions(connection, SessionFilter(project=wanted)):
                raise explain_unknown_project(connection, wanted)
            return ""

    # Corrections.
    def link(self, what: str, into: str) -> ProjectSummary:
        """Say that a project, or a folder and what is below it, belongs to a project. Raises NotFound and UserError."""
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            target = _require(connection, into)
            thing = self._thing(connection, what)
            if thing == target.key:
                raise UserError(f"`{what}` is `{target.name}` already")
            self._store(connection, ProjectCorrection(what=thing, into=target.key, at=time.time()))
        return self.show(target.name)

    def split(self, folder: str) -> ProjectSummary:
        """Say that a folder and what is below it is a project of its own. Raises NotFound if no session worked there."""
        path = _as_path(folder)
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            if not any(_is_below(each.place.home, path) for each in stored.load_places(connection)):
                raise NotFound(
                    f"no session worked in `{path}`; `preheat projects show NAME` lists the folders of a project"
                )
            self._store(connection, ProjectCorrection(what=f"folder:{path}", into=path_key(path), at=time.time()))
        return self.show(path)

    def undo(self, what: str) -> ProjectCorrection:
        """Withdraw a correction, by what was linked or split. Raises NotFound."""
        with closing(connect(self._folder)) as connection:
            known = {each.what: each for each in _load_corrections(self._folder)}
            found = next((known[each] for each in self._possible_things(connection, what) if each in known), None)
            if found is None:
                raise NotFound(f"`{what}` was neither linked nor split; `preheat projects list` shows what was")
            with writing(self._folder) as state:
                state_projects.withdraw_correction(state, found.what)
            assign_archive(connection, always=True)
        return found

    def _store(self, connection: ArchiveConnection, correction: ProjectCorrection) -> None:
        with writing(self._folder) as state:
            state_projects.correct(state, correction)
        assign_archive(connection, always=True)

    def _thing(self, connection: ArchiveConnection, what: str) -> str:
        """What a correction is about: a project, by its name, or a folder."""
        named = stored.find_named_project(connection, what)
        if named is not None:
            return named[0]
        path = _as_path(what)
        is_here = os.path.isdir(path) and not is_home(path)
        if not is_here and not any(_is_below(each.place.home, path) for each in stored.load_places(connection)):
            raise NotFound(
                f"no project and no folder of sessions is called `{what}`; `preheat projects list` shows them"
            )
        return f"folder:{path}"

    def _possible_things(self, connection: ArchiveConnection, what: str) -> list[str]:
        named = stored.find_named_project(connection, what)
        return [what, *([named[0]] if named else []), f"folder:{_as_path(what)}", *_keys_called(self._folder, what)]


def _keys_called(folder: str, name: str) -> list[str]:
    """The key of the only linked project that ends in a name: it has no name of its own any more."""
    ending = f"/{name.casefold()}"
    found = [
        each.what for each in _load_corrections(folder) if f"/{each.what.partition(':')[2]}".casefold().endswith(ending)
    ]
    return found if len(found) == 1 else []


def _require(connection: ArchiveConnection, wanted: str) -> FoundProject:
    found = find_project(connection, wanted)
    if found is None:
        raise explain_unknown_project(connection, wanted)
    return found


def _as_path(folder: str) -> str:
    """A folder as sessions name it, also one of another machine."""
    if folder[1:3] == ":\\":
        return folder.rstrip("\\")
    return os.path.abspath(os.path.expanduser(folder))


def _is_below(folder: str, path: str) -> bool:
    return folder == path or folder.startswith((f"{path}/", f"{path}\\"))


# Descriptions.
def _describe(connection: ArchiveConnection) -> ProjectList:
    assigned, places = _assign(connection)
    groups: defaultdict[str, list[stored.StoredPlace]] = defaultdict(list)
    for each in places:
        groups[assigned.sessions[each.session]].append(each)
    without = groups.pop("", [])
    lessons = count_lessons(connection)
    corrections = _load_corrections(connection.folder)
    projects = [
        ProjectSummary(
            name=assigned.names[key],
            key=key,
            known_by=_known_by(key, some),
            sessions=len(some),
            folders=_count_folders(some),
            remotes=tuple(sorted({remote for each in some if (remote := _remote_of(each))})),
            last_at=max((each.started_at for each in some if each.started_at is not None), default=None),
            lessons=lessons.get(assigned.names[key], 0),
            corrections=tuple(each for each in corrections if each.into == key),
        )
        for key, some in groups.items()
    ]
    projects.sort(key=lambda each: (-each.sessions, each.name))
    return ProjectList(projects=tuple(projects), unassigned=_count_unassigned(without, assigned.reasons))


def _remote_of(each: stored.StoredPlace) -> str:
    return each.place.remote or (each.place.tree.remote if each.place.tree is not None else "")


def _known_by(key: str, some: list[stored.StoredPlace]) -> str:
    kind, _, rest = key.partition(":")
    what, _, inside = rest.partition("#")
    if kind == "remote":
        return f"{what}, package {inside}" if inside else what
    if kind == "manifest":
        return f"the name {inside} in the manifest of {what}"
    roots = {commit for each in some if each.place.tree is not None for commit in each.place.tree.commits}
    return f"root commit {min(roots)[:12]}" if roots else f"its folder {what}"


def _count_folders(some: list[stored.StoredPlace]) -> tuple[ProjectFolder, ...]:
    counts: defaultdict[str, int] = defaultdict(int)
    for each in some:
        counts[each.place.home] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        ProjectFolder(folder=folder, sessions=number, exists=os.path.isdir(folder)) for folder, number in ordered
    )


def _count_unassigned(some: list[stored.StoredPlace], reasons: dict[int, str]) -> tuple[UnassignedFolder, ...]:
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for each in some:
        folder = each.place.home or each.folder
        why = "no folder is recorded" if not folder else reasons.get(each.session, "")
        counts[folder, why] += 1
    return tuple(
        UnassignedFolder(folder=folder, sessions=number, why=why)
        for (folder, why), number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
