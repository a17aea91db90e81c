"""Reads ATIF trajectories (v1.0 to v1.8): one document a file, a list of them, or one a line.

A trajectory that Preheat wrote itself comes back exactly as it was (see `notes.py`), but under this reader's name. Any
other has no flag for a failed call: what its writer put into `extra` is taken only under the names that speak for
themselves. Knows nothing of who wrote it.
"""

from typing import Any

import msgspec

from preheat.agents.atif.notes import restore_session
from preheat.agents.atif.steps import drafts_of_trajectory
from preheat.agents.chat import mapping, sequence, string
from preheat.agents.documents import DocumentParser
from preheat.agents.outline import CUT, beginning_of, outline
from preheat.agents.parsing import Draft, decode_json, whole_lines
from preheat.agents.reader import Framing, Heading, Parser
from preheat.model.session import Other, Problem

AGENT = "atif"
_VERSION = "ATIF-v"


class TrajectoryParser(DocumentParser):
    """All trajectories of one file."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        documents, problems = _documents(block)
        for document, at in documents:
            for draft in self._read(document, at):
                draft.heading.id = draft.heading.id or self.stem
                self.add(draft)
        self.add_problems(problems, line)

    def _read(self, document: Any, line: int) -> list[Draft]:
        if not isinstance(mapping(document).get("steps"), list):
            draft = Draft(Heading(id=self.stem))
            draft.problems.append(Problem("a trajectory without `steps`", self.path, line))
            draft.events.append(Other(line=line, name="unreadable", raw=document))
            return [draft]
        try:
            restored_session = restore_session(document)
        except (ValueError, LookupError, TypeError) as error:
            drafts = drafts_of_trajectory(document, self.stem)
            message = f"Preheat's own notes in it do not fit ({str(error)[:120]}); read as anyone's"
            drafts[0].problems.append(Problem(message, self.path, line))
            return drafts
        if restored_session is None:
            return drafts_of_trajectory(document, self.stem)
        return self._restored_drafts(*restored_session, document)

    def _restored_drafts(self, note: dict[str, Any], events: list[Any], document: dict[str, Any]) -> list[Draft]:
        try:
            heading = msgspec.convert(note, Heading)
        except msgspec.ValidationError:
            heading = Heading(id=string(document.get("session_id")) or self.stem)
        draft = Draft(heading)
        draft.events += events
        children = [child for part in sequence(document.get("subagent_trajectories")) for child in self._read(part, 1)]
        return [draft, *children]


def _documents(block: bytes) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    """The documents in a file and the problems with the rest, each with its line."""
    try:
        document = decode_json(block)
    except (ValueError, RecursionError) as error:
        if b"\n" not in block.strip() or block.lstrip()[:1] != b"{":
            return [], [(f"not a whole JSON document ({str(error)[:120]})", 1)]
        return _lines(block, str(error)[:120])
    items = document if isinstance(document, list) else [document]
    return [(item, 1) for item in items], [] if items else [("there is no trajectory in it", 1)]


def _lines(block: bytes, why: str) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    found: list[tuple[Any, int]] = []
    problems: list[tuple[str, int]] = []
    for line, text in enumerate(whole_lines(block), 1):
        if not text.strip():
            continue
        try:
            value = decode_json(text)
        except (ValueError, RecursionError):
            problems.append(("not a JSON record; passed over", line))
        else:
            found.append((value, line))
    if not any(isinstance(mapping(value).get("steps"), list) for value, _ in found):
        return [], [(f"not a whole JSON document ({why})", 1)]  # one document over many lines that is cut off
    return found, problems


class TrajectoryReader:
    """Reads ATIF as JSON or JSONL."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        members = outline(head)
        version = members.get("schema_version")
        if version is None and CUT in members.values():  # a long list of steps may come first
            last = next(name for name, value in members.items() if value is CUT)
            return last == "steps" and "agent" in members and beginning_of(head, "steps").startswith("[")
        return string(version).startswith(_VERSION) and "trajectory_format" not in members

    def parser(self, path: str, part: str = "") -> Parser:
        return TrajectoryParser(path)


READER = TrajectoryReader()
