"""The fork study: cases with their other texts, scores equal to those of the other studies, runs that go on, and verdicts."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.lab.study.forks.cases import (
    ARMS,
    ForkCase,
    decode_cases,
    encode_cases,
    find_remedies,
    fit_words,
    give_old_texts,
    give_other_texts,
    take_turns,
)
from preheat.lab.study.forks.results import fork_results, write_fork_report
from preheat.lab.study.forks.scoring import run_cases, score_case
from preheat.lab.study.model import score, split_prompt
from preheat.lab.study.prompts import Message, escape_command, render_prefix, render_suffix
from preheat.lab.study.run import Identity, read_run
from tests.lab.study.models import ScriptedModel

IDENTITY = Identity("model", "file", "plan", "protocol", 1, 31, "none")


def case(number: int = 0, project: str = "shop", stratum: str = "product", text: str = "", **more: Any) -> ForkCase:
    text = text or f"Nothing is at this call's path; `lib/a{number}.py` exists."
    fields: dict[str, Any] = {
        "id": f"{project}/{number}", "project": project, "stratum": stratum, "group": "missing path", "rule": "missing path",
        "conversation": (Message("user", "Look at it."), Message("assistant", "", "ls"), Message("tool", "src lib")),
        "failed": f"cat src/a{number}.py", "error": "No such file", "repair": f"cat lib/a{number}.py", "text": text,
        "placebo": "", "wrong": "", "remedies": (f"/work/lib/a{number}.py",),
    }  # fmt: skip
    return ForkCase(**{**fields, **more})


def test_the_wrong_remedy_is_that_of_another_project_and_the_placebo_is_about_something_else() -> None:
    cases = give_other_texts([case(1), case(2), case(3, "cli")])
    assert cases[0].wrong == "Nothing is at this call's path; `lib/a3.py` exists."
    assert cases[0].placebo == "Nothing is at this call's path; `lib/a3.py` exists."
    assert cases[2].wrong == "Nothing is at this call's path; `lib/a1.py` exists."


def test_a_text_without_a_remedy_has_no_wrong_one() -> None:
    plain = case(1, text="Nothing is at this call's path.")
    assert give_other_texts([plain, case(2, "cli")])[0].wrong == ""
    used = case(text="It was started by `mise exec -- go` here.", failed="go test", remedies=("mise exec -- go",))
    assert find_remedies(used) == ["mise exec -- go"]
    listed = case(text="`package.json` has nothing of that name; the nearest is `lint`.", remedies=("lint",))
    assert find_remedies(listed) == ["lint"]


def test_any_beginning_of_the_order_is_balanced() -> None:
    mixed = [case(1), case(2), case(3), case(1, "cli"), case(9, "cli", "named"), case(2, "cli")]
    assert [each.id for each in take_turns(mixed)] == ["cli/1", "shop/1", "cli/2", "shop/2", "shop/3", "cli/9"]


@pytest.mark.parametrize("tokens", [3, 10, 40])
def test_a_placebo_is_made_as_long_as_the_text_or_hardly_shorter(tokens: int) -> None:
    found = fit_words("one two three four five", tokens, lambda text: len(text.split()))
    assert len(found.split()) == tokens


def test_cases_are_stored_and_read_as_they_are() -> None:
    cases = [case(1), case(2, "cli", "named")]
    assert decode_cases(encode_cases(cases)) == cases


def test_every_arm_is_scored_and_each_as_if_it_were_worked_on_alone() -> None:
    one = give_other_texts([case(1), case(2, "cli")])[0]
    model = ScriptedModel({"lib/a1.py": one.repair, "Look at it.": one.failed})
    rows = {row["arm"]: row for row in score_case(one, model)}
    assert set(rows) == set(ARMS) - {"call/old", "error/old"}
    newest = {
        "call/absent": (),
        "call/before": (Message("user", one.text),),
        "call/wrong": (Message("user", one.wrong),),
    }
    for arm, messages in newest.items():
        for name, command in (("failed", one.failed), ("repair", one.repair)):
            alone = ScriptedModel(model.answers)
            prompt = split_prompt(
                alone, render_prefix(one.conversation), render_suffix(messages), escape_command(command)
            )
            assert rows[arm][name] == pytest.approx(sum(score(alone, prompt, -1).nll), abs=1e-4)
    assert rows["call/before"]["repair"] < rows["call/absent"]["repair"]
    assert (
        rows["error/after"]["prompt_tokens"]
        > rows["error/absent"]["prompt_tokens"]
        > rows["call/absent"]["prompt_tokens"]
    )


def test_the_old_wording_is_an_arm_of_the_cases_that_the_earlier_plan_has() -> None:
    earlier = [case(1, text="`src/a1.py` does not exist here; `lib/a1.py` does."), case(3, stratum="named")]
    found = give_other_texts(give_old_texts([case(1), case(2), case(3), case(1, "cli", "named")], earlier))
    assert [(each.id, each.old) for each in found] == [("shop/1", earlier[0].text)]
    rows = {row["arm"]: row for row in score_case(found[0], ScriptedModel({"does not exist": found[0].failed}))}
    assert rows["call/old"]["failed"] < rows["call/before"]["failed"]
    assert "error/old" in rows


def test_a_run_goes_on_where_it_ended_and_leaves_out_what_does_not_fit(tmp_path: Path) -> None:
    cases = give_other_texts([case(1), case(2, "cli"), case(3, failed="}} x")])
    path = str(tmp_path / "run.jsonl")
    assert run_cases(cases, ScriptedModel(merges=('"}}',)), IDENTITY, path, limit=1) == 1
    assert run_cases(cases, ScriptedModel(merges=('"}}',)), IDENTITY, path) == 2
    assert run_cases(cases, ScriptedModel(merges=('"}}',)), IDENTITY, path) == 0
    rows = read_run(path)[1]
    assert [row["task"] for row in rows if "skipped" in row] == ["shop/3"]
    assert len(rows) == 2 * (len(ARMS) - 2) + 1


def _rows(before: float, projects: int = 4) -> list[dict[str, Any]]:
    """Cases of some projects in which a text before the call changes the nats of the repair."""
    made = []
    for number in range(projects):
        for arm in ARMS:
            repair = 10.0 + (before + 0.1 * number if arm == "call/before" else 0.0)
            made.append({
                "task": f"t{number}", "arm": arm, "cluster": f"p{number}", "kind": "product", "failed": 8.0, "repair": repair,
                "failed_tokens": 4, "repair_tokens": 5, "prompt_tokens": 100,
            })  # fmt: skip
    return made


def test_log_odds_and_verdicts_follow_the_sign(tmp_path: Path) -> None:
    found = fork_results(_rows(-3.0))["strata"]["product"]
    primary = found["differences"][0]
    assert (primary["arm"], primary["against"]) == ("call/before", "call/absent")
    assert primary["difference"] == pytest.approx(2.85)
    assert (primary["rose_in"], primary["repair"]) == (4, pytest.approx(-0.57))
    (tmp_path / "runs").mkdir()
    lines = [{"run": IDENTITY._asdict()}, *_rows(3.0)]
    (tmp_path / "runs" / "forks-0.5b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "paper.md").write_text("<!-- from the fork study: verdicts -->\nearlier\n<!-- end -->\n")
    write_fork_report(str(tmp_path), str(tmp_path))
    paper = (tmp_path / "paper.md").read_text()
    assert "call/before against call/absent: harms.** -3.15 nats" in paper
    assert "earlier" not in paper


def test_each_study_fills_its_own_tables(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    lines = [{"run": IDENTITY._asdict()}, *_rows(-3.0)]
    (tmp_path / "runs" / "wording-0.5b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    blocks = "<!-- from the fork study: verdicts -->\nof forks\n<!-- end -->\n"
    (tmp_path / "paper.md").write_text(blocks + blocks.replace("study:", "study, wording:"))
    write_fork_report(str(tmp_path), str(tmp_path), "wording")
    first, second = (tmp_path / "paper.md").read_text().split("<!-- end -->\n", 1)
    assert first.endswith("of forks\n")
    assert "call/before against call/old: helps" in second
    assert (tmp_path / "wording.json").exists()
