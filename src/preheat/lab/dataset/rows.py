"""The rows of a published dataset: numbers, enumerations and pseudonyms. Knows no archive.

The schema that is published with them is made of these classes; what each field means is in `meanings`.
"""

from typing import Any

import msgspec

from preheat.lab.dataset.meanings import MEANINGS
from preheat.model.live import Phase
from preheat.model.outcome import Cause, Rung, Status
from preheat.model.profile import ToolType, WritingStyle
from preheat.model.session import Relation, Starter, ToolKind

FORMAT = 1
OTHER = "other"
"""Instead of a value that too few projects share."""


class CallCounts(msgspec.Struct, frozen=True):
    """Calls of one sort, without the agent's notes to itself."""

    calls: int = 0
    judged: int = 0
    errors: int = 0
    mistakes: int = 0


class Share(msgspec.Struct, frozen=True):
    count: int
    total: int


class Shortened(msgspec.Struct, frozen=True):
    """What one way of making the session shorter keeps."""

    ratio: float | None
    markers: dict[str, Share]


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session."""

    session: str
    project: str | None
    parent: str | None
    relation: Relation | None
    agent: str
    agent_version: str
    model: str
    starter: Starter
    messages: int
    prompts: int
    calls: int
    bookkeeping_calls: int
    compactions: int
    seconds: float | None
    tokens: int
    context_peak: int | None
    context_window: int | None
    all: CallCounts
    error_rate: float | None
    mistake_rate: float | None
    fifths: tuple[CallCounts, ...]
    statuses: dict[Status, int]
    causes: dict[str, int]
    rungs: dict[Rung, int]
    kinds: dict[ToolKind, CallCounts]
    activities: dict[str, CallCounts]
    tools: dict[str, CallCounts]
    proficiency_gain: float | None
    slope: float | None
    slope_low: float | None
    slope_high: float | None
    recovery: Share
    recovery_calls: float | None
    repeats: Share
    repeated_failures: Share
    rereads: Share
    lost_seconds: float
    lost_tokens: int
    dominant_tool_type: ToolType
    user_style: WritingStyle
    prompt_length: float
    questions: float
    commands: float
    phases: dict[Phase, int]
    phase_changes: int
    scorecard: dict[str, float | None]
    safety_rules: dict[str, int]
    compression: dict[str, Shortened]
    proficiency: float


class ErrorRow(msgspec.Struct, frozen=True):
    """A message of a failed call, masked, that enough projects met."""

    signature: str
    projects: int
    calls: int
    causes: dict[Cause, int]


class FormRow(msgspec.Struct, frozen=True):
    """A form of a shell command that enough projects used."""

    form: str
    projects: int
    all: CallCounts


class LessonContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a lesson says, whoever learned it where."""

    kind: str
    topic: str
    tool: str
    use: str
    avoid: str
    error: str
    difference: str
    steps: tuple[str, ...]


class LessonRow(LessonContent, frozen=True, kw_only=True):
    """Something that was learned alike in enough projects."""

    lesson: str
    projects: int
    lessons: int
    sessions_for: int
    sessions_against: int
    calls_for: int
    calls_against: int
    statuses: dict[str, int]


class TemplateRow(msgspec.Struct, frozen=True, kw_only=True):
    """A set of lessons that is handed to new sessions."""

    template: str
    lessons: tuple[str, ...]
    left_out: int
    kinds: dict[str, int]
    sessions: int
    calls: int
    error_rate: float | None
    mistake_rate: float | None
    user_style: str


FILES: dict[str, type[msgspec.Struct]] = {
    "sessions.jsonl": SessionRow,
    "errors.jsonl": ErrorRow,
    "forms.jsonl": FormRow,
    "lessons.jsonl": LessonRow,
    "templates.jsonl": TemplateRow,
}


def dataset_schema() -> dict[str, Any]:
    """A JSON schema of every file that has rows."""
    tops, parts = msgspec.json.schema_components(list(FILES.values()), ref_template="#/$defs/{name}")
    for name, meanings in MEANINGS.items():
        for field, meaning in meanings.items():
            parts[name]["properties"][field]["description"] = meaning
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "format": FORMAT,
        "files": dict(zip(FILES, tops, strict=True)),
        "$defs": parts,
    }
