"""The rows of a published dataset: numbers, enumerations and pseudonyms. Knows no archive.

The schema that is published with them is made of these classes; `MEANINGS` says what each field means.
"""

from typing import Any

import msgspec

from preheat.model.live import Phase
from preheat.model.outcome import Cause, Rung, Status
from preheat.model.profile import ToolType, WritingStyle
from preheat.model.session import Relation, Starter, ToolKind

MEANINGS: dict[str, dict[str, str]] = {
    "CallCounts": {
        "calls": "Calls, without the agent's notes to itself (plans, memory, questions).",
        "judged": "Those that can be told; rates are taken over these.",
        "errors": "Judged calls that failed or worked in part only.",
        "mistakes": "Errors that were the agent's own mistake.",
    },
    "Share": {"count": "How many.", "total": "Of how many."},
    "Shortened": {
        "ratio": "Share of the estimated tokens that is left.",
        "markers": "Proficiency markers that are left, by sort.",
    },
    "SessionRow": {
        "session": "Pseudonym; the name of its trajectory.",
        "project": "Pseudonym; null where the session names none.",
        "parent": "The session that it came out of, if that is in the dataset.",
        "relation": "How it came out of its parent.",
        "agent": "The program or format that it was recorded by.",
        "agent_version": "The part of the version that enough projects share.",
        "model": "The part of the model's name that enough projects share.",
        "starter": "Who started it.",
        "messages": "Messages of people, programs and the model.",
        "prompts": "Messages that a person typed.",
        "calls": "Calls, without the agent's notes to itself.",
        "bookkeeping_calls": "The agent's notes to itself.",
        "compactions": "Times that the history was replaced by a summary.",
        "seconds": "From the first event to the last.",
        "tokens": "All tokens of all responses.",
        "context_peak": "Most tokens that stood before the model at once.",
        "context_window": "Size of the model's window, where recorded.",
        "all": "All calls, counted.",
        "error_rate": "errors / judged.",
        "mistake_rate": "mistakes / judged.",
        "fifths": "The calls by position: first to last fifth.",
        "statuses": "Calls by what came of them.",
        "causes": "Errors by cause.",
        "rungs": "Calls by the evidence that the verdict rests on.",
        "kinds": "Calls by what the tool is for.",
        "activities": "Calls by what they were for; shell commands by purpose.",
        "tools": "Calls by tool: those that agents' programs bring along or enough projects use; the rest are `other`.",
        "proficiency_gain": "Error rate of the last fifth minus that of the first; negative is better.",
        "slope": "Change of the error rate per 100 calls, by least squares.",
        "slope_low": "Lower end of its 95 % interval.",
        "slope_high": "Upper end of its 95 % interval.",
        "recovery": "Failures followed by a success of the same intent within five calls.",
        "recovery_calls": "How many calls a recovery took on average.",
        "repeats": "Calls that were made before with the same arguments.",
        "repeated_failures": "Failures with a message that had come before.",
        "rereads": "Reads of what was read before and not written since.",
        "lost_seconds": "Time that failures cost.",
        "lost_tokens": "Tokens that failures cost.",
        "dominant_tool_type": "What most calls are.",
        "user_style": "How the person writes.",
        "prompt_length": "Average letters of what the person typed.",
        "questions": "Share of prompts that ask something.",
        "commands": "Share of prompts that begin with a slash.",
        "phases": "Calls made in each phase.",
        "phase_changes": "Times that the phase changed.",
        "scorecard": "Scores from 0 to 100, and their weighted mean; null where there was too little.",
        "safety_rules": "Times that each rule against destructive commands was met.",
        "compression": "What each way of shortening the session keeps.",
        "proficiency": "0.7 x success rate + 0.3 x min(1, messages / 100); 0 under ten messages.",
    },
    "ErrorRow": {
        "signature": "The message with numbers, paths, names and quotes masked.",
        "projects": "Projects that met it.",
        "calls": "Calls that met it.",
        "causes": "The same by cause.",
    },
    "FormRow": {
        "form": "Program, what it is told, and options; `…` where something was left out.",
        "projects": "Projects that used it.",
        "all": "Its calls, counted.",
    },
    "LessonRow": {
        "lesson": "Pseudonym.",
        "kind": "What sort of lesson.",
        "topic": "What it is about.",
        "tool": "The tool it is about, if one.",
        "use": "What works.",
        "avoid": "What does not.",
        "error": "The message that it belongs to.",
        "difference": "What changed from the failed call to the one that worked.",
        "steps": "Shapes of calls in their order.",
        "projects": "Projects that learned it.",
        "lessons": "Lessons that say it, of single projects and of all.",
        "sessions_for": "Sessions that speak for it, added up over those lessons.",
        "sessions_against": "…and against it.",
        "calls_for": "Calls that speak for it, added up likewise.",
        "calls_against": "…and against it.",
        "statuses": "Those lessons by status.",
    },
    "TemplateRow": {
        "template": "Pseudonym.",
        "lessons": "Those of its lessons that are in `lessons.jsonl`.",
        "left_out": "How many of its lessons are not.",
        "kinds": "All its lessons by kind.",
        "sessions": "Sessions that it was built from.",
        "calls": "Calls in them.",
        "error_rate": "Their error rate.",
        "mistake_rate": "Their mistake rate.",
        "user_style": "How the person of those sessions writes.",
    },
}
"""By class and field, for the published schema."""
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
