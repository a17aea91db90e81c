"""Recorded sessions of projects in time order, with the working tree as it was before each, for `benchmarks.orientation`.

A folder of projects is laid out as `corpus-projects`. Repositories are bare clones in `FOLDER/OWNER+NAME/repo`. The tree of
a session is what it found at its start, as nearly as the public repository tells (`find_base`): it works on a branch, and the
default branch may lack files that were there. No commit made after the start is ever taken.
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.measuring import SHARED
from benchmarks.real import PACKED, SKIPPED, Source, sources, unpack
from preheat.agents.sources import detect, read
from preheat.app.analysis.one_pass import analyse
from preheat.calls.files import file_of
from preheat.errors import NotRecognised
from preheat.model.analysis import Episode
from preheat.model.orientation import PastEpisode
from preheat.model.session import Session, ToolCall, ToolResult, UserMessage
from preheat.orientation.documents import LONGEST_PART, choose_part, find_documents
from preheat.tree.sources import CommittedTree, FoundFile

SHARED_FOLDERS = ("corpus-projects", "corpus-projects-2")
_EDITS = ("changed", "made")
_BRANCH = re.compile(r'"(?:gitBranch|branch)":\s*"([^"]+)"')
_IS_DOCUMENT = re.compile(r"\.(?:mdx?|markdown|txt|rst|adoc|org)$")
_LINE_NUMBER = re.compile(r"^ *\d+(?:\t|\u2192)", re.MULTILINE)
"""What agents put before the lines of a file that is read."""
_BEGINNING = 400_000
"""Bytes of a transcript in which the branch at the start is looked for."""


class Use(NamedTuple):
    """One use of a file in a session."""

    episode: int
    seq: int
    path: str
    is_edit: bool
    is_new: bool = False
    """Whether the call made the file, or wrote it as a whole."""


class Prompt(NamedTuple):
    """A prompt as it was typed, and the number of its episode."""

    episode: int
    text: str


class RecordedSession(NamedTuple):
    """A session with what it did."""

    key: str
    started_at: float
    ended_at: float
    branch: str
    commit: str
    """The commit that it began at; empty without a repository."""
    prompts: tuple[Prompt, ...]
    episodes: tuple[Episode, ...]
    documents: Mapping[str, str] = MappingProxyType({})
    """What the session read in documents before it changed them, by the path that it gave: they were there before it."""

    @property
    def uses(self) -> list[Use]:
        """Every use of a file, in the order of the calls."""
        found = [
            Use(episode.number, seq, each.path, each.use in _EDITS, each.use == "made")
            for episode in self.episodes
            for each in episode.files
            if each.use != "removed"
            for seq in each.seqs
        ]
        return sorted(found, key=lambda use: (use.seq, use.path))

    @property
    def past(self) -> list[PastEpisode]:
        """Its episodes as later sessions know them."""
        return [PastEpisode(self.key, self.branch, each) for each in self.episodes]


class RecordedProject(NamedTuple):
    """The sessions of a project, in time order."""

    name: str
    repository: str
    """The folder of its bare clone; empty without one."""
    sessions: tuple[RecordedSession, ...]


def load_projects(data: str, repositories: str) -> Iterator[RecordedProject]:
    """Every project below a folder; of the shared folders unless one is given. With a folder of repositories only those that
    have one: many repositories in one folder are no project."""
    folders = [data] if data else [os.path.join(SHARED, each) for each in SHARED_FOLDERS]
    for folder in folders:
        for source in sources(folder):
            with tempfile.TemporaryDirectory(prefix="preheat-bench-") as work:
                place = source.path
                if source.path.endswith(PACKED):
                    unpack(source.path, work)
                    place = os.path.join(work, source.name)
                project = _load(source, place, repositories)
            if len(project.sessions) > 1 and (project.repository or not repositories):
                yield project


def _load(source: Source, place: str, repositories: str) -> RecordedProject:
    name = source.name.partition("__")[2] or source.name
    repository = os.path.join(repositories, name, "repo")
    repository = repository if repositories and os.path.isdir(repository) else ""
    bases = _read_index(os.path.join(place, "INDEX.json"))
    found = []
    for path in _files_below(place):
        try:
            reader = detect(path)
        except NotRecognised:
            continue
        branch = _first_branch(path)
        found += [_record(each, branch, repository, bases) for each in read(path, reader) if each.started_at]
    sessions = {each.key: each for each in found if each.prompts}
    return RecordedProject(
        name, repository, tuple(sorted(sessions.values(), key=lambda each: (each.started_at, each.key)))
    )


def _files_below(place: str) -> list[str]:
    return sorted(
        os.path.join(parent, name) for parent, _, names in os.walk(place) for name in names if name not in SKIPPED
    )


class Base(NamedTuple):
    """What an index of sessions says of the commits around one."""

    head: str = ""
    """Of the default branch before its start."""
    parent: str = ""
    """The parent of the first commit that came of it."""


def _read_index(path: str) -> dict[str, Base]:
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        listed = json.load(stream)["sessions_list"]
    return {
        each["session_id"]: Base(each.get("head_before_start") or "", each.get("parent_of_first_commit") or "")
        for each in listed
    }


def find_base(repository: str, branch: str, known: Base, started: float) -> str:
    """The commit that a session began at: the parent of its first commit, if that was there before it started; else the last one
    before the start of its branch, as it is in the clone or as it was merged; else the last one of the default branch."""
    when = datetime.fromtimestamp(started, UTC).isoformat()
    made = _ask(repository, "show", "-s", "--format=%ct", known.parent) if known.parent else ""
    if made.isdigit() and int(made) <= started:
        return known.parent
    head = known.head if known.head and _ask(repository, "cat-file", "-t", known.head) == "commit" else ""
    head = head or _ask(repository, "rev-list", "-1", f"--before={when}", "HEAD")
    for tip in _find_tips(repository, branch):
        last = _ask(repository, "rev-list", "-1", f"--before={when}", tip)
        # A branch without own commits by then says nothing: it was made from the default branch, newer or older.
        if last and _ask(repository, "merge-base", last, head or last) != last:
            return last
    return head


def _find_tips(repository: str, branch: str) -> list[str]:
    if branch in ("", "HEAD") or branch.startswith("-"):
        return []
    tips = [_ask(repository, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")]
    words = ("log", "--merges", "-3", "--fixed-strings", f"--grep=/{branch}", "--format=%P%x09%s", "HEAD")
    for line in _ask(repository, *words).splitlines():
        parents, _, title = line.partition("\t")
        if title.endswith(f"/{branch}") and len(parents.split()) > 1:
            tips.append(parents.split()[1])
    return [tip for tip in tips if tip]


def _first_branch(path: str) -> str:
    """The branch that a transcript states first: the one at the start of the session."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        found = _BRANCH.search(stream.read(_BEGINNING))
    return found[1] if found else ""


