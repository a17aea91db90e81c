"""What is said after a template was made: what is in it, what was left out and why, and what to do next.

Knows nothing of how it was made.
"""

from typing import Any

from preheat.amounts import by_reason
from preheat.app.templates.building import Made
from preheat.cli.screen import console, hint, say
from preheat.cli.template_names import by_kind
from preheat.cli.text import count


def made_value(made: Made) -> dict[str, Any]:
    """For programs."""
    template = made.built.template
    return {
        "name": template.name,
        "digest": made.kept.digest,
        "new": made.kept.new,
        "lessons": len(template.lessons),
        "extraction": template.extraction,
        "left_out": made.built.left_out,
    }


def say_made(made: Made, verb: str) -> None:
    """What was made, from what, and what is not in it."""
    screen, template = console(), made.built.template
    version = f"`{template.name}` {made.kept.short}"
    facts = template.extraction
    if not made.kept.new:
        say(screen, f"Nothing changed: {version} says all of it already.")
    else:
        say(screen, f"{verb} {version}: {count(len(template.lessons), 'lesson')} ({by_kind(template)})", "bold")
    rates = f", {facts.mistake_rate:.1%} mistakes" if facts.mistake_rate is not None else ""
    say(screen, f"  from {count(facts.sessions, 'session')}, {count(facts.calls, 'call')}{rates}")
    if facts.skipped:
        say(screen, f"  sessions left out: {by_reason(facts.skipped)}", "dim")
    if made.built.left_out:
        say(screen, f"  lessons left out: {by_reason(made.built.left_out)}", "dim")
    if made.kept.new:
        hint(f"`preheat warm show {template.name}` shows it.")
