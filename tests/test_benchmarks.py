"""Which sessions the benchmarks use, by default and from a named folder."""

import importlib
import inspect
import json
import os
import shutil
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES
from benchmarks.loops import kappa
from benchmarks.rating import collect
from benchmarks.real import project_folders, real_sessions, sources
from tests.shared import FIXTURES

ON_REAL_SESSIONS = (
    "corpus",
    "outcomes",
    "judging",
    "compression",
    "foresight",
    "forks",
    "learning",
    "facts",
    "orientation",
    "loops",
    "signals",
    "whole",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_on_real_sessions_takes_a_folder(name: str) -> None:
    parameters = inspect.signature(importlib.import_module(f"benchmarks.{name}").run).parameters
    assert ("data" in parameters) == (name in ON_REAL_SESSIONS)


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Two folders of sessions, and what is none."""
    for name in ("claude_code", "hermes"):
        shutil.copytree(os.path.join(FIXTURES, name), tmp_path / name)
    (tmp_path / "LICENSES").mkdir()
    (tmp_path / "labels").mkdir()
    (tmp_path / "SOURCES.md").write_text("who they are of")
    return str(tmp_path)


def test_every_folder_with_sessions_is_a_project(data: str) -> None:
    """Every folder in it is one, also for whoever leaves the projects out where there is something else."""
    assert [(each.name, each.is_project) for each in sources(data)] == [("claude_code", True), ("hermes", True)]
    everything = [(each.source, each.session.id) for each in real_sessions(data=data)]
    assert {source for source, _ in everything} == {"projects: claude_code", "projects: hermes"}
    assert [(each.source, each.session.id) for each in real_sessions(False, data)] == everything


def test_data_may_be_laid_out_as_the_shared_folder(data: str, tmp_path: Path) -> None:
    """A corpus beside the projects can be taken alone."""
    for part, name in (("corpus", "hermes"), ("corpus-projects", "claude_code")):
        (tmp_path / part).mkdir()
        shutil.move(tmp_path / name, tmp_path / part / name)
    assert [(each.name, each.is_project) for each in sources(data)] == [("hermes", False), ("claude_code", True)]
    assert {each.source for each in real_sessions(False, data)} == {"hermes"}
    assert project_folders(str(tmp_path / "work"), data) == [each.path for each in sources(data)]


def test_a_folder_without_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="there are no sessions in"):
        sources(str(tmp_path))


def test_kappa_is_agreement_beyond_chance() -> None:
    assert kappa([(True, True), (False, False)]) == 1
    assert kappa([(True, True), (True, False), (False, True), (False, False)]) == 0
    assert (
        round(kappa([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15), 2) == 0.4
    )


def test_the_answers_of_two_raters_become_labels_by_reference(tmp_path: Path) -> None:
    item = {"id": "1-001", "source": "s", "session": "a:b", "first": 3, "last": 9, "stratum": "rule", "chance": 0.5}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    (tmp_path / "1.json").write_text('[{"id": "1-001", "loop": true, "from": 5, "sure": true, "why": "words"}]')
    (tmp_path / "2.json").write_text('[{"id": "1-001", "loop": false, "from": null, "sure": false}]')
    (label,) = collect(str(tmp_path / "items.jsonl"), str(tmp_path / "1.json"), str(tmp_path / "2.json"))
    assert label.pop("set") == "1"
    assert (label.pop("rater_1"), label.pop("rater_2")) == (True, False)
    assert label == {name: value for name, value in item.items() if name != "id"}
    (tmp_path / "2.json").write_text("[]")
    with pytest.raises(SystemExit, match="rater 2"):
        collect(str(tmp_path / "items.jsonl"), str(tmp_path / "1.json"), str(tmp_path / "2.json"))