def _record(session: Session, branch: str, repository: str, bases: dict[str, Base]) -> RecordedSession:
    started = session.started_at or 0.0
    texts = {
        each.line: each.text for each in session.events if isinstance(each, UserMessage) and each.origin == "human"
    }
    episodes = analyse(session).episodes
    prompts = tuple(Prompt(each.number, texts[each.line]) for each in episodes if each.line in texts)
    commit = find_base(repository, branch, bases.get(session.id, Base()), started) if repository else ""
    key = f"{session.agent}:{session.id}"
    ended = session.ended_at or started
    return RecordedSession(key, started, ended, branch, commit, prompts, episodes, _read_documents(session))


def _read_documents(session: Session) -> dict[str, str]:
    """The documents that a session read whole before it wrote to them, by path. A plan that is attached to a prompt lies outside
    the repository, and only this says what was in it."""
    results = {each.call_id: each for each in session.events if isinstance(each, ToolResult)}
    found: dict[str, str] = {}
    written: set[str] = set()
    for call in session.events:
        if not isinstance(call, ToolCall) or call.kind not in ("read", "edit", "write"):
            continue
        path, result = file_of(call), results.get(call.call_id)
        if call.kind != "read":
            written.add(path)
        elif result is not None and not result.is_error and _IS_DOCUMENT.search(path) and path not in written:
            found.setdefault(path, _LINE_NUMBER.sub("", result.text))
    return found


def _ask(repository: str, *words: str) -> str:
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def find_document_part(
    prompt: str, session: RecordedSession, tree: CommittedTree | None, files: Mapping[str, FoundFile]
) -> str:
    """What the documents say that a prompt refers to: as the commit has them, else as the session read them before it changed
    them."""
    parts: list[str] = []
    for named in find_documents(prompt):
        ending = f"/{named.lstrip('/~')}"
        inside = next((path for path in files if f"/{path}".endswith(ending) or named.endswith(f"/{path}")), "")
        outside = next((path for path in session.documents if f"/{path}".endswith(ending)), "")
        if inside and tree is not None:
            parts += [data.decode("utf-8", "replace") for _, data in tree.read_files([(inside, files[inside])]) if data]
        elif outside:
            parts.append(session.documents[outside])
    return "\n".join(choose_part(text, prompt) for text in parts)[:LONGEST_PART]
