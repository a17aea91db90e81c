"""A lab's folder: what is over stays over, whatever moment Preheat was killed at."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preheat.errors import NotFound, UserError
from preheat.lab.state import Lab, find_lab
from tests.lab.conftest import a_plan, a_run

PLAN = a_plan(4)
RUNS = [a_run(PLAN, f"t{number}", arm) for number in range(4) for arm in ("cold", "warm")]


def test_a_plan_comes_back_as_it_was(tmp_path: Path) -> None:
    lab = Lab(str(tmp_path / "lab"))
    assert not lab.exists
    lab.store_plan(PLAN)
    assert lab.plan() == PLAN


@given(st.integers(0, 4000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_keeps_the_whole_lines_before(tmp_path: Path, cut: int) -> None:
    """A file that ends in the middle of a line has the runs before it; the next run is whole, and so is what follows."""
    lab = Lab(str(tmp_path))
    path = tmp_path / "runs.jsonl"
    path.unlink(missing_ok=True)
    for each in RUNS[:-1]:
        lab.add_result(each)
    path.write_bytes(path.read_bytes()[:cut])
    before = lab.results()
    assert before == RUNS[: len(before)]
    lab.add_result(RUNS[-1])
    assert lab.results() == [*before, RUNS[-1]]


def test_damage_in_the_middle_is_reported_with_its_line(tmp_path: Path) -> None:
    """Lines that are lost within are no accident of a kill: nothing is counted as if they had never been."""
    lab = Lab(str(tmp_path))
    for each in RUNS[:3]:
        lab.add_result(each)
    path = tmp_path / "runs.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{what\n" + lines[2])
    with pytest.raises(UserError, match="line 2 is damaged"):
        lab.results()


def test_a_lab_is_found_by_its_name_or_its_folder(tmp_path: Path) -> None:
    Lab(str(tmp_path / "lab" / "mine")).store_plan(PLAN)
    assert find_lab(str(tmp_path), "mine").plan() == PLAN
    assert find_lab(str(tmp_path), str(tmp_path / "lab" / "mine")).plan() == PLAN
    with pytest.raises(NotFound, match="no lab `other`"):
        find_lab(str(tmp_path), "other")


def test_a_lab_that_was_set_aside_is_still_there(tmp_path: Path) -> None:
    lab = Lab(str(tmp_path / "lab" / "mine"))
    lab.store_plan(PLAN)
    aside = lab.set_aside()
    assert not lab.exists
    assert Lab(aside).plan() == PLAN
