"""What a fleet run did, and what its report says. Frozen values.

Knows neither storage nor Ray.
"""

import msgspec

from preheat.model.lesson import Lesson


class FleetProblem(msgspec.Struct, frozen=True):
    """Something about an object that could not be read."""

    object: str
    line: int | None
    reason: str


class FleetRun(msgspec.Struct, frozen=True, kw_only=True):
    """What `fleet analyse` did, and what the destination holds now."""

    source: str
    destination: str
    objects: int
    """Objects in the source."""
    new: int
    """Of these, new or changed since the last run."""
    unchanged: int
    """Written again with the same content."""
    others: int
    """No transcript of an agent that Preheat knows."""
    failed: int
    bytes: int
    """Bytes of the new objects."""
    batches: int
    sessions: int
    """Sessions in the destination, over all runs; so are the other numbers."""
    calls: int
    errors: int
    projects: int
    lessons: int
    """Active lessons."""
    rewritten: int
    """Partitions that were written now."""
    redactions: int
    """Secrets taken out of the new objects."""
    requests: dict[str, int]
    """Requests to the storage, by kind."""
    cpu_seconds: float
    """Processor time of the tasks that read."""
    peak_bytes: int
    """The most memory that one of these had."""
    stored_bytes: int
    """Bytes of all tables."""
    seconds: float
    problems: tuple[FleetProblem, ...] = ()


class FleetTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one group of sessions."""

    name: str
    sessions: int
    calls: int
    errors: int
    input_tokens: int
    output_tokens: int
    money: float
    """US dollars at list prices, of the responses whose model has a price."""


class FleetCause(msgspec.Struct, frozen=True, kw_only=True):
    """Failed calls of one cause."""

    cause: str
    calls: int
    sessions: int
    lost_tokens: int


class FleetMistake(msgspec.Struct, frozen=True, kw_only=True):
    """The same error, in many sessions."""

    signature: str
    tool: str
    cause: str
    calls: int
    sessions: int
    projects: int
    lost_tokens: int


class FleetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions of a fleet come to."""

    total: FleetTotals
    projects: tuple[FleetTotals, ...]
    agents: tuple[FleetTotals, ...]
    models: tuple[FleetTotals, ...]
    """By the model of each response; a session may have several."""
    days: tuple[FleetTotals, ...]
    """The newest first, in UTC."""
    causes: tuple[FleetCause, ...]
    mistakes: tuple[FleetMistake, ...]
    unpriced_tokens: int
    """Tokens of models without a known price; they are not in the money."""
    price_list: str
    problems: int


class FleetLessons(msgspec.Struct, frozen=True, kw_only=True):
    """The lessons of one project of a fleet."""

    project: str
    """Empty for those that hold anywhere."""
    template: str
    """The template with those that may be handed out, as an address in the destination; empty if there is none."""
    lessons: tuple[Lesson, ...]


class FleetPublication(msgspec.Struct, frozen=True, kw_only=True):
    """What was published of a project's lessons."""

    project: str
    path: str
    """The file that was written; empty if it has everything already."""
    new: tuple[str, ...]
    """What a session will be told, once the file is trusted."""
    changed: tuple[str, ...]
    """Lessons of which more was seen."""
    kept: int
    """Lessons in the file that stay as they were."""
    left_out: int
    """Lessons that may not travel: about one moment, one person, or in words of a tool."""
