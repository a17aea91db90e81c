"""Rows that a machine pushes to its team: every field that leaves it, each with what it is. Frozen values.

These structs are the only list: the tables of the team, what is shown before a push and the page of the guide are held to it by
tests. Nothing here reads, writes or decides.
"""

from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from preheat.model.team import Level, PushedField


class PushedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in numbers."""

    session: Annotated[
        str, Meta(description="a hash of the session's id, so that it is counted once and can be deleted")
    ]
    digest: Annotated[str, Meta(description="a hash of what is pushed of the session, so that nothing is sent twice")]
    origin: Annotated[str, Meta(description="a hash of the session's counts, to tell quickly whether it changed")]
    level: Annotated[str, Meta(description="`derived` or `transcripts`")]
    repository: Annotated[str, Meta(description="the remote of the repository: `host/owner/name`")]
    agent: Annotated[str, Meta(description="the agent's name")]
    model: Annotated[str, Meta(description="the model's name")]
    prompts: Annotated[int, Meta(description="messages of a person")]
    messages: Annotated[int, Meta(description="prompts, texts of the model, calls and results")]
    calls: Annotated[int, Meta(description="tool calls, without bookkeeping")]
    failed: Annotated[int, Meta(description="calls that failed")]
    mistakes: Annotated[int, Meta(description="calls that failed by the agent's own mistake")]
    compactions: Annotated[int, Meta(description="how often the conversation was replaced by a summary")]
    input_tokens: Annotated[int, Meta(description="tokens read, without the cache")]
    output_tokens: Annotated[int, Meta(description="tokens written")]
    cache_read_tokens: Annotated[int, Meta(description="tokens read from the cache")]
    cache_write_tokens: Annotated[int, Meta(description="tokens written to the cache")]
    money: Annotated[float | None, Meta(description="US dollars at list prices; nothing if the model has no price")]
    failed_money: Annotated[float | None, Meta(description="the part of it that failed calls account for")]
    work_seconds: Annotated[float, Meta(description="time in which the agent worked, without long pauses")]


class PushedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How often calls of one kind ended in one way."""

    activity: Annotated[str, Meta(description="what calls were for, in words of ours: `read`, `shell:test`")]
    status: Annotated[str, Meta(description="how they ended: `ok`, `failed`, `denied`…")]
    cause: Annotated[str, Meta(description="why they failed: `mistake`, `finding`, `environment`, `unknown`")]
    calls: Annotated[int, Meta(description="how many calls")]
    lost_seconds: Annotated[float, Meta(description="time that the failures cost")]
    lost_tokens: Annotated[int, Meta(description="tokens that the failures cost")]


class PushedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """The files that one prompt led to."""

    number: Annotated[int, Meta(description="place among the session's prompts")]
    files_read: Annotated[tuple[str, ...], Meta(description="paths of files that were read, relative to the project")]
    files_changed: Annotated[
        tuple[str, ...], Meta(description="paths of files that were changed, relative to the project")
    ]
    checks_passed: Annotated[int, Meta(description="tests, builds and linters that passed")]
    checks_failed: Annotated[int, Meta(description="tests, builds and linters that failed")]
    calls: Annotated[int, Meta(description="how many calls")]
    seconds: Annotated[float | None, Meta(description="how long it took")]


class PushedLesson(msgspec.Struct, frozen=True, kw_only=True):
    """A lesson that the person approved, with how much speaks for it."""

    digest: Annotated[str, Meta(description="a hash of repository and content: what a reviewer approves")]
    repository: Annotated[str, Meta(description="the remote of the repository: `host/owner/name`")]
    content: Annotated[
        str,
        Meta(
            description="the lesson as typed slots of our own sentences (commands, paths, names of errors); no free text"
        ),
    ]
    calls_for: Annotated[int, Meta(description="calls that speak for it")]
    sessions_for: Annotated[int, Meta(description="sessions that speak for it")]
    calls_against: Annotated[int, Meta(description="calls that speak against it")]
    sessions_against: Annotated[int, Meta(description="sessions that speak against it")]
    first_day: Annotated[str, Meta(description="the day it was first seen")]
    last_day: Annotated[str, Meta(description="the day it was last seen")]


class PushedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A whole session, without secrets."""

    content: Annotated[
        bytes,
        Meta(
            description="everything of the session: prompts, answers, calls with arguments, outputs; secrets and the path of the "
            "home folder taken out; compressed"
        ),
    ]


class PushedRows(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of one session."""

    session: PushedSession
    outcomes: tuple[PushedOutcome, ...]
    episodes: tuple[PushedEpisode, ...]
    transcript: PushedTranscript | None = None


PUSHED_TABLES: dict[str, tuple[type[msgspec.Struct], Level]] = {
    "sessions": (PushedSession, "derived"),
    "outcomes": (PushedOutcome, "derived"),
    "episodes": (PushedEpisode, "derived"),
    "lessons": (PushedLesson, "derived"),
    "transcripts": (PushedTranscript, "transcripts"),
}
"""By table: its row, and the lowest level at which it is pushed."""


def list_pushed_fields() -> tuple[PushedField, ...]:
    """Every field that is pushed, with the lowest level at which it is."""
    return tuple(
        PushedField(table=table, name=name, level=level, about=_read_about(hint))
        for table, (row, level) in PUSHED_TABLES.items()
        for name, hint in get_type_hints(row, include_extras=True).items()
    )


def _read_about(hint: Any) -> str:
    return next(str(each.description) for each in hint.__metadata__ if isinstance(each, Meta))
