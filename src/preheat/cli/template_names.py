"""Templates on the command line: names with tab completion, and a template described in a few words. Knows no command."""

from collections import Counter
from typing import Any

import click
from click.shell_completion import CompletionItem

from preheat.cli.home import open_preheat
from preheat.cli.options import make_filter
from preheat.cli.text import count
from preheat.errors import UserError
from preheat.model.lesson import LESSON_KINDS, LessonKind
from preheat.model.listing import SessionFilter
from preheat.model.template import Template, TemplateResults, shorten_digest

KIND_NAMES: dict[LessonKind, str] = {
    "resume": "resume packet",
    "convention": "convention",
    "repair": "repair",
    "dead_end": "dead end",
    "error": "error",
    "example": "example",
    "working_set": "working file",
    "sequence": "sequence",
}


class TemplateName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A template by its name, `name@digest` or `name@-1`."""

    name = "template"

    def __init__(self, deleted: bool = False) -> None:
        self._deleted = deleted

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            library = open_preheat().library
            name, at, _ = incomplete.partition("@")
            found = (
                [f"{name}@{shorten_digest(digest)}" for digest in library.versions(name)]
                if at
                else library.names(self._deleted)
            )
        except (UserError, OSError):
            return []
        return [CompletionItem(each) for each in found if each.startswith(incomplete)]


def make_template_filter(options: dict[str, Any]) -> SessionFilter:
    """The filter that `--agent`, `--project` and `--since` make."""
    others = dict.fromkeys(("model", "until", "min_messages", "max_messages"))
    return make_filter({**others, "no_subagents": False, **options})


def count_by_kind(template: Template) -> str:
    """`3 conventions, 1 repair`."""
    counts = Counter(lesson.kind for lesson in template.lessons)
    return ", ".join(count(counts[kind], KIND_NAMES[kind]) for kind in LESSON_KINDS if counts[kind])


def describe_use(results: TemplateResults) -> str:
    """`used 5 times, 80 % success`."""
    if not results.uses:
        return "not used yet"
    judged = results.succeeded + results.failed
    times = "once" if results.uses == 1 else f"{results.uses:,} times"
    if not judged:
        return f"used {times}, success unknown"
    share = f"{100 * results.succeeded / judged:.0f} % success"
    return f"used {times}, {share}" + (f" of {judged:,} with a check" if judged != results.uses else "")
