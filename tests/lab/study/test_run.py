"""A run can be stopped anywhere and goes on; it never goes on with another run's file; the command does what it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.lab.study import __main__ as command
from preheat.lab.study.errors import OtherRunError
from preheat.lab.study.plan import Cell, Plan, StudyTask, encode_plan, make_plan
from preheat.lab.study.prompts import CLOSE, ArmContext, Message
from preheat.lab.study.run import Contexts, Identity, read_run, run_plan
from tests.lab.study.models import ScriptedModel

IDENTITY = Identity("model", "model.gguf", "plan", "protocol", 1, 31, "none")


def small_plan() -> Plan:
    tasks = [
        StudyTask(
            f"t{number}", f"p{number % 2}", "far", (Message("user", f"Do {number}."),), f"make run{number}", verify=True
        )
        for number in range(4)
    ]
    contexts = {
        "cold": ArmContext(),
        "warm": ArmContext(messages=(Message("assistant", "", "make x"), Message("tool", "fine and well, all of it"))),
        "placebo": ArmContext(messages=(Message("assistant", "", "ls"), Message("tool", "no"))),
    }
    cells = [Cell(task.id, arm, arm) for task in tasks for arm in contexts]
    return make_plan("lab", contexts, {"placebo": "warm"}, tasks, cells)


def scripted_model() -> ScriptedModel:
    return ScriptedModel({"Do 0.": "make run0" + CLOSE, "Do 1.": "make run1" + CLOSE, "Do 2.": "make other" + CLOSE})


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    """Rows of three short runs are those of one long run, but for the time they took."""
    long, short = str(tmp_path / "long.jsonl"), str(tmp_path / "short.jsonl")
    assert run_plan(small_plan(), scripted_model(), IDENTITY, long) == 12
    for limit in (5, 4, 0):
        run_plan(small_plan(), scripted_model(), IDENTITY, short, limit)
    assert run_plan(small_plan(), scripted_model(), IDENTITY, short) == 0

    def rows(path: str) -> list[dict[str, object]]:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in read_run(path)[1]]

    assert rows(long) == rows(short)
    exact = {(row["task"], row["arm"]): row["exact"] for row in rows(long)}
    assert exact["t0", "cold"]
    assert not exact["t2", "warm"]


def test_a_last_line_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run_plan(small_plan(), scripted_model(), IDENTITY, str(path), 3)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert run_plan(small_plan(), scripted_model(), IDENTITY, str(path)) == 10
    rows = read_run(str(path))[1]
    assert len({(row["task"], row["arm"]) for row in rows}) == len(rows) == 12


def test_a_row_that_could_not_tell_is_done_again_and_the_later_one_counts(tmp_path: Path) -> None:
    """As an earlier version wrote it: the beginning of the command, not closed."""
    path = tmp_path / "run.jsonl"
    run_plan(small_plan(), scripted_model(), IDENTITY, str(path))
    lines = path.read_text().splitlines()
    row = json.loads(lines[1])
    old = {**row, "text": "make ru", "closed": False, "exact": False}
    del old["astray"]
    path.write_text("\n".join([lines[0], json.dumps(old), *lines[2:]]) + "\n")
    assert run_plan(small_plan(), scripted_model(), IDENTITY, str(path)) == 1
    rows = read_run(str(path))[1]
    assert len(rows) == 12
    assert next(each for each in rows if each["task"] == "t0" and each["arm"] == "cold")["exact"]
    assert run_plan(small_plan(), scripted_model(), IDENTITY, str(path)) == 0


@pytest.mark.parametrize("changed", ["model", "plan", "protocol", "threads", "chunk", "runtime"])
def test_a_file_of_another_run_is_refused(tmp_path: Path, changed: str) -> None:
    """Whatever it differs by: a mixture would be nobody's result."""
    path = str(tmp_path / "run.jsonl")
    run_plan(small_plan(), scripted_model(), IDENTITY, path, 1)
    values: dict[str, Any] = {changed: 2 if changed in ("threads", "chunk") else "other"}
    other = IDENTITY._replace(**values)
    with pytest.raises(OtherRunError, match="another run"):
        run_plan(small_plan(), scripted_model(), other, path)


def test_the_first_line_says_what_is_run(tmp_path: Path) -> None:
    path = str(tmp_path / "run.jsonl")
    run_plan(small_plan(), scripted_model(), IDENTITY, path, 1)
    assert read_run(path)[0] == IDENTITY._asdict()


def test_placebos_are_made_as_long_in_the_models_own_tokens() -> None:
    contexts = Contexts(small_plan(), scripted_model())
    assert contexts.count(contexts.get("placebo").prefix) == contexts.count(contexts.get("warm").prefix)


def test_a_command_that_cannot_be_scored_is_named_not_dropped(tmp_path: Path) -> None:
    path = str(tmp_path / "run.jsonl")
    run_plan(small_plan(), ScriptedModel(merges=[' "make']), IDENTITY, path)
    rows = read_run(path)[1]
    assert len(rows) == 12
    assert all("straddles" in row["skipped"] for row in rows)


def test_a_plan_with_missing_or_repeated_cells_is_refused() -> None:
    with pytest.raises(ValueError, match="no task or context"):
        make_plan("lab", {}, {}, [], [Cell("t", "cold", "cold")])
    one = small_plan()
    with pytest.raises(ValueError, match="twice"):
        make_plan("lab", one.contexts, {}, one.tasks.values(), [*one.cells, one.cells[0]])


def test_the_command_names_the_next_step_where_something_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without plan or model: one line that names the next step, no traceback."""
    assert command.main(["run", str(tmp_path), "--endpoint", "http://127.0.0.1:9/v1", "--only", "lab"]) == 2
    assert "python -m preheat.lab.study plan" in capsys.readouterr().err
    assert command.main(["fetch", str(tmp_path), "9b"]) == 2
    assert "there are 135m, 0.5b, 1.5b" in capsys.readouterr().err


def test_the_command_makes_the_plans_that_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["plan", str(tmp_path), "--only", "harm"]) == 0
    document = json.loads((tmp_path / "plans" / "harm.json").read_bytes())
    assert f"harm: {len(document['tasks'])} tasks, {len(document['cells'])} cells" in capsys.readouterr().out
    assert encode_plan(small_plan()).startswith(b"{")
