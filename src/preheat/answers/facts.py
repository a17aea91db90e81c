"""What a session did so far with files, folded from its events. Pure."""

from preheat.answers.history import refuses_patterns
from preheat.answers.values import SessionFacts
from preheat.model.live import CallEvent, LiveEvent, StartEvent

_MOST = 500
"""Files that are remembered, the newest."""


def update_facts(facts: SessionFacts, event: LiveEvent) -> SessionFacts:
    """The facts after an event."""
    if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        return SessionFacts()
    if not isinstance(event, CallEvent):
        return facts
    refuses = facts.refuses_patterns or refuses_patterns(event.signature)
    if not event.edited:
        return facts if refuses == facts.refuses_patterns else SessionFacts(facts.edits, refuses)
    edits = {path: times for path, times in facts.edits.items() if path not in event.edited}
    edits.update((path, facts.edits.get(path, 0) + 1) for path in event.edited)
    return SessionFacts(dict(list(edits.items())[-_MOST:]), refuses)
