"""Writes sessions in formats that other programs read: to a stream, into a file, into a folder.

Knows no agent's own format (`agents` does).
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec

from preheat.agents import places_of
from preheat.agents.atif.writer import to_trajectory
from preheat.agents.openai_chat import to_conversation
from preheat.app.sessions.archive import Sessions
from preheat.errors import UserError
from preheat.files import make_private_folder, stream_atomically
from preheat.ingest.redact import redact
from preheat.model.listing import EXPORT_SUFFIXES, ExportedFile, ExportForm, ExportResult, SessionFilter
from preheat.model.progress import SILENT, Progress
from preheat.model.session import Session, number_of_id
from preheat.reports import render_markdown, render_session_page


class Exports:
    """Writes sessions of an archive to streams and files."""

    def __init__(self, folder: str) -> None:
        self._sessions = Sessions(folder)

    def write(self, name: str, form: ExportForm, stream: BinaryIO) -> None:
        """Write one session to a stream. Raises UserError if the format cannot hold it."""
        if form == "raw":
            self._sessions.write_source(name, stream.write)
            return
        if form in ("markdown", "html"):
            stream.write(self._make_document(name, form))
            return
        session = self._sessions.load(name)
        if form == "jsonl":
            for line in json_lines(session):
                stream.write(line + b"\n")
            return
        document, required = _document(session, form)
        if not document[required]:
            key = f"{session.agent}:{session.id}"
            raise UserError(f"`{key}` has no message, and this form needs one; `--format jsonl` takes it")
        stream.write(json_text(document) + b"\n")

    def _make_document(self, name: str, form: ExportForm) -> bytes:
        """A session to read or to share: without secrets by today's rules, and without the path of the home folder."""
        transcript = self._sessions.transcript(name)
        render = render_markdown if form == "markdown" else render_session_page
        text = render(transcript, places_of(transcript.session.agent).title)
        home = os.path.expanduser("~")
        if len(home) > 1:
            text = text.replace(f"{home}{os.sep}", f"~{os.sep}").replace(home, "~")
        return redact(text.encode("utf-8", "replace"))[0]

    def save(self, name: str, form: ExportForm, path: str, force: bool = False) -> ExportedFile:
        """Write one session into a file, or into a folder under a name of its own."""
        key = self._sessions.find(name).key
        if os.path.isdir(path):
            path = os.path.join(path, file_name(key, form))
        save_file(path, force, lambda stream: self.write(key, form, stream))
        return ExportedFile(key, path, os.path.getsize(path))

    def save_document(self, path: str, document: bytes, force: bool = False) -> None:
        """Write a document that was made of a session into a file."""
        save_file(path, force, lambda stream: stream.write(document))

    def save_all(
        self, chosen: SessionFilter, form: ExportForm, folder: str, force: bool = False, progress: Progress = SILENT
    ) -> ExportResult:
        """Write all sessions that match a filter into a folder; those that cannot be written are left out."""
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise UserError(f"`{folder}` is a file; give -o a folder")
        make_private_folder(folder)
        exported = ExportResult([], [])
        summaries = self._sessions.sessions(chosen)
        progress.begin("Exporting", len(summaries))
        try:
            for summary in summaries:
                try:
                    exported.files.append(self.save(summary.key, form, folder, force))
                except UserError as error:
                    exported.left_out.append(str(error))
                progress.advance(1, f"{len(exported.files):,} written")
        finally:
            progress.end()
        return exported


def file_name(key: str, form: ExportForm) -> str:
    """A file name for a session that every file system accepts; no two sessions share one."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in key)
    if len(plain) > 150:
        plain = f"{plain[:120]}-{number_of_id(key) & 0xFFFFFFFFFFFFFFFF:016x}"
    return f"{plain}{EXPORT_SUFFIXES[form]}"


def json_lines(session: Session) -> Iterator[bytes]:
    """A session as JSON lines without line ends: first its fields, with the type `session`, then one event a line."""
    heading = {
        "type": "session",
        **{name: getattr(session, name) for name in session.__struct_fields__ if name != "events"},
    }
    yield msgspec.json.encode(heading)
    for event in session.events:
        yield msgspec.json.encode(event)


def _document(session: Session, form: ExportForm) -> tuple[dict[str, Any], str]:
    """The session as one JSON document, and the member of it that must not be empty."""
    if form == "openai":
        return to_conversation(session), "messages"
    return to_trajectory(session, lambda child: file_name(f"{session.agent}:{child}", form)), "steps"


def json_text(value: Any) -> bytes:
    """A JSON document with indentation; file names that are no valid text are escaped."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError:
        return json.dumps(value, indent=2).encode()


def save_file(path: str, force: bool, write: Callable[[BinaryIO], object]) -> None:
    """Write a file whole or not at all. Raises UserError if it exists, unless forced."""
    if os.path.exists(path) and not force:
        raise UserError(f"`{path}` is there already; `--force` overwrites it")
    stream_atomically(path, write, like=path)
