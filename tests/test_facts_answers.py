"""The benchmark of facts on one small project: what is said on the spot counts too, and rests on what came before."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks import facts
from preheat.testing.builders import ClaudeTranscript
from tests.mirror import make_mirror

ROOT = "/w/proj"
MISSING, RIGHT = {"file_path": f"{ROOT}/cart.py"}, {"file_path": f"{ROOT}/src/cart.py"}
SHOWN = "     1→def total(a, b):\n     2→    return a + b"
NOT_THERE = "File does not exist."


def make_session(day: int, *reads: dict[str, str]) -> ClaudeTranscript:
    talk = ClaudeTranscript(session=f"00000000-0000-4000-8000-00000000000{day}", project=ROOT).prompt(
        "look at the cart"
    )
    for read in reads:
        talk = talk.call("Read", read)
        talk = talk.result(SHOWN) if read == RIGHT else talk.result(NOT_THERE, is_error=True)
    return talk.run("ls src", "cart.py").answer("done")


@pytest.fixture
def mirror(tmp_path: Path) -> str:
    """A bare repository with one commit that is older than the sessions."""
    return make_mirror(tmp_path)


def measure(folder: Path, mirror: str, *last: dict[str, str]) -> dict[str, Any]:
    """The figures of a project of five sessions, of which the last one makes these reads."""
    data = folder / "data" / "x__owner+name"
    data.mkdir(parents=True)
    for day in range(1, facts.FEWEST + 1):
        talk = make_session(day, *(last if day == facts.FEWEST else (RIGHT,)))
        (data / f"{talk.session}.jsonl").write_bytes(talk.data())
    (project,) = facts.run(data=str(folder / "data"), repositories=mirror)["projects"]
    return dict(project)


def test_a_warning_before_a_call_names_its_failure_and_is_no_fact(tmp_path: Path, mirror: str) -> None:
    found = measure(tmp_path, mirror, MISSING, RIGHT)
    assert (found["failures"], found["covered"], found["covered_told"]) == (1, 0, 1)
    assert (found["warned"], found["warned_right"]) == (1, 1)
    assert [moment for moment, _ in found["lines"] if moment == "warning"] == ["warning"]


def test_the_same_failure_again_was_named_by_the_warning_said_once(tmp_path: Path, mirror: str) -> None:
    found = measure(tmp_path, mirror, MISSING, MISSING, RIGHT)
    assert (found["failures"], found["covered_told"], found["warned"]) == (2, 2, 1)


def test_without_a_repository_nothing_is_said_on_the_spot(tmp_path: Path) -> None:
    found = measure(tmp_path, "", MISSING, RIGHT)
    assert (found["failures"], found["covered_told"], found["warned"], found["answered"]) == (1, 0, 0, 0)
