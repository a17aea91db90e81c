"""Templates on the command line: the store, names with tab completion, and how a version is written.

Knows nothing of what the commands do.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from preheat.cli.options import chosen
from preheat.cli.text import count
from preheat.errors import UserError
from preheat.model.lesson import LESSON_KINDS, LessonKind
from preheat.model.template import Template
from preheat.settings import data_folder
from preheat.templates.digest import short
from preheat.templates.store import Store, Version

if TYPE_CHECKING:
    from preheat.model.listing import Filter

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
            kept = store()
            name, at, _ = incomplete.partition("@")
            found = (
                [f"{name}@{short(digest)}" for digest in kept.state(name).versions] if at else kept.names(self._deleted)
            )
        except (UserError, OSError):
            return []
        return [CompletionItem(each) for each in found if each.startswith(incomplete)]


def store() -> Store:
    return Store(data_folder())


def title(version: Version) -> str:
    """`name@3fa2b1c0d4`."""
    return f"{version.name}@{short(version.digest)}"


def filter_of(options: dict[str, Any]) -> "Filter":
    """The filter that `--agent`, `--project` and `--since` make."""
    others = dict.fromkeys(("model", "until", "min_messages", "max_messages"))
    return chosen({**others, "no_subagents": False, **options})


def by_kind(template: Template) -> str:
    """`3 conventions, 1 repair`."""
    counts = Counter(lesson.kind for lesson in template.lessons)
    return ", ".join(count(counts[kind], KIND_NAMES[kind]) for kind in LESSON_KINDS if counts[kind])


def version_value(version: Version, **more: Any) -> dict[str, Any]:
    """A version for programs."""
    return {"name": version.name, "digest": version.digest, "template": version.template, **more}
