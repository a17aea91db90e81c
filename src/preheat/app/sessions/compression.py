"""Compresses sessions: judges them, renders them as chat messages and counts estimated tokens. Knows no strategy."""

from typing import Any

from preheat.agents.openai_chat.writer import to_messages
from preheat.app.analysis.assessment import assess
from preheat.compress import Compressed
from preheat.compress import compress as compress_once
from preheat.compress import compress_all as compress_by_all
from preheat.model.session import Session
from preheat.provisioning.tokens import estimate_tokens

__all__ = ["Compressed", "compress", "compress_all"]


def compress(session: Session, strategy: str, keep: int | None = None) -> Compressed:
    """A session as a shorter history, by one strategy."""
    return compress_once(session, strategy=strategy, keep=keep, **_inputs(session))


def compress_all(session: Session, keep: int | None = None) -> list[Compressed]:
    """A session as a shorter history, once by every strategy."""
    return compress_by_all(session, keep=keep, **_inputs(session))


def _inputs(session: Session) -> dict[str, Any]:
    assessed = assess(session)
    return {
        "records": assessed.records,
        "references": assessed.profile.context_markers,
        "render": to_messages,
        "estimate": estimate_tokens,
    }
