"""Reads OpenHands: a conversation's folder (named by its `base_state.json`), and files of events of any version.

Knows nothing of what the events mean: see `events.py` (SDK) and `history.py` (before it).
"""

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from preheat.agents.chat import count, mapping, sequence, string
from preheat.agents.documents import CUT, DocumentParser, outline, read_values
from preheat.agents.openhands import STATE, storage
from preheat.agents.openhands.events import EventState, fold_event
from preheat.agents.openhands.history import draft_of_run
from preheat.agents.parsing import Draft, LinesParser
from preheat.agents.reader import DatabasePart, Framing, Heading, Parser
from preheat.model.session import AssistantMessage, Other, Spawn, Usage

AGENT = "openhands"
OTHER_RESPONSES = "other responses"
"""The response that carries the tokens of responses without an event: titles, critics, lost retries."""


class Record(msgspec.Struct):
    """One line of a dumped conversation."""

    record: str = ""
    value: Any = None


class ConversationParser(LinesParser[EventState, Record]):
    """Folds the lines of one conversation's folder."""

    agent = AGENT
    record_type = Record
    state_type = EventState

    def record(self, record: Record, line: int) -> None:
        value = mapping(record.value)
        if record.record == "event":
            fold_event(self.draft(), self.state, record.value, line)
        elif record.record == "state":
            self._take_state(value, line)
        elif record.record == "child":
            self.draft().events.append(Spawn(line=line, session=string(value.get("id"))))
        elif record.record == "problem":
            self.add_problem(string(value.get("message")), line)
        elif record.record == "end":
            self._take_end(line)
        else:
            self.keep_record(record.record or "unknown", line)

    def _take_state(self, value: dict[str, Any], line: int) -> None:
        heading = self.draft().heading
        heading.id = string(value.get("name")) or string(value.get("id")).replace("-", "") or AGENT
        heading.project = string(mapping(value.get("workspace")).get("working_dir"))
        heading.title = string(mapping(value.get("tags")).get("title"))
        heading.model = self.state.model = string(mapping(value.get("agent")).get("model"))
        if parent := string(value.get("parent")):
            heading.parent, heading.relation = parent, "subagent"
        metrics = [mapping(each) for each in mapping(mapping(value.get("stats")).get("usage_to_metrics")).values()]
        total = Usage()
        for each in metrics:
            for stated in map(mapping, sequence(each.get("token_usages"))):
                name, usage = string(stated.get("response_id")) or OTHER_RESPONSES, _usage(stated)
                self.state.usages[name] = self.state.usages.get(name, Usage()) + usage
                total += usage
        stated_total = sum((_usage(each.get("accumulated_token_usage")) for each in metrics), Usage())
        if total != Usage() and total == stated_total:
            heading.reported = total
        about = {name: field for name, field in value.items() if name != "stats"}
        self.draft().events.append(Other(line=line, name="state", raw=about))

    def _take_end(self, line: int) -> None:
        rest = sum(self.state.usages.values(), Usage())
        self.state.usages = {}
        if rest != Usage():
            self.draft().events.append(
                AssistantMessage(line=line, text="", response=OTHER_RESPONSES, model=self.state.model, usage=rest)
            )


def _usage(value: object) -> Usage:
    stated = mapping(value)
    read, written = count(stated.get("cache_read_tokens")), count(stated.get("cache_write_tokens"))
    return Usage(
        input=max(0, count(stated.get("prompt_tokens")) - read - written),
        output=count(stated.get("completion_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=count(stated.get("reasoning_tokens")),
    )


class FileParser(DocumentParser):
    """Reads a file of events: an evaluation's runs, a trajectory, or the SDK's events in a list or one a line."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        found, problems = read_values(block)
        runs = [value for value, _ in found if isinstance(mapping(value).get("history"), list)]
        events = [value for value, _ in found if not isinstance(mapping(value).get("history"), list)]
        for run in runs:
            self.add(draft_of_run(run, self.stem))
        if any("kind" in mapping(event) for event in events):
            self.add(_draft_of_events(events, self.stem))
        elif any("action" in mapping(event) or "observation" in mapping(event) for event in events):
            self.add(draft_of_run({"history": events}, self.stem))
        elif events or not runs:
            draft = Draft(Heading(id=self.stem))
            draft.events += [Other(line=line, name="unknown", raw=event) for event in events]
            self.add(draft)
            problems.append(("there are no events in it", 1))
        self.add_problems(problems, line)


def _draft_of_events(events: list[Any], stem: str) -> Draft:
    first = string(mapping(events[0]).get("id"))
    draft, state = Draft(Heading(id=f"{stem}-{first[:8]}" if first else stem)), EventState()
    for number, event in enumerate(events, 1):
        fold_event(draft, state, event, number)
    return draft


class OpenHandsReader:
    """Reads conversations' folders and files of events."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "database" if os.path.basename(path) == STATE else "document"

    def detect(self, head: bytes, path: str) -> bool:
        members = outline(head)
        if os.path.basename(path) == STATE:
            return "id" in members and (
                "persistence_dir" in members or "workspace" in members or CUT in members.values()
            )
        if "history" in members and "instance_id" in members:
            return "agent_class" in mapping(members.get("metadata"))
        if not {"id", "timestamp", "source"} <= members.keys() or os.path.basename(os.path.dirname(path)) == "events":
            return False  # one event of a conversation, which is read by its folder
        if members["source"] not in ("agent", "user", "environment", "hook"):
            return False
        if string(members.get("kind")).endswith("Event"):
            return True
        return isinstance(members["id"], int) and not {"action", "observation", "message"}.isdisjoint(members)

    def parser(self, path: str, part: str = "") -> Parser:
        return ConversationParser(path) if self.framing(path) == "database" else FileParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return storage.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return storage.dump(path, part)


READER = OpenHandsReader()
