"""Reads OpenTelemetry GenAI spans from OTLP JSON files: a conversation (else a trace) is a session.

What is known of a call depends on what the instrumentation was told to record: without content there are names, times,
tokens and errors only. Knows nothing of who wrote the spans.
"""

from bisect import bisect_right
from typing import Any

from preheat.agents.chat import mapping, string
from preheat.agents.documents import DocumentParser
from preheat.agents.otel_genai.conversation import Conversation
from preheat.agents.otel_genai.messages import CHAT_OPERATIONS, INVOKE_AGENT, operation_of
from preheat.agents.otel_genai.otlp import Span, read_spans
from preheat.agents.outline import outline
from preheat.agents.parsing import Draft
from preheat.agents.reader import Framing, Heading, Parser
from preheat.model.session import Spawn

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
