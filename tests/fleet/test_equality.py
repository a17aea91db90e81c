"""A fleet's results are one machine's, byte for byte, whatever the batches, their order, the runs and the storage."""

from pathlib import Path

import pytest

from benchmarks.one_machine import Everything, differences, learn_here, load_fleet
from tests.fleet.builders import Here, analyse, copy_sessions, files_of, serve_objects, store_variables

RESULTS = ("tables", "lessons", "templates")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sessions(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def here(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Everything:
    folder = tmp_path_factory.mktemp("home")
    folder.chmod(0o700)
    return learn_here(str(source), str(folder))


@pytest.fixture(scope="module")
def at_once(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    destination = tmp_path_factory.mktemp("fleet") / "out"
    assert analyse(source, destination).problems == ()
    return destination


def test_sessions_calls_outcomes_notes_and_lessons_are_those_of_one_machine(here: Everything, at_once: Path) -> None:
    assert len(here.sessions) > 40
    assert any(row[-1] for row in here.calls), "no session has copied calls: the test proves less than it says"
    assert here.lessons.keys() >= {"", "proj", "project"}
    assert differences(here, load_fleet(str(at_once))) == []


@pytest.mark.parametrize(("batch", "seed"), [(1, 1), (30_000, 2), (300_000, 3)])
def test_the_files_are_the_same_for_any_size_and_order_of_batches(
    source: Path, at_once: Path, tmp_path: Path, batch: int, seed: int
) -> None:
    run = analyse(source, tmp_path / "out", Here(seed), batch=batch)
    assert run.batches > 2
    assert files_of(tmp_path / "out", *RESULTS) == files_of(at_once, *RESULTS)


def test_runs_over_a_growing_source_end_where_one_run_over_all_of_it_does(here: Everything, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    agents = ("codex", "claude_code", "cline", "openhands", "opencode", "hermes", "cursor", "gemini", "pi", "specstory")
    for agent in agents:
        copy_sessions(folder, [agent])
        analyse(folder, tmp_path / "out")
    found = load_fleet(str(tmp_path / "out"))
    # The folder differs, and with it the path of the one session that has nothing else to say where it was.
    assert [row[0] for row in found.sessions] == [row[0] for row in here.sessions]
    assert found.outcomes == here.outcomes
    assert found.lessons == here.lessons


def test_transcripts_on_object_storage_give_the_same(
    source: Path, here: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_objects() as store:
        for name, value in store_variables(store).items():
            monkeypatch.setenv(name, value)
        store.put_folder(source, "runs/day")
        run = analyse("s3://runs/day", "s3://results/day", batch=400_000)
        assert run.problems == ()
        assert differences(here, load_fleet("s3://results/day")) == []
        # They were written a moment before they were listed, so they are looked at again, and found to be the same.
        again = analyse("s3://runs/day", "s3://results/day")
        assert (again.unchanged, again.rewritten) == (again.new, 0)
