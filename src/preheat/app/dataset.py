"""Writes a dataset that may be published, and looks through one for leaks.

Whole or not at all: everything is written into a folder beside, searched, and only then given its name.
"""

import os
import secrets
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any

import msgspec

from preheat import __version__
from preheat.agents.atif.writer import trajectory
from preheat.app.dataset_survey import Projects, Survey, known, loaded, outcomes, survey
from preheat.app.dataset_words import own_texts, own_words
from preheat.app.sessions import has_archive, opened
from preheat.archive.lessons import lessons as stored_lessons
from preheat.archive.queries import sessions
from preheat.calls.form import command_form
from preheat.errors import UserError
from preheat.ingest.redact import redact
from preheat.lab.dataset.anonymise import Anonymiser
from preheat.lab.dataset.datasheet import Facts, datasheet
from preheat.lab.dataset.leaks import TRAJECTORIES, File, Leak, Look, in_files
from preheat.lab.dataset.learned import Lessons
from preheat.lab.dataset.markers import Told, published
from preheat.lab.dataset.names import Names
from preheat.lab.dataset.pseudonyms import LEAST_SALT, Pseudonyms
from preheat.lab.dataset.rows import FORMAT, LessonRow, SessionRow, TemplateRow, schema
from preheat.lab.dataset.trajectories import Telling, Texts
from preheat.lab.dataset.trajectories import published as retold
from preheat.model.lesson import Lesson
from preheat.model.listing import Filter, Summary
from preheat.model.progress import SILENT, Progress
from preheat.model.template import Template
from preheat.templates.store import Store

DATASHEET, MANIFEST, SCHEMA = "datasheet.md", "manifest.json", "schema.json"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a dataset is to hold."""

    sessions: Filter = Filter()
    templates: tuple[str, ...] | None = None
    """By name; None for all."""
    trajectories: bool = False
    texts: Texts = "none"
    least: int = 3
    """Projects that must have something before it is told."""
    salt_file: str | None = None
    """Where the salt is, or is put; None: it is a fresh one, which nobody keeps."""
    allowed: tuple[str, ...] = ()
    """Words that a person says are no names."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an export."""

    folder: str
    """Empty if nothing was written."""
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
    """Other sessions that cannot be read: names that only they tell were not looked for."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a look through an export found."""

    files: int
    names: int
    """Names of the archive that were looked for."""
    unread: int
    """Sessions of the archive that cannot be read: names that only they tell were not looked for."""
    leaks: tuple[Leak, ...]
    changed: tuple[str, ...]
    """Files that are not what the manifest says, are missing, or are not in it."""


