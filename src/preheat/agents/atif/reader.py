"""Reads ATIF trajectories (v1.0 to v1.8): one document a file, a list of them, or one a line.

A trajectory that Preheat wrote comes back exactly as the session was (see `notes.py`), but under this reader's name. The
steps of any other are folded into events; it has no flag for a failed call, so members of `extra` count only under names that
are clear. Nothing here trusts a type: steps that make no sense are kept whole. Knows nothing of who wrote a trajectory.
"""

from hashlib import sha256
from typing import Any

import msgspec

from preheat.agents.atif.notes import restore_session
from preheat.agents.chat import CallMatcher, RequestedCall, count, images_in, mapping, sequence, string, text_of
from preheat.agents.documents import CUT, DocumentParser, beginning_of, outline
from preheat.agents.parsing import Draft, arguments_of, decode_json, epoch_seconds, origin_of, whole_lines
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Other,
    Problem,
    Reasoning,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

# The steps of a trajectory that somebody else wrote.
TOTAL_RESPONSE = "trajectory total"
"""The response that carries the usage of a trajectory whose steps state none."""
_MOST_NESTED = 50
_ABOUT = ("agent", "notes", "final_metrics", "continued_trajectory_ref", "extra", "schema_version")


def drafts_of_trajectory(document: dict[str, Any], stem: str, parent: str = "", depth: int = 0) -> list[Draft]:
    """The drafts of a trajectory and of the subagents' trajectories embedded in it."""
    draft = Draft(_heading_of(document, stem, parent))
    about = {name: document[name] for name in _ABOUT if document.get(name)}
    if about:
        draft.events.append(Other(line=0, name="trajectory", raw=about))
    children = [mapping(part) for part in sequence(document.get("subagent_trajectories"))]
    steps = _Steps(draft)
    for number, step in enumerate(sequence(document.get("steps")), 1):
        steps.add(step, number)
    steps.finish(mapping(document.get("final_metrics")), len(sequence(document.get("steps"))) + 1)
    drafts = [draft]
    for child in children if depth < _MOST_NESTED else []:
        drafts += drafts_of_trajectory(child, f"{stem}-child", draft.heading.id, depth + 1)
    return drafts


def _heading_of(document: dict[str, Any], stem: str, parent: str) -> Heading:
    agent, extra = mapping(document.get("agent")), mapping(document.get("extra"))
    # A `session_id` is shared by a run's segments and subagents; a `trajectory_id` is unique.
    name = string(document.get("trajectory_id")) or string(document.get("session_id"))
    if not name:
        beginning = msgspec.json.encode([agent, sequence(document.get("steps"))[:2]], order="sorted")
        name = f"{stem}-{sha256(beginning).hexdigest()[:12]}"
    return Heading(
        id=name,
        version=string(agent.get("version")),
        model=string(agent.get("model_name")),
        project=string(extra.get("project")),
        title=string(extra.get("title")),
        parent=parent or None,
        relation="subagent" if parent else None,
    )


