"""Observation masking: older results become one line with their status and length.

All messages and calls are kept. It is the published baseline (Lindenbauer and
others 2025, "The Complexity Trap"), where it did as well as summaries by a model. Knows no other strategy.
"""

import msgspec

from preheat.amounts import format_count
from preheat.compress.values import Strategy
from preheat.compress.view import View, drop_unpaired, format_omission, with_events
from preheat.model.profile import CallRecord
from preheat.model.session import Event, Session, ToolResult


def _mask_results(seen: View, keep: int) -> Session:
    """The session with all results masked except the last `keep`."""
    records = {made.result.call_id: made.record for made in seen.calls}
    results = [event for event in seen.events if isinstance(event, ToolResult)]
    older = {id(event) for event in (results[:-keep] if keep else results)}
    events: list[Event] = []
    for event in seen.events:
        if isinstance(event, ToolResult) and id(event) in older:
            masked = _placeholder(event, records.get(event.call_id))
            if len(masked) < len(event.text):
                event = msgspec.structs.replace(event, text=masked, frame=("", ""))
        events.append(event)
    return with_events(seen.session, drop_unpaired(events))


def _placeholder(result: ToolResult, record: CallRecord | None) -> str:
    """The status and length of a result, on one line."""
    parts: list[str] = ["result" if record is None else record.status]
    code = result.exit_code if record is None or record.exit_code is None else record.exit_code
    if code is not None:
        parts.append(f"exit code {code}")
    lines = result.text.count("\n") + bool(result.text and not result.text.endswith("\n"))
    return format_omission(
        ", ".join((*parts, format_count(lines, "line"), format_count(len(result.text), "character")))
    )


MASK = Strategy("mask", 10, "results", "Results older than the last few become one line each.", _mask_results)
