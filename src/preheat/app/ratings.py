"""What a person thinks of a session: good or bad, and why. It counts in comparisons beside what is measured."""

from typing import NamedTuple

from preheat.app.experiments import rated
from preheat.ingest.redact import redact
from preheat.model.experiment import Rating
from preheat.model.listing import Summary

LONGEST_NOTE = 2_000


class Rated(NamedTuple):
    """A rating that was kept."""

    session: Summary
    rating: Rating
    shortened: bool
    """Whether the note was longer than what is kept of one."""


def rate(folder: str, session: Summary, good: bool, note: str) -> Rated:
    """Keep it; a later one on the same session counts instead."""
    clean = redact(note.encode("utf-8", "replace"))[0].decode("utf-8", "replace")
    kept = clean[:LONGEST_NOTE]  # after redacting: half a secret is none that would be known
    return Rated(session, rated(folder, session.key, good, kept), len(clean) > LONGEST_NOTE)
