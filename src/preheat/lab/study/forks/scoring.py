"""Scores the cases of the fork study with a model: nats of the failed command and of its repair, in every arm.

A case is done as a whole, so any beginning of a run has all arms of the same cases. What arms share is worked on once: the
conversation for all but `start`, the failed call and its error for all arms at `error`. Standard library and numpy only.
"""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from preheat.lab.study.errors import TokenBorderError
from preheat.lab.study.forks.cases import LAST_ARM, ForkCase, fit_words
from preheat.lab.study.model import Model, split_prompt, token_nats
from preheat.lab.study.plan import Cell, Plan, StudyTask, make_plan
from preheat.lab.study.prompts import ArmContext, Message, escape_command, render_prefix, render_suffix
from preheat.lab.study.run import Identity, begin_file

Row = dict[str, Any]


def score_case(case: ForkCase, model: Model) -> Iterator[Row]:
    """A row for each arm of a case that it has."""
    placebo = fit_words(case.placebo, len(model.tokens(case.text)), lambda text: len(model.tokens(text)))
    at_call = {"absent": "", "before": case.text, "placebo": placebo, "wrong": case.wrong, "old": case.old}
    at_error = {"absent": "", "after": case.text, "placebo": placebo, "wrong": case.wrong, "old": case.old}
    yield from _score_points(case, model, "", at_call, at_error)
    yield from _score_points(case, model, case.text, {"start": ""}, {"start": ""})


def _score_points(
    case: ForkCase, model: Model, note: str, at_call: dict[str, str], at_error: dict[str, str]
) -> Iterator[Row]:
    """Both points after one prefix. A text that is empty, but for `absent` and `start`, is of an arm that the case does not
    have."""
    prefix = render_prefix(case.conversation, note)
    tokens = model.tokens(prefix)
    model.hold(tokens)
    for where, text in at_call.items():
        if text or where in ("absent", "start"):
            yield _score_arm(case, model, f"call/{where}", prefix, "", _newest(text))
    went_wrong = (Message("assistant", "", case.failed), Message("tool", case.error))
    shared = render_prefix((*case.conversation, *went_wrong), note).removeprefix(prefix)
    model.after(model.tokens(shared), keep=0)
    for where, text in at_error.items():
        if text or where in ("absent", "start"):
            yield _score_arm(case, model, f"error/{where}", prefix, shared, _newest(text))
    model.cut(len(tokens))


def _newest(text: str) -> tuple[Message, ...]:
    return (Message("user", text),) if text else ()


def _score_arm(case: ForkCase, model: Model, arm: str, prefix: str, shared: str, newest: tuple[Message, ...]) -> Row:
    """Both commands after one prompt, of which prefix and shared part are in the model already."""
    begun = time.monotonic()
    suffix = render_suffix(newest)
    failed, repair = (
        split_prompt(model, prefix + shared, suffix, escape_command(command)) for command in (case.failed, case.repair)
    )
    start = len(failed.prefix)
    first = model.after(failed.suffix, keep=1)[0]
    nats = {}
    for name, prompt in (("failed", failed), ("repair", repair)):
        rows = [first, *model.after(prompt.command[:-1], keep=len(prompt.command) - 1)]
        nats[name] = sum(token_nats(row, token) for row, token in zip(rows, prompt.command, strict=True))
        model.cut(start + len(failed.suffix))
    model.cut(start)
    return {
        "task": case.id, "arm": arm, "cluster": case.project, "kind": case.stratum, "group": case.group, "rule": case.rule,
        "failed": round(nats["failed"], 5), "repair": round(nats["repair"], 5), "failed_tokens": len(failed.command),
        "repair_tokens": len(repair.command), "prompt_tokens": start + len(failed.suffix),
        "seconds": round(time.monotonic() - begun, 3),
    }  # fmt: skip


def run_cases(
    cases: Sequence[ForkCase], model: Model, identity: Identity, path: str, limit: int = 0, seconds: float = 0.0
) -> int:
    """Score what is not scored yet: at most `limit` cases, for at most so many seconds. How many were done."""
    done = {task for task, arm in begin_file(path, identity) if arm in (LAST_ARM, "skipped")}
    started, count = time.monotonic(), 0
    with open(path, "a", encoding="utf-8") as stream:
        for case in cases:
            if case.id in done:
                continue
            if (limit and count >= limit) or (seconds and time.monotonic() - started > seconds):
                break
            try:
                rows = list(score_case(case, model))
            except (TokenBorderError, ValueError) as error:  # a border within a token, or a prompt that does not fit
                rows = [{"task": case.id, "arm": "skipped", "cluster": case.project, "skipped": str(error)}]
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            stream.flush()
            count += 1
    return count


def make_check_plan(cases: Sequence[ForkCase]) -> Plan:
    """The first cases as a plan of the other studies, so that their checks of a model are made with these prompts."""
    chosen = cases[:3]
    tasks = [StudyTask(case.id, case.project, case.stratum, case.conversation, case.repair, most=-1) for case in chosen]
    return make_plan("forks", {"cold": ArmContext()}, {}, tasks, [Cell(case.id, "cold", "cold") for case in chosen])
