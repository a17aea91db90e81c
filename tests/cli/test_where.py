"""`preheat where`: files with reasons, measures on request, JSON, and a plain word where nothing stands out."""

import json
from pathlib import Path

import pytest

from preheat.app import Preheat
from preheat.cli import main
from tests.daemon.builders import learned

PROMPT = "the checkout step forgets the coupon"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project in which four sessions changed one file, and which has another one that the prompt is about."""
    found = tmp_path / "shop"
    (found / ".git").mkdir(parents=True)
    (found / "src").mkdir()
    (found / "src" / "checkout.py").write_text("def pay(): ...\n")
    (found / "src" / "coupon.py").write_text("def redeem_coupon(): ...\n")
    learned(str(tmp_path / "data"), str(found), str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    return str(found)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["where", *words]) == 0
    return capsys.readouterr().out


def test_files_of_history_and_of_the_tree_are_named_with_reasons(
    project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(capsys, PROMPT, "--project", project)
    assert "src/checkout.py  (" in lines
    assert "src/coupon.py  (" in lines
    assert "Checked before with: uv run pytest" in lines


def test_the_measures_are_shown_on_request(project: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "similar " in run(capsys, PROMPT, "--project", project, "--explain")
    assert "similar_total" not in run(capsys, PROMPT, "--project", project)


def test_json_has_everything(project: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, PROMPT, "--project", project, "--json"))
    assert {each["path"] for each in found["files"]} == {"src/checkout.py", "src/coupon.py"}
    assert all(0 < each["probability"] < 1 for each in found["files"])


def test_what_is_known_is_left_out(project: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "src/checkout.py  (" not in run(capsys, PROMPT, "--project", project, "--opened", "src/checkout.py")


def test_a_prompt_that_says_nothing_gets_a_plain_answer(project: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "yes", "--project", project) == "The prompt has no word that says where the work is.\n"


def test_the_first_session_of_a_project_is_served_by_its_tree(project: str, tmp_path: Path) -> None:
    found = Preheat(str(tmp_path / "other")).orient(PROMPT, project)
    assert {"src/checkout.py", "src/coupon.py"} == {each.path for each in found.files}
