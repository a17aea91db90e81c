"""The real Hermes loads what `preheat install hermes` puts there, by each way; `uninstall` leaves its home and its Python as
they were."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import preheat as preheat_package
from preheat.testing.script import Reply
from tests.agents.fake_hermes import launcher, packages_of, python_of, tree
from tests.programs import hermes
from tests.shared import real_program

pytestmark = pytest.mark.program
PREHEAT = (sys.executable, "-m", "preheat")
SOURCE = str(Path(preheat_package.__file__).parents[1])


@pytest.fixture
def program() -> str:
    return real_program(hermes.find_hermes(), "hermes")


def preheat(home: Path, program: str, *words: str) -> Any:
    """Run a command of Preheat in the person's environment, with the machine's package index."""
    path = os.pathsep.join([os.path.dirname(program), "/usr/bin", "/bin"])
    more = {
        "HERMES_HOME": str(home / ".hermes"),
        "PREHEAT_HOME": str(home / "data"),
        "PYTHONPATH": SOURCE,
        "PATH": path,
    }
    done = subprocess.run(
        [*PREHEAT, *words, "--json"], env={**os.environ, **more}, cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def session(home: Path, program: str, how: str, *options: str, settings: str = "", **more: str) -> hermes.Finished:
    """A session of one turn, with Preheat installed by a way first; no daemon is left behind."""
    surroundings = {"PREHEAT_HOME": str(home / "data"), "PYTHONPATH": SOURCE, "PATH": os.pathsep.join([os.path.dirname(program), "/usr/bin", "/bin"])}  # fmt: skip # noqa: E501
    before: Sequence[Sequence[str]] = [[*PREHEAT, "install", "hermes", "--how", how]] if how else []
    job = hermes.Job(
        program=program, home=str(home), arguments=["chat", "-q", "Say hello", "-Q", *options], script=(Reply("Hello."),),
        environment={**surroundings, **more}, before=before, after=[[*PREHEAT, "serve", "--stop"]], settings=settings,
    )  # fmt: skip
    return hermes.run(job)


def tools(finished: hermes.Finished) -> set[str]:
    """The tools that the model was offered."""
    asked = next(each for each in finished.requests if not each.auxiliary and isinstance(each.body, dict))
    return {tool["function"]["name"] for tool in asked.body.get("tools", [])}


def last_event(home: Path) -> str:
    """The last event that reached Preheat's daemon from Hermes."""
    try:
        last_seen = json.loads((home / "data" / "live" / "last-seen.json").read_text())
    except OSError:
        return ""
    return str(last_seen.get("hermes", {}).get("event", ""))


def test_the_folder_is_loaded_and_leaves_no_trace(program: str, tmp_path: Path) -> None:
    """The model is offered our tool, the daemon gets the session's events, another plugin's entry stays; all is then restored."""
    own = tmp_path / ".hermes"
    finished = session(tmp_path, program, "directory", settings="plugins: {enabled: [mine]} # mine")
    assert "warm_session" in tools(finished)
    assert last_event(tmp_path)
    assert "plugins: {enabled: [mine, preheat]} # mine" in (own / "config.yaml").read_text()
    before = (own / "config.yaml").read_text().replace("[mine, preheat]", "[mine]")
    preheat(tmp_path, program, "uninstall", "hermes")
    assert (own / "config.yaml").read_text() == before
    assert not (own / "plugins" / "preheat").exists()
    assert not list(own.glob("config.yaml.*"))
    again = session(tmp_path, program, "")
    assert "warm_session" not in tools(again)


def test_safe_mode_loads_no_plugin(program: str, tmp_path: Path) -> None:
    """As `preheat status` says: no plugin and no hook, and the session is as ever. (`--safe-mode` sets this variable, and does
    without the person's settings besides, which a scripted model needs.)"""
    finished = session(tmp_path, program, "directory", HERMES_SAFE_MODE="1")
    assert "Hello." in finished.output
    assert not [each for each in finished.requests if "warm_session" in json.dumps(each.body)]


def test_the_shell_hook_is_called_after_consent(program: str, tmp_path: Path) -> None:
    """Before consent Hermes skips it silently."""
    finished = session(tmp_path, program, "hook")
    assert "Hello." in finished.output
    assert last_event(tmp_path) == ""
    finished = session(tmp_path, program, "hook", "--accept-hooks")
    assert "Hello." in finished.output
    assert last_event(tmp_path) == "pre_llm_call"
    seen = next(each for each in preheat(tmp_path, program, "status")["agents"] if each["agent"] == "hermes")
    assert [(place["how"], place["active"]) for place in seen["places"]] == [("hook", "yes")]


def test_the_package_is_loaded_and_removed_without_a_trace(program: str, tmp_path: Path) -> None:
    """Into a Python that sees Hermes's packages: none of them is changed, what was added is recorded, Hermes lists and loads
    it, and afterwards every file and every package is what it was."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    theirs = next((Path(program).resolve().parent.parent / "lib").glob("python*")) / "site-packages"
    (packages_of(venv) / "hermes.pth").write_text(f"{theirs}\n")
    own = str(launcher(venv / "bin" / "hermes", f"#!{python_of(venv)}\nfrom hermes_cli.main import main\nmain()\n"))
    (tmp_path / ".hermes").mkdir()
    before, frozen = tree(venv, tmp_path / ".hermes"), _frozen(venv)
    shown = preheat(tmp_path, own, "install", "hermes", "--dry-run")
    assert (shown["how"], shown["why"]) == ("pip", "")
    assert tree(venv, tmp_path / ".hermes") == before
    done = preheat(tmp_path, own, "install", "hermes")
    added = set(done["added"])
    assert any(each.startswith("preheat==") for each in added)
    assert frozen <= _frozen(venv)
    assert len(_frozen(venv) - frozen) == len(added)
    finished = session(tmp_path, own, "pip")
    assert "warm_session" in tools(finished)
    assert last_event(tmp_path)
    preheat(tmp_path, own, "uninstall", "hermes")
    assert _frozen(venv) == frozen
    after = tree(venv)
    assert after == {path: found for path, found in before.items() if path.startswith(str(venv))}


def _frozen(venv: Path) -> set[str]:
    listed = subprocess.run(
        [python_of(venv), "-B", "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(listed.stdout.split())
