"""Where the work of a prompt lies: a project's episodes and the index of its working tree, ranked for the prompt.

Knows nothing of how files are ranked (`orientation`) or indexed (`tree`). What is slow, reading both, is in `load_orienter`; what
a hook waits for is `Orienter.orient`.
"""

import os
import sqlite3
from contextlib import closing, suppress

from preheat.app.projects import find_project_at, find_repository, project_root
from preheat.app.trees import Trees
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.notes import load_project_episodes
from preheat.files import read_file, read_text
from preheat.model.orientation import NOTHING_TOUCHED, Orientation, TouchedFiles
from preheat.model.tree import NO_EVIDENCE
from preheat.orientation import History, rank
from preheat.orientation import text as _text
from preheat.orientation.documents import LONGEST_PART, MOST_BYTES, ask_for, choose_part, find_documents
from preheat.orientation.prompt import branch_words
from preheat.provisioning.tokens import estimate_tokens
from preheat.tree.index import TreeIndex

__all__ = ["Orienter", "describe", "load_orienter", "orient"]

MOST_SESSIONS = 5_000
"""Sessions of a project whose episodes are known, the last ones."""


class Orienter:
    """Answers for one folder; may be asked from any thread."""

    def __init__(self, root: str, history: History, index: TreeIndex) -> None:
        self._root = root
        self._history = history
        self._index = index

    def orient(self, prompt: str, touched: TouchedFiles = NOTHING_TOUCHED) -> Orientation:
        """Where the work of a prompt lies, by files that exist now and that the session has neither opened nor been named."""
        branch = read_branch(self._root)
        part = read_documents(self._root, prompt)
        asked = ask_for(prompt, part)
        evidence = self._index.look_up(f"{asked}\n{branch_words(branch)}", sorted(touched.opened))
        cited = self._index.look_up(part) if part else NO_EVIDENCE
        return rank(asked, self._history, evidence, touched, branch, self._exists, cited=cited)

    def _exists(self, path: str) -> bool:
        return os.path.isfile(os.path.join(self._root, path)) if os.path.isdir(self._root) else True


def load_orienter(folder: str, cwd: str) -> Orienter:
    """What is known of the project around a folder. Slow; raises PreheatError."""
    root = find_repository(cwd) or project_root(cwd) or cwd
    history = History()
    if has_archive(folder):
        with closing(connect(folder)) as connection:
            if (project := find_project_at(connection, cwd)) is not None:
                history = History(load_project_episodes(connection, project.key, MOST_SESSIONS))
    index = Trees(folder).open(root)
    index.look_up("")  # so that the first prompt does not wait until it is read
    return Orienter(root, history, index)


def orient(
    folder: str, prompt: str, cwd: str, touched: TouchedFiles = NOTHING_TOUCHED, updating: bool = False
) -> Orientation:
    """Where the work of a prompt lies in the project around a folder; if `updating`, a tree without an index is indexed first."""
    root = find_repository(cwd) or project_root(cwd)
    trees = Trees(folder)
    if updating and root and trees.settings().enabled:
        with trees.open(root) as index:
            if not index.look_up("").file_count:
                with suppress(OSError, sqlite3.Error):
                    trees.update(root)
    return load_orienter(folder, cwd).orient(prompt, touched)


def read_documents(root: str, prompt: str) -> str:
    """What the documents say that a prompt refers to, as far as it means it; empty if none can be read."""
    parts: list[str] = []
    for path in find_documents(prompt):
        with suppress(OSError):  # gone, no plain file, too large
            whole = os.path.join(root, os.path.expanduser(path))
            parts.append(choose_part(read_file(whole, MOST_BYTES).decode("utf-8", "replace"), prompt))
    return "\n".join(parts)[:LONGEST_PART]


def describe(orientation: Orientation) -> str:
    """An orientation as a model gets it; empty where there is nothing to say."""
    return _text.describe(orientation, estimate_tokens)


def read_branch(root: str) -> str:
    """The branch that is checked out, read without git, because a hook waits; empty if it is not known."""
    place = os.path.join(root, ".git")
    try:
        if os.path.isfile(place):  # a worktree: the file says where its folder is
            place = os.path.join(root, read_text(place).partition("gitdir:")[2].strip())
        head = read_text(os.path.join(place, "HEAD")).strip()
    except (OSError, ValueError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
