"""Lessons in a repository's own file: what a person shares, trusts and checks. Knows nothing of terminals.

A version of the file is trusted by its clone and its bytes: another clone asks again, for a folder that somebody unpacked is not
the one that was looked at; linked worktrees of a clone do not, for they are the same person's checkout of the same objects.
"""

import os
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Literal, NamedTuple, TypeAlias

from preheat.app.projects import find_project, find_project_at, require_project
from preheat.app.sharing.notice import describe_untrusted
from preheat.app.sharing.planning import LeftLesson, plan_file, say_entry
from preheat.app.sharing.reading import find_here, read_lessons, require_clone, require_readable
from preheat.app.sharing.tree_checks import make_judges
from preheat.archive.connect import connect
from preheat.archive.lessons import load_conflicts
from preheat.archive.projects import load_project_folders
from preheat.errors import UserError
from preheat.files import UMASK_DEFAULT, make_project_folder, write_atomically
from preheat.model.lesson import Lesson
from preheat.model.received import LessonConflict, ReceivedLesson, TrustedFile
from preheat.settings import archive_path, state_path
from preheat.shared_file import FILE, FOLDER, Clone, FoundFile, find_clone, find_file, shared_path
from preheat.sharing.check import FileProblem, check_document
from preheat.sharing.document import ATTRIBUTES, read_document, write_document
from preheat.state.connect import reading, writing
from preheat.state.received_lessons import revoke_files, trust_file, trusted_files

__all__ = ["FileProblem", "LeftLesson", "ShareReport", "SharedLine", "Sharing", "TrustReport", "TrustState"]

TrustState: TypeAlias = Literal["none", "trusted", "untrusted", "unreadable"]
_ATTRIBUTES_NAME = ".gitattributes"


class SharedLine(NamedTuple):
    """A lesson of the file, for a person."""

    lesson: str
    kind: str
    says: str
    """What a session is told, exactly."""
    evidence: str


class ShareReport(NamedTuple):
    """What the next version of a file has."""

    project: str
    path: str
    root: str
    base: str
    """The digest of the version that it follows; empty if there is none."""
    data: bytes
    new: tuple[SharedLine, ...]
    changed: tuple[SharedLine, ...]
    gone: tuple[SharedLine, ...]
    kept: int
    """Lessons that stay as they are."""
    left_out: tuple[LeftLesson, ...]
    unapproved: tuple[LeftLesson, ...]
    is_changed: bool
    """Whether the file would have other bytes: also if only marks of a merge or lines that may not be used are gone."""


class TrustReport(NamedTuple):
    """The file of a clone, and whether it is trusted."""

    path: str
    root: str
    digest: str
    state: TrustState
    fault: str = ""
    """Why it may not be read."""
    trusted_at: float | None = None
    """When the last version was trusted."""
    lessons: int = 0
    """Lessons that may be used, once it is trusted."""
    new: tuple[SharedLine, ...] = ()
    changed: tuple[SharedLine, ...] = ()
    gone: tuple[SharedLine, ...] = ()
    """Against the version that was trusted last."""
    problems: tuple[FileProblem, ...] = ()
    """What is left out, and why."""
    conflicts: tuple[LessonConflict, ...] = ()


def write_shared_file(clone: Clone, data: bytes) -> str:
    """Write the file of a clone, with what git needs to merge it; its path. Raises UserError if it would leave the repository."""
    folder = os.path.join(clone.root, FOLDER)
    if os.path.realpath(folder) != folder:
        raise UserError(f"`{FOLDER}` leads out of the repository; nothing was written")
    make_project_folder(folder)
    attributes = os.path.join(folder, _ATTRIBUTES_NAME)
    if not os.path.lexists(attributes):
        write_atomically(attributes, ATTRIBUTES, mode=UMASK_DEFAULT)
    path = shared_path(clone.root)
    write_atomically(path, data, mode=UMASK_DEFAULT)
    return path


