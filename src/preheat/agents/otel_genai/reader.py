"""Reads OpenTelemetry GenAI spans from OTLP JSON files: a conversation (else a trace) is a session.

Every request to a model repeats the conversation so far, so only new messages become events. An agent's own span sums up the
spans of its requests and is read only where there are none. What is known of a call depends on what the instrumentation
recorded: without content there are names, times, tokens and errors only. Knows nothing of who wrote the spans.
"""

from bisect import bisect_right
from collections import Counter
from typing import Any

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, mapping, sequence, string
from preheat.agents.documents import DocumentParser, outline
from preheat.agents.otel_genai.spans import (
    CHAT_OPERATIONS,
    EXECUTE_TOOL,
    INVOKE_AGENT,
    Span,
    as_text,
    input_messages,
    operation_of,
    output_messages,
    read_spans,
    response_in,
    system_prompt_of,
    text_in,
    tool_arguments,
    usage_of,
)
from preheat.agents.parsing import Draft, arguments_of, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import AssistantMessage, Other, Reasoning, Spawn, ToolCall, ToolResult, UserMessage

# One conversation: each message, call and token once.
_IMAGES = ("blob", "uri", "file")


class Conversation:
    """Folds the spans of one conversation, in order of their start, into a draft."""

    def __init__(self, draft: Draft, has_requests: bool) -> None:
        self._draft = draft
        self._has_requests = has_requests
        self._matcher = CallMatcher()
        self._message_counts: Counter[bytes] = Counter()
        self._has_last_response = False
        """Whether the last response was recorded; otherwise it is taken from the next request, which repeats it."""
        self._calls: set[str] = set()
        self._instructions = ""

    def add(self, span: Span, line: int) -> None:
        heading, kind = self._draft.heading, operation_of(span)
        heading.include_time(span.started)
        heading.include_time(span.ended)
        heading.version = heading.version or string(span.attributes.get("gen_ai.agent.version"))
        if not self._draft.events and span.resource:
            self._draft.events.append(Other(line=0, at=span.started, name="resource", raw=span.resource))
        if kind in CHAT_OPERATIONS or (kind == INVOKE_AGENT and not self._has_requests):
            self._take_request(span, line)
        elif kind == EXECUTE_TOOL:
            self._take_tool(span, line)
        elif kind == INVOKE_AGENT:
            about = {name: value for name, value in span.attributes.items() if not name.endswith(".messages")}
            self._draft.events.append(Other(line=line, at=span.started, name=INVOKE_AGENT, raw=about))
        else:
            self._draft.events.append(Other(line=line, at=span.started, name=kind, raw=span.attributes))

    # A request and its response.
    def _take_request(self, span: Span, line: int) -> None:
        system = system_prompt_of(span)
        if system and system != self._instructions:
            self._instructions = system
            self._draft.events.append(Other(line=line, at=span.started, name="system", raw=system))
        counted: Counter[bytes] = Counter()
        for message in input_messages(span):
            key = _key(message)
            counted[key] += 1
            if counted[key] > self._message_counts[key]:
                self._message_counts[key] += 1
                self._add_new_message(message, span, line)
        self._add_response(span, line)

    def _add_new_message(self, message: dict[str, Any], span: Span, line: int) -> None:
        """Add a message that the request before did not have."""
        role, parts = message.get("role"), [mapping(part) for part in sequence(message.get("parts"))]
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        for part in results:
            self._add_result(string(part.get("id")), response_in(part), line, span.started)
        if role == "assistant":
            if not self._has_last_response:
                self._add_answer(parts, f"before {span.id or line}", "", line, span.started)
        elif role == "user" and len(results) < max(1, len(parts)):
            text = "\n".join(filter(None, map(text_in, (part for part in parts if part not in results))))
            images = sum(part.get("type") in _IMAGES for part in parts)
            origin = origin_of(text, injected=False)
            self._draft.events.append(UserMessage(line=line, at=span.started, text=text, origin=origin, images=images))
        elif role not in ("tool", "user"):
            name = "system" if role in ("system", "developer") else "unknown"
            self._draft.events.append(Other(line=line, at=span.started, name=name, raw=message))

    def _add_response(self, span: Span, line: int) -> None:
        attributes = span.attributes
        response = string(attributes.get("gen_ai.response.id")) or span.id or f"span {line}"
        model = string(attributes.get("gen_ai.response.model")) or string(attributes.get("gen_ai.request.model"))
        self._draft.heading.model = self._draft.heading.model or model
        messages = output_messages(span)
        for message in messages:
            self._message_counts[_key(message)] += 1
            parts = [mapping(part) for part in sequence(message.get("parts"))]
            self._add_answer(parts, response, model, line, span.ended)
        self._has_last_response = bool(messages)
        usage = usage_of(span)
        if usage is not None:
            self._draft.events.append(
                AssistantMessage(line=line, at=span.ended, text="", response=response, model=model, usage=usage)
            )
        if span.is_error or "error.type" in attributes:
            about = {"error.type": attributes.get("error.type"), "message": span.message}
            self._draft.events.append(Other(line=line, at=span.ended, name="failed request", raw=about))

    def _add_answer(self, parts: list[dict[str, Any]], response: str, model: str, line: int, at: float | None) -> None:
        for part in parts:
            if part.get("type") == "reasoning":
                self._draft.events.append(Reasoning(line=line, at=at, text=text_in(part), response=response))
        text = "\n".join(text_in(part) for part in parts if part.get("type") in ("text", None) and text_in(part))
        if text:
            self._draft.events.append(AssistantMessage(line=line, at=at, text=text, response=response, model=model))
        for number, part in enumerate(parts, 1):
            if part.get("type") in ("tool_call", "function_call"):
                requested = RequestedCall(
                    string(part.get("id")), string(part.get("name")), arguments_of(part.get("arguments"))
                )
                if not requested.id or requested.id not in self._calls:
                    self._add_call(requested, response, f"{line}.{number}", line, at)

    # Calls.
    def _add_call(self, requested: RequestedCall, response: str, place: str, line: int, at: float | None) -> None:
        call_id = self._matcher.open_call(requested, place)
        if requested.id:
            self._calls.add(requested.id)
        self._draft.events.append(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=requested.tool,
                kind=kind_by_name(requested.tool),
                input=requested.input,
                response=response,
            )
        )

    def _add_result(self, name: str, text: str, line: int, at: float | None, **facts: Any) -> None:
        call_id = self._matcher.close_call(name) if name or self._matcher.has_open_calls else ""
        if call_id:
            self._draft.events.append(ToolResult(line=line, at=at, call_id=call_id, text=text, **facts))
        elif name not in self._calls:
            raw = {"id": name, "response": text}
            self._draft.events.append(Other(line=line, at=at, name="result without a call", raw=raw))

    def _take_tool(self, span: Span, line: int) -> None:
        """The span of a tool: the best record of how a call ended, and sometimes the only record of the call."""
        attributes = span.attributes
        tool = string(attributes.get("gen_ai.tool.name")) or span.name.removeprefix(EXECUTE_TOOL).strip()
        name = string(attributes.get("gen_ai.tool.call.id"))
        if not name or name not in self._calls:
            name = name or f"span {span.id or line}"
            self._add_call(RequestedCall(name, tool, tool_arguments(span)), "", str(line), line, span.started)
        error = attributes.get("error.type")
        detail = {"error.type": error[:200]} if isinstance(error, str) else {}
        if span.message:
            detail["status"] = span.message[:500]
        seconds = span.ended - span.started if span.ended and span.started and span.ended >= span.started else None
        text = as_text(attributes.get("gen_ai.tool.call.result", attributes.get("gen_ai.tool.result")))
        failed = True if error else span.is_error
        self._add_result(name, text, line, span.ended, is_error=failed, seconds=seconds, detail=detail)