class _Steps:
    """Folds the steps of a trajectory into a draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._matcher = CallMatcher()
        self._used = Usage()
        self._stated = False

    def add(self, value: Any, line: int) -> None:
        step = mapping(value)
        at = epoch_seconds(step.get("timestamp"))
        self._draft.heading.include_time(at)
        source = step.get("source")
        if step.get("is_copied_context") is True:
            # A step of the trajectory before this one, which is counted there.
            self._draft.events.append(Other(line=line, at=at, name="copied context", raw=value))
        elif source == "user":
            self._add_user(step, line, at)
        elif source == "agent":
            self._add_agent(step, line, at)
        else:
            name = "system" if source == "system" else "unknown"
            self._draft.events.append(Other(line=line, at=at, name=name, raw=value))

    def _add_user(self, step: dict[str, Any], line: int, at: float | None) -> None:
        text, images = text_of(step.get("message")), images_in(step.get("message"))
        origin = origin_of(text, injected=mapping(step.get("extra")).get("origin") == "injected")
        self._draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))
        if step.get("observation"):
            self._draft.events.append(Other(line=line, at=at, name="observation", raw=step["observation"]))

    def _add_agent(self, step: dict[str, Any], line: int, at: float | None) -> None:
        response = f"step {line}"
        events = self._draft.events
        if thought := string(step.get("reasoning_content")):
            events.append(Reasoning(line=line, at=at, text=thought, response=response))
        text, usage = text_of(step.get("message")), _usage(step.get("metrics"))
        calls = [mapping(call) for call in sequence(step.get("tool_calls"))]
        if usage is not None:
            self._used, self._stated = self._used + usage, True
        if text or usage is not None or not calls:
            model = string(step.get("model_name")) or self._draft.heading.model
            events.append(AssistantMessage(line=line, at=at, text=text, response=response, model=model, usage=usage))
        names = [self._add_call(call, response, line, number, at) for number, call in enumerate(calls, 1)]
        results = [mapping(result) for result in sequence(mapping(step.get("observation")).get("results"))]
        for number, result in enumerate(results):
            self._add_result(result, self._call_of(result, names, number, len(results)), len(names), line, at)

    def _add_call(self, call: dict[str, Any], response: str, line: int, number: int, at: float | None) -> str:
        tool = string(call.get("function_name"))
        name = string(call.get("tool_call_id")) or f"call {line}.{number}"
        requested = RequestedCall(name, tool, arguments_of(call.get("arguments")))
        call_id = self._matcher.open_call(requested, f"{line}.{number}")
        self._draft.events.append(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=tool,
                kind=kind_by_name(tool),
                input=requested.input,
                response=response,
            )
        )
        return name

    def _call_of(self, result: dict[str, Any], names: list[str], number: int, results: int) -> str:
        """The id of the call that a result is for. A result without one is for the call at the same index, or for all calls."""
        if name := string(result.get("source_call_id")):
            return self._matcher.close_call(name)
        if results == len(names):
            return self._matcher.close_call(names[number])
        return self._matcher.close_call(names[-1]) if names and number == results - 1 else ""

    def _add_result(self, result: dict[str, Any], call_id: str, calls: int, line: int, at: float | None) -> None:
        references = [mapping(reference) for reference in sequence(result.get("subagent_trajectory_ref"))]
        for reference in references:
            self._draft.events.append(Spawn(line=line, at=at, session=_child_id(reference), call_id=call_id))
        if not call_id:
            if result.get("content") or not references:
                self._draft.events.append(Other(line=line, at=at, name="result without a call", raw=result))
            return
        extra = mapping(result.get("extra"))
        failed, code = extra.get("is_error"), extra.get("exit_code")
        detail: dict[str, Any] = {}
        if "source_call_id" not in result and calls > 1:
            detail["calls"] = calls  # one observation of several calls is given to the last of them
        self._draft.events.append(
            ToolResult(
                line=line,
                at=at,
                call_id=call_id,
                text=text_of(result.get("content")),
                is_error=failed if isinstance(failed, bool) else None,
                exit_code=code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 2**31 else None,
                detail=detail,
            )
        )

    def finish(self, final: dict[str, Any], line: int) -> None:
        """Take the totals if the steps add up to them or have no usage."""
        total = _usage(
            {
                "prompt_tokens": final.get("total_prompt_tokens"),
                "completion_tokens": final.get("total_completion_tokens"),
                "cached_tokens": final.get("total_cached_tokens"),
            }
        )
        if total is None or total == Usage():
            return
        heading = self._draft.heading
        if not self._stated:
            heading.reported = total
            self._draft.events.append(
                AssistantMessage(line=line, text="", response=TOTAL_RESPONSE, model=heading.model, usage=total)
            )
        elif (self._used.input + self._used.cache_write, self._used.output, self._used.cache_read) == (
            total.input,
            total.output,
            total.cache_read,
        ):
            heading.reported = self._used


def _child_id(reference: dict[str, Any]) -> str:
    for name in ("trajectory_id", "session_id", "trajectory_path"):
        if value := string(reference.get(name)):
            return value
    return "unknown"


def _usage(value: object) -> Usage | None:
    """Tokens of a step; the format counts cached tokens, read and written, as prompt."""
    stated = mapping(value)
    if stated.get("prompt_tokens") is None and stated.get("completion_tokens") is None:
        return None
    extra = mapping(stated.get("extra"))
    cached = count(stated.get("cached_tokens"))
    written = count(extra.get("cache_write_tokens")) or count(extra.get("cache_creation_input_tokens"))
    return Usage(
        input=max(0, count(stated.get("prompt_tokens")) - cached - written),
        output=count(stated.get("completion_tokens")),
        cache_read=cached,
        cache_write=written,
        reasoning=count(extra.get("reasoning_tokens")),
        cache_write_hour=count(extra.get("cache_write_hour_tokens")),
    )


# Files of trajectories.
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
        return _documents_of_lines(block, str(error)[:120])
    items = document if isinstance(document, list) else [document]
    return [(item, 1) for item in items], [] if items else [("there is no trajectory in it", 1)]


def _documents_of_lines(block: bytes, why: str) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
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
