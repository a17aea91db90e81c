"""Makes the fixtures of Hermes: small databases that the real program wrote against the scripted model.

`make_fixtures.py` calls `make`; the machine's own paths and ids of the moment do not stay in what is kept.
"""

import os
import sqlite3
import tempfile
from collections.abc import Sequence

from preheat.model.session import Usage
from preheat.testing.script import Call, Reply
from tests.programs import hermes

HOME = "/home/person"
_FULL = Usage(input=62_000, output=20)
"""As many tokens as make a window of 64,000 too full, whatever was really said."""
_COMPACTING = "compression: {{protect_last_n: 4, target_ratio: 0.1, in_place: {}}}"

ORDINARY = (
    Reply(
        "Look around.",
        calls=[
            Call("terminal", {"command": "echo hello"}),
            Call("terminal", {"command": "ls missing-folder; exit 2"}),
        ],
        usage=Usage(input=900, output=30, cache_read=100, reasoning=10),
    ),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply(
        calls=[
            Call("read_file", {"path": "missing.txt"}),
            Call("write_file", {"path": "one.py", "content": "print('one')\n"}),
        ]
    ),
    Reply(
        calls=[
            Call("patch", {"path": "one.py", "old_string": "one", "new_string": "two"}),
            Call("search_files", {"pattern": "two", "path": "one.py"}),
        ]
    ),
    Reply("All done."),
)
COUNTING = tuple(
    Reply(
        "Going on." if number == 3 else "",
        calls=[Call("terminal", {"command": f"seq {number} {900 + number}"})],
        usage=_FULL if number in (6, 11) else Usage(input=1000, output=20),
    )
    for number in range(13)
)
DELEGATING = (
    Reply("I hand this over.", calls=[Call("delegate_task", {"goal": "Count the files", "context": "Use ls."})]),
    Reply(calls=[Call("terminal", {"command": "sleep 2; ls | wc -l"})]),
    Reply(calls=[Call("terminal", {"command": "sleep 2; ls | wc -l"})]),
    Reply("Zero."),
    Reply("Waited.", delay=2),
)


def ordinary(home: str) -> None:
    """Calls of every outcome, and then the session resumed."""
    first = _run(home, ["chat", "-q", "Do some work", "-Q"], ORDINARY)
    more = [Reply(calls=[Call("terminal", {"command": "python3 one.py"})]), Reply("It says two.")]
    _run(home, ["chat", "--resume", first.session, "-q", "Run it", "-Q"], more)


def in_place(home: str) -> None:
    """Two compactions under the same id."""
    _run(home, ["chat", "-q", "Count a lot", "-Q"], COUNTING, 64_000, _COMPACTING.format("true"))


def rotation(home: str) -> None:
    """Two compactions, each of which begins a new session."""
    _run(home, ["chat", "-q", "Count a lot", "-Q"], COUNTING, 64_000, _COMPACTING.format("false"))


def subagent(home: str) -> None:
    """A task handed over; parent and child ask the model at once, so either may get the later replies."""
    _run(home, ["chat", "-q", "Delegate the count", "-Q"], DELEGATING)


FIXTURES = (ordinary, in_place, rotation, subagent)


def make(folder: str) -> None:
    """Make every fixture, one folder with a `state.db` each."""
    with tempfile.TemporaryDirectory(prefix="fixture-") as work:
        for maker in FIXTURES:
            home = os.path.join(work, maker.__name__)
            maker(home)
            made = os.path.join(folder, maker.__name__)
            os.makedirs(made)
            keep(hermes.database(home), home, os.path.join(made, "state.db"))


def _run(
    home: str, arguments: list[str], script: Sequence[Reply], window: int = 131_072, settings: str = ""
) -> hermes.Finished:
    program = hermes.find_hermes()
    if program is None:
        raise SystemExit("no `hermes` program: run scripts/install-agents")
    return hermes.run(
        hermes.Job(program=program, home=home, arguments=arguments, script=script, window=window, settings=settings)
    )


def keep(database: str, home: str, target: str) -> None:
    """A copy with the log moved in, without search tables, the machine's paths and the long prompt."""
    source = sqlite3.connect(database)
    with source, sqlite3.connect(target) as copy:
        source.backup(copy)
    source.close()
    copy.close()
    copy = sqlite3.connect(target, isolation_level=None)
    copy.execute("PRAGMA journal_mode = DELETE")
    for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        copy.execute(f"DROP TRIGGER {name}")
    for name in ("messages_fts", "messages_fts_trigram"):
        copy.execute(f"DROP TABLE IF EXISTS {name}")
    for table, columns in (
        ("sessions", ("cwd", "system_prompt", "git_repo_root", "billing_base_url")),
        ("messages", ("content", "tool_calls", "api_content")),
        ("session_model_usage", ("billing_base_url",)),
    ):
        for column in columns:
            copy.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (home, HOME))
    copy.execute("UPDATE sessions SET system_prompt = substr(system_prompt, 1, 400)")
    copy.execute("DELETE FROM async_delegations")
    copy.execute("PRAGMA page_size = 1024")
    copy.execute("VACUUM")
    copy.close()
