"""Writes a dataset that may be published, and looks through one for leaks.

Whole or not at all: everything is written into a folder beside, searched, and only then given its name.
"""

import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256

import msgspec

from preheat.agents.atif.writer import trajectory
from preheat.app.lab.dataset_files import DATASHEET, MANIFEST, Export, Published, Wanted, files_in, read
from preheat.app.lab.dataset_survey import Projects, known, outcomes, survey
from preheat.app.sessions.archive import has_archive, opened
from preheat.archive.lessons import lessons as stored_lessons
from preheat.archive.queries import sessions
from preheat.errors import UserError
from preheat.ingest.redact import redact
from preheat.lab.dataset.leaks import File, Leak, Look, in_files
from preheat.lab.dataset.names import Names
from preheat.lab.dataset.own_words import own_texts, own_words, session_with_everything
from preheat.lab.dataset.pseudonyms import LEAST_SALT
from preheat.lab.dataset.trajectories import Texts
from preheat.model.listing import Filter, Summary
from preheat.model.progress import SILENT, Progress
from preheat.model.template import Template
from preheat.templates.store import Store

__all__ = ["Checked", "Datasets", "Published"]


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
        self,
        folder: str,
        sessions: Filter | None = None,
        *,
        templates: tuple[str, ...] | None = None,
        trajectories: bool = False,
        texts: Texts = "none",
        least: int = 3,
        salt_file: str | None = None,
        allowed: tuple[str, ...] = (),
        dry_run: bool = False,
        progress: Progress = SILENT,
    ) -> Published:
        """Write a dataset of the sessions that fit into a folder that is not there yet; with `dry_run` into none.

        `templates` by name, None for all; `texts` is what trajectories keep. Only what `least` projects have is told. The salt
        of the pseudonyms is in `salt_file`, or is put there; without one nobody keeps it. `allowed` are words that a person
        says are no names."""
        wanted = Wanted(
            sessions=sessions or Filter(), templates=templates, trajectories=trajectories, texts=texts, least=least,
            salt_file=salt_file, allowed=allowed,
        )  # fmt: skip
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
        files = list(files_in(folder))
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
            export = Export(connection, beside, wanted, salt, chosen, projects, found)
            report = export.write(stored_lessons(connection), templates, progress)
            _refuse(_leaks(list(files_in(beside)), found.names, wanted.allowed, progress))
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
    found = list(in_files(shown(), Look(names, redact, tuple(allowed), own_words(), own_texts(_trajectory()))))
    progress.end()
    return found


def _trajectory() -> object:
    """Of a session that has everything, so that nothing in it is anybody's."""
    session = session_with_everything()
    document = trajectory(session)
    document["extra"]["outcomes"] = outcomes(session)
    return msgspec.to_builtins(document)


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


def _changed(folder: str, files: Sequence[File]) -> Iterator[str]:
    try:
        listed = msgspec.json.decode(read(os.path.join(folder, MANIFEST)))["files"]
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
