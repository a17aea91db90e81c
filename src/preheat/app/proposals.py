"""Proposals for a project's instructions file: as a patch, written in place with a backup, or as a commit on a branch.

Nothing of the repository is run: a commit is made from git's own objects, without hooks, filters or the working tree. Knows
nothing of how lines are chosen (`provisioning.proposal`).
"""

import difflib
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.agents import LIVE, instruction_files_of, places_of
from preheat.app.context import approved_texts
from preheat.app.facts import Contradiction, contradictions, load_facts
from preheat.app.project_assignment import assign_archive
from preheat.app.projects import find_project, find_repository, require_project
from preheat.archive import summary_cache
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons
from preheat.archive.projects import load_project_folders
from preheat.archive.queries import list_sessions
from preheat.archive.results import load_shell_runs
from preheat.errors import NotFound, UserError
from preheat.facts.fitness import folder_of_command, is_usable
from preheat.facts.stated import is_stated
from preheat.facts.values import FACT_TOPICS
from preheat.files import UMASK_DEFAULT, follow_links, read_file, read_text, write_atomically
from preheat.model.lesson import Lesson
from preheat.model.listing import SessionFilter
from preheat.model.outcome import FAILURES, JUDGED
from preheat.programs import ask_git, git_command, git_environment
from preheat.provisioning.proposal import CommandRun, Proposal, propose
from preheat.stated import Statements, command_parts, read_statements

