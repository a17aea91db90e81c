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
    text = text or f"`src/a{number}.py` does not exist here; `lib/a{number}.py` does."
    fields: dict[str, Any] = {
        "id": f"{project}/{number}", "project": project, "stratum": stratum, "group": "missing path", "rule": "missing path",
        "conversation": (Message("user", "Look at it."), Message("assistant", "", "ls"), Message("tool", "src lib")),
        "failed": f"cat src/a{number}.py", "error": "No such file", "repair": f"cat lib/a{number}.py", "text": text,
        "placebo": "", "wrong": "",
    }  # fmt: skip
    return ForkCase(**{**fields, **more})


def test_the_wrong_remedy_is_that_of_another_project_and_the_placebo_is_about_something_else() -> None:
    cases = give_other_texts([case(1), case(2), case(3, "cli")])
    assert cases[0].wrong == "`src/a1.py` does not exist here; `lib/a3.py` does."
    assert cases[0].placebo == "`src/a3.py` does not exist here; `lib/a3.py` does."
    assert cases[2].wrong == "`src/a3.py` does not exist here; `lib/a1.py` does."


def test_a_text_without_a_remedy_has_no_wrong_one() -> None:
    plain = case(1, text="`src/a1.py` does not exist here.")
    assert give_other_texts([plain, case(2, "cli")])[0].wrong == ""
    assert find_remedies("`go` is not on the path; earlier sessions used `mise exec -- go`.", "go test") == [
        "mise exec -- go"
    ]
    assert find_remedies("`package.json` has no `lnt`; the nearest is `lint`.", "npm run lnt") == ["lint"]


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
    assert set(rows) == set(ARMS)
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


def test_a_run_goes_on_where_it_ended_and_leaves_out_what_does_not_fit(tmp_path: Path) -> None:
    cases = give_other_texts([case(1), case(2, "cli"), case(3, failed="}} x")])
    path = str(tmp_path / "run.jsonl")
    assert run_cases(cases, ScriptedModel(merges=('"}}',)), IDENTITY, path, limit=1) == 1
    assert run_cases(cases, ScriptedModel(merges=('"}}',)), IDENTITY, path) == 2
    assert run_cases(cases, ScriptedModel(merges=('"}}',)), IDENTITY, path) == 0
    rows = read_run(path)[1]
    assert [row["task"] for row in rows if "skipped" in row] == ["shop/3"]
    assert len(rows) == 2 * len(ARMS) + 1


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
    (tmp_path / "paper.md").write_text("<!-- from the fork study: verdicts -->\nold\n<!-- end -->\n")
    write_fork_report(str(tmp_path), str(tmp_path))
    paper = (tmp_path / "paper.md").read_text()
    assert "call/before against call/absent: harms.** -3.15 nats" in paper
    assert "old" not in paper
