"""What may be wrong with objects, and with what a run left behind: it costs the object, and nothing is counted twice."""

import gzip
import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from benchmarks.one_machine import load_fleet
from preheat.agents import sources
from preheat.app.fleet import work
from preheat.app.fleet.analysis import LOST
from preheat.errors import UserError
from preheat.fleet import reading
from preheat.fleet.manifest import load_snapshot
from preheat.fleet.reading import CHANGED
from preheat.fleet.storage import Storage, locate
from preheat.testing.builders import ClaudeTranscript
from tests.fleet.builders import SECRET, Here, analyse, copy_sessions, files_of, serve_objects, store_variables

OLD = (1_700_000_000, 1_700_000_000)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, OLD)
    return path


def transcript(session: str, calls: int = 2, said: str = "fix the clock") -> bytes:
    made = ClaudeTranscript(session=session, project="/w/shop").prompt(said)
    for number in range(calls):
        made = made.run(f"make test{number}", "make: *** No rule to make target 'test'.  Stop.", 2)
    return b"".join(line + b"\n" for line in made.lines())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for name in ("one", "two", "three"):
        write(folder, f"{name}.jsonl", transcript(name))
    return folder


def keys(destination: Path) -> list[str]:
    return [row[0] for row in load_fleet(str(destination)).sessions]


