"""A week of sessions in short: what is new, better, worse, prevented, learned, and what waits for a person. Frozen values."""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.cost import Cost

DigestForm: TypeAlias = Literal["text", "markdown", "html"]
DIGEST_FORMS: tuple[DigestForm, ...] = ("text", "markdown", "html")


class MistakeTrend(msgspec.Struct, frozen=True, kw_only=True):
    """How often a mistake was made in a week and in the week before."""

    id: str
    title: str
    calls: int
    calls_before: int
    repair: str
    """What was different where it worked; empty if that is not known."""


class LearnedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A lesson whose first evidence is of this week."""

    id: str
    project: str
    text: str


class WeeklyDigest(msgspec.Struct, frozen=True, kw_only=True):
    """A week, compared with the one before."""

    since: float
    until: float
    is_current: bool
    """It ends now; else it is the last week with sessions."""
    project: str
    """Its name; empty for all projects."""
    week: Cost
    before: Cost
    price_list: str
    new: tuple[MistakeTrend, ...]
    """Mistakes that were made for the first time."""
    worse: tuple[MistakeTrend, ...]
    better: tuple[MistakeTrend, ...]
    prevented: tuple[str, ...]
    """What random assignment shows to help, a sentence each."""
    not_shown: str
    """Why nothing is known to be prevented; empty if something is."""
    seen: tuple[str, ...] = ()
    """What was seen after calls were held or warned of and failures answered, a sentence each. That it happened because of
    Preheat is not claimed."""
    learned: tuple[LearnedFact, ...]
    learned_in_all: int
    waiting: tuple[str, ...]
    """What waits for a person, each with the command."""