def _key(message: dict[str, Any]) -> bytes:
    """The identity of a message; its finish reason is left out, because only the original has it, not the repetition."""
    return msgspec.json.encode([message.get("role"), message.get("parts")], order="sorted")


# Files: which spans belong to which conversation.
AGENT = "otel_genai"
_CONVERSATION = "gen_ai.conversation.id"
_DEEPEST = 1000


class SpansParser(DocumentParser):
    """All conversations of one file."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        found, problems = read_spans(block)
        for draft in _SessionGroups(found).drafts():
            self.add(draft)
        if not self.drafts:
            problems = problems or [("there are no spans of a model in it", 1)]
        self.add_problems(problems, line)


class _SessionGroups:
    """Groups spans by session."""

    def __init__(self, found: list[Span]) -> None:
        self._all = {(span.trace, span.id): span for span in found}
        self._spans = [span for span in found if operation_of(span)]
        self._lines = {id(span): number for number, span in enumerate(self._spans, 1)}
        self._conversation_names = {
            span.trace: name for span in reversed(found) if (name := string(span.attributes.get(_CONVERSATION)))
        }

    def drafts(self) -> list[Draft]:
        groups: dict[str, list[tuple[Span, int]]] = {}
        parents: dict[str, tuple[str, Span]] = {}
        for number, span in enumerate(self._spans, 1):
            session, own_agent = self._session(span)
            if own_agent is not None:
                parents.setdefault(session, (self._session(own_agent, above=True)[0], own_agent))
            groups.setdefault(session, []).append((span, number))
        drafts_by_session = {session: self._draft(session, group) for session, group in groups.items()}
        for child, (parent, span) in parents.items():
            self._link_subagent(drafts_by_session, child, parent, span)
        return list(drafts_by_session.values())

    def _session(self, span: Span, above: bool = False) -> tuple[str, Span | None]:
        """The id of a span's session, and the span of its subagent: an agent that was invoked inside another."""
        agents = [each for each in self._ancestors(span) if operation_of(each) == INVOKE_AGENT]
        if not above and operation_of(span) == INVOKE_AGENT:
            agents = [span, *agents]
        conversation = (
            string(span.attributes.get(_CONVERSATION))
            or self._conversation_names.get(span.trace)
            or span.trace
            or "trace"
        )
        if len(agents) < 2:
            return conversation, None
        return f"{conversation}/{agents[0].id}", agents[0]

    def _ancestors(self, span: Span) -> list[Span]:
        found: list[Span] = []
        seen = {span.id}
        parent = self._all.get((span.trace, span.parent)) if span.parent else None
        while parent is not None and parent.id not in seen and len(found) < _DEEPEST:
            found.append(parent)
            seen.add(parent.id)
            parent = self._all.get((parent.trace, parent.parent)) if parent.parent else None
        return found

    def _draft(self, session: str, group: list[tuple[Span, int]]) -> Draft:
        draft = Draft(Heading(id=session))
        conversation = Conversation(draft, any(operation_of(span) in CHAT_OPERATIONS for span, _ in group))
        for span, number in group:
            conversation.add(span, number)
        return draft

    def _link_subagent(self, drafts_by_session: dict[str, Draft], child: str, parent: str, span: Span) -> None:
        draft = drafts_by_session[child]
        draft.heading.parent, draft.heading.relation = parent, "subagent"
        parent_draft = drafts_by_session.get(parent)
        if parent_draft is None:
            return
        tool = next(
            (each for each in self._ancestors(span) if operation_of(each) not in (INVOKE_AGENT, *CHAT_OPERATIONS)), None
        )
        call = string(tool.attributes.get("gen_ai.tool.call.id")) if tool else ""
        line = self._lines[id(span)]
        place = bisect_right(parent_draft.events, line, key=lambda event: event.line)
        parent_draft.events.insert(place, Spawn(line=line, at=span.started, session=child, call_id=call))


class SpansReader:
    """Reads OTLP JSON."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        members: dict[str, Any] = mapping(outline(head))
        exported = {"resourceSpans", "resource_spans", "resourceLogs", "resource_logs"} & members.keys()
        return bool(exported) and b'"gen_ai.' in head

    def parser(self, path: str, part: str = "") -> Parser:
        return SpansParser(path)


READER = SpansReader()
