"""What the hook client stores while no daemon answers has no secret in it, whatever kind and wherever in the event."""

import json
import os
import random
from pathlib import Path

import pytest

from benchmarks.secret_kinds import KINDS
from tests.daemon.builders import install_client, no_start, run_client, spooled_files

PLACES = ("prompt", "tool_input", "tool_response", "error", "message", "nested", "file_path")


def event(secret: str, place: str) -> bytes:
    """A hook event with a secret in a place."""
    event = {"session_id": "s1", "hook_event_name": "PostToolUse", "cwd": "/work/app", "tool_name": "Bash"}
    values: dict[str, object] = {
        "prompt": f"use {secret}",
        "tool_input": {"command": f"curl -H 'Authorization: Bearer {secret}' x", "description": secret},
        "tool_response": {"stdout": secret, "lines": [secret]},
        "nested": {secret: {"value": [secret]}},
        "file_path": f"/work/{secret}/x",
    }
    return json.dumps({**event, place: values.get(place, secret)}).encode()


@pytest.fixture
def folder(tmp_path: Path, each_client: str) -> str:
    return str(tmp_path / "preheat")


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_of_any_kind_stands_in_the_spool(folder: str, place: str) -> None:
    client = install_client(folder, no_start())
    chance = random.Random(5)
    chosen = chance.sample([kind for kind in KINDS if "{u}" not in kind.form], 12)  # an UUID in a path is an identifier
    secrets = [kind.make(chance) for kind in chosen]
    for secret in secrets:
        assert run_client(client, event(secret, place)) == b""
    assert len(spooled_files(folder)) == len(secrets)
    stored = b"".join(
        Path(at, name).read_bytes() for at, _, names in os.walk(folder) for name in names if name != "hook.py"
    )
    assert [secret for secret in secrets if secret.encode() in stored] == []
    assert b'"session_id": "s1"' in stored
    assert b'"cwd": "/work/app"' in stored


def test_what_is_no_text_stays_in_the_spool(folder: str) -> None:
    client = install_client(folder, no_start())
    payload = {"session_id": "s1", "tool_input": {"file_path": "/work/src/AbstractBeanFactory2.py"}, "exit_code": 3}
    run_client(client, json.dumps(payload).encode())
    (name,) = spooled_files(folder)
    stored = Path(folder, "live", "spool", name).read_bytes().partition(b"\n")[2]
    assert json.loads(stored) == payload
