"""Makes sessions shorter: judged first, rendered as chat messages, counted in estimated tokens."""

from typing import Any

from preheat.agents.openai_chat.writer import messages
from preheat.app.analysis.one_pass import assess
from preheat.compress import Compressed
from preheat.compress import compress as by_one
from preheat.compress import compress_all as by_all
from preheat.model.session import Session
from preheat.provisioning.tokens import estimate

__all__ = ["Compressed", "compress", "compress_all"]


def compress(session: Session, strategy: str, keep: int | None = None) -> Compressed:
    """A session as a shorter history, by one strategy."""
    return by_one(session, strategy=strategy, keep=keep, **_measured(session))


def compress_all(session: Session, keep: int | None = None) -> list[Compressed]:
    """The same by every strategy."""
    return by_all(session, keep=keep, **_measured(session))


def _measured(session: Session) -> dict[str, Any]:
    assessed = assess(session)
    return {
        "records": assessed.records,
        "references": assessed.profile.context_markers,
        "render": messages,
        "estimate": estimate,
    }
