"""Preheat in Python: everything the commands do, as functions that give values back.

>>> import preheat
>>> home = preheat.open()                                    # your own archive; or a folder of its own
>>> home.sync()                                              # doctest: +SKIP
>>> home.learn()                                             # doctest: +SKIP
>>> context = home.provision("fix the failing login test")   # doctest: +SKIP
>>> messages = preheat.render(context, "openai")             # doctest: +SKIP

Knows nothing of terminals. What is asked of the archive is judged first, as the commands do it.
"""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from preheat import pipeline
from preheat.model.context import BUDGET
from preheat.settings import data_folder

if TYPE_CHECKING:
    from preheat.archive.queries import Hit, Summary
    from preheat.compress import Compressed
    from preheat.model.comparison import CompactionCheck, Comparison
    from preheat.model.context import Context
    from preheat.model.lesson import Lesson, LessonKind
    from preheat.model.mistake import Mistakes
    from preheat.model.outcome import Outcome
    from preheat.model.population import Population
    from preheat.model.profile import SessionProfile
    from preheat.model.rendering import Rendered
    from preheat.model.session import Session
    from preheat.model.template import Template


def open(folder: str | None = None) -> "Preheat":  # noqa: A001 - read as `preheat.open()`
    """Preheat with its archive and templates in a folder; in its usual place (`PREHEAT_HOME`) unless one is given."""
    return Preheat(os.path.abspath(os.path.expanduser(folder)) if folder else data_folder())