USUAL_FILE = "AGENTS.md"
_GIT_SECONDS = 30.0
_BACKUP = "proposal-backup.json"
_PLAIN_PATH = re.compile(r"[\w@-][\w./@-]*/[\w./@-]+|[\w-]+\.[A-Za-z]{1,5}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_OF_ONE_PERSON = re.compile(r"\.(?:local|override)\.")
_MOST_REMOVED = 20
"""Paths that git is asked about."""


class FileProposal(NamedTuple):
    """A proposal for one file."""

    project: str
    path: str
    """The whole path of the file."""
    name: str
    """Its path in the project."""
    before: str
    """Empty if there is no such file."""
    proposal: Proposal
    contradictions: tuple[Contradiction, ...] = ()
    """What this file, the project's other instruction files and its README say otherwise than the tree and the sessions show."""
    unread_by: tuple[str, ...] = ()
    """The agents of the project's sessions that do not read this file by themselves, as people write their names."""

    @property
    def patch(self) -> str:
        """The change as a patch that `git apply` takes; empty if nothing changes."""
        return make_patch(self.name, self.before, self.proposal.after)


class _Backup(msgspec.Struct):
    """What the file was before it was written, and what was written."""

    path: str
    before: str | None
    """None: there was no file."""
    after: str
    """A digest."""


class Proposals:
    """Proposals for the instructions files of projects."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def propose(self, project: str, file: str = "", evidence: bool = False) -> FileProposal:
        """What the instructions file of a project (name or folder) lacks, and what is stale in it; of a repository in which no
        session ran what its tree says. Raises UserError."""
        now = time.time()
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            found = find_project(connection, project)
            new = find_repository(_folder_of(project)) if found is None else ""
            name = os.path.basename(new) if new else require_project(connection, project)
            root = new or _find_root(connection, project, name)
            lessons = load_lessons(connection, (name,)) if found is not None else []
            runs = _load_runs(connection, found.key) if found is not None else []
            agents = _agents_of(connection, found.key) if found is not None else []
        path = _find_file(root, file, agents)
        before = _read(path)
        known = load_facts(root, name, lessons, folder=self._folder).lessons
        elsewhere = _read_others(root, path)
        texts = (read_statements(before), elsewhere)
        stated = frozenset(lesson.id for lesson in known if any(is_stated(lesson, each) for each in texts))
        times = [run.at for run in runs if run.at is not None] + [
            each.last_seen for each in known if each.last_seen is not None
        ]
        days = {at: time.strftime("%Y-%m-%d", time.localtime(at)) for at in times}
        whole = [each for each in known if is_of_the_whole(each)]
        made = propose(
            before, whole, runs, project=name, approved=approved_texts(self._folder), now=now, days=days,
            removed=_find_removed(root, before), elsewhere=elsewhere, stated_ids=stated, topics=FACT_TOPICS,
            evidence=evidence,
        )  # fmt: skip
        shown = os.path.relpath(path, root).replace(os.sep, "/")
        opposed = contradictions(root, name, lessons, {shown: before})
        unread = tuple(places_of(agent).title for agent in agents if not _reads(agent, root, path))
        return FileProposal(name, path, shown, before, made, tuple(opposed), unread)

    def write(self, found: FileProposal) -> None:
        """Change the file, and keep what it was for `undo`. Raises UserError if it changed meanwhile."""
        exists = os.path.exists(found.path)
        if _read(found.path) != found.before:
            raise UserError(f"`{found.name}` changed meanwhile; nothing was written: run the command again")
        backup = _Backup(found.path, found.before if exists else None, _digest(found.proposal.after))
        write_atomically(self._backup_path, msgspec.json.encode(backup), make_folders=True)
        _save(found.path, found.proposal.after)
        summary_cache.delete(self._folder)  # it may offer what was done now

    def undo(self) -> str:
        """Bring back the file as it was before it was last written; its path. Raises UserError if it was changed since."""
        try:
            backup = msgspec.json.decode(read_file(self._backup_path), type=_Backup)
        except (OSError, msgspec.MsgspecError):
            raise NotFound("no proposal was written that could be undone") from None
        if _digest(_read(backup.path)) != backup.after:
            raise UserError(f"`{backup.path}` was changed since; nothing was undone: take the lines out yourself")
        if backup.before is None:
            os.unlink(backup.path)
        else:
            _save(backup.path, backup.before)
        os.unlink(self._backup_path)
        summary_cache.delete(self._folder)
        return backup.path

    def commit(self, found: FileProposal, branch: str) -> str:
        """Put the change on a new branch, on top of HEAD, as one commit; its id. The working tree stays as it is. Raises
        UserError."""
        root = find_repository(os.path.dirname(found.path))
        if not root:
            raise UserError(
                f"`{os.path.dirname(found.path)}` is in no git repository; `--write` changes the file in place"
            )
        if not ask_git(root, "check-ref-format", "--branch", branch):
            raise UserError(f"`{branch}` is no name for a branch")
        if ask_git(root, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
            raise UserError(f"there is a branch `{branch}` already; choose another name")
        head = ask_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
        if not head:
            raise UserError("the repository has no commit yet; `--write` changes the file in place")
        inside = os.path.relpath(os.path.realpath(found.path), os.path.realpath(root)).replace(os.sep, "/")
        if _read_committed(root, inside) != found.before:
            raise UserError(f"`{inside}` has changes that are not committed; commit them first, or use `--write`")
        with tempfile.TemporaryDirectory(prefix="preheat-") as folder:
            index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
            mode = ask_git(root, "ls-tree", "HEAD", "--", inside).split(" ")[0] or "100644"
            blob = _run_git(root, "hash-object", "-w", "--no-filters", "--stdin", stdin=found.proposal.after)
            _run_git(root, "read-tree", head, environment=index)
            _run_git(root, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{inside}", environment=index)
            tree = _run_git(root, "write-tree", environment=index)
        commit = _run_git(root, "commit-tree", tree, "-p", head, "-F", "-", stdin=_message(found, inside))
        _run_git(root, "update-ref", f"refs/heads/{branch}", commit, "")
        return commit

    @property
    def _backup_path(self) -> str:
        return os.path.join(self._folder, _BACKUP)


def make_patch(name: str, before: str, after: str) -> str:
    """The difference of two texts as a patch that `git apply` takes; empty if there is none."""
    old = f"a/{name}" if before else "/dev/null"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), old, f"b/{name}", n=3
    )
    found = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    if not found:
        return ""
    begin = f"diff --git a/{name} b/{name}\n" + ("" if before else "new file mode 100644\n")
    return begin + "".join(found)


def _folder_of(project: str) -> str:
    """The folder that a project is named by; empty where that is none."""
    folder = os.path.abspath(os.path.expanduser(project))
    return folder if os.path.isdir(folder) else ""


def _find_root(connection: ArchiveConnection, project: str, name: str) -> str:
    """The folder of a project on this machine. Raises UserError."""
    folder = _folder_of(project)
    if project.casefold() != name.casefold() and folder:  # a name is not the folder that is called like it here
        return find_repository(folder) or folder
    for each in load_project_folders(connection, name):
        if os.path.isdir(each):
            return find_repository(each) or each
    raise UserError(f"no folder of `{name}` is on this machine; run the command there with `--project .`")


def _find_file(root: str, wanted: str, agents: Sequence[str]) -> str:
    """The instructions file: the named one, else `AGENTS.md`, else one that the project has and that the agents of its sessions
    read. Raises UserError if it is not in the project."""
    if wanted:
        path = os.path.abspath(os.path.join(root, os.path.expanduser(wanted)))
        if os.path.commonpath([os.path.realpath(path), os.path.realpath(root)]) != os.path.realpath(root):
            raise UserError(f"`{wanted}` is not in the project `{root}`")
        if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
            raise UserError(f"`{wanted}` is no file; name one like `{USUAL_FILE}`")
        return path
    there = _instruction_files(root)
    read = [
        name for name in there if name == USUAL_FILE or any(name in instruction_files_of(agent) for agent in agents)
    ]
    return os.path.join(root, next(iter(read if agents else there), USUAL_FILE))


def _agents_of(connection: ArchiveConnection, project: str) -> list[str]:
    """The agents with which a project is worked on, and that read files of it by themselves; the one with most sessions first."""
    counts = Counter(each.agent for each in list_sessions(connection, SessionFilter(project_key=project)))
    return [agent for agent, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if agent in LIVE]


def _reads(agent: str, root: str, path: str) -> bool:
    """Whether an agent reads a file by itself: its own, under another name, or where its own takes it in (`@AGENTS.md`)."""
    inside = os.path.relpath(path, root).replace(os.sep, "/")
    for name in instruction_files_of(agent):
        own = os.path.join(root, name)
        if name == inside or os.path.realpath(own) == os.path.realpath(path):
            return True
        if os.path.isfile(own) and f"@{inside}" in read_text(own, errors="replace"):
            return True
    return False


def _instruction_files(root: str) -> list[str]:
    """The files of a project that agents read by themselves and that say something, the usual one first; not those that one
    person keeps beside them."""
    names = dict.fromkeys((USUAL_FILE, *(file for agent in LIVE for file in instruction_files_of(agent))))
    shared = [name for name in names if not _OF_ONE_PERSON.search(name)]
    return [name for name in shared if os.path.isfile(path := os.path.join(root, name)) and os.path.getsize(path)]


def _read_others(root: str, path: str) -> Statements:
    """What the other instruction files of a project state; `path` is the one that is written for."""
    others = {os.path.realpath(os.path.join(root, name)) for name in _instruction_files(root)} - {
        os.path.realpath(path)
    }
    return read_statements(*(read_text(each, errors="replace") for each in sorted(others)))


def is_of_the_whole(lesson: Lesson) -> bool:
    """Whether a check is of the project, and not of one folder in which the sessions seen so far happened to work."""
    if lesson.author == "person" or lesson.pinned:
        return True
    is_fact = lesson.kind == "convention" and bool(lesson.details)
    return not folder_of_command(lesson) and (is_usable(lesson) or not is_fact)


def _find_removed(root: str, text: str) -> dict[str, str]:
    """The paths in a text that are no longer in the project's folder and that a commit removed, each with the day of that."""
    named = [
        path
        for path in dict.fromkeys(each.path for each in read_statements(text).places)
        if _PLAIN_PATH.fullmatch(path)
    ]
    gone = [path for path in named if not os.path.lexists(os.path.join(root, path))][:_MOST_REMOVED]
    found = {}
    for path in gone:
        day = ask_git(root, "log", "-1", "--format=%cs", "--diff-filter=D", "--no-show-signature", "--", path)
        if _DAY.fullmatch(day):
            found[path] = day
    return found


def _load_runs(connection: ArchiveConnection, project: str) -> list[CommandRun]:
    """The calls of single commands in a project, in time order; what a check finds is no failure of its command."""
    found = []
    for run in load_shell_runs(connection, project):
        parts = command_parts(run.command)
        if len(parts) == 1 and run.status in JUDGED:
            works = run.status not in FAILURES or run.cause == "finding"
            found.append(CommandRun(parts[0], works, run.session, run.at))
    return found


def _read(path: str) -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise UserError(f"`{path}` is no text in UTF-8; name another one with `--file`") from None


def _save(path: str, text: str) -> None:
    target = follow_links(path, find_repository(os.path.dirname(os.path.abspath(path))))
    write_atomically(target, text.encode(), mode=UMASK_DEFAULT, like=path)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _message(found: FileProposal, name: str) -> str:
    lines = "\n".join(f"- {each.text}" for each in found.proposal.lines)
    stale = "\n".join(f"- stale: {each.why}" for each in found.proposal.stale)
    return f"{name}: what earlier sessions found out\n\n{lines}\n{stale}\n"


def _read_committed(root: str, name: str) -> str:
    """The file as HEAD has it; empty if it has none."""
    if not ask_git(root, "ls-tree", "HEAD", "--", name):
        return ""
    return _run_git(root, "cat-file", "blob", f"HEAD:{name}", strip=False)


def _run_git(
    root: str, *arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None, strip: bool = True
) -> str:
    """What git prints. Raises UserError with git's own words if it fails."""
    command = git_command("-C", root, *arguments, outside=root)
    if not command:
        raise UserError("git is not installed; `--write` changes the file in place")
    try:
        done = subprocess.run(
            command,
            input=stdin.encode(),
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
            env={**git_environment(), **(environment or {})},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"git did not answer: {error}") from error
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if any("git config" in line or "email" in line for line in words):
            raise UserError(
                "git does not know whose commit it would be; `git config user.name NAME` and"
                " `git config user.email ADDRESS` say it"
            )
        raise UserError(f"git {arguments[0]} failed: {words[-1] if words else done.returncode}")
    text = done.stdout.decode("utf-8", "replace")
    return text.strip() if strip else text
