"""Exports anonymous datasets, and checks one for leaks.

An export is complete or not there: it is written into a temporary folder, checked, and then renamed. Knows nothing of how names
are found (`dataset_survey`).
"""

import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any

import msgspec

from preheat import __version__
from preheat.agents.atif.writer import to_trajectory
from preheat.app.lab.dataset_survey import Projects, Survey, call_outcomes, load_sessions, names_to_search, survey
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons as stored_lessons
from preheat.archive.queries import list_sessions
from preheat.calls.shell import command_form
from preheat.errors import UserError
from preheat.files import make_private_folder, open_private, read_file, write_atomically
from preheat.ingest.redact import redact
from preheat.lab.dataset.anonymise import Anonymiser
from preheat.lab.dataset.datasheet import DatasetFacts, write_datasheet
from preheat.lab.dataset.leaks import (
    TRAJECTORIES,
    File,
    Leak,
    LeakSearch,
    dataset_words,
    format_texts,
    leaks_in_files,
    sample_session,
)
from preheat.lab.dataset.names import Names
from preheat.lab.dataset.pseudonyms import LEAST_SALT, Pseudonyms
from preheat.lab.dataset.rows import FORMAT, LessonRow, SessionRow, TemplateRow, dataset_schema
from preheat.lab.dataset.session_rows import PublishedNames, publish_row
from preheat.lab.dataset.trajectories import PublishRules, Texts, publish_session
from preheat.lab.dataset.vocabulary import LessonRows
from preheat.model.lesson import Lesson
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.progress import SILENT, Progress
from preheat.model.template import Template
from preheat.templates.store import TemplateStore

__all__ = ["DatasetCheck", "Datasets", "ExportReport"]

DATASHEET, MANIFEST, SCHEMA = "datasheet.md", "manifest.json", "schema.json"


LARGEST_FILE = 4 * 1024 * 1024 * 1024
"""Bytes of one file of a dataset, which Preheat wrote itself."""


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
        connection: ArchiveConnection,
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
        self._save(SCHEMA, _encode_indented(dataset_schema()))
        self._save(DATASHEET, write_datasheet(_facts(report, self._wanted)).encode())
        self._save(MANIFEST, _encode_indented(self._manifest()))
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
        write_atomically(path, data, make_folders=True)

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
            document = to_trajectory(publish_session(session, rules))
            progress.advance()
            if not document["steps"]:
                self._empty += 1
                continue
            document["extra"]["outcomes"] = call_outcomes(session)
            name = self._pseudonyms.pseudonym("session", key)
            self._save(f"{TRAJECTORIES}/{name}.json", _encode_indented(document))
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
            if os.path.exists(path) and not os.path.isfile(path):
                continue  # a pipe, a socket or a device
            yield os.path.relpath(path, folder).replace(os.sep, "/"), lambda path=path: read_bytes(path)  # type: ignore[misc]


def read_bytes(path: str) -> bytes:
    return read_file(path, LARGEST_FILE)


