"""`preheat admin doctor --secrets` takes out what an earlier version stored, and no later sync brings it back or doubles it."""

import os
from pathlib import Path
from typing import Any

import pytest

from preheat.app import Preheat
from preheat.archive.packing import decompress
from preheat.archive.raw import verify
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.machine import Machine

pytestmark = pytest.mark.usefixtures("each_database")

KEY = "sk-" + "ant-api03-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" * 2 + "-AA"
PASSWORD = "qT7" + "vRb2Lx9Wz"


def transcript() -> ClaudeTranscript:
    return (
        ClaudeTranscript(session="0a1b2c3d-0000-4000-8000-000000000001", started=1_767_606_000.0)
        .prompt(f"use {KEY} please")
        .run(f"export ANTHROPIC_API_KEY={KEY}", f"set to {KEY}")
        .run(f"mysql -u root -p{PASSWORD} shop", "ok")
        .answer(f"done: {KEY}, and {PASSWORD}")
    )


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: Any) -> Machine:
    """A machine whose archive was written by a version without any rule."""
    found = Machine(tmp_path)
    transcript().write(found.projects)
    with monkeypatch.context() as earlier:
        earlier.setattr("preheat.ingest.source_rows.redact", lambda block: (block, {}))
        found.sync()
    spool = Path(found.folder, "live", "spool")
    spool.mkdir(parents=True)
    (spool / "00000000000000000001-1.event").write_bytes(b'claude_code 1.0\n{"prompt": "%s"}' % KEY.encode())
    return found


def everything(machine: Machine) -> bytes:
    """All bytes in Preheat's folder, packed ones unpacked as well."""
    texts = []
    for at, _, names in os.walk(machine.folder):
        texts += [Path(at, name).read_bytes() for name in names]
    texts += [decompress(row[0]) for row in machine.rows("SELECT data FROM packs UNION ALL SELECT data FROM passages")]
    return b"\n".join(texts)


def test_secrets_that_are_stored_are_gone_for_good(machine: Machine) -> None:
    assert KEY.encode() in everything(machine)
    found = Preheat(machine.folder).health.remove_secrets()
    assert found.removed
    assert found.kinds["anthropic-key"] >= 4
    assert list(found.sessions) == ["claude_code:0a1b2c3d-0000-4000-8000-000000000001"]
    assert KEY not in repr(found)
    left = everything(machine)
    assert KEY.encode() not in left
    assert PASSWORD.encode() not in left
    assert PASSWORD.lower().encode() not in left  # the words of the search index
    connection = machine.connection()
    assert list(verify(connection)) == []
    assert connection.find_damage() == []
    connection.close()
    again = Preheat(machine.folder).health.remove_secrets()
    assert (again.sessions, again.elsewhere) == ({}, {})


def test_the_next_sync_brings_nothing_back_and_doubles_nothing(machine: Machine) -> None:
    before = machine.rows("SELECT key, events, calls FROM sessions")
    Preheat(machine.folder).health.remove_secrets()
    machine.sync()
    transcript().prompt("and then?").write(machine.projects)
    machine.sync()
    assert [row[0] for row in machine.rows("SELECT key FROM sessions")] == [row[0] for row in before]
    assert KEY.encode() not in everything(machine)
    assert machine.rows("SELECT calls FROM sessions") == [(before[0][2],)]


def test_a_dry_run_changes_nothing(machine: Machine) -> None:
    found = Preheat(machine.folder).health.remove_secrets(keep=True)
    assert not found.removed
    assert found.kinds
    assert KEY.encode() in everything(machine)
