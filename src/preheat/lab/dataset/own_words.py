"""Words and texts that every dataset contains because of its format. Knows no real session.

A name that the archive knows may be one of them (a machine called `timestamp`); there it gives nobody away.
"""

from typing import Any, get_args

import msgspec

from preheat.lab.dataset.datasheet import DatasetFacts, write_datasheet
from preheat.lab.dataset.leaks import texts_in, words
from preheat.lab.dataset.rows import dataset_schema
from preheat.lab.dataset.trajectories import TEXTS, TRIGGERS
from preheat.model.session import (
    CONTEXT_WINDOW,
    LATE_ENDING,
    AssistantMessage,
    Compaction,
    Event,
    Origin,
    Other,
    Reasoning,
    Relation,
    Rewind,
    Session,
    Spawn,
    Starter,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)


def dataset_words() -> frozenset[str]:
    """Words that the pages of every export have."""
    pages = [write_datasheet(DatasetFacts(trajectories=number, texts=texts)) for number in (None, 0) for texts in TEXTS]
    return words(" ".join((*pages, msgspec.json.encode(dataset_schema()).decode())))


def format_texts(trajectory: Any) -> frozenset[str]:
    """Texts that trajectories have whoever's they are, each as a whole: taken from the one of `session_with_everything`."""
    fields = {field.name for kind in (Session, Usage, *get_args(Event)) for field in msgspec.structs.fields(kind)}
    values = (*TRIGGERS, *get_args(Origin), *get_args(Relation), *get_args(Starter))
    return frozenset(texts_in(trajectory)) | fields | frozenset(values)


def sample_session() -> Session:
    """Not a word in it is anybody's, so what its trajectory says is the format's."""
    used = Usage(input=1, output=1, cache_read=1, cache_write=1, reasoning=1)
    events: tuple[Event, ...] = (
        UserMessage(line=1, at=1.0, text="", images=1),
        Reasoning(line=2, at=1.0, text="x", response="a"),
        Reasoning(line=2, at=1.0, text="x", response="a"),
        AssistantMessage(line=3, at=1.0, text="x", response="a", model="x", usage=used),
        AssistantMessage(line=3, at=1.0, text="x", response="a", model="x", usage=used),
        ToolCall(line=4, at=1.0, call_id="a", tool="x", kind="shell", input={"form": "", "text": ""}, response="a"),
        ToolResult(line=5, at=1.0, call_id="a", text="x", is_error=True, exit_code=1, seconds=1.0),
        Spawn(line=6, at=1.0, session="x", call_id="a"),
        Compaction(line=7, at=1.0, trigger="auto", summary="x", tokens_before=1),
        Other(line=8, at=1.0, name=CONTEXT_WINDOW, raw=1),
        Other(line=9, at=1.0, name=LATE_ENDING, raw={"call_id": "a", "exit_code": 1}),
        UserMessage(line=10, at=1.0, text="x"),
        Rewind(line=11, at=1.0, after=9),
    )
    return Session(
        agent="x", id="x", version="x", model="x", project="x", parent="x", relation="fork", started_at=1.0, ended_at=1.0,
        reported=used, events=events,
    )  # fmt: skip
