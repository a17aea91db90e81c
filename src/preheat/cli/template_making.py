"""What is said after a template was made: what is in it, what was left out and why, and what to do next.

Knows nothing of how it was made.
"""

from typing import TYPE_CHECKING, Any

from preheat.amounts import format_reasons
from preheat.cli.screen import console, hint, say
from preheat.cli.template_names import count_by_kind
from preheat.cli.text import count

if TYPE_CHECKING:  # what takes SQLAlchemy to load
    from preheat.app.templates.building import BuiltTemplate


def template_json(made: "BuiltTemplate") -> dict[str, Any]:
    """The template and what was left out, for JSON."""
    template = made.built.template
    return {
        "name": template.name,
        "digest": made.kept.digest,
        "new": made.kept.new,
        "lessons": len(template.lessons),
        "extraction": template.extraction,
        "left_out": made.built.left_out,
    }


def show_built_template(made: "BuiltTemplate", verb: str) -> None:
    """Print what was made, from which sessions, and what was left out."""
    screen, template = console(), made.built.template
    version = f"`{template.name}` {made.kept.short}"
    facts = template.extraction
    if not made.kept.new:
        say(screen, f"Nothing changed: {version} has all of it already.")
    else:
        say(screen, f"{verb} {version}: {count(len(template.lessons), 'lesson')} ({count_by_kind(template)})", "bold")
    rates = f", {facts.mistake_rate:.1%} mistakes" if facts.mistake_rate is not None else ""
    say(screen, f"  from {count(facts.sessions, 'session')}, {count(facts.calls, 'call')}{rates}")
    if facts.skipped:
        say(screen, f"  sessions left out: {format_reasons(facts.skipped)}", "dim")
    if made.built.left_out:
        say(screen, f"  lessons left out: {format_reasons(made.built.left_out)}", "dim")
    if made.kept.new:
        hint(f"`preheat warm show {template.name}` shows it.")