class Preheat:
    """One archive with everything that belongs to it. Sessions go by their id, the beginning of one, or `latest`; filters
    (`agent`, `project`, `model`, `since`, `until`, `min_messages`, `max_messages`, `subagents`) are those of the commands."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"preheat.open({self.folder!r})"

    # Sessions.
    def sync(self, files: Iterable[tuple[str, str]] | None = None) -> pipeline.SyncReport:
        """Read what is new from the agents' own places, or from the named files (agent and path)."""
        return pipeline.sync(self.folder, files=None if files is None else list(files))

    def sessions(self, **filters: Any) -> "list[Summary]":
        """The sessions that fit, the newest first."""
        from preheat.archive.queries import Filter, sessions

        with self._archive() as connection:
            return sessions(connection, Filter(**filters))

    def session(self, name: str) -> "Session":
        """One session with all its events."""
        with self._archive() as connection:
            return pipeline.load(connection, _key(connection, name))

    def search(self, words: str, limit: int = 20, **filters: Any) -> "list[Hit]":
        """Passages in what was said and run."""
        from preheat.archive.queries import Filter, search

        with self._archive() as connection:
            return list(search(connection, words, Filter(**filters), limit=limit))

    # Judgements and measurements.
    def outcomes(self, name: str) -> "tuple[Outcome, ...]":
        """What came of every call of a session."""
        return pipeline.judge(self.session(name))

    def profile(self, name: str | None = None, **filters: Any) -> "SessionProfile | Population":
        """One session, measured; or, without a name, all that fit."""
        if name is not None:
            return pipeline.assess(self.session(name)).profile
        from preheat.archive.queries import Filter
        from preheat.pipeline.asking import population

        with self._judged() as connection:
            return population(connection, Filter(**filters))

    def mistakes(self, min_sessions: int = 2, **filters: Any) -> "Mistakes":
        """The mistakes that sessions repeat, what they cost, what fixes them."""
        from preheat.archive.queries import Filter
        from preheat.pipeline.asking import mistakes

        with self._judged() as connection:
            return mistakes(connection, Filter(**filters), min_sessions=min_sessions)

    def compare(self, a: str | dict[str, Any], b: str | dict[str, Any]) -> "Comparison":
        """Two sessions by name, or two sets of sessions by their filters."""
        from preheat.archive.queries import Filter
        from preheat.errors import UserError
        from preheat.pipeline.asking import compare_sessions, compare_sets

        with self._judged() as connection:
            if isinstance(a, str) and isinstance(b, str):
                return compare_sessions(connection, a, b)
            if isinstance(a, dict) and isinstance(b, dict):
                return compare_sets(connection, (_called(a), Filter(**a)), (_called(b), Filter(**b)))
        raise UserError("compare two sessions by name, or two sets by their filters, not one of each")

    def compaction_check(self, name: str | None = None, margin: float = 0.2, **filters: Any) -> "CompactionCheck":
        """Whether agents work as well after a compaction as before."""
        from preheat.archive.queries import Filter, find
        from preheat.pipeline.asking import compactions

        with self._archive() as connection:
            which = find(connection, name) if name is not None else Filter(**filters)
            return compactions(connection, which, margin)

    def compress(self, name: str, strategy: str = "markers", keep: int | None = None) -> "Compressed":
        """A session as a shorter history."""
        return pipeline.compress(self.session(name), strategy, keep)

    # Lessons.
    def learn(self, *tasks: str) -> pipeline.LearnReport:
        """Learn from what is new: all ten learners, or those that are named."""
        return pipeline.learn(self.folder, tasks)

    def lessons(self, project: str | None = None, kind: "LessonKind | None" = None) -> "list[Lesson]":
        """What was learned, the best first: everywhere, or of a project (name or folder) with what holds anywhere."""
        from preheat.archive.lessons import lessons

        with self._archive() as connection:
            names = None if project is None else ("", pipeline.project_named(connection, project))
            found = lessons(connection, names)
        return [lesson for lesson in found if kind is None or lesson.kind == kind]

    def pin(self, lesson: str, why: str = "") -> None:
        """Hand out a lesson whenever it fits, whatever its score."""
        self._mark(lesson, "pinned", why)

    def retire(self, lesson: str, why: str = "") -> None:
        """Never hand out a lesson again."""
        self._mark(lesson, "retired", why)

    def release(self, lesson: str) -> None:
        """Take a pin or a retirement back."""
        self._mark(lesson, None, "")

    # Templates.
    def extract_template(self, session: str, name: str = "", description: str = "") -> "Template":
        """A template from one session, kept under a name."""
        from preheat.pipeline.making import extract_template

        return extract_template(self.folder, session, name=name, description=description).built.template

    def build_template(
        self,
        name: str,
        description: str = "",
        tags: Iterable[str] = (),
        min_messages: int = 30,
        max_sessions: int = 50,
        max_error_rate: float = 0.5,
        **filters: Any,
    ) -> "Template":
        """A template from many sessions, kept under a name."""
        from preheat.archive.queries import Filter
        from preheat.pipeline.making import build_template
        from preheat.templates.build import Request
        from preheat.templates.choice import Wanted

        rule = Wanted(min_messages=min_messages, max_sessions=max_sessions, max_error_rate=max_error_rate)
        request = Request(name=name, description=description, tags=tuple(tags))
        return build_template(self.folder, request, Filter(**filters), rule).built.template

    def auto_templates(self, **filters: Any) -> "list[Template]":
        """Templates from the best sessions, one for each project that has enough of them."""
        from preheat.archive.queries import Filter
        from preheat.pipeline.making import auto_templates, best_sessions
        from preheat.templates.choice import Best

        groups = best_sessions(self.folder, Filter(**filters), Best())
        return [made.built.template for made in auto_templates(self.folder, groups, Best())]

    def templates(self) -> "list[Template]":
        """The newest version of each."""
        from preheat.templates.store import Store

        store = Store(self.folder)
        return [store.find(name).template for name in store.names() if store.state(name).live is not None]

    def template(self, name: str) -> "Template":
        """One version: `name`, `name@digest`, `name@-1`."""
        from preheat.templates.store import Store

        return Store(self.folder).find(name).template

    def delete_template(self, name: str) -> None:
        """Recoverable: `preheat warm restore`."""
        from preheat.templates.store import Store

        Store(self.folder).delete(name, time.time())

    # A new session.
    def provision(
        self,
        task: str,
        agent: str = "",
        project: str = "",
        budget: int = BUDGET,
        template: str = "",
        examples: bool = False,
    ) -> "Context":
        """What a new session is given for a task; empty, with the reason, where nothing fits. With `examples` real calls are
        wanted for themselves, as forms that are made of messages show them. A template's use is noted."""
        found = pipeline.provision(
            self.folder, task, agent=agent, project=project, budget=budget, template=template, examples=examples
        )
        pipeline.note_use(self.folder, found, time.time())
        return found

    # How.
    @contextmanager
    def _archive(self) -> Iterator[sqlite3.Connection]:
        connection = pipeline.opened(self.folder)
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _judged(self) -> Iterator[sqlite3.Connection]:
        pipeline.judge_archive(self.folder)
        with self._archive() as connection:
            yield connection

    def _mark(self, lesson: str, as_what: Any, why: str) -> None:
        from preheat.archive.lessons import lessons, mark
        from preheat.archive.writer import writing
        from preheat.errors import NotFound, UserError

        with self._archive() as connection:
            found = next((each for each in lessons(connection) if each.id == lesson), None)
            if found is None:
                raise NotFound(f"no lesson `{lesson}`; `lessons()` has them with their ids")
            if as_what == "pinned" and found.status == "quarantined":
                raise UserError(f"`{lesson}` is quarantined ({found.why}) and cannot be pinned")
            with writing(connection):
                mark(connection, lesson, as_what, why, time.time())


def provision(
    task: str, agent: str = "", project: str = "", budget: int = BUDGET, template: str = "", examples: bool = False
) -> "Context":
    """What a new session is given for a task, from your own archive."""
    return open().provision(task, agent, project, budget, template, examples)


def render(context: "Context", format: str = "text") -> "Rendered":  # noqa: A002 - as the command's option is called
    """A context in the form that an agent or a provider takes."""
    return pipeline.render(context, format)


def _key(connection: sqlite3.Connection, name: str) -> str:
    from preheat.archive.queries import find

    return find(connection, name).key


def _called(filters: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in filters.items()) or "all"
