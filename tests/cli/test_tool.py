"""`preheat admin tool`: the tools for agents without MCP, and for plugins."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.cli import main
from preheat.tools import TOOLS
from tests.ingest.machine import Machine
from tests.tools.conftest import make_machine
from tests.waiting import HUNG

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src"))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Four sessions of a project in which the bare command fails and the project's own works, learned from."""
    return make_machine(tmp_path_factory.mktemp("taught"))


def spawn(machine: Machine, *words: str, text: str | None = None, cwd: str | None = None) -> Any:
    """The real command."""
    return subprocess.run(
        [sys.executable, "-m", "preheat", "tool", *words],
        input=text if text is not None else "",
        capture_output=True,
        text=True,
        timeout=HUNG,
        cwd=cwd,
        env={**os.environ, "PREHEAT_HOME": machine.folder, "PYTHONPATH": SOURCE},
    )


def test_the_tools_are_listed_with_a_line_each(taught: Machine) -> None:
    listed = spawn(taught)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [tool.name for tool in TOOLS]
    whole = json.loads(spawn(taught, "--json").stdout)
    assert [each["name"] for each in whole] == [tool.name for tool in TOOLS]
    assert all(each["input_schema"]["type"] == "object" and each["description"] for each in whole)
    assert [each["name"] for each in whole if not each["reads_only"]] == ["warm_session"]


def test_arguments_come_after_the_name_or_on_standard_input(taught: Machine) -> None:
    question = '{"words": "pytest", "project": "shop"}'
    inline, piped, dash = (
        spawn(taught, "lessons", question),
        spawn(taught, "lessons", text=question),
        spawn(taught, "lessons", "-", text=question),
    )
    assert inline.returncode == 0
    assert inline.stderr == ""
    assert json.loads(inline.stdout)["found"] >= 1
    assert inline.stdout == piped.stdout == dash.stdout


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("lessons", "{"), "the arguments are not JSON"),
        (("lessons", "[]"), "must be one JSON object"),
        (("provision",), "`task` is missing"),
        (("provisoin", "{}"), "there is no tool `provisoin`"),
        (("lessons", '{"project": "atlantis"}'), "no project `atlantis` is known"),
    ],
)
def test_a_failure_is_an_answer_with_exit_code_1(taught: Machine, words: tuple[str, ...], error: str) -> None:
    done = spawn(taught, *words)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["success"] is False
    assert error in answer["error"]
    assert answer["next"]


def test_the_project_is_the_folder_that_it_is_called_in(taught: Machine, tmp_path: Path) -> None:
    """Or the one that is named; a missing folder is refused."""
    assert "hold anywhere" in json.loads(spawn(taught, "lessons", cwd=str(tmp_path)).stdout)["project"]
    assert "hold anywhere" in json.loads(spawn(taught, "lessons", "--project", str(tmp_path)).stdout)["project"]
    refused = spawn(taught, "lessons", "--project", str(tmp_path / "none"))
    assert refused.returncode == 2
    assert "is not a folder" in refused.stderr


def test_an_open_empty_pipe_is_not_waited_for(taught: Machine) -> None:
    """Agents' shells give such pipes."""
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "preheat", "tool", "profile"],
            stdin=reading,
            capture_output=True,
            timeout=HUNG,
            env={**os.environ, "PREHEAT_HOME": taught.folder, "PYTHONPATH": SOURCE},
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert json.loads(done.stdout)["success"] is True


def test_a_dash_waits_for_arguments(taught: Machine) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "preheat", "tool", "lessons", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PREHEAT_HOME": taught.folder, "PYTHONPATH": SOURCE},
    )
    time.sleep(4)
    out, _ = process.communicate(b'{"words": "pytest", "project": "shop"}', timeout=HUNG)
    assert json.loads(out)["found"] >= 1


def test_without_an_archive_the_answer_advises_to_sync(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "none"))
    assert main(["tool", "mistakes", "{}"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["next"] == "run `preheat sync`, then `preheat lessons learn`, and ask again"
    assert not os.path.exists(tmp_path / "none")
