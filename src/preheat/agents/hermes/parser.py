"""Folds the lines that `database.dump` wrote of one Hermes session into its events.

Rows are taken in the order of their ids, never of their times. Knows nothing of the database: the same lines
come from a running program's database and out of the archive.
"""

from typing import Any

from preheat.agents.hermes.messages import HermesState, MessageParser, Record
from preheat.agents.hermes.replay import Entry, Waiting
from preheat.agents.hermes.session import heading_of
from preheat.agents.hermes.texts import Pieces, content_of, key_of, summary_in
from preheat.agents.parsing import seconds
from preheat.model.session import AssistantMessage, Compaction, Other, Rewind, Spawn

SESSION_TOTAL = "session total"
"""The response that carries the usage: Hermes counts tokens for the whole session only."""


class HermesParser(MessageParser):
    """Folds the lines of one session."""

    agent = "hermes"
    record_type = Record
    state_type = HermesState

    def record(self, record: Record, line: int) -> None:
        row = record.row
        if record.table == "messages":
            self._row(row, line)
        elif record.table == "sessions":
            self._session(row, line)
        elif record.table == "lineage":
            self.state.session["lineage"] = {name: value for name, value in row.items() if name != "keys"}
            heading_of(self.draft().heading, self.state.session)
            keys = row.get("keys")
            if isinstance(keys, list) and self.draft().heading.relation != "subagent":
                self.state.replay.begin_with([key for key in keys if isinstance(key, str)])
        elif record.table == "children":
            self._child(row, line)
        elif record.table == "problem":
            self.problem(str(row.get("message")), None)
        elif record.table == "end":
            self._end(line)
        else:
            self.other(record.table or "unknown", line)

    # The session itself.
    def _session(self, row: dict[str, Any], line: int) -> None:
        self.state.session = {name: value for name, value in row.items() if name != "system_prompt"}
        heading_of(self.draft().heading, self.state.session)
        events = self.draft().events
        events.append(Other(line=line, name="session", raw=self.state.session.copy()))
        if prompt := row.get("system_prompt"):
            events.append(Other(line=line, name="system_prompt", raw=prompt))

    def _child(self, row: dict[str, Any], line: int) -> None:
        session = row.get("id")
        if not isinstance(session, str) or row.get("source") != "subagent":
            self.other("children", line)
            return
        goal = content_of(row.get("goal")).text.strip()
        call = self.state.goals.get(goal, "")
        self.draft().events.append(Spawn(line=line, at=seconds(row.get("started_at")), session=session, call_id=call))

    def _end(self, line: int) -> None:
        self._release()
        self._rewound(line)
        draft = self.draft()
        if self.state.given and not self.state.prompted:
            draft.heading.starter = "preheat"  # put into the store, and not gone on with yet
        if draft.heading.reported is not None:
            draft.events.append(
                AssistantMessage(
                    line=line,
                    text="",
                    response=SESSION_TOTAL,
                    model=draft.heading.model,
                    usage=draft.heading.reported,
                )
            )

    # Which rows are messages, which are copies of messages, and which were taken back.
    def _row(self, row: dict[str, Any], line: int) -> None:
        replay = self.state.replay
        if not _taken_back(row):
            self._rewound(line)
        key = key_of(row)
        moment = seconds(row.get("timestamp")) or 0.0
        if replay.copying and replay.in_place and not replay.still_copying(moment):
            replay.stop()
        if replay.may_begin(key) and self._summary(row) is None:
            replay.waiting.append(Waiting(row, line))
            return
        if replay.archived and not replay.copying:
            if self._summary(row) is not None or replay.stored_together(moment):
                self._begin(line, moment)
            elif replay.waiting:
                self._release()
                self._row(row, line)
                return
        self._placed(row, key, line, moment)

    def _begin(self, line: int, moment: float) -> None:
        replay = self.state.replay
        for waiting, entry in zip(replay.waiting, replay.entries, strict=False):
            if _taken_back(waiting.row):
                self._take_back(entry, line)
        replay.begin(moment)

    def _release(self) -> None:
        """What waited were no copies."""
        replay = self.state.replay
        waiting, replay.waiting = replay.waiting, []
        for each in waiting:
            self._placed(each.row, key_of(each.row), each.line, seconds(each.row.get("timestamp")) or 0.0)

    def _placed(self, row: dict[str, Any], key: str, line: int, moment: float) -> None:
        replay = self.state.replay
        pieces = self._summary(row)
        if pieces is not None:
            self._compaction(row, pieces, line, moment)
            return
        original = replay.copy_of(key)
        if original is not None:
            replay.entries.append(Entry(key, original.line or line))
            if _taken_back(row):
                self._take_back(original, line)
        else:
            if replay.copying and not replay.still_copying(moment):
                replay.stop()
            replay.entries.append(Entry(key, line))
            self.message(row, line)
            if _taken_back(row):
                self._take_back(Entry(key, line), line)
        self._passed(row, moment)

    def _passed(self, row: dict[str, Any], moment: float) -> None:
        replay = self.state.replay
        replay.newest = max(replay.newest, moment)
        if replay.copying and not replay.in_place:
            replay.stored = moment
        if not _taken_back(row):
            replay.archived = bool(row.get("compacted"))

    def _summary(self, row: dict[str, Any]) -> Pieces | None:
        if row.get("role") not in ("user", "assistant"):
            return None
        return summary_in(content_of(row.get("content")).text)

    def _compaction(self, row: dict[str, Any], pieces: Pieces, line: int, moment: float) -> None:
        replay = self.state.replay
        key = key_of(row)
        # Looked up in a branch only: a merged message is looked up below, and a look-up goes past what it finds.
        copied = self.draft().heading.relation == "fork" and replay.copy_of(key) is not None
        # A second summary in one go is that of an earlier compaction, kept as a message.
        if not copied and not (replay.copying and replay.summarised):
            at = seconds(row.get("timestamp"))
            self.draft().events.append(Compaction(line=line, at=at, summary=pieces.summary))
            self.draft().heading.seen(at)
        replay.summarised = True
        replay.entries.append(Entry(key, line))
        self._passed(row, moment)
        text = pieces.before or pieces.after
        if (text or row.get("tool_calls")) and not copied:
            merged = {**row, "content": text, "api_content": None}
            self._placed(merged, key_of(merged), line, moment)

    def _take_back(self, entry: Entry, line: int) -> None:
        after = (entry.line or line) - 1
        self.state.rewind = after if self.state.rewind is None else min(self.state.rewind, after)

    def _rewound(self, line: int) -> None:
        after, self.state.rewind = self.state.rewind, None
        if after is not None:
            self.draft().events.append(Rewind(line=line, after=after))
            self.state.replay.take_back(after)


def _taken_back(row: dict[str, Any]) -> bool:
    """Rows that the person took back are neither active nor compacted away."""
    return row.get("active") == 0 and not row.get("compacted")
