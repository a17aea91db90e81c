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
from preheat.agents.atif.writer import to_trajectory
from preheat.app.lab.dataset_survey import Projects, Survey, call_outcomes, load_sessions
from preheat.calls.form import command_form
from preheat.ingest.redact import redact
from preheat.lab.dataset.anonymise import Anonymiser
from preheat.lab.dataset.datasheet import DatasetFacts, write_datasheet
from preheat.lab.dataset.leaks import TRAJECTORIES, File
from preheat.lab.dataset.learned import LessonRows
from preheat.lab.dataset.markers import PublishedNames, publish_row
from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.rows import FORMAT, LessonRow, SessionRow, TemplateRow, dataset_schema
from preheat.lab.dataset.trajectories import PublishRules, Texts
from preheat.lab.dataset.trajectories import publish_session as retold
from preheat.model.lesson import Lesson
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.progress import Progress
from preheat.model.template import Template

DATASHEET, MANIFEST, SCHEMA = "datasheet.md", "manifest.json", "schema.json"


class ExportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks a dataset to contain."""

    sessions: SessionFilter
    templates: tuple[str, ...] | None
    trajectories: bool
    texts: Texts
    least: int
    salt_file: str | None
    allowed: tuple[str, ...]


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
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


class DatasetWriter:
    """Writes the files of one dataset into a folder."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: str,
        wanted: ExportRequest,
        salt: bytes,
        chosen: dict[str, SessionSummary],
        projects: Projects,
        found: Survey,
    ) -> None:
        self._connection, self._folder, self._wanted = connection, folder, wanted
        self._chosen, self._projects, self._surveyed = chosen, projects, found
        self._pseudonyms = Pseudonyms(salt)
        self._anonymiser = Anonymiser(self._pseudonyms, found.names, redact)
        found.vocabulary.settle(self._anonymiser.generalise, self._anonymiser.remove_names)
        self._names_shown = PublishedNames(
            self._project, found.vocabulary.tool, found.vocabulary.model, found.vocabulary.version
        )
        self._exported = frozenset(f"{row.agent}:{row.session}" for row in found.rows)
        self._rows: dict[str, int] = {}
        self._empty = 0

    def write(self, learned: list[Lesson], templates: list[Template], progress: Progress) -> ExportReport:
        vocabulary = self._surveyed.vocabulary
        rows = [publish_row(row, self._pseudonyms, self._names_shown, self._exported) for row in self._surveyed.rows]
        rows.sort(key=lambda row: row.session)  # by pseudonym: the order says nothing
        self._save_rows("sessions.jsonl", rows)
        self._save_rows("errors.jsonl", vocabulary.errors())
        self._save_rows("forms.jsonl", vocabulary.forms())
        lessons = LessonRows(vocabulary.spread, self._anonymiser.generalise, vocabulary.tool)
        lesson_rows, template_rows = self._learned_rows(lessons, learned, templates)
        self._save_rows("lessons.jsonl", lesson_rows)
        self._save_rows("templates.jsonl", template_rows)
        trajectories = self._save_trajectories(progress) if self._wanted.trajectories else None
        report = self._report(rows, trajectories, dict(sorted(lessons.left_out.items())))
        self._save(SCHEMA, _indented(dataset_schema()))
        self._save(DATASHEET, write_datasheet(_facts(report, self._wanted)).encode())
        self._save(MANIFEST, _indented(self._manifest()))
        size = sum(len(content()) for _, content in dataset_files(self._folder))
        return msgspec.structs.replace(report, bytes=size)

    def _project(self, folder: str) -> str:
        name = self._projects.project_of(folder)
        return self._pseudonyms.pseudonym("project", name) if name else ""

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
        self, lessons: LessonRows, learned: list[Lesson], templates: list[Template]
    ) -> tuple[list[LessonRow], list[TemplateRow]]:
        """The rows of lessons that chosen sessions taught, and of templates."""
        for lesson in learned:
            sources = {each.session for each in lesson.evidence if each.session in self._chosen}
            if not sources:
                lessons.left_out["from sessions that were not chosen"] += 1
                continue
            lessons.add(lesson, {self._projects.project_of(self._chosen[key].project) for key in sources} - {""})
        rows = lessons.rows(self._pseudonyms)
        rows_by_lesson = {row.lesson: row for row in rows}
        template_rows = [lessons.template_row(template, self._pseudonyms, rows_by_lesson) for template in templates]
        return rows, sorted(template_rows, key=lambda row: row.template)

    def _save_trajectories(self, progress: Progress) -> int:
        vocabulary = self._surveyed.vocabulary
        rules = PublishRules(
            self._wanted.texts, self._pseudonyms, self._anonymiser, self._project, vocabulary.tool, vocabulary.model,
            vocabulary.version, lambda text: vocabulary.form(command_form(text)), self._exported,
        )  # fmt: skip
        written = 0
        progress.begin("Writing", len(self._exported), "sessions")
        for key, session in load_sessions(self._connection, self._exported):
            document = to_trajectory(retold(session, rules))
            progress.advance()
            if not document["steps"]:
                self._empty += 1
                continue
            document["extra"]["outcomes"] = call_outcomes(session)
            name = self._pseudonyms.pseudonym("session", key)
            self._save(f"{TRAJECTORIES}/{name}.json", _indented(document))
            written += 1
        progress.end()
        return written

    # Reports.
    def _report(
        self, rows: list[SessionRow], trajectories: int | None, lessons_left_out: dict[str, int]
    ) -> ExportReport:
        left_out: Counter[str] = Counter()
        for sort, values in self._surveyed.vocabulary.spread.left_out.items():
            left_out["version" if sort.startswith("version") else sort] += len(values)
        return ExportReport(
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
                for name, content in dataset_files(self._folder)
                if name not in (DATASHEET, MANIFEST) and (data := content()) is not None
            },
        }


def _facts(report: ExportReport, wanted: ExportRequest) -> DatasetFacts:
    return DatasetFacts(
        version=__version__, least=wanted.least, sessions=report.sessions, unreadable=len(report.unreadable),
        without_project=report.without_project, projects=report.projects, calls=report.calls, agents=report.agents,
        rows=report.rows, trajectories=report.trajectories, empty=report.empty, texts=wanted.texts, names=report.names,
        replaced=report.replaced, left_out=report.left_out, lessons_left_out=report.lessons_left_out,
    )  # fmt: skip


def dataset_files(folder: str) -> Iterator[File]:
    """Every file below a folder, in the order of their names, with how to read it."""
    for place, folders, names in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.relpath(path, folder).replace(os.sep, "/"), lambda path=path: read_bytes(path)  # type: ignore[misc]


def read_bytes(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _indented(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
