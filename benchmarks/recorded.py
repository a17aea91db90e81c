"""Recorded sessions as the rules of answers on the spot see them: the working tree before each call, what the session did so far,
and what the sessions before it show. Knows no figure.

The tree is the start commit in a bare repository plus what the session's own calls did (`fork_tree`).
"""

import json
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs

from benchmarks.fork_tree import RecordedTree, Repository
from preheat.answers import (
    Answer,
    Failure,
    History,
    PlannedCall,
    SessionFacts,
    answer_failure,
    summarise_history,
    warn_before,
)
from preheat.answers.facts import update_facts
from preheat.answers.history import PastCommand
from preheat.calls.files import file_of, find_touches
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text
from preheat.live.events import call_event
from preheat.model.live import CallEvent

_DAYS = 3 * 86_400
"""Changes that were committed so many seconds before a session, or at any time after, may have been in its working tree."""
_CWD = re.compile(rb'"cwd":"((?:[^"\\]|\\.)*)"')
_NO_FILE = re.compile(
    r"(?i)\b(?:relation|column|ref|role|database|table|function|branch) (?:\S+ )?does not exist|SchemaError"
)
"""What is missing is in a database or in a repository, or an argument of a tool: no file, and no flag."""
_PATTERNS = (
    ("edit text", re.compile(r"(?i)string to replace|failed to find|could not find the exact|exactly the same")),
    ("edit without reading", re.compile(r"(?i)has not been read|modified since read")),
    ("script or flag", re.compile(
        r"(?i)missing script|no rule to make|script not found|(?:unknown|unrecogni[sz]ed|unexpected|invalid|illegal|no such) "
        r"(?:shorthand )?"
        r"(?:option|flag|argument|command|subcommand|task)|no task (?!found with id)|unknown json field"
        r"|provided but not defined")),
    ("program or module", re.compile(
        r"(?i)command not found|no module named|cannot find module|cannot find package|: not found$|executable")),
    ("missing path", re.compile(
        r"(?i)no such file|does not exist|cannot access|file not found|did not match any file"
        r"|can't cd|directory not found")),
)  # fmt: skip
GROUPS = (*(group for group, _ in _PATTERNS), "other")
"""Groups of failures by their message."""


def group_of(error: str) -> str:
    """The group of a failure by its message."""
    return next(
        (group for group, pattern in _PATTERNS if pattern.search(error) and not _NO_FILE.search(error)), "other"
    )


class RecordedSession(NamedTuple):
    """A session with the folder in which each of its lines was recorded."""

    session: JudgedSession
    folders: dict[int, str]
    commit: str


def read_folders(path: str) -> dict[int, str]:
    """The folder that each line of a transcript states, by its number."""
    with open(path, "rb") as stream:
        return {
            number: json.loads(b'"' + found[1] + b'"')
            for number, line in enumerate(stream, 1)
            if line.startswith(b"{") and (found := _CWD.search(line)) and found.start() < 4000
        }


def read_commits(folder: str) -> dict[str, str]:
    """The commit at which each session of a folder of data began, as far as its index says."""
    index = os.path.join(folder, "INDEX.json")
    if not os.path.exists(index):
        return {}
    with open(index, encoding="utf-8") as stream:
        return {
            each["session_id"]: each.get("parent_of_first_commit") or each.get("head_before_start") or ""
            for each in json.load(stream)["sessions_list"]
        }


class EarlierSessions:
    """What the sessions of a project so far show, in time order."""

    def __init__(self) -> None:
        self._commands: list[PastCommand] = []
        self._paths: set[str] = set()

    def add(self, session: JudgedSession) -> None:
        self._paths |= _touched(session)
        self._commands += _past(session)

    def summarise(self) -> History:
        return summarise_history(self._commands)

    @property
    def paths(self) -> frozenset[str]:
        """Files that they made, changed or read: they may still be there in the next one."""
        return frozenset(self._paths)


def _touched(session: JudgedSession) -> set[str]:
    return {
        touch.path for each in session.calls if each.worked
        for touch in find_touches(each.call, session.relative) if touch.how != "removed"
    }  # fmt: skip


def _past(session: JudgedSession) -> Iterator[PastCommand]:
    calls = session.calls_by_seq()
    for each in session.calls:
        if each.call.kind == "shell" and (command := session.relative(command_text(each.call.input))):
            record = each.record
            repair = calls.get(record.seq + record.recovered_in) if record.recovered_in is not None else None
            worked = session.relative(command_text(repair.call.input)) if repair and repair.call.kind == "shell" else ""
            yield PastCommand(session.key, command, record.status, record.cause, record.signature, worked)


def plan_call(each: JudgedCall, recorded: RecordedSession) -> PlannedCall:
    """A recorded call as one that is about to be made."""
    folder = recorded.folders.get(each.call.line) or recorded.session.session.project
    workdir = each.call.input.get("workdir") or each.call.input.get("cwd")
    call = PlannedCall(each.call.kind, each.call.tool, each.call.input, folder)
    return structs.replace(call, folder=call.absolute(workdir)) if isinstance(workdir, str) and workdir else call


class Replay:
    """A recorded session call by call: what would be said before each and after its failure, and what it did to the tree."""

    def __init__(
        self, recorded: RecordedSession, repository: Repository, history: History, earlier_paths: frozenset[str]
    ) -> None:
        session = recorded.session
        started = session.session.started_at or 0.0
        doubtful = repository.files_changed_since(started - _DAYS)
        opened = [file_of(each.call) for each in session.calls if each.worked and each.call.kind in ("read", "edit")]
        self.tree = RecordedTree(repository, recorded.commit, session.session.project, doubtful | earlier_paths, opened)
        self._recorded, self._history = recorded, history
        self._facts = SessionFacts()

    def plan(self, each: JudgedCall) -> PlannedCall:
        return plan_call(each, self._recorded)

    def warn(self, each: JudgedCall) -> Answer | None:
        """What would be said before a call."""
        return warn_before(self.plan(each), self.tree, self._history, self._facts)

    def answer(self, each: JudgedCall) -> Answer | None:
        """What would be said after a call that failed otherwise than by what it checks."""
        text = each.result.text if each.result is not None else ""
        return answer_failure(Failure(self.plan(each), text), self.tree, self._history, self._facts)

    def apply(self, each: JudgedCall) -> CallEvent:
        """Go on behind a call."""
        planned = self.plan(each)
        self.tree.apply(each, planned)
        event = call_event(each.call, each.result, each.record, root=self.tree.root, folder=planned.folder)
        self._facts = update_facts(self._facts, event)
        return event


def is_judged(each: JudgedCall) -> bool:
    """Whether it is known that a call worked or failed, so that a warning of it is right or wrong."""
    return each.record.status in ("ok", "empty", "failed", "partial")