class Datasets:
    """Data for others to study, out of the archive in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def export(
        self, folder: str, wanted: Wanted | None = None, dry_run: bool = False, progress: Progress = SILENT
    ) -> Published:
        """Write a dataset into a folder that is not there yet; with `dry_run` into none."""
        wanted = wanted or Wanted()
        _outside(folder, wanted.salt_file)
        if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
            raise UserError(f"`{folder}` is there already; name a folder that is not, or delete it")
        with closing(opened(self._folder)) as connection:
            return self._export(connection, folder, wanted, dry_run, progress)

    def check(self, folder: str, allowed: Sequence[str] = (), progress: Progress = SILENT) -> Checked:
        """Look through a dataset; where there is an archive also for every name in it."""
        if not os.path.isfile(os.path.join(folder, MANIFEST)):
            raise UserError(
                f"`{folder}` has no `{MANIFEST}`, so it is no dataset; `preheat dataset export FOLDER` makes one"
            )
        names, unread = known((), allowed), 0
        if has_archive(self._folder):
            with closing(opened(self._folder)) as connection:
                found = survey(connection, (), Projects(connection), 1, allowed, progress)
            names, unread = found.names, found.unread
        files = list(_files(folder))
        leaks = _leaks(files, names, allowed, progress)
        changed = tuple(_changed(folder, files))
        return Checked(files=len(files), names=names.count, unread=unread, leaks=tuple(leaks), changed=changed)

    def _export(
        self, connection: sqlite3.Connection, folder: str, wanted: Wanted, dry_run: bool, progress: Progress
    ) -> Published:
        """Everything into a folder beside, and that under its name when it is whole and gives nothing away."""
        chosen = {each.key: each for each in sessions(connection, wanted.sessions)}
        if not chosen and wanted.sessions == Filter():
            raise UserError("the archive has no session yet; `preheat sync` reads those that your agents left")
        projects = Projects(connection)
        _enough(chosen.values(), projects, wanted.least)
        templates = _templates(self._folder, wanted.templates)
        salt = salt_in(wanted.salt_file)
        found = survey(connection, chosen, projects, wanted.least, wanted.allowed, progress)
        above = os.path.dirname(os.path.abspath(folder))
        os.makedirs(above, exist_ok=True)
        beside = os.path.join(above, f".{os.path.basename(os.path.abspath(folder))}.new-{os.getpid()}")
        os.mkdir(beside)
        try:
            export = _Export(connection, beside, wanted, salt, chosen, projects, found)
            report = export.write(stored_lessons(connection), templates, progress)
            _refuse(_leaks(list(_files(beside)), found.names, wanted.allowed, progress))
            if dry_run:
                return report
            os.replace(beside, folder)
            return msgspec.structs.replace(report, folder=folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _outside(folder: str, salt_file: str | None) -> None:
    if salt_file and os.path.abspath(salt_file).startswith(os.path.join(os.path.abspath(folder), "")):
        raise UserError("the salt must not lie in the dataset: whoever has both can try out names; name another file")


def salt_in(path: str | None) -> bytes:
    """A fresh salt, or the one in a file, which is made if it is not there."""
    if path is None:
        return secrets.token_bytes(32)
    try:
        with open(path, "rb") as stream:
            salt = stream.read()
    except FileNotFoundError:
        salt = secrets.token_bytes(32)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(salt)
        return salt
    except OSError as error:
        raise UserError(f"the salt in `{path}` cannot be read ({error.strerror}); name another file") from error
    if len(salt) < LEAST_SALT:
        raise UserError(
            f"`{path}` has {len(salt)} bytes, and a salt needs {LEAST_SALT}; name a file that is not there yet: it is made"
        )
    return salt


def _leaks(files: Sequence[File], names: Names, allowed: Sequence[str], progress: Progress) -> list[Leak]:
    """Everything that these files give away."""

    def shown() -> Iterator[File]:
        for each in files:
            yield each
            progress.advance()

    progress.begin("Searching", len(files))
    found = list(in_files(shown(), Look(names, redact, tuple(allowed), own_words(), own_texts())))
    progress.end()
    return found


def _enough(chosen: Iterable[Summary], projects: Projects, least: int) -> None:
    listed = list(chosen)
    if not listed:
        raise UserError("no session fits these filters; `preheat sessions list` shows what there is")
    found = {projects.of(each.project) for each in listed} - {""}
    if len(found) < least:
        raise UserError(
            f"these sessions come from {len(found)} project{'s' * (len(found) != 1)}, and at least {least} are needed so that"
            " nothing points to one of them; choose more sessions, or lower `--min-projects` if you know what that gives away"
        )


def _refuse(leaks: list[Leak]) -> None:
    if leaks:
        shown = "; ".join(f"{each.file}:{each.line}: {each.sort} `{each.text}`" for each in leaks[:5])
        more = f"; and {len(leaks) - 5:,} more" if len(leaks) > 5 else ""
        raise UserError(
            f"nothing was written: {len(leaks):,} places would give something away: {shown}{more}; a word that is nobody's"
            " name is let through by `--allow WORD`; anything else is a defect, please report it"
        )


def _templates(home: str, names: tuple[str, ...] | None) -> list[Template]:
    store = Store(home)
    if names is not None:
        return [store.find(name).template for name in names]
    found: list[Template] = []
    for name in store.names():
        state = store.state(name)
        if state.live is not None:  # an import that nobody reviewed is nobody's to publish
            found.append(store.read(state.live))
    return found


class _Export:
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
        self._chosen, self._projects, self._found = chosen, projects, found
        self._pseudonyms = Pseudonyms(salt)
        self._anonymiser = Anonymiser(self._pseudonyms, found.names, redact)
        found.vocabulary.settle(self._anonymiser.general, self._anonymiser.nameless)
        self._told = Told(self._project, found.vocabulary.tool, found.vocabulary.model, found.vocabulary.version)
        self._exported = frozenset(f"{row.agent}:{row.session}" for row in found.rows)
        self._rows: dict[str, int] = {}
        self._empty = 0

    def write(self, learned: list[Lesson], templates: list[Template], progress: Progress) -> Published:
        vocabulary = self._found.vocabulary
        rows = [published(row, self._pseudonyms, self._told, self._exported) for row in self._found.rows]
        rows.sort(key=lambda row: row.session)  # by pseudonym: their order tells nothing
        self._lines("sessions.jsonl", rows)
        self._lines("errors.jsonl", vocabulary.errors())
        self._lines("forms.jsonl", vocabulary.forms())
        lessons = Lessons(vocabulary.spread, self._anonymiser.general, vocabulary.tool)
        lesson_rows, template_rows = self._learned(lessons, learned, templates)
        self._lines("lessons.jsonl", lesson_rows)
        self._lines("templates.jsonl", template_rows)
        trajectories = self._trajectories(progress) if self._wanted.trajectories else None
        report = self._report(rows, trajectories, dict(sorted(lessons.left_out.items())))
        self._save(SCHEMA, _pretty(schema()))
        self._save(DATASHEET, datasheet(_facts(report, self._wanted)).encode())
        self._save(MANIFEST, _pretty(self._manifest()))
        size = sum(len(read()) for _, read in _files(self._folder))
        return msgspec.structs.replace(report, bytes=size)

    def _project(self, folder: str) -> str:
        name = self._projects.of(folder)
        return self._pseudonyms.of("project", name) if name else ""

    # Files.
    def _lines(self, name: str, rows: Sequence[msgspec.Struct]) -> None:
        self._rows[name] = len(rows)
        self._save(name, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    def _save(self, name: str, data: bytes) -> None:
        path = os.path.join(self._folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)

    def _learned(
        self, lessons: Lessons, learned: list[Lesson], templates: list[Template]
    ) -> tuple[list[LessonRow], list[TemplateRow]]:
        """Only what chosen sessions taught counts."""
        for lesson in learned:
            sources = {each.session for each in lesson.evidence if each.session in self._chosen}
            if not sources:
                lessons.left_out["from sessions that were not chosen"] += 1
                continue
            lessons.add(lesson, {self._projects.of(self._chosen[key].project) for key in sources} - {""})
        rows = lessons.rows(self._pseudonyms)
        known = {row.lesson: row for row in rows}
        made = [lessons.template_row(template, self._pseudonyms, known) for template in templates]
        return rows, sorted(made, key=lambda row: row.template)

    def _trajectories(self, progress: Progress) -> int:
        vocabulary = self._found.vocabulary
        telling = Telling(
            self._wanted.texts, self._pseudonyms, self._anonymiser, self._project, vocabulary.tool, vocabulary.model,
            vocabulary.version, lambda text: vocabulary.form(command_form(text)), self._exported,
        )  # fmt: skip
        written = 0
        progress.begin("Writing", len(self._exported), "sessions")
        for key, session in loaded(self._connection, self._exported):
            document = trajectory(retold(session, telling))
            progress.advance()
            if not document["steps"]:
                self._empty += 1
                continue
            document["extra"]["outcomes"] = outcomes(session)
            name = self._pseudonyms.of("session", key)
            self._save(f"{TRAJECTORIES}/{name}.json", _pretty(document))
            written += 1
        progress.end()
        return written

    # Reports.
    def _report(self, rows: list[SessionRow], trajectories: int | None, lessons_left_out: dict[str, int]) -> Published:
        left_out: Counter[str] = Counter()
        for sort, values in self._found.vocabulary.spread.left_out.items():
            left_out["version" if sort.startswith("version") else sort] += len(values)
        return Published(
            folder="",
            sessions=len(rows),
            unreadable=tuple(self._found.unreadable),
            without_project=sum(row.project is None for row in rows),
            projects=len({row.project for row in rows} - {None}),
            calls=sum(row.calls for row in rows),
            agents=dict(sorted(Counter(row.agent for row in rows).items())),
            rows=dict(self._rows),
            trajectories=trajectories,
            empty=self._empty,
            names=self._found.names.count,
            replaced={sort: number for sort, number in sorted(self._anonymiser.counts.items()) if number},
            left_out=dict(sorted(left_out.items())),
            lessons_left_out=lessons_left_out,
            bytes=0,
            unread=self._found.unread,
        )

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "made_by": f"preheat {__version__}",
            "min_projects": self._wanted.least,
            "texts": self._wanted.texts if self._wanted.trajectories else "none",
            "files": {
                name: {"bytes": len(data), "sha256": sha256(data).hexdigest(), "rows": self._rows.get(name)}
                for name, read in _files(self._folder)
                if name not in (DATASHEET, MANIFEST) and (data := read()) is not None
            },
        }


def _facts(report: Published, wanted: Wanted) -> Facts:
    return Facts(
        version=__version__, least=wanted.least, sessions=report.sessions, unreadable=len(report.unreadable),
        without_project=report.without_project, projects=report.projects, calls=report.calls, agents=report.agents,
        rows=report.rows, trajectories=report.trajectories, empty=report.empty, texts=wanted.texts, names=report.names,
        replaced=report.replaced, left_out=report.left_out, lessons_left_out=report.lessons_left_out,
    )  # fmt: skip


def _files(folder: str) -> Iterator[File]:
    """Every file below a folder, in the order of their names, with how to read it."""
    for place, folders, names in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.relpath(path, folder).replace(os.sep, "/"), lambda path=path: _read(path)  # type: ignore[misc]


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _changed(folder: str, files: Sequence[File]) -> Iterator[str]:
    try:
        listed = msgspec.json.decode(_read(os.path.join(folder, MANIFEST)))["files"]
        digests = {str(name): each["sha256"] for name, each in listed.items()}
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        yield f"{MANIFEST}: not what an export writes"
        return
    present = dict(files)
    for name in sorted({*digests, *present} - {DATASHEET, MANIFEST}):
        if name not in present:
            yield f"{name}: missing"
        elif name not in digests:
            yield f"{name}: not in the manifest"
        elif sha256(present[name]()).hexdigest() != digests[name]:
            yield f"{name}: changed after it was written"


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
