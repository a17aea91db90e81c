"""Writes the files of one dataset: rows of sessions, lessons and templates, trajectories, datasheet, schema, manifest.

Knows nothing of how sessions are chosen or leaks found.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from preheat import __version__
from preheat.agents.atif.writer import trajectory
from preheat.app.lab.dataset_survey import Projects, Survey, loaded, outcomes
from preheat.calls.form import command_form
from preheat.ingest.redact import redact
from preheat.lab.dataset.anonymise import Anonymiser
from preheat.lab.dataset.datasheet import Facts, datasheet
from preheat.lab.dataset.leaks import TRAJECTORIES, File
from preheat.lab.dataset.learned import Lessons
from preheat.lab.dataset.markers import Told, published
from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.rows import FORMAT, LessonRow, SessionRow, TemplateRow, schema
from preheat.lab.dataset.trajectories import Telling, Texts
from preheat.lab.dataset.trajectories import published as retold
from preheat.model.lesson import Lesson
from preheat.model.listing import Filter, Summary
from preheat.model.progress import Progress
from preheat.model.template import Template

DATASHEET, MANIFEST, SCHEMA = "datasheet.md", "manifest.json", "schema.json"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks a dataset to contain."""

    sessions: Filter
    templates: tuple[str, ...] | None
    trajectories: bool
    texts: Texts
    least: int
    salt_file: str | None
    allowed: tuple[str, ...]


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export."""

    folder: str
    """Empty in a dry run."""
    sessions: int
    unreadable: tuple[str, ...]
    without_project: int
    projects: int
    calls: int
    agents: dict[str, int]
    rows: dict[str, int]
    trajectories: int | None
    empty: int
    names: int
    replaced: dict[str, int]
    left_out: dict[str, int]
    lessons_left_out: dict[str, int]
    bytes: int
    unread: int
    """Other sessions that cannot be read: names that only they contain were not searched for."""


class Export:
    """Writes the files of one dataset into a folder."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: str,
        wanted: Wanted,
        salt: bytes,
        chosen: dict[str, Summary],
        projects: Projects,
        found: Survey,
    ) -> None:
        self._connection, self._folder, self._wanted = connection, folder, wanted
        self._chosen, self._projects, self._surveyed = chosen, projects, found
        self._pseudonyms = Pseudonyms(salt)
        self._anonymiser = Anonymiser(self._pseudonyms, found.names, redact)
        found.vocabulary.settle(self._anonymiser.general, self._anonymiser.nameless)
        self._names_shown = Told(self._project, found.vocabulary.tool, found.vocabulary.model, found.vocabulary.version)
        self._exported = frozenset(f"{row.agent}:{row.session}" for row in found.rows)
        self._rows: dict[str, int] = {}
        self._empty = 0

    def write(self, learned: list[Lesson], templates: list[Template], progress: Progress) -> Published:
        vocabulary = self._surveyed.vocabulary
        rows = [published(row, self._pseudonyms, self._names_shown, self._exported) for row in self._surveyed.rows]
        rows.sort(key=lambda row: row.session)  # by pseudonym: the order says nothing
        self._save_rows("sessions.jsonl", rows)
        self._save_rows("errors.jsonl", vocabulary.errors())
        self._save_rows("forms.jsonl", vocabulary.forms())
        lessons = Lessons(vocabulary.spread, self._anonymiser.general, vocabulary.tool)
        lesson_rows, template_rows = self._learned_rows(lessons, learned, templates)
        self._save_rows("lessons.jsonl", lesson_rows)
        self._save_rows("templates.jsonl", template_rows)
        trajectories = self._save_trajectories(progress) if self._wanted.trajectories else None
        report = self._report(rows, trajectories, dict(sorted(lessons.left_out.items())))
        self._save(SCHEMA, _indented(schema()))
        self._save(DATASHEET, datasheet(_facts(report, self._wanted)).encode())
        self._save(MANIFEST, _indented(self._manifest()))
        size = sum(len(content()) for _, content in files_in(self._folder))
        return msgspec.structs.replace(report, bytes=size)

    def _project(self, folder: str) -> str:
        name = self._projects.of(folder)
        return self._pseudonyms.of("project", name) if name else ""

    # Files.
    def _save_rows(self, name: str, rows: Sequence[msgspec.Struct]) -> None:
        self._rows[name] = len(rows)
        self._save(name, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    def _save(self, name: str, data: bytes) -> None:
        path = os.path.join(self._folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)

    def _learned_rows(
        self, lessons: Lessons, learned: list[Lesson], templates: list[Template]
    ) -> tuple[list[LessonRow], list[TemplateRow]]:
        """The rows of lessons that chosen sessions taught, and of templates."""
        for lesson in learned:
            sources = {each.session for each in lesson.evidence if each.session in self._chosen}
            if not sources:
                lessons.left_out["from sessions that were not chosen"] += 1
                continue
            lessons.add(lesson, {self._projects.of(self._chosen[key].project) for key in sources} - {""})
        rows = lessons.rows(self._pseudonyms)
        rows_by_lesson = {row.lesson: row for row in rows}
        template_rows = [lessons.template_row(template, self._pseudonyms, rows_by_lesson) for template in templates]
        return rows, sorted(template_rows, key=lambda row: row.template)

    def _save_trajectories(self, progress: Progress) -> int:
        vocabulary = self._surveyed.vocabulary
        rules = Telling(
            self._wanted.texts, self._pseudonyms, self._anonymiser, self._project, vocabulary.tool, vocabulary.model,
            vocabulary.version, lambda text: vocabulary.form(command_form(text)), self._exported,
        )  # fmt: skip
        written = 0
        progress.begin("Writing", len(self._exported), "sessions")
        for key, session in loaded(self._connection, self._exported):
            document = trajectory(retold(session, rules))
            progress.advance()
            if not document["steps"]:
                self._empty += 1
                continue
            document["extra"]["outcomes"] = outcomes(session)
            name = self._pseudonyms.of("session", key)
            self._save(f"{TRAJECTORIES}/{name}.json", _indented(document))
            written += 1
        progress.end()
        return written

    # Reports.
    def _report(self, rows: list[SessionRow], trajectories: int | None, lessons_left_out: dict[str, int]) -> Published:
        left_out: Counter[str] = Counter()
        for sort, values in self._surveyed.vocabulary.spread.left_out.items():
            left_out["version" if sort.startswith("version") else sort] += len(values)
        return Published(
            folder="",
            sessions=len(rows),
            unreadable=tuple(self._surveyed.unreadable),
            without_project=sum(row.project is None for row in rows),
            projects=len({row.project for row in rows} - {None}),
            calls=sum(row.calls for row in rows),
            agents=dict(sorted(Counter(row.agent for row in rows).items())),
            rows=dict(self._rows),
            trajectories=trajectories,
            empty=self._empty,
            names=self._surveyed.names.count,
            replaced={sort: number for sort, number in sorted(self._anonymiser.counts.items()) if number},
            left_out=dict(sorted(left_out.items())),
            lessons_left_out=lessons_left_out,
            bytes=0,
            unread=self._surveyed.unread,
        )

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "made_by": f"preheat {__version__}",
            "min_projects": self._wanted.least,
            "texts": self._wanted.texts if self._wanted.trajectories else "none",
            "files": {
                name: {"bytes": len(data), "sha256": sha256(data).hexdigest(), "rows": self._rows.get(name)}
                for name, content in files_in(self._folder)
                if name not in (DATASHEET, MANIFEST) and (data := content()) is not None
            },
        }


def _facts(report: Published, wanted: Wanted) -> Facts:
    return Facts(
        version=__version__, least=wanted.least, sessions=report.sessions, unreadable=len(report.unreadable),
        without_project=report.without_project, projects=report.projects, calls=report.calls, agents=report.agents,
        rows=report.rows, trajectories=report.trajectories, empty=report.empty, texts=wanted.texts, names=report.names,
        replaced=report.replaced, left_out=report.left_out, lessons_left_out=report.lessons_left_out,
    )  # fmt: skip


def files_in(folder: str) -> Iterator[File]:
    """Every file below a folder, in the order of their names, with how to read it."""
    for place, folders, names in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.relpath(path, folder).replace(os.sep, "/"), lambda path=path: read(path)  # type: ignore[misc]


def read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _indented(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
