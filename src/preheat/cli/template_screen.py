"""Templates on a terminal: a version's head, and the difference of two versions.

Knows nothing of how they are made. Their texts come from sessions and other people, so control characters are removed.
"""

from typing import Any

import msgspec

from preheat.amounts import format_reasons
from preheat.app.agents import title_of
from preheat.app.templates.library import Change, TemplateDetails, VersionChange
from preheat.cli.screen import clean, console, say
from preheat.cli.template_names import count_by_kind, describe_use
from preheat.cli.text import count, date_time, one_line
from preheat.model.lesson import Lesson, Support
from preheat.model.template import Template, shorten_digest

_WIDTH = 100
_MOST_MARKERS = 6


def show_template_head(found: TemplateDetails) -> None:
    """Print what a version contains, where it comes from and how its sessions went."""
    screen, template = console(), found.version.template
    say(
        screen,
        found.version.title + (f"  {one_line(clean(template.description), _WIDTH)}" if template.description else ""),
        "bold",
    )
    if found.waiting:
        say(screen, f"  waits for a review: `preheat templates review {found.version.name}`", "yellow")
    for name, value in _facts(found):
        if value:
            say(screen, f"  {name.ljust(10)} {clean(value)}")


def _facts(found: TemplateDetails) -> list[tuple[str, str]]:
    template = found.version.template
    facts, user = template.extraction, template.user
    calls = sum(lesson.support.calls_for + lesson.support.calls_against for lesson in template.lessons)
    rates = f", {facts.mistake_rate:.1%} mistakes" if facts.mistake_rate is not None else ""
    scope = [title_of(template.agent) if template.agent else "", template.project]
    sources = [each for each in template.sources if not each.startswith("#")]
    return [
        (
            "lessons",
            f"{len(template.lessons):,} ({count_by_kind(template)}), about {found.tokens:,} tokens"
            if template.lessons
            else "none",
        ),
        ("evidence", f"{count(calls, 'call')}; stored: {_evidence(template)}" if calls else ""),
        (
            "made from",
            f"{count(facts.sessions, 'session')}, {count(facts.calls, 'call')}{rates}" if facts.sessions else "",
        ),
        ("sessions", ", ".join(sources[:3]) + (f" and {len(sources) - 3:,} more" if len(sources) > 3 else "")),
        ("left out", format_reasons(facts.skipped)),
        ("settings", ", ".join(f"{name} {value}" for name, value in sorted(facts.settings.items()))),
        ("holds for", ", ".join(filter(None, scope)) or "any project"),
        ("person", ", ".join(each for each in (user.style, user.feedback) if each != "unknown")),
        ("tools", ", ".join(user.preferred_tools)),
        ("markers", ", ".join(template.markers[:_MOST_MARKERS])),
        ("tags", ", ".join(template.tags)),
        ("addendum", one_line(template.addendum, _WIDTH)),
        ("use", describe_use(found.tracked)),
        (
            "created",
            date_time(template.created_at) + (f", after {shorten_digest(template.parent)}" if template.parent else ""),
        ),
    ]


def _evidence(template: Template) -> str:
    kept = [each for lesson in template.lessons for each in lesson.evidence]
    return f"{count(len(kept), 'call')} of {count(len({each.session for each in kept}), 'session')}"


def show_version_difference(compared: VersionChange) -> None:
    """Print the lessons that were added, removed and changed."""
    screen, found = console(), compared.difference
    say(screen, f"{compared.before.title} → {compared.after.title}", "bold")
    for change in found.template:
        say(screen, f"  {_describe_change(change)}")
    for sign, style, lessons in (("+", "green", found.added), ("-", "red", found.removed)):
        for lesson in lessons:
            say(screen, f"{sign} {_line(lesson)}", style)
    for changed in found.changed:
        say(screen, f"~ {_line(changed.lesson)}", "yellow")
        for change in changed.changes:
            if change.field != "text" or len(changed.changes) == 1:  # the text repeats the other changes
                say(screen, f"    {_describe_change(change)}", "dim")
    if found.is_empty:
        say(screen, "They are the same.")
        return
    facts = f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed"
    say(screen, f"{facts}, {found.same:,} as before", "dim")


def _line(lesson: Lesson) -> str:
    return f"{lesson.id}  {lesson.kind}  {one_line(clean(lesson.text), 160)}"


def _describe_change(change: Change) -> str:
    if isinstance(change.before, tuple) and isinstance(change.after, tuple):
        removed = [each for each in change.before if each not in change.after]
        added = [each for each in change.after if each not in change.before]
        parts = [f"{sign}{_value(each)}" for sign, some in (("-", removed), ("+", added)) for each in some[:3]]
        more = f" and {len(removed) + len(added) - len(parts):,} more" if len(removed) + len(added) > len(parts) else ""
        return f"{change.field}: {' '.join(parts) or 'another order'}{more}"
    if change.field in ("last_seen", "expires_at"):
        return f"{change.field}: {date_time(change.before)} → {date_time(change.after)}"
    return f"{change.field}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    if isinstance(value, Support):
        return f"{value.calls_for:,} for, {value.calls_against:,} against, {count(value.sessions_for, 'session')}"
    if isinstance(value, float):
        return f"{value:.3g}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return one_line(clean(text), 80) or "nothing"
