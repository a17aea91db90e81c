"""Lessons on the command line: their ids with tab completion. Knows no command."""

import click
from click.shell_completion import CompletionItem

from preheat.cli.home import open_archive
from preheat.cli.text import one_line


class LessonName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A lesson by its id or the beginning of it."""

    name = "lesson"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(each.id, help=one_line(each.text, 60))
            for each in open_archive().knowledge.lessons()
            if each.id.startswith(incomplete)
        ]
