"""The benchmark of failure forks on one small project: the tree of the start commit, what is foreseen, answered and right."""

import json
from pathlib import Path

import pytest

from benchmarks import forks
from preheat.testing.builders import ClaudeTranscript
from tests.mirror import make_mirror

ROOT = "/w/proj"


@pytest.fixture
def mirror(tmp_path: Path) -> str:
    """A bare repository with one commit that is older than the session."""
    return make_mirror(tmp_path)


def test_a_failure_is_foreseen_answered_and_compared_with_what_the_session_did(
    tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing, right = {"file_path": f"{ROOT}/cart.py"}, {"file_path": f"{ROOT}/src/cart.py"}
    talk = (
        ClaudeTranscript(project=ROOT)
        .prompt("look at the cart")
        .call("Read", missing)
        .result("File does not exist.", is_error=True)
        .call("Read", right)
        .result("     1→def total(a, b):\n     2→    return a + b")
        .run("ls src", "cart.py")
        .run("cat src/cart.py", "def total(a, b):")
        .answer("done")
    )
    folder = tmp_path / "data" / "x__owner+name"
    folder.mkdir(parents=True)
    (folder / f"{talk.session}.jsonl").write_bytes(talk.data())
    monkeypatch.setattr(forks, "OUTPUT", str(tmp_path / "forks.jsonl"))
    score = forks.run(False, str(tmp_path / "data"), mirror)["owner+name"]
    (fork,) = [json.loads(line) for line in (tmp_path / "forks.jsonl").read_text().splitlines()]
    assert (score["warned"], score["warned and failed"], score["foreseen"], score["failures"]) == (1, 1, 1, 1)
    assert fork["group"] == "missing path"
    assert fork["resolution"] == [f"{ROOT}/src/cart.py"]
    assert fork["is_right"] is True


@pytest.mark.parametrize(
    ("failed", "error", "later", "resolution"),
    [
        ("cat cart.py", "cat: cart.py: No such file or directory", "cd src && cat cart.py", "{root}/src/cart.py"),
        ("cat cart.py src", "cat: cart.py: No such file or directory", "ls src", ""),  # `src` was not what was missing
        ("npm run tset -- -v", 'npm error Missing script: "tset"', "npm run test -- -v", "npm run test -- -v"),
        ("npm run tset -- -v", 'npm error Missing script: "tset"', "npm ls", ""),  # another thing of the same program
    ],
)
def test_a_later_call_is_the_repair_only_if_it_is_about_the_same_thing(
    failed: str, error: str, later: str, resolution: str, tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = (
        ClaudeTranscript(project=ROOT).prompt("go on").run(failed, error, exit_code=1).run(later, "fine").answer("done")
    )
    folder = tmp_path / "data" / "x__owner+name"
    folder.mkdir(parents=True)
    (folder / f"{talk.session}.jsonl").write_bytes(talk.data())
    monkeypatch.setattr(forks, "OUTPUT", str(tmp_path / "forks.jsonl"))
    forks.run(False, str(tmp_path / "data"), mirror)
    (fork,) = [json.loads(line) for line in (tmp_path / "forks.jsonl").read_text().splitlines()]
    assert fork["resolution"][:1] == ([resolution.format(root=ROOT)] if resolution else [])
