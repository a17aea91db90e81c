"""The same tasks at an endpoint: asked as a chat with a tool, answers in either form understood, failures say what to do."""

from pathlib import Path

import pytest

from preheat.lab.study import __main__ as command
from preheat.lab.study.errors import EndpointError
from preheat.lab.study.plan import encode_plan
from preheat.lab.study.report import load_results
from preheat.lab.study.run import Endpoint, find_command, read_run, run_endpoint
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.lab.study.test_run import small_plan


def test_an_endpoint_is_asked_for_every_cell_and_its_calls_count(tmp_path: Path) -> None:
    """A call with the very command is an exact match; JSON in the text counts as one too."""
    path = str(tmp_path / "run.jsonl")
    script = [
        Reply(calls=[Call("bash", {"command": "make run0"})]),
        Reply('```json\n{"command": "make run0"}\n```'),
        Reply("No."),
    ]
    with ModelServer(script) as server:
        assert run_endpoint(small_plan(), Endpoint(server.url, "scripted"), "plan", "protocol", path, 3) == 3
        sent = [request.body for request in server.main_requests]
    rows = read_run(path)[1]
    assert [(row["arm"], row["exact"], row["closed"]) for row in rows] == [
        ("cold", True, True), ("warm", True, True), ("placebo", False, False),
    ]  # fmt: skip
    assert all(body["temperature"] == 0 and body["tools"][0]["function"]["name"] == "bash" for body in sent)
    assert [message["role"] for message in sent[1]["messages"]] == ["system", "assistant", "tool", "user"]
    assert not any("make run0" in str(body["messages"]) for body in sent)


def test_a_run_goes_on_after_an_endpoint_failed(tmp_path: Path) -> None:
    """What was answered stays; the failure names the address and what to do."""
    path = str(tmp_path / "run.jsonl")
    with ModelServer([Reply("No."), Reply("overloaded", status=503)]) as server:
        endpoint = Endpoint(server.url, "scripted")
        with pytest.raises(EndpointError, match="start again to go on"):
            run_endpoint(small_plan(), endpoint, "plan", "protocol", path)
        assert run_endpoint(small_plan(), endpoint, "plan", "protocol", path) == 11
    assert len(read_run(path)[1]) == 12


def test_the_command_runs_a_plan_at_an_endpoint_and_reports_it(tmp_path: Path) -> None:
    """Rows without likelihoods make a report of exact matches alone."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "lab.json").write_bytes(encode_plan(small_plan()))
    with ModelServer(
        [Reply(calls=[Call("bash", {"command": f"make run{place // 3}"})]) for place in range(12)]
    ) as server:
        options = ["--endpoint", server.url, "--model-name", "org/model", "--only", "lab"]
        assert command.main(["run", str(tmp_path), *options]) == 0
    found = load_results(str(tmp_path))["org-model"]["lab"]
    assert found["exact"]["warm"]["mean"] == 1.0
    assert found["nll"] == {}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"tool_calls": [{"function": {"name": "bash", "arguments": '{"command": "ls"}'}}]}, "ls"),
        ({"content": '{"name": "bash", "arguments": {"command": "ls"}}'}, "ls"),
        ({"content": 'Sure:\n```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```'}, "ls"),
        ({"content": 'I would say {"command": "ls"} here'}, "ls"),
        ({"content": "ls"}, None),
        ({"content": None, "tool_calls": [{"function": {"arguments": "{"}}]}, None),
        ({"content": '{"command": 3}'}, None),
        ({}, None),
    ],
)
def test_a_command_is_found_in_every_form_of_answer(message: dict[str, object], expected: str | None) -> None:
    assert find_command(message) == expected
