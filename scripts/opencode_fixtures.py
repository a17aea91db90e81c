"""Makes the fixtures of OpenCode: small databases that the real program wrote against the scripted model, and an export.

`make_fixtures.py` calls `make`. The machine's own paths do not stay in what is kept; ids and times do. The tree of JSON files
that versions before 1.2 kept is made out of a database: the objects are the same.
"""

import json
import os
import sqlite3
import tempfile
from collections.abc import Sequence

from preheat.model.session import Usage
from preheat.testing.script import Call, Reply
from tests.programs import opencode

HOME = "/home/person"
_SIDE_TEXT = "Work in a small folder"
"""The title of a session, and the summary of a compaction."""
_KEPT = ("project", "session", "message", "part", "todo", "session_message")
_FULL = Usage(input=195_000, output=20)
"""As many tokens as make a window of 200,000 too full, whatever was really said."""

ORDINARY = (
    Reply(
        "Look around.",
        calls=[
            Call("bash", {"command": "ls missing-folder; exit 2", "description": "List a folder"}),
            Call("read", {"filePath": "missing.txt"}),
        ],
        reasoning="It may not be there.",
        usage=Usage(input=900, output=30, cache_read=100, reasoning=10),
    ),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply(
        calls=[
            Call("bash", {"command": "echo hello", "description": "Say hello"}),
            Call("write", {"filePath": "one.py", "content": "print('one')\n"}),
        ]
    ),
    Reply(
        calls=[
            Call("bash", {"command": "sleep 5", "description": "Wait", "timeout": 200}),
            Call("bash", "{"),
        ]
    ),
    Reply("All done."),
)
RESUMED = (Reply(calls=[Call("bash", {"command": "python3 one.py", "description": "Run it"})]), Reply("It says one."))
_PLAN = [{"content": "Say hello again", "status": "pending", "priority": "high"}]
FORKED = (Reply(calls=[Call("todowrite", {"todos": _PLAN})]), Reply("Planned."))
COMPACTED = (
    Reply(calls=[Call("bash", {"command": "seq 3", "description": "Count"})], usage=_FULL),
    Reply(calls=[Call("bash", {"command": "seq 4", "description": "Count on"})]),
    Reply("Counted."),
)
DELEGATING = (
    Reply(
        "I hand this over.",
        calls=[
            Call(
                "task",
                {"description": "Count files", "prompt": "Count the files here.", "subagent_type": "general"},
            )
        ],
    ),
    Reply(calls=[Call("bash", {"command": "ls | wc -l", "description": "Count"})]),
    Reply("None."),
    Reply("There are no files."),
)


def ordinary(home: str) -> None:
    """Calls of every outcome, and then the session resumed."""
    _run(home, ["run", "Do some work"], ORDINARY)
    _run(home, ["run", "--continue", "Run it"], RESUMED)


def forked(home: str) -> None:
    """A session, and a second one that begins with copies of its messages."""
    _run(home, ["run", "Say hello"], [Reply("So.", [Call("bash", {"command": "echo hello"})]), Reply("Hello.")])
    _run(home, ["run", "--continue", "--fork", "Make a plan"], FORKED)


def compacted(home: str) -> None:
    """A session that grew too long for its window."""
    _run(home, ["run", "Count a lot"], COMPACTED)


def subagent(home: str) -> None:
    """A task handed over."""
    _run(home, ["run", "How many files are there?"], DELEGATING)


FIXTURES = (ordinary, forked, compacted, subagent)


def make(folder: str) -> None:
    """Make every fixture, one folder with an `opencode.db` each; the first one also as an export and as a tree."""
    for maker in FIXTURES:
        with tempfile.TemporaryDirectory(prefix="fixture-") as home:
            maker(home)
            made = os.path.join(folder, maker.__name__)
            os.makedirs(made)
            keep(opencode.database(home), home, os.path.join(made, "opencode.db"))
            if maker is ordinary:
                _export(home, folder)
    plant(os.path.join(folder, "ordinary", "opencode.db"), os.path.join(folder, "tree", "storage"))


def _run(home: str, arguments: list[str], script: Sequence[Reply] = ()) -> opencode.Finished:
    program = opencode.find_opencode()
    if program is None:
        raise SystemExit("no `opencode` program: run `scripts/install-agents opencode`")
    return opencode.run(
        opencode.Job(program=program, home=home, arguments=arguments, script=script, side_text=_SIDE_TEXT)
    )


def _export(home: str, folder: str) -> None:
    with sqlite3.connect(opencode.database(home)) as database:
        (session,) = database.execute("SELECT id FROM session").fetchone()
    database.close()
    exported = _run(home, ["export", session]).output
    with open(os.path.join(folder, "export.json"), "w", encoding="utf-8") as file:
        file.write(_scrubbed(exported, home))


def _scrubbed(text: str, home: str) -> str:
    return text.replace(home, HOME).replace(home.lstrip("/"), HOME.lstrip("/"))


def keep(database: str, home: str, target: str) -> None:
    """A copy with the log moved in, without the machine's paths and what no session needs."""
    source = sqlite3.connect(database)
    copy = sqlite3.connect(target, isolation_level=None)
    source.backup(copy)
    source.close()
    copy.create_function("scrubbed", 1, lambda value: _scrubbed(value, home) if isinstance(value, str) else value)
    copy.execute("PRAGMA journal_mode = DELETE")
    copy.execute("PRAGMA foreign_keys = OFF")
    tables = [name for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
    for name in tables:
        if name not in _KEPT:
            copy.execute(f"DROP TABLE {name}")
            continue
        for column in copy.execute(f"PRAGMA table_info({name})").fetchall():
            copy.execute(f"UPDATE {name} SET {column[1]} = scrubbed({column[1]})")
    copy.execute("PRAGMA page_size = 1024")
    copy.execute("VACUUM")
    copy.close()


def plant(database: str, storage: str) -> None:
    """The sessions of a database as the tree of files that older versions kept."""
    source = sqlite3.connect(database)
    source.row_factory = sqlite3.Row
    for row in source.execute("SELECT * FROM session"):
        time = {"created": row["time_created"], "updated": row["time_updated"]}
        info = {name: row[name] for name in ("id", "version", "directory", "title")}
        _write({**info, "projectID": row["project_id"], "time": time}, storage, "session", row["project_id"], row["id"])
    for row in source.execute("SELECT * FROM message"):
        value = {"id": row["id"], "sessionID": row["session_id"], **json.loads(row["data"])}
        _write(value, storage, "message", row["session_id"], row["id"])
    for row in source.execute("SELECT * FROM part"):
        ids = {"id": row["id"], "messageID": row["message_id"], "sessionID": row["session_id"]}
        _write({**ids, **json.loads(row["data"])}, storage, "part", row["message_id"], row["id"])
    source.close()


def _write(value: object, *folders: str) -> None:
    path = os.path.join(*folders) + ".json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2, ensure_ascii=False)
