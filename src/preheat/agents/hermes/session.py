"""Reads a row of Hermes's `sessions` table: who started the session, where, and which session is its parent.

Knows nothing of messages.
"""

from typing import Any

from preheat.agents.hermes.texts import REVIEW
from preheat.agents.parsing import decode_json, epoch_seconds
from preheat.agents.reader import Heading
from preheat.model.session import Relation, Starter, Usage

_STARTERS: dict[str, Starter] = {
    "cron": "headless",
    "batch": "headless",
    "webhook": "headless",
    "api_server": "headless",
    "tool": "background",
    "curator": "background",
    "unknown": "unknown",
    "": "unknown",
    "preheat": "preheat",
}
"""Starters by `source`; in all other sources (`cli`, `tui`, `desktop`, `acp`, the chat platforms) people type."""
_ORPHANED = "__orphaned__"


def fill_heading(heading: Heading, session: dict[str, Any]) -> None:
    """Fill a heading from the session's row and, under `lineage`, its parent's row."""
    lineage = session.get("lineage")
    lineage = lineage if isinstance(lineage, dict) else {}
    config = _config(session.get("model_config"))
    heading.id = str(session.get("id") or "")
    heading.model = _text(session.get("model")) or _text(config.get("model"))
    heading.project = _text(session.get("cwd")) or _text(lineage.get("cwd")) or _text(session.get("git_repo_root"))
    heading.branch = _text(session.get("git_branch")) or _text(lineage.get("git_branch"))
    heading.title = _text(session.get("title"))
    heading.relation, heading.parent = _relation(session, config, lineage)
    heading.starter = _starter(session, lineage)
    heading.reported = _reported(session)
    heading.include_time(epoch_seconds(session.get("started_at")))
    heading.include_time(epoch_seconds(session.get("ended_at")))


def is_review(text: str) -> bool:
    """Whether a session's first prompt is the program's review of another session."""
    return text.lstrip().startswith(REVIEW)


def _relation(
    session: dict[str, Any], config: dict[str, Any], lineage: dict[str, Any]
) -> tuple[Relation | None, str | None]:
    parent = _text(session.get("parent_session_id"))
    delegated, branched = _text(config.get("_delegate_from")), _text(config.get("_branched_from"))
    end = lineage.get("end_reason")
    # Children inherit the marks: a subagent that was compacted still names the first parent.
    if parent and end == "compression" and parent not in (delegated, branched):
        return "compaction", parent
    if delegated or session.get("source") == "subagent":
        parent_id = parent or delegated
        return "subagent", parent_id if parent_id and parent_id != _ORPHANED else None
    if branched or (parent and end == "branched"):
        return "fork", parent or branched
    return ("continuation", parent) if parent else (None, None)


def _starter(session: dict[str, Any], lineage: dict[str, Any]) -> Starter:
    source = _text(session.get("source"))
    if source == "subagent":
        # Whoever started the session that delegated the task.
        source = _text(lineage.get("source"))
        return _STARTERS.get(source, "human") if source != "subagent" else "unknown"
    if source == "cli" and session.get("end_reason") == "agent_close":
        return "headless"
    return _STARTERS.get(source, "human")


def _reported(session: dict[str, Any]) -> Usage | None:
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    counts = [session.get(f"{name}_tokens") for name in names]
    numbers = [count if isinstance(count, int) and count > 0 else 0 for count in counts]
    return Usage(*numbers) if any(numbers) else None


def _config(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = decode_json(value.encode())
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
