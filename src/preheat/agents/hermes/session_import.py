"""Puts a context as a session into Hermes's own store, to be resumed: through Hermes's own code, never by writing its files.

The store is checked first, read-only: opening a damaged one for writing would make Hermes repair it, and the tables of a newer
release are unknown. Knows nothing of how a context is chosen or worded.
"""

import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from preheat.agents.databases import columns_of, first_row, open_read_only, rows
from preheat.agents.hermes import DATABASE, import_script
from preheat.agents.hermes.program import Program, find_hermes, search_places
from preheat.agents.interpreters import clean_environment
from preheat.errors import SourceUnreadable, UserError
from preheat.model.context import RenderedContext, StartedSession

SINCE = (0, 19)
"""The first release that imports sessions."""
_TIMEOUT = 120.0
_TRIES = 3
_ALTERNATIVES = "what it can: `--format hermes-prefill`, or the plugin (`preheat install hermes`)"
_MESSAGES = {
    "locked": "another program is writing to `{store}`; try again in a moment",
    "full": "`{store}` could not be written ({why}): is the disk full?",
    "unwritable": "`{store}` cannot be written: no permission, or a read-only disk ({why})",
    "damaged": "`{store}` is damaged ({why}); Hermes repairs what it can when it starts",
    "newer": "`{store}` was made by a newer Hermes than the one at `{command}` (schema {why}); update that one",
    "broken": "the Hermes at `{command}` cannot be used: {why}",
    "refused": "Hermes {version} did not take the session: {why}",
    "taken": "Hermes had a session by every id that was tried; try again",
    "failed": "Hermes {version} failed: {why}",
}


def start_session(rendered: RenderedContext, folder: str, environment: Mapping[str, str]) -> StartedSession:
    """Put a session with these messages into Hermes's store. Raises UserError, with the store as it was."""
    program = find_hermes(environment)
    if program is None:
        places = ", ".join(search_places(environment))
        raise UserError(f"Hermes was not found; looked for {places}. `--print` prints the session instead")
    if program.release < SINCE:
        raise _too_old_error(program)
    if not os.path.isdir(program.home):
        raise UserError(f"Hermes has no folder `{program.home}` yet; start it once, or set HERMES_HOME")
    store = os.path.join(program.home, DATABASE)
    schema = _check_store(store)
    for _ in range(_TRIES):
        session = _make_session(rendered, folder, time.time())
        kind, why = _import_session(program, environment, {"store": store, "schema": schema, "session": session})
        if not kind:
            _verify(store, session)
            return _describe(program, environment, store, session)
        if kind != "taken":
            break
    if kind == "old":
        raise _too_old_error(program)
    values = {
        "store": store,
        "why": " ".join(why.split()),
        "version": program.version,
        "command": program.command or program.interpreter,
    }
    raise UserError(_MESSAGES.get(kind, _MESSAGES["failed"]).format(**values))


def _too_old_error(program: Program) -> UserError:
    needed = ".".join(map(str, SINCE))
    return UserError(f"Hermes {program.version} takes no sessions in (that came with {needed}); {_ALTERNATIVES}")


def _describe(program: Program, environment: Mapping[str, str], store: str, session: dict[str, Any]) -> StartedSession:
    words: tuple[str, ...] = (program.command,) if program.command else (program.interpreter, "-m", "hermes_cli.main")
    if program.command and shutil.which("hermes", path=environment.get("PATH", "")) == program.command:
        words = ("hermes",)
    return StartedSession(
        session=session["id"],
        title=session["title"],
        store=store,
        version=program.version,
        messages=len(session["messages"]),
        resume=(*words, "chat", "--resume", session["id"]),
        undo=(*words, "sessions", "delete", session["id"]),
    )


def _make_session(rendered: RenderedContext, folder: str, now: float) -> dict[str, Any]:
    """The document with an id in Hermes's form, and a title that no other session can have."""
    own = secrets.token_hex(3)
    session = {
        **rendered.document,
        "id": f"{time.strftime('%Y%m%d_%H%M%S', time.localtime(now))}_{own}",
        "title": f"{rendered.document['title']} ({own})",
        "started_at": now,
    }
    return {**session, "cwd": os.path.abspath(folder)} if folder else session


def _check_store(store: str) -> int:
    """The version of the store's tables, 0 if it has none yet. Raises UserError if it is not safe to write to."""
    if not os.path.lexists(store):
        return 0
    if not os.path.isfile(store):
        raise UserError(f"`{store}` is no file; Hermes keeps its sessions there")
    if not os.path.getsize(store):
        return 0
    try:
        with open_read_only(store) as database:
            report = [row[0] for row in rows(database, "PRAGMA quick_check(1)")]
            if report != ["ok"]:
                raise SourceUnreadable(f"it is damaged ({report[0] if report else 'nothing said'})")
            if "version" not in columns_of(database, ["schema_version"])["schema_version"]:
                raise SourceUnreadable("it is no Hermes database that Preheat knows")
            version = first_row(database, "SELECT MAX(version) AS version FROM schema_version")
    except SourceUnreadable as error:
        why = " ".join(str(error).split())
        raise UserError(f"`{store}` was left alone: {why}. `--print` prints the session instead") from error
    number = version["version"] if version else 0
    return number if isinstance(number, int) else 0


def _import_session(program: Program, environment: Mapping[str, str], request: dict[str, Any]) -> tuple[str, str]:
    """Run Hermes's import: the kind of failure and the reason, both empty if the session was stored."""
    own = {**clean_environment(environment), "HERMES_HOME": program.home}
    try:
        finished = subprocess.run(
            [program.interpreter, "-B", str(Path(import_script.__file__).absolute())],
            input=json.dumps(request).encode(), capture_output=True, env=own, cwd=program.home, timeout=_TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "failed", f"it did not answer within {_TIMEOUT:g} seconds"
    except OSError as error:
        return "broken", error.strerror or str(error)
    for line in finished.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith(import_script.MARK):
            answer = json.loads(line[len(import_script.MARK) :])
            return str(answer.get("kind", "failed")), str(answer.get("why", ""))
    last = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return "failed", last[-1][:300] if last else f"it ended with {finished.returncode} and said nothing"


def _verify(store: str, session: dict[str, Any]) -> None:
    """Check that all messages are in the store now. Raises UserError."""
    try:
        with open_read_only(store) as database:
            query = "SELECT COUNT(*) AS number FROM messages WHERE session_id = ?"
            stored = first_row(database, query, session["id"]) or {"number": 0}
    except SourceUnreadable as error:
        raise UserError(f"Hermes took the session `{session['id']}`, but it cannot be read back: {error}") from error
    if stored["number"] != len(session["messages"]):
        raise UserError(
            f"Hermes took the session `{session['id']}`, but with {stored['number']} of {len(session['messages'])} messages;"
            f" `hermes sessions delete {session['id']}` takes it away"
        )
