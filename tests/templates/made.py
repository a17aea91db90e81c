"""Builders of lessons, profiles and templates for these tests; without arguments they always build the same."""

from typing import Any

from preheat.model.lesson import Evidence, Example, Lesson, LessonKind, Scope, Support, lesson_id
from preheat.model.profile import Rate, SessionProfile, ToolUse, UserStyle
from preheat.model.template import Template

AT = 1_770_000_000.0
PROJECT = "harbour"


def lesson(kind: LessonKind = "convention", use: str = "make test", **more: Any) -> Lesson:
    scope = Scope(project=PROJECT)
    fields: dict[str, Any] = {
        "id": lesson_id(kind, scope, use, str(more.get("avoid", "")), str(more.get("error", ""))),
        "kind": kind,
        "scope": scope,
        "text": f"`{use}` works here.",
        "use": use,
        "support": Support(9, 3, 1, 1),
        "evidence": (Evidence("claude_code:one", 4, AT, text=f"ran {use}"),),
        "score": 0.6,
        "last_seen": AT,
    }
    return Lesson(**{**fields, **more})


def example(tool: str, number: int, **more: Any) -> Lesson:
    arguments = {"command": f"tool --number {number}"}
    fields = {
        "use": "",
        "id": lesson_id("example", Scope(project=PROJECT, tool=tool), tool, str(number)),
        "text": f"A call of `{tool}` that worked.",
        "example": Example(tool, arguments, f"done {number}", "shell", "claude_code"),
    }
    return lesson("example", **{**fields, **more})


def rate(count: int, total: int, high: float | None = None) -> Rate:
    return Rate(count, total, count / total if total else None, 0.0 if total else None, high if total else None)


def profile(session: str = "one", **more: Any) -> SessionProfile:
    nothing = rate(0, 0)
    fields: dict[str, Any] = dict(  # noqa: C408 - as many names as it has would drown in quotes
        agent="claude_code", session=session, model="m", project="/w/harbour", messages=80, prompts=4, calls=40,
        bookkeeping_calls=0, statuses={"ok": 38, "failed": 2}, causes={"mistake": 2}, rungs={"exit code": 40},
        errors=rate(2, 40, 0.2), mistakes=rate(2, 40, 0.16), tools={"Bash": ToolUse(30, rate(2, 30), rate(2, 30))},
        early=nothing, late=nothing, proficiency_gain=None, slope=None, slope_low=None, slope_high=None, recovery=nothing,
        recovery_calls=None, repeats=nothing, repeated_failures=nothing, rereads=nothing, lost_seconds=0.0, lost_tokens=0,
        seconds=600.0, tokens=1000, context_peak=None, context_window=None, compactions=0,
        user=UserStyle(4, 40.0, 0.25, 0.0, "terse"), dominant_tool_type="terminal",
        context_markers=("src/pier.py", "docs/tides.md"), proficiency=0.8,
    )  # fmt: skip
    return SessionProfile(**{**fields, **more})


def template(name: str = "mine", *lessons: Lesson, **more: Any) -> Template:
    some = lessons or (lesson(), lesson("repair", "make clean test", error="stale cache"), example("Bash", 1))
    return Template(name=name, lessons=some, project=PROJECT, sources=("claude_code:one",), created_at=AT, **more)
