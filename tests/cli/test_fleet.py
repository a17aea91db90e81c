"""`preheat fleet`: what it says and writes, how it ends, what it takes to run it. Ray itself is in `tests/fleet/test_ray.py`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from preheat.app.fleet import area
from preheat.sharing.document import read_document
from preheat.testing.builders import ClaudeTranscript
from tests.fleet.builders import Here
from tests.ingest.test_learning import worked

from .conftest import Person


@contextmanager
def run_here(address: str, workers: int) -> Iterator[Here]:
    yield Here()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions in which `pytest` is not there and `uv run pytest` works; tasks run in this process."""
    monkeypatch.setattr(area, "connect", run_here)
    folder = tmp_path / "runs"
    for number in range(1, 5):
        os.utime(worked(number).write(str(folder)), (1_700_000_000, 1_700_000_000))
    return folder


def test_analyse_says_what_it_did_and_report_what_that_comes_to(person: Person, source: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    done = person.run("fleet", "analyse", str(source), "--out", out)
    assert done.code == 0
    assert "4 objects: 4 new" in done.out
    assert "4 sessions" in done.out
    again = json.loads(person.run("fleet", "analyse", str(source), "--out", out, "--json").out)
    assert (again["new"], again["sessions"], again["problems"]) == (0, 4, [])
    report = json.loads(person.run("fleet", "report", out, "--json").out)
    assert report["total"]["sessions"] == 4
    assert report["total"]["calls"] == sum(each["calls"] for each in report["days"]) == again["calls"]
    assert report["total"]["errors"] == sum(each["calls"] for each in report["causes"]) == again["errors"]
    assert report["mistakes"][0]["sessions"] == 4
    shown = person.run("fleet", "report", out).out
    assert "mistake in several sessions" in shown
    assert "List prices of genai-prices" in shown


def test_money_and_tokens_of_the_report_are_those_of_one_machine(person: Person, source: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert person.run("fleet", "analyse", str(source), "--out", out, "--json").code == 0
    assert person.run("sync", str(source)).code == 0
    here = json.loads(person.run("report", "cost", "--by", "model", "--json").out)["total"]
    there = json.loads(person.run("fleet", "report", out, "--json").out)["total"]
    assert here["money"] > 0
    assert there["money"] == pytest.approx(here["money"])
    assert (there["input_tokens"], there["output_tokens"]) == (here["usage"]["input"], here["usage"]["output"])


def test_what_cannot_be_read_is_named_and_the_exit_code_is_1(person: Person, source: Path, tmp_path: Path) -> None:
    torn = ClaudeTranscript(session="0" * 8).prompt("hello").line(b'{"type": "user", "mess').answer("yes")
    torn.write(str(source))
    done = person.run("fleet", "analyse", str(source), "--out", str(tmp_path / "out"))
    assert done.code == 1
    assert "00000000.jsonl:2: " in done.err


def test_the_lessons_are_listed_and_published_for_review(
    person: Person, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, clone = str(tmp_path / "out"), tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    assert person.run("fleet", "analyse", str(source), "--out", out, "--json").code == 0
    listed = json.loads(person.run("fleet", "lessons", out, "--json").out)
    project = next(each["project"] for each in listed if each["project"])
    assert "uv run pytest" in person.run("fleet", "lessons", out, "--project", project).out
    template = next(each["template"] for each in listed if each["project"] == project)
    assert person.run("templates", "import", template, "--json").code == 0
    done = json.loads(person.run("fleet", "lessons", out, "--project", project, "--publish", str(clone), "--json").out)
    entries = read_document((clone / ".preheat" / "lessons.toml").read_bytes()).entries
    assert len(done["new"]) == len(entries) > 0
    assert any("uv run pytest" in text for text in done["new"])
    again = person.run("fleet", "lessons", out, "--project", project, "--publish", str(clone))
    assert "nothing was written" in again.out
    alone = person.run("fleet", "lessons", out, "--project", project, "--propose", "forge.example/shop/cart")
    assert (alone.code, "this machine is in no team" in alone.err) == (2, True)
    (clone / "src").mkdir()
    (clone / "src" / "checkout.py").write_text("")  # one of the lessons is about it
    monkeypatch.chdir(clone)
    assert person.run("share", "--check").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("analyse", "gone", "--out", "out"), "gone` is not a folder"),
        (("analyse", ".", "--out", "out"), "outside of the transcripts"),
        (("analyse", ".", "--out", "gs://x"), "`gs://` is no storage that Preheat knows"),
        (("analyse", "s3://", "--out", "out"), "names no bucket"),
        (("analyse", ".", "--out", "out", "--batch", "many"), "`many` is not a size; write 64MB"),
        (("report", "out"), "nothing was analysed into `out` yet; `preheat fleet analyse SOURCE --out out`"),
        (("lessons", "out"), "nothing was analysed into `out` yet"),
        (("lessons", "out", "--publish", "."), "--publish needs --project"),
        (("lessons", "out", "--propose", "forge.example/shop/cart"), "--propose needs --project"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(area, "connect", run_here)
    done = person.run("fleet", *arguments)
    assert done.code == 2
    assert message in done.err
    said = json.loads(person.run("fleet", *arguments, "--json").out)
    assert said["exit_code"] == 2
    assert message in said["error"]


def test_a_project_that_is_not_there_and_a_folder_outside_of_git_are_named(
    person: Person, source: Path, tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    assert person.run("fleet", "analyse", str(source), "--out", out, "--json").code == 0
    project = next(each["project"] for each in json.loads(person.run("fleet", "lessons", out, "--json").out))
    assert (
        f"no project `nowhere` in `{out}`; there are `{project}`"
        in person.run("fleet", "lessons", out, "--project", "nowhere").err
    )
    done = person.run("fleet", "lessons", out, "--project", project, "--publish", str(tmp_path))
    assert (done.code, "is in no git repository" in done.err) == (2, True)


def test_without_the_extra_it_says_what_to_install(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for arguments in (("analyse", ".", "--out", "x"), ("report", "x"), ("lessons", "x")):
        done = person.run("fleet", *arguments)
        assert done.code == 2
        assert "the fleet needs ray; install them with: pip install 'preheat[fleet]'" in done.err


def test_no_other_command_loads_what_the_fleet_needs() -> None:
    script = (
        "import sys\nfrom preheat.cli import main\nimport preheat.app\npreheat.app.Preheat('x').fleet\n"
        "try:\n    main(['fleet', 'analyse', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('ray', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], env=os.environ, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