def test_only_new_and_changed_objects_are_read(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, nothing = analyse(source, out), analyse(source, out)
    assert (first.new, first.sessions, first.calls) == (3, 3, 6)
    assert (nothing.new, nothing.rewritten, nothing.sessions) == (0, 0, 3)
    assert nothing.requests.get("put", 0) == 0
    write(source, "two.jsonl", transcript("two", 4))
    write(source, "four.jsonl", transcript("four"))
    runner = Here()
    second = analyse(source, out, runner)
    assert [each.path for each in runner.pieces[0].objects] == ["four.jsonl", "two.jsonl"]
    assert (second.new, second.sessions, second.calls) == (2, 4, 10)


def test_an_object_written_again_with_the_same_content_is_not_analysed_again(source: Path, tmp_path: Path) -> None:
    analyse(source, tmp_path / "out")
    os.utime(source / "one.jsonl", (1_700_000_100, 1_700_000_100))
    again = analyse(source, tmp_path / "out")
    assert (again.new, again.unchanged, again.rewritten, again.calls) == (1, 1, 0, 6)


def test_the_same_content_under_two_names_counts_once(source: Path, tmp_path: Path) -> None:
    write(source, "copy/one.jsonl", transcript("one"))
    run = analyse(source, tmp_path / "out")
    assert (run.new, run.sessions, run.calls) == (4, 3, 6)


def test_a_session_stays_after_its_object_is_gone_and_when_it_has_shrunk(source: Path, tmp_path: Path) -> None:
    analyse(source, tmp_path / "out")
    (source / "one.jsonl").unlink()
    write(source, "two.jsonl", transcript("two", 1))
    run = analyse(source, tmp_path / "out")
    assert (run.objects, run.sessions, run.calls) == (2, 3, 6)


def test_what_is_no_transcript_or_damaged_costs_itself(source: Path, tmp_path: Path) -> None:
    write(source, "README.md", b"# nothing\n")
    write(source, "picture.bin", bytes(range(256)) * 100)
    write(source, "empty.jsonl", b"")
    write(source, "broken.jsonl.zst", b"\x28\xb5\x2f\xfd" + b"garbage" * 20)
    write(source, "torn.jsonl", transcript("torn") + b'{"type": "user", "mess\n' + transcript("torn", 3))
    write(source, "packed.jsonl.gz", gzip.compress(transcript("packed")))
    run = analyse(source, tmp_path / "out")
    assert (run.objects, run.sessions) == (9, 4)
    assert (run.others, run.failed) == (4, 1)
    assert {each.object for each in run.problems} == {"broken.jsonl.zst", "torn.jsonl"}
    assert all(str(tmp_path) not in each.reason or "source" in each.reason for each in run.problems)
    assert analyse(source, tmp_path / "out").problems == run.problems


def test_an_object_larger_than_the_limit_is_named_and_read_when_the_limit_is_raised(
    source: Path, tmp_path: Path
) -> None:
    write(source, "long.jsonl", transcript("long", 60))
    run = analyse(source, tmp_path / "out", most=10_000)
    assert [(each.object, each.reason) for each in run.problems] == [
        ("long.jsonl", "it is larger than 0 MB; `--max-object` sets this limit")
    ]
    again = analyse(source, tmp_path / "out")
    assert (again.new, again.sessions, again.problems) == (1, 4, ())


def test_an_object_that_takes_more_memory_than_a_worker_has_costs_itself(source: Path, tmp_path: Path) -> None:
    text = b'{"type":"user","sessionId":"large","message":{"content":[' + b'{"type":"text","text":"x"},' * 400_000
    write(source, "large.jsonl", transcript("large") + text + b'{"type":"text","text":"x"}]}}\n')
    # In a process of its own: what earlier tests have freed in this one could be used again, without any limit.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        run = pool.submit(analyse, source, tmp_path / "out", memory=20_000_000).result()
    assert [(each.object, each.reason) for each in run.problems] == [
        ("large.jsonl", "it is too large for this machine's memory")
    ]
    assert run.sessions == 3


def test_when_every_process_that_reads_an_object_dies_the_others_are_read(source: Path, tmp_path: Path) -> None:
    def is_deadly(piece: Any) -> bool:
        return any(each.path == "two.jsonl" for each in getattr(piece, "objects", ()))

    run = analyse(source, tmp_path / "out", Here(lose=is_deadly))
    assert [(each.object, each.reason) for each in run.problems] == [("two.jsonl", LOST)]
    assert keys(tmp_path / "out") == ["claude_code:one", "claude_code:three"]
    assert analyse(source, tmp_path / "out").sessions == 3


def test_an_object_that_vanishes_costs_itself_and_is_forgotten_by_the_next_run(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sources.detect

    def detect(path: str) -> Any:
        if path.endswith("two.jsonl"):
            os.unlink(path)
        return real(path)

    monkeypatch.setattr(reading, "detect", detect)
    run = analyse(source, tmp_path / "out")
    assert [each.object for each in run.problems] == ["two.jsonl"]
    assert run.sessions == 2
    assert analyse(source, tmp_path / "out").problems == ()


def test_an_object_that_changes_while_it_is_read_is_read_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sources.detect
    calls = {"one.jsonl": 3, "two.jsonl": 99}

    def detect(path: str) -> Any:
        found = real(path)
        name = os.path.basename(path)
        if calls.get(name, 0) > 2:  # `two` changes every time, `one` once
            calls[name] = 0 if name == "one.jsonl" else calls[name] + 1
            write(source, name, transcript(name.removesuffix(".jsonl"), calls[name] or 5))
        return found

    monkeypatch.setattr(reading, "detect", detect)
    run = analyse(source, tmp_path / "out")
    assert [(each.object, each.reason) for each in run.problems] == [("two.jsonl", CHANGED)]
    assert run.calls == 5 + 2
    monkeypatch.undo()
    write(source, "two.jsonl", transcript("two", 3))
    assert analyse(source, tmp_path / "out").calls == 5 + 2 + 3


def test_files_that_no_entry_and_no_snapshot_names_do_not_count(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    analyse(source, out)
    before = load_fleet(str(out))
    readings = next((out / "readings").iterdir())
    write(out, "readings/cut-off.parquet", readings.read_bytes()[:100])
    write(out, "tables/sessions/project=shop/day=2026-01-01/cut-off.parquet", b"PAR1")
    write(out, "manifest/cut-off.json", b'{"batch": "cut')
    assert load_fleet(str(out)) == before
    write(source, "four.jsonl", transcript("four"))
    assert analyse(source, out).sessions == 4
    assert not (out / "readings/cut-off.parquet").exists(), "it is old, and nothing names it"


@pytest.mark.parametrize("step", ["read", "write", "conclude_project"])
def test_a_run_cut_off_after_a_step_is_finished_by_the_next(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    real = getattr(work, step)

    def do_and_die(piece: Any) -> bytes:
        real(piece)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(work, step, do_and_die)
        with pytest.raises(KeyboardInterrupt):
            analyse(source, tmp_path / "out", batch=1)
    again = analyse(source, tmp_path / "out", batch=1)
    assert again.new == (2 if step == "read" else 0)
    analyse(source, tmp_path / "whole", batch=1)
    results = ("tables", "lessons", "templates")
    assert files_of(tmp_path / "out", *results) == files_of(tmp_path / "whole", *results)


def test_a_secret_is_in_nothing_that_is_written(source: Path, tmp_path: Path) -> None:
    write(source, "leak.jsonl", transcript("leak", said=f"my token is {TOKEN}, use it"))
    run = analyse(source, tmp_path / "out")
    assert run.redactions >= 1
    found = files_of(tmp_path / "out", ".")
    assert len(found) > 10
    said = json.dumps(load_fleet(str(tmp_path / "out")).sessions, default=str)
    assert "[REDACTED:" in said
    assert TOKEN not in said
    assert not any(TOKEN.encode() in data for data in found.values())


def test_everything_in_a_local_destination_is_for_its_owner_only(source: Path, tmp_path: Path) -> None:
    analyse(source, tmp_path / "out")
    assert [path for path in (tmp_path / "out").rglob("*") if path.stat().st_mode & 0o077] == []


def test_a_destination_inside_of_the_source_and_one_of_another_layout_are_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="outside of the transcripts"):
        analyse(source, source / "out")
    out = tmp_path / "out"
    analyse(source, out)
    path = next((out / "snapshots").iterdir())
    path.write_bytes(path.read_bytes().replace(b'"layout":1', b'"layout":9'))
    with pytest.raises(UserError, match="layout 9"):
        analyse(source, out)


def test_credentials_are_in_no_object_and_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_objects() as store:
        for name, value in store_variables(store).items():
            monkeypatch.setenv(name, value)
        store.put_folder(copy_sessions(tmp_path / "source", ["codex"]), "runs")
        run = analyse("s3://runs", "s3://results/x")
        storage = Storage(locate("s3://results/x"))
        assert SECRET not in repr(run)
        assert SECRET not in repr(locate("s3://runs"))
        assert all(SECRET.encode() not in storage.read(each.path) for each in storage.list())
        assert load_snapshot(storage) is not None
        with pytest.raises(UserError, match="no bucket `gone`"):
            analyse("s3://gone/x", "s3://results/x")
    with pytest.raises(UserError, match="holds no key"):
        locate(f"s3://key:{SECRET}@runs/x")
    with pytest.raises(UserError, match="AWS_ENDPOINT_URL") as error:
        analyse("s3://runs", "s3://results/x")
    assert SECRET not in str(error.value)
