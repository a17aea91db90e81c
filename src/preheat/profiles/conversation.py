"""One pass over a session's events: the messages, their times and the tokens.

Knows nothing of calls' outcomes.
"""

from preheat.model.session import (
    CONTEXT_WINDOW,
    AssistantMessage,
    Compaction,
    Other,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)


class Conversation:
    """A session without its calls: counted as the archive counts."""

    def __init__(self, session: Session) -> None:
        self.prompts: list[str] = []
        """What a person typed."""
        self.texts: list[str] = []
        """What a person typed and the assistant said, in order."""
        self.context_window: int | None = None
        self.compactions = 0
        texts = self.texts
        calls = before = 0
        asked: set[str | int] = set()
        used: dict[str, Usage] = {}
        for event in session.events:
            if isinstance(event, ToolCall):
                calls += 1
                asked.add(event.response or event.line)
            elif isinstance(event, ToolResult):
                calls += 1
            elif isinstance(event, AssistantMessage):
                if event.text:
                    texts.append(event.text)
                if event.usage is not None:
                    used[event.response or f"line {event.line}"] = event.usage
            elif isinstance(event, UserMessage):
                if event.origin == "human":
                    self.prompts.append(event.text)
                    texts.append(event.text)
            elif isinstance(event, Compaction):
                self.compactions += 1
                before = max(before, event.tokens_before or 0)
            elif isinstance(event, Other) and event.name == CONTEXT_WINDOW and type(event.raw) is int:
                self.context_window = event.raw
        self.messages = calls + len(texts)
        self.seconds = _duration(session)
        inputs = [each.input + each.cache_read + each.cache_write for each in used.values()]
        total = sum(inputs) + sum([each.output for each in used.values()])
        self.tokens = total or (session.reported.total if session.reported else 0)
        whole = 2 * len(used) < len(asked)  # tokens are recorded for many responses together, not for each
        self.context_peak = max(0 if whole else max(inputs, default=0), before) or None
        """The most tokens that stood before the model at once, by its responses or by what a compaction said it replaced."""


def _duration(session: Session) -> float | None:
    """From the first event to the last; the heading knows, where the reader filled it in."""
    start, end = session.started_at, session.ended_at
    if start is None or end is None:
        times = [event.at for event in session.events if event.at is not None]
        start, end = (min(times), max(times)) if times else (None, None)
    return None if start is None or end is None else max(0.0, end - start)
