"""Our hooks in the real Codex program with the scripted model: answers reach the model, and failures do not disturb it."""

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from preheat.agents.codex.hooks import hook_status, trust_hash, trust_key
from preheat.testing.hooks import (
    ANSWER_TEXTS,
    REFUSAL_REASON,
    REPLACED_OUTPUT,
    HookRecorder,
    Mode,
    make_answer,
    require_hooks,
)
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.codex import CodexHome, find_codex
from tests.shared import real_program

pytestmark = pytest.mark.program

TRUST = "--dangerously-bypass-hook-trust"
SCRIPT = [
    Reply("I look.", [Call("exec_command", {"cmd": "ls missing-folder"})]),
    Reply(calls=[Call("exec_command", {"cmd": "echo good"})]),
    Reply("Done."),
]


@pytest.fixture(autouse=True)
def program() -> str:
    return real_program(find_codex(), "codex")


def run_session(folder: Path, mode: Mode = "answer", *options: str) -> tuple[HookRecorder, list[Any]]:
    """The hooks, and the input of the last request to the model."""
    with ModelServer(SCRIPT) as server:
        home = CodexHome(str(folder), server.url)
        hooked = HookRecorder(str(folder / "data"), "codex", home.environment, mode)
        home.exec("Look around.", *(options or (TRUST,)))
        assert server.unused_replies == 0
        return hooked, server.main_requests[-1].body["input"]


def encode_items(items: list[Any]) -> str:
    return json.dumps(items)


def test_context_at_the_start_and_after_a_call_reaches_the_model(tmp_path: Path) -> None:
    hooked, items = run_session(tmp_path)
    assert [event.name for event in hooked.events] == [
        "session_start", "prompt", "before_tool", "after_tool", "before_tool", "after_tool", "stop", "session_end",
    ]  # fmt: skip
    for name in ("session_start", "prompt", "before_tool", "after_tool"):
        assert ANSWER_TEXTS[name] in encode_items(items)


def test_a_call_is_reported_like_in_the_rollout_with_its_exit_code(tmp_path: Path) -> None:
    """The payload itself has none: it is in the rollout by the time the hook runs."""
    hooked, _ = run_session(tmp_path)
    calls = [event for event in hooked.events if event.name == "after_tool"]
    assert [(call.call_id, call.tool, call.arguments, call.exit_code) for call in calls] == [
        ("call_1", "exec_command", {"cmd": "ls missing-folder"}, 2),
        ("call_2", "exec_command", {"cmd": "echo good"}, 0),
    ]
    assert calls[1].result == "good\n"


@pytest.mark.parametrize("mode", ["crash", "garbage", "hang"])
def test_a_broken_or_hanging_hook_does_not_disturb_the_session(tmp_path: Path, mode: Mode) -> None:
    """The session ends as scripted, even with a hook that never ends."""
    _, items = run_session(tmp_path, mode)
    assert "Process exited with code 2" in encode_items(items)
    assert "good" in encode_items(items)


def test_an_output_is_replaced_and_the_session_continues(tmp_path: Path) -> None:
    _, items = run_session(tmp_path, "replace")
    outputs = [item["output"] for item in items if item["type"] == "function_call_output"]
    assert [REPLACED_OUTPUT in output for output in outputs] == [True, True]
    assert "No such file" not in encode_items(outputs)


def test_a_call_is_refused_and_a_stop_held_once(tmp_path: Path) -> None:
    """The model gets the reason."""
    hooked, items = run_session(tmp_path, "block")
    outputs = [item["output"] for item in items if item["type"] == "function_call_output"]
    assert len(outputs) == 2
    assert all(REFUSAL_REASON in output for output in outputs)
    stops = [event for event in hooked.events if event.name == "stop"]
    assert [stop.stop_again for stop in stops] == [False, True]


def test_hooks_run_only_when_trusted_and_status_reports_it(tmp_path: Path) -> None:
    """Our hash equals the program's: with it in the configuration the hooks run."""
    with ModelServer([*SCRIPT, *SCRIPT]) as server:
        home = CodexHome(str(tmp_path), server.url)
        hooked = HookRecorder(str(tmp_path / "data"), "codex", home.environment)
        settings, path = hooked.settings, hooked.plan.path
        home.exec("Look around.")
        assert hooked.payloads == []
        assert hook_status(home.environment, "", path, settings).active == "no"
        _trust(home, path, settings)
        assert hook_status(home.environment, "", path, settings).active == "yes"
        home.exec("Look around.")
        assert len(hooked.payloads) == 8
        settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 6  # type: ignore[index]
        assert "changed" in hook_status(home.environment, "", path, settings).reason


def _trust(home: CodexHome, path: str, settings: dict[str, Any]) -> None:
    """Trust the hooks, as the person does with `/hooks`."""
    lines = []
    for event, groups in settings["hooks"].items():
        for index, group in enumerate(groups):
            found = trust_hash(event, group.get("matcher"), group["hooks"][0])
            lines.append(
                f"[hooks.state.{json.dumps(trust_key(path, event, index, 0))}]\ntrusted_hash = {json.dumps(found)}\n"
            )
    with open(os.path.join(home.codex_home, "config.toml"), "a", encoding="utf-8") as stream:
        stream.write("\n" + "\n".join(lines))


def test_every_answer_fits_the_schemas_in_the_program(tmp_path: Path) -> None:
    """Codex drops an answer with any key that it does not know; its binary has the schemas."""
    schemas = _schemas(find_codex() or "")
    hooked, _ = run_session(tmp_path)
    checked = 0
    for event in hooked.events:
        for mode in ("answer", "replace", "block"):
            answer = require_hooks("codex").write(event, make_answer(event, mode))
            if answer is not None:
                jsonschema.validate(json.loads(answer), schemas[event.host_event])
                checked += 1
    assert checked >= 12


def _schemas(program: str) -> dict[str, Any]:
    """The schemas of answers by event."""
    packages = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(program)))), "")
    binaries = [
        str(found) for found in Path(packages).rglob("codex") if found.is_file() and found.stat().st_size > 10**7
    ]
    found: dict[str, Any] = {}
    for binary in binaries:
        with open(binary, "rb") as stream:
            data = stream.read()
        for title in re.finditer(rb'"title": "([a-z-]+)\.command\.output"', data):
            begin = data.rfind(b'{\n  "$schema"', 0, title.start())
            schema, _ = json.JSONDecoder().raw_decode(data[begin : begin + 20_000].decode("utf-8", "replace"))
            found["".join(word.title() for word in title[1].decode().split("-"))] = schema
    assert {"SessionStart", "PostToolUse", "Stop"} <= set(found)
    return found
