"""Folds the lines that `database.dump` wrote of one Hermes session into its events.

Rows are taken in the order of their ids, never of their times. Knows nothing of the database: the same lines
come from a running program's database and out of the archive.
"""

from typing import Any

from preheat.agents.hermes.messages import HermesState, MessageParser, Record
from preheat.agents.hermes.replay import Entry, WaitingRow
from preheat.agents.hermes.session import fill_heading
from preheat.agents.hermes.texts import SummaryMessage, content_of, find_summary, key_of
from preheat.agents.parsing import epoch_seconds
from preheat.model.session import AssistantMessage, Compaction, Other, Rewind, Spawn

TOTAL_RESPONSE = "session total"
"""The name of the response that carries the usage: Hermes counts tokens for the whole session only."""


class HermesParser(MessageParser):
    """Folds the lines of one session."""

    agent = "hermes"
    record_type = Record
    state_type = HermesState

    def record(self, record: Record, line: int) -> None:
        row = record.row
        if record.table == "messages":
            self._take_row(row, line)
        elif record.table == "sessions":
            self._take_session(row, line)
        elif record.table == "lineage":
            self.state.session["lineage"] = {name: value for name, value in row.items() if name != "keys"}
            fill_heading(self.draft().heading, self.state.session)
            keys = row.get("keys")
            if isinstance(keys, list) and self.draft().heading.relation != "subagent":
                self.state.replay.begin_with([key for key in keys if isinstance(key, str)])
        elif record.table == "children":
            self._take_child(row, line)
        elif record.table == "problem":
            self.add_problem(str(row.get("message")), None)
        elif record.table == "end":
            self._take_end(line)
        else:
            self.keep_record(record.table or "unknown", line)

    # The session itself.
    def _take_session(self, row: dict[str, Any], line: int) -> None:
        self.state.session = {name: value for name, value in row.items() if name != "system_prompt"}
        fill_heading(self.draft().heading, self.state.session)
        events = self.draft().events
        events.append(Other(line=line, name="session", raw=self.state.session.copy()))
        if prompt := row.get("system_prompt"):
            events.append(Other(line=line, name="system_prompt", raw=prompt))

    def _take_child(self, row: dict[str, Any], line: int) -> None:
        session = row.get("id")
        if not isinstance(session, str) or row.get("source") != "subagent":
            self.keep_record("children", line)
            return
        goal = content_of(row.get("goal")).text.strip()
        call = self.state.goals.get(goal, "")
        self.draft().events.append(
            Spawn(line=line, at=epoch_seconds(row.get("started_at")), session=session, call_id=call)
        )

    def _take_end(self, line: int) -> None:
        self._release_waiting()
        self._add_rewind(line)
        draft = self.draft()
        if self.state.given and not self.state.prompted:
            draft.heading.starter = "preheat"  # imported into the store, and not continued yet
        if draft.heading.reported is not None:
            draft.events.append(
                AssistantMessage(
                    line=line,
                    text="",
                    response=TOTAL_RESPONSE,
                    model=draft.heading.model,
                    usage=draft.heading.reported,
                )
            )

    # Which rows are messages, which are copies of messages, and which were rewound.
    def _take_row(self, row: dict[str, Any], line: int) -> None:
        replay = self.state.replay
        if not _is_rewound(row):
            self._add_rewind(line)
        key = key_of(row)
        time = epoch_seconds(row.get("timestamp")) or 0.0
        if replay.copying and replay.in_place and not replay.may_still_copy(time):
            replay.stop()
        if replay.may_begin(key) and self._summary_of(row) is None:
            replay.waiting.append(WaitingRow(row, line))
            return
        if replay.archived and not replay.copying:
            if self._summary_of(row) is not None or replay.is_stored_together(time):
                self._begin_compaction(line, time)
            elif replay.waiting:
                self._release_waiting()
                self._take_row(row, line)
                return
        self._place_row(row, key, line, time)

    def _begin_compaction(self, line: int, time: float) -> None:
        replay = self.state.replay
        for waiting, entry in zip(replay.waiting, replay.entries, strict=False):
            if _is_rewound(waiting.row):
                self._mark_rewound(entry, line)
        replay.begin(time)

    def _release_waiting(self) -> None:
        """The waiting rows turned out not to be copies."""
        replay = self.state.replay
        waiting, replay.waiting = replay.waiting, []
        for each in waiting:
            self._place_row(each.row, key_of(each.row), each.line, epoch_seconds(each.row.get("timestamp")) or 0.0)

    def _place_row(self, row: dict[str, Any], key: str, line: int, time: float) -> None:
        replay = self.state.replay
        pieces = self._summary_of(row)
        if pieces is not None:
            self._add_compaction(row, pieces, line, time)
            return
        original = replay.find_original(key)
        if original is not None:
            replay.entries.append(Entry(key, original.line or line))
            if _is_rewound(row):
                self._mark_rewound(original, line)
        else:
            if replay.copying and not replay.may_still_copy(time):
                replay.stop()
            replay.entries.append(Entry(key, line))
            self.add_message(row, line)
            if _is_rewound(row):
                self._mark_rewound(Entry(key, line), line)
        self._note_row(row, time)

    def _note_row(self, row: dict[str, Any], time: float) -> None:
        replay = self.state.replay
        replay.newest = max(replay.newest, time)
        if replay.copying and not replay.in_place:
            replay.stored = time
        if not _is_rewound(row):
            replay.archived = bool(row.get("compacted"))

    def _summary_of(self, row: dict[str, Any]) -> SummaryMessage | None:
        if row.get("role") not in ("user", "assistant"):
            return None
        return find_summary(content_of(row.get("content")).text)

    def _add_compaction(self, row: dict[str, Any], pieces: SummaryMessage, line: int, time: float) -> None:
        replay = self.state.replay
        key = key_of(row)
        # Looked up in a branch only: a merged message is looked up below, and a look-up moves past the original it finds.
        is_copy = self.draft().heading.relation == "fork" and replay.find_original(key) is not None
        # A second summary in one compaction is that of an earlier one, kept as a message.
        if not is_copy and not (replay.copying and replay.summarised):
            at = epoch_seconds(row.get("timestamp"))
            self.draft().events.append(Compaction(line=line, at=at, summary=pieces.summary))
            self.draft().heading.include_time(at)
        replay.summarised = True
        replay.entries.append(Entry(key, line))
        self._note_row(row, time)
        text = pieces.before or pieces.after
        if (text or row.get("tool_calls")) and not is_copy:
            merged = {**row, "content": text, "api_content": None}
            self._place_row(merged, key_of(merged), line, time)

    def _mark_rewound(self, entry: Entry, line: int) -> None:
        after = (entry.line or line) - 1
        self.state.rewind = after if self.state.rewind is None else min(self.state.rewind, after)

    def _add_rewind(self, line: int) -> None:
        after, self.state.rewind = self.state.rewind, None
        if after is not None:
            self.draft().events.append(Rewind(line=line, after=after))
            self.state.replay.take_back(after)


def _is_rewound(row: dict[str, Any]) -> bool:
    """Whether the person rewound a row: it is then neither active nor compacted away."""
    return row.get("active") == 0 and not row.get("compacted")
