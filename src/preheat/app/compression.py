"""The stage that makes sessions shorter: judged first, rendered as chat messages, counted in estimated tokens."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from preheat.compress import Compressed
    from preheat.model.session import Session


def compress(session: "Session", strategy: str, keep: int | None = None) -> "Compressed":
    """A session as a shorter history, by one strategy."""
    from preheat.compress import compress as by_one

    return by_one(session, strategy=strategy, keep=keep, **_given(session))


def compress_all(session: "Session", keep: int | None = None) -> "list[Compressed]":
    """The same by every strategy."""
    from preheat.compress import compress_all as by_all

    return by_all(session, keep=keep, **_given(session))


def _given(session: "Session") -> dict[str, Any]:
    from preheat.app.assessment import assess
    from preheat.exports.openai_chat import messages
    from preheat.provisioning.tokens import estimate

    assessed = assess(session)
    return {
        "records": assessed.records,
        "references": assessed.profile.context_markers,
        "render": messages,
        "estimate": estimate,
    }
