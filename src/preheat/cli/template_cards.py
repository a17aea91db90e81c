"""Templates on a terminal: the head of a version, and the difference of two.

What is shown came out of sessions or from strangers: it is cleaned of what a terminal would obey.
"""

from typing import Any

import msgspec

from preheat.amounts import by_reason
from preheat.app.agents import title_of
from preheat.app.templates.library import Change, ShownTemplate, VersionChange
from preheat.cli.screen import clean, console, say
from preheat.cli.template_names import by_kind, describe_use
from preheat.cli.text import count, moment, one_line
from preheat.model.lesson import Lesson, Support
from preheat.model.template import Template, short_digest

_WIDTH = 100
_MOST_MARKERS = 6


def show_head(found: ShownTemplate) -> None:
    """What a version is, where it comes from and how it did."""
    screen, template = console(), found.version.template
    say(
        screen,
        found.version.title + (f"  {one_line(clean(template.description), _WIDTH)}" if template.description else ""),
        "bold",
    )
    if found.waiting:
        say(screen, f"  waits for a review: `preheat warm review {found.version.name}`", "yellow")
    for name, value in _facts(found):
        if value:
            say(screen, f"  {name.ljust(10)} {clean(value)}")


def _facts(found: ShownTemplate) -> list[tuple[str, str]]:
    template = found.version.template
    facts, user = template.extraction, template.user
    calls = sum(lesson.support.calls_for + lesson.support.calls_against for lesson in template.lessons)
    rates = f", {facts.mistake_rate:.1%} mistakes" if facts.mistake_rate is not None else ""
    held = [title_of(template.agent) if template.agent else "", template.project]
    sources = [each for each in template.sources if not each.startswith("#")]
    return [
        (
            "lessons",
            f"{len(template.lessons):,} ({by_kind(template)}), about {found.tokens:,} tokens"
            if template.lessons
            else "none",
        ),
        ("rests on", f"{count(calls, 'call')}, {_evidence(template)} kept as evidence" if calls else ""),
        (
            "made from",
            f"{count(facts.sessions, 'session')}, {count(facts.calls, 'call')}{rates}" if facts.sessions else "",
        ),
        ("sessions", ", ".join(sources[:3]) + (f" and {len(sources) - 3:,} more" if len(sources) > 3 else "")),
        ("left out", by_reason(facts.skipped)),
        ("settings", ", ".join(f"{name} {value}" for name, value in sorted(facts.settings.items()))),
        ("holds for", ", ".join(filter(None, held)) or "any project"),
        ("person", ", ".join(each for each in (user.style, user.feedback) if each != "unknown")),
        ("tools", ", ".join(user.preferred_tools)),
        ("markers", ", ".join(template.markers[:_MOST_MARKERS])),
        ("tags", ", ".join(template.tags)),
        ("addendum", one_line(template.addendum, _WIDTH)),
        ("use", describe_use(found.tracked)),
        (
            "created",
            moment(template.created_at) + (f", after {short_digest(template.parent)}" if template.parent else ""),
        ),
    ]


def _evidence(template: Template) -> str:
    kept = [each for lesson in template.lessons for each in lesson.evidence]
    return f"{len(kept):,} of {count(len({each.session for each in kept}), 'session')}"


def show_difference(compared: VersionChange) -> None:
    """What came, what went and what changed."""
    screen, found = console(), compared.difference
    say(screen, f"{compared.before.title} → {compared.after.title}", "bold")
    for change in found.template:
        say(screen, f"  {_told(change)}")
    for sign, style, lessons in (("+", "green", found.added), ("-", "red", found.removed)):
        for lesson in lessons:
            say(screen, f"{sign} {_line(lesson)}", style)
    for changed in found.changed:
        say(screen, f"~ {_line(changed.lesson)}", "yellow")
        for change in changed.changes:
            if change.field != "text" or len(changed.changes) == 1:  # it says in a sentence what the others say
                say(screen, f"    {_told(change)}", "dim")
    if found.empty:
        say(screen, "They say the same.")
        return
    facts = f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed"
    say(screen, f"{facts}, {found.same:,} as before", "dim")


def _line(lesson: Lesson) -> str:
    return f"{lesson.id}  {lesson.kind}  {one_line(clean(lesson.text), 160)}"


def _told(change: Change) -> str:
    if isinstance(change.before, tuple) and isinstance(change.after, tuple):
        gone = [each for each in change.before if each not in change.after]
        come = [each for each in change.after if each not in change.before]
        parts = [f"{sign}{_value(each)}" for sign, some in (("-", gone), ("+", come)) for each in some[:3]]
        more = f" and {len(gone) + len(come) - len(parts):,} more" if len(gone) + len(come) > len(parts) else ""
        return f"{change.field}: {' '.join(parts) or 'another order'}{more}"
    if change.field in ("last_seen", "expires_at"):
        return f"{change.field}: {moment(change.before)} → {moment(change.after)}"
    return f"{change.field}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    if isinstance(value, Support):
        return f"{value.calls_for:,} for, {value.calls_against:,} against, {count(value.sessions_for, 'session')}"
    if isinstance(value, float):
        return f"{value:.3g}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return one_line(clean(text), 80) or "nothing"
