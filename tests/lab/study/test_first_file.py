"""The first-file study: what is scored is the path and nothing else, arms are as long as they should be, and a run goes on."""

import json
from pathlib import Path

import pytest

from preheat.lab.study.errors import OtherRunError, StudyError
from preheat.lab.study.first_file import (
    ARMS,
    FirstFileTask,
    arm_text,
    decode_tasks,
    encode_tasks,
    main,
    render,
    run_tasks,
    score_task,
)
from preheat.lab.study.first_file_results import fill_page, summarise
from preheat.lab.study.run import Identity
from tests.lab.study.models import ScriptedModel

IDENTITY = Identity("model", "model.gguf", "plan", "protocol", 1, 31, "none")


def make_task(number: int = 0, place: int = 1) -> FirstFileTask:
    texts = {
        "nothing": "",
        "orientation": "Files: - src/till.py (named) and a few more words",
        "other": "Files: - docs/a.md",
        "folders": "Folders: src",
    }
    return FirstFileTask(
        f"t{number}", f"p{number % 3}", "Mend the till.", "src/till.py", ("docs/a.md", "src/desk.py"), texts, place
    )


def test_the_path_costs_less_where_the_model_would_write_it() -> None:
    """The scripted model gives weight e to the next token of what it would write and 1 to any other: one nat a token."""
    knows = ScriptedModel({"Files: - src/till": 'cat \\"src/till.py'})
    named = score_task(knows, make_task(), "orientation")
    unnamed = score_task(knows, make_task(), "nothing")
    assert len(named.nll) == len(knows.tokens("src/till.py"))
    assert [other - one for one, other in zip(named.nll, unnamed.nll, strict=True)] == pytest.approx(
        [1.0] * len(named.nll)
    )
    assert (named.rank, named.candidates) == (1, 3)


def test_the_other_orientation_is_made_as_long_as_this_one_and_never_longer() -> None:
    model = ScriptedModel()
    lengths = {arm: len(model.tokens(render("Mend it.", arm_text(make_task(), arm, model)))) for arm in ARMS}
    longest_word = len(model.tokens(" docs/a.md"))
    assert 0 <= lengths["orientation"] - lengths["other"] < longest_word
    assert lengths["nothing"] < lengths["folders"] < lengths["orientation"]


def test_a_run_goes_on_where_it_was_and_another_run_does_not(tmp_path: Path) -> None:
    tasks, path = [make_task(number) for number in range(2)], str(tmp_path / "run.jsonl")
    model = ScriptedModel()
    assert run_tasks(tasks, model, IDENTITY, path, limit=1) == len(ARMS)
    assert run_tasks(tasks, model, IDENTITY, path) == len(ARMS)
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]]
    assert [(row["task"], row["arm"]) for row in rows[:5]] == [*(("t0", arm) for arm in ARMS), ("t1", ARMS[1])]
    with pytest.raises(OtherRunError):
        run_tasks(tasks, model, IDENTITY._replace(plan="other"), path)


def test_only_tasks_with_all_arms_count_and_differences_are_over_projects() -> None:
    rows = [
        {"task": f"t{number}", "arm": arm, "cluster": f"p{number % 3}", "kind": "named", "prompt_tokens": 9,
         "nll": 1.0 + number / 10 - (0.5 + number % 2 / 10) * (arm == "orientation"), "rank": 1 + (arm != "orientation"),
         "exact": arm == "orientation"}
        for number in range(12) for arm in ARMS
    ]  # fmt: skip
    found = summarise([*rows, {**rows[0], "task": "half"}, {**rows[0], "task": "odd", "skipped": "token border"}])
    assert (found["tasks"], found["clusters"], found["left_out"]) == (12, 3, 1)
    primary = found["nll_differences"][0]
    assert (primary["arm"], primary["against"]) == ("orientation", "other")
    assert primary["difference"] == pytest.approx(-0.55)
    assert (found["rank"]["orientation"], found["rank"]["nothing"]) == (1.0, 2.0)


def test_the_page_says_by_rule_what_came_out() -> None:
    """More likely only if the whole interval lies on that side."""
    better = {"arm": "orientation", "against": "other", "difference": -0.5, "low": -0.7, "high": -0.3, "p": 0.0001}
    unclear = {**better, "low": -1.1, "high": 0.1, "p": 0.08}
    level = {arm: {"mean": 1.0} for arm in ARMS}
    plain = dict.fromkeys(ARMS, 2.0)
    kinds = {kind: {"tasks": 3, "nll": plain} for kind in ("named", "not named")}
    found = {"tasks": 6, "clusters": 3, "left_out": 0, "nll": level, "first": level, "rank": plain, "tokens": plain,
             "kinds": kinds, "nll_differences": [better], "first_differences": [unclear]}  # fmt: skip
    page = fill_page(
        "before\n<!-- from the first-file run -->stale<!-- end of the first-file run -->after", {"0.5b": found}
    )
    assert "Orientation makes the first file more likely than other." in page
    assert "Not shown that orientation makes the first file more often the first of eight than other." in page
    assert "| orientation − other | -0.500 (-0.700 to -0.300) | < 0.001 |" in page
    assert "stale" not in page
    assert page.endswith("after")
    with pytest.raises(StudyError):
        fill_page("no block", {})


def test_a_plan_is_kept_as_it_is_and_a_run_without_one_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decode_tasks(encode_tasks([make_task()])) == [make_task()]
    assert main(["run", str(tmp_path)]) == 2
    assert "plan" in capsys.readouterr().err