def _encode_indented(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


class DatasetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check of a dataset."""

    files: int
    names: int
    """The number of names from the archive that were searched for."""
    unread: int
    """Sessions of the archive that cannot be read: names that only they contain were not searched for."""
    leaks: tuple[Leak, ...]
    changed: tuple[str, ...]
    """Files that differ from the manifest, are missing, or are not in it."""


class Datasets:
    """Exports datasets from the archive in a folder, and checks them."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def export(
        self,
        folder: str,
        sessions: SessionFilter | None = None,
        *,
        templates: tuple[str, ...] | None = None,
        trajectories: bool = False,
        texts: Texts = "none",
        least: int = 3,
        salt_file: str | None = None,
        allowed: tuple[str, ...] = (),
        dry_run: bool = False,
        progress: Progress = SILENT,
    ) -> ExportReport:
        """Export a dataset of the sessions that match a filter into a new folder; with `dry_run` nothing stays on disk.

        `templates` by name, None for all; `texts` says what trajectories keep of texts. Only values that `least` or
        more projects share are exported. The salt of the pseudonyms is read from `salt_file` or stored there; else it is lost.
        `allowed` are words that are no names."""
        wanted = ExportRequest(
            sessions=sessions or SessionFilter(), templates=templates, trajectories=trajectories, texts=texts, least=least,
            salt_file=salt_file, allowed=allowed,
        )  # fmt: skip
        _check_salt_outside(folder, wanted.salt_file)
        if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
            raise UserError(f"`{folder}` is there already; name a folder that is not, or delete it")
        with closing(connect(self._folder)) as connection:
            return self._export(connection, folder, wanted, dry_run, progress)

    def check(self, folder: str, allowed: Sequence[str] = (), progress: Progress = SILENT) -> DatasetCheck:
        """Check a dataset for leaks, among them every name that the archive knows."""
        if not os.path.isfile(os.path.join(folder, MANIFEST)):
            raise UserError(
                f"`{folder}` has no `{MANIFEST}`, so it is no dataset; `preheat admin dataset export FOLDER` makes one"
            )
        names, unread = names_to_search((), allowed), 0
        if has_archive(self._folder):
            with closing(connect(self._folder)) as connection:
                surveyed = survey(connection, (), Projects(connection), 1, allowed, progress)
            names, unread = surveyed.names, surveyed.unread
        files = list(dataset_files(folder))
        leaks = _find_leaks(files, names, allowed, progress)
        changed = tuple(_changed_files(folder, files))
        return DatasetCheck(files=len(files), names=names.count, unread=unread, leaks=tuple(leaks), changed=changed)

    def _export(
        self, connection: ArchiveConnection, folder: str, wanted: ExportRequest, dry_run: bool, progress: Progress
    ) -> ExportReport:
        """Write into a temporary folder, and rename it when it is complete and has no leak."""
        chosen = {each.key: each for each in list_sessions(connection, wanted.sessions)}
        if not chosen and wanted.sessions == SessionFilter():
            raise UserError("the archive has no session yet; `preheat sync` reads those that your agents left")
        projects = Projects(connection)
        _check_enough_projects(chosen.values(), projects, wanted.least)
        templates = _chosen_templates(self._folder, wanted.templates)
        salt = load_salt(wanted.salt_file)
        surveyed = survey(connection, chosen, projects, wanted.least, wanted.allowed, progress)
        parent = os.path.dirname(os.path.abspath(folder))
        make_private_folder(parent)
        temporary = os.path.join(parent, f".{os.path.basename(os.path.abspath(folder))}.new-{os.getpid()}")
        make_private_folder(temporary)
        try:
            export = DatasetWriter(connection, temporary, wanted, salt, chosen, projects, surveyed)
            report = export.write(stored_lessons(connection), templates, progress)
            _refuse_leaks(_find_leaks(list(dataset_files(temporary)), surveyed.names, wanted.allowed, progress))
            if dry_run:
                return report
            os.replace(temporary, folder)
            return msgspec.structs.replace(report, folder=folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _check_salt_outside(folder: str, salt_file: str | None) -> None:
    if salt_file and os.path.abspath(salt_file).startswith(os.path.join(os.path.abspath(folder), "")):
        raise UserError("the salt must not lie in the dataset: whoever has both can try out names; name another file")


def load_salt(path: str | None) -> bytes:
    """A new salt, or the one in a file, which is created if it does not exist."""
    if path is None:
        return secrets.token_bytes(32)
    try:
        salt = read_file(path)
    except FileNotFoundError:
        salt = secrets.token_bytes(32)
        with open(open_private(path, os.O_WRONLY | os.O_EXCL), "wb") as stream:
            stream.write(salt)
        return salt
    except OSError as error:
        raise UserError(f"the salt in `{path}` cannot be read ({error.strerror}); name another file") from error
    if len(salt) < LEAST_SALT:
        raise UserError(
            f"`{path}` has {len(salt)} bytes, and a salt needs {LEAST_SALT}; name a file that is not there yet: it is made"
        )
    return salt


def _find_leaks(files: Sequence[File], names: Names, allowed: Sequence[str], progress: Progress) -> list[Leak]:
    """All leaks in these files."""

    def with_progress() -> Iterator[File]:
        for each in files:
            yield each
            progress.advance()

    progress.begin("Searching", len(files))
    leaks = list(
        leaks_in_files(
            with_progress(),
            LeakSearch(names, redact, tuple(allowed), dataset_words(), format_texts(_plain_trajectory())),
        )
    )
    progress.end()
    return leaks


def _plain_trajectory() -> object:
    """The trajectory of a session with every kind of event and no real text."""
    session = sample_session()
    document = to_trajectory(session)
    document["extra"]["outcomes"] = call_outcomes(session)
    return msgspec.to_builtins(document)


def _check_enough_projects(chosen: Iterable[SessionSummary], projects: Projects, least: int) -> None:
    summaries = list(chosen)
    if not summaries:
        raise UserError("no session fits these filters; `preheat sessions list` shows what there is")
    named = {projects.project_of(each.project) for each in summaries} - {""}
    if len(named) < least:
        raise UserError(
            f"these sessions come from {len(named)} project{'s' * (len(named) != 1)}, and at least {least} are needed so that"
            " nothing points to one of them; choose more sessions, or lower `--min-projects` if you know what that gives away"
        )


def _refuse_leaks(leaks: list[Leak]) -> None:
    if leaks:
        shown = "; ".join(f"{each.file}:{each.line}: {each.sort} `{each.text}`" for each in leaks[:5])
        more = f"; and {len(leaks) - 5:,} more" if len(leaks) > 5 else ""
        raise UserError(
            f"nothing was written: {len(leaks):,} places would give something away: {shown}{more}; a word that is nobody's"
            " name is let through by `--allow WORD`; anything else is a defect, please report it"
        )


def _chosen_templates(home: str, names: tuple[str, ...] | None) -> list[Template]:
    store = TemplateStore(home)
    if names is not None:
        return [store.find(name).template for name in names]
    found: list[Template] = []
    for name in store.names():
        state = store.state(name)
        if state.live is not None:  # an import that was not reviewed is not published
            found.append(store.read(state.live))
    return found


def _changed_files(folder: str, files: Sequence[File]) -> Iterator[str]:
    try:
        listed = msgspec.json.decode(read_bytes(os.path.join(folder, MANIFEST)))["files"]
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