class Sharing:
    """The files of shared lessons on this machine."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    # Sharing.
    def plan(self, project: str = ".") -> ShareReport:
        """What `write` would write for a project, by its name or a folder in it; nothing is written. Raises UserError."""
        name, where = self._find_project(project)
        clone = require_clone(where)
        file = require_readable(clone)
        if file.digest and not self._is_trusted(clone, file):
            raise UserError(f"`{FILE}` has a version that you have not trusted; `preheat trust` comes first")
        planned = plan_file(self._folder, file.data, name, clone.root)
        plan = planned.plan
        new, changed, gone = (
            tuple(SharedLine(each.id, each.kind, say_entry(each, name), each.evidence) for each in some)
            for some in (plan.new, plan.changed, plan.gone)
        )
        data = write_document(plan.entries) if plan.entries or file.data else b""
        return ShareReport(
            name, shared_path(clone.root), clone.root, file.digest, data, new, changed, gone,
            len(plan.entries) - len(new) - len(changed), planned.left_out, planned.unapproved, data != file.data,
        )  # fmt: skip

    def write(self, report: ShareReport) -> str:
        """Write what was planned, and trust it: its person saw it. Returns the path. Raises UserError."""
        clone = require_clone(report.root)
        if require_readable(clone).digest != report.base:
            raise UserError(f"`{FILE}` changed meanwhile; look at it again")
        write_shared_file(clone, report.data)
        self._store_trust(clone, find_file(clone.root), report.project)
        return report.path

    # Trust.
    def look(self, where: str = ".") -> TrustReport:
        """The file of the clone around a folder, against the version that was trusted last. Raises UserError."""
        clone = require_clone(where)
        path, file = shared_path(clone.root), find_file(clone.root)
        if file.fault:
            return TrustReport(path, clone.root, "", "unreadable", file.fault)
        trusted = self._trusted_versions(clone)
        last = trusted[0] if trusted else None
        if not file.digest:
            return TrustReport(path, clone.root, "", "none", trusted_at=last.at if last else None)
        name = self._name_of(clone)
        _, checked = read_lessons(file.data, name)
        before = {each.id: each for each in read_lessons(last.content, name)[1].lessons} if last is not None else {}
        after = {each.id: each for each in checked.lessons}
        is_trusted = any(each.digest == file.digest for each in trusted)
        evidence = {each.id: each.evidence for each in read_document(file.data).entries}
        evidence = (
            {each.id: each.evidence for each in read_document(last.content).entries} | evidence if last else evidence
        )
        new, changed, gone = (
            tuple(SharedLine(each.id, each.kind, each.text, evidence[each.id]) for each in some)
            for some in (
                [each for name, each in after.items() if name not in before],
                [each for name, each in after.items() if name in before and before[name] != each],
                [each for name, each in before.items() if name not in after],
            )
        )
        return TrustReport(
            path, clone.root, file.digest, "trusted" if is_trusted else "untrusted", "", last.at if last else None,
            len(after), new, changed, gone, checked.problems, tuple(self._find_conflicts(clone, name, checked.lessons)),
        )  # fmt: skip

    def trust(self, report: TrustReport) -> TrustReport:
        """Trust the version that a report shows. Raises UserError if the file is another one by now."""
        clone = require_clone(report.root)
        file = require_readable(clone)
        if not file.digest or file.digest != report.digest:
            raise UserError(f"`{FILE}` changed meanwhile; look at it again")
        self._store_trust(clone, file, self._name_of(clone))
        return self.look(report.root)

    def revoke(self, where: str = ".") -> int:
        """Trust no version of a clone's file any more; how many were trusted."""
        clone = require_clone(where)
        if not os.path.exists(state_path(self._folder)):
            return 0
        with writing(self._folder) as state:
            return revoke_files(state, clone.identity)

    def describe_untrusted(self, where: str = ".") -> str:
        """One line for a person if the clone around a folder has a file that is not trusted; empty if not."""
        return describe_untrusted(self._folder, where)

    # Checks.
    def check(self, where: str = ".") -> list[FileProblem]:
        """What is wrong with the file of a working tree, a line each; needs no archive. Raises UserError if there is none."""
        clone = find_here(where)
        file = find_file(clone.root)
        if file.fault:
            return [FileProblem("unsafe", 0, "", file.fault)]
        if not file.digest:
            raise UserError(f"there is no `{FILE}` in `{clone.root}`; `preheat share` writes one")
        _, checked = read_lessons(file.data, os.path.basename(clone.root))
        return check_document(checked, *make_judges(clone.root, os.path.basename(clone.root)))

    # What is known here.
    def _find_project(self, wanted: str) -> tuple[str, str]:
        """The name of a project, and a folder of it. Raises NotFound and UserError."""
        with closing(connect(self._folder)) as archive:
            if os.path.isdir(os.path.expanduser(wanted)):
                found = find_project(archive, wanted)
                clone = find_clone(wanted)
                name = found.name if found is not None else os.path.basename(clone.root) if clone is not None else ""
                return name, wanted
            name = require_project(archive, wanted)
            folders = [each for each in load_project_folders(archive, name) if os.path.isdir(each)]
        if not folders:
            raise UserError(f"no folder of `{name}` is on this machine; name one: `--project PATH`")
        return name, folders[0]

    def _name_of(self, clone: Clone) -> str:
        """The name of a clone's project on this machine."""
        return self._identify(clone)[1]

    def _identify(self, clone: Clone) -> tuple[str, str]:
        """The key and the name of a clone's project; without sessions of it the name of the folder."""
        if os.path.exists(archive_path(self._folder)):
            with closing(connect(self._folder)) as archive:
                if (found := find_project_at(archive, clone.root)) is not None:
                    return found.key, found.name
        return "", os.path.basename(clone.root)

    def _trusted_versions(self, clone: Clone) -> list[TrustedFile]:
        if not os.path.exists(state_path(self._folder)):
            return []
        with reading(self._folder) as state:
            return trusted_files(state, clone.identity)

    def _is_trusted(self, clone: Clone, file: FoundFile) -> bool:
        return any(each.digest == file.digest for each in self._trusted_versions(clone))

    def _store_trust(self, clone: Clone, file: FoundFile, name: str) -> None:
        now, key = time.time(), self._identify(clone)[0]
        _, checked = read_lessons(file.data, name)
        received = [
            ReceivedLesson(each, "repository", clone.identity, file.digest, key, "you", now) for each in checked.lessons
        ]
        with writing(self._folder) as state:
            trust_file(state, TrustedFile(clone.identity, file.digest, clone.root, file.data, now), received)

    def _find_conflicts(self, clone: Clone, name: str, theirs: Sequence[Lesson]) -> list[LessonConflict]:
        if not os.path.exists(archive_path(self._folder)):
            return []
        with closing(connect(self._folder)) as archive:
            return load_conflicts(archive, ("", name), clone.root, theirs)
