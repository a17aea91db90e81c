"""A machine with sessions on it and an archive, for the tests of the sync."""

import os
import subprocess
import sys
from contextlib import closing
from typing import Any

from preheat.app.sessions.archive import SyncReport, open_archive, sync
from preheat.archive import address
from preheat.archive.database import ArchiveConnection
from preheat.files import make_private_folder, write_atomically
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path
from preheat.testing.builders import ClaudeTranscript


class Machine:
    """An empty home folder with Claude Code's place in it, and a folder for the archive."""

    def __init__(self, root: Any) -> None:
        self.home = os.path.join(str(root), "home")
        self.folder = os.path.join(str(root), "archive")
        self.projects = os.path.join(self.home, ".claude", "projects")
        os.makedirs(self.projects)
        self.environment = {"HOME": self.home}

    def sync(self, progress: Progress = SILENT) -> SyncReport:
        return sync(self.folder, self.environment, progress=progress)

    def connection(self) -> ArchiveConnection:
        return open_archive(self.folder)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        connection = self.connection()
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything in the archive, without numbers that depend on the order of reading."""
        found = {
            "sessions": self.rows(
                "SELECT key, version, model, project, branch, parent, relation, started_at, ended_at, starter, title, "
                "opening, events, prompts, messages, calls, errors, compactions, input_tokens, output_tokens, "
                "cache_read_tokens, cache_write_tokens FROM sessions"
            ),
            "calls": self.rows(
                "SELECT key, seq, call_id, line, response, tool, kind, summary, at, calls.ended_at, is_error, exit_code, "
                "output_size, copied FROM calls JOIN sessions ON sessions.id = session_id"
            ),
            "responses": self.rows(
                "SELECT key, response, responses.model, responses.input_tokens, responses.output_tokens, copied "
                "FROM responses JOIN sessions ON sessions.id = session_id"
            ),
            "passages": self.rows(
                "SELECT key, sum(count) FROM passages JOIN sessions ON sessions.id = session_id GROUP BY 1"
            ),
            "bytes": self.rows(
                "SELECT path, sum(length) FROM segments JOIN sources ON sources.id = source_id GROUP BY path"
            ),
        }
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    def analyses(self) -> dict[str, list[tuple[Any, ...]]]:
        """All analyses in the archive, without numbers that depend on the order of reading."""
        found = {
            "outcomes": self.rows(
                "SELECT key, outcomes.seq, message, era, tool, kind, activity, bookkeeping, status, rung, cause, "
                "outcomes.exit_code, text, confidence, repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in "
                "FROM outcomes "
                "JOIN sessions ON sessions.id = session_id JOIN purposes ON purposes.id = purpose_id "
                "LEFT JOIN signatures ON signatures.id = signature_id"
            ),
            "errors": self.rows("SELECT key, errors FROM sessions"),
            **{
                table: self.rows(f"SELECT key, {columns} FROM {table} JOIN sessions ON sessions.id = session_id")
                for table, columns in (
                    ("judgements", "judgements.version, judgements.events"),
                    ("profiles", "data"),
                    ("notes", "learner, notes.version, stamp"),
                    ("episodes", "data"),
                )
            },
        }
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    def start(self) -> "subprocess.Popen[bytes]":
        """A sync in a process of its own, as a person would start it."""
        return subprocess.Popen(
            [sys.executable, "-m", "preheat", "sync", "--quiet"],
            env={**os.environ, "HOME": self.home, "PREHEAT_HOME": self.folder, "CLAUDE_CONFIG_DIR": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def everything_on_disk(self) -> bytes:
        """The bytes of all files that Preheat keeps."""
        found = b""
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with open(os.path.join(folder, name), "rb") as stream:
                    found += stream.read()
        if address.find_server(self.folder) is not None:
            found += self._everything_on_server()
        return found

    def _everything_on_server(self) -> bytes:
        """The files of all tables and indexes, as the server has them on its disk."""
        with closing(self.connection()) as connection:
            connection.execute("CHECKPOINT")
            rows = connection.execute(
                "SELECT pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class "
                "WHERE relkind IN ('r', 'i', 't') AND relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace)"
            )
            return b"".join(row[0] for row in rows)

    def use_server(self, url: str) -> None:
        """Let a server keep the archive from now on."""
        make_private_folder(self.folder)
        write_atomically(os.path.join(self.folder, "settings.toml"), f'[archive]\naddress = "{url}"\n'.encode())

    @property
    def archive(self) -> str:
        return archive_path(self.folder)


def story(number: int, steps: int = 3) -> ClaudeTranscript:
    """A session with some calls, one of them failing."""
    transcript = ClaudeTranscript(
        session=f"{number:08x}-5d6e-4f70-8a91-b2c3d4e5f607", started=1_767_606_000.0 + 1000 * number
    )
    transcript = transcript.prompt(f"please mend the frobnicator number {number}")
    for step in range(steps):
        transcript = transcript.answer(f"step {step}").run(
            f"make step-{step}", f"output {step}\n" * 20, exit_code=step % 2
        )
    return transcript.answer("all mended")
