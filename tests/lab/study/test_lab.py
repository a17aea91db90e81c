"""The lab's tasks need what the contexts show, and no context gives an answer away."""

import re
from collections import Counter
from pathlib import Path

import pytest

from preheat.lab.study.lab_plans import make_explore_plan, make_lab_plan
from preheat.lab.study.plan import Plan, decode_plan, encode_plan, plan_digest
from preheat.lab.study.projects import (
    DOSES,
    IDENTITY,
    MAIN_ARMS,
    K,
    arm_context,
    contains_answer,
    make_projects,
    partner_of,
    project_note,
    project_tasks,
    shown_calls,
    shown_requests,
    text_arm,
    warm_arm,
)
from preheat.lab.study.prompts import ArmContext, fit_to_length
from preheat.model.context import CALLS_WORKED_REPLY
from preheat.provisioning.messages import example_request
from tests.lab.study.models import ScriptedModel
from tests.shared import TESTS


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_lab_plan()


FROZEN = "3609b167de77218721a9a4c195e121ba159f9625cf3e2cb10b4ec10ffe208f32"


def count(words: str) -> int:
    return len(ScriptedModel().tokens(words))


def test_enough_tasks_and_projects_mostly_far_and_two_step(plan: Plan) -> None:
    """At least 310 in 40 projects; near ones are few, because they separate nothing."""
    kinds = Counter(task.kind for task in plan.tasks.values())
    assert len(plan.tasks) >= 310
    assert len({task.cluster for task in plan.tasks.values()}) >= 40
    assert kinds["near"] < 0.15 * len(plan.tasks)
    assert kinds["far"] + kinds["two-step"] == len(plan.tasks) - kinds["near"]


def test_the_plan_is_the_one_that_was_frozen(plan: Plan) -> None:
    """Word for word, as the protocol names it."""
    assert plan_digest(encode_plan(plan)) == FROZEN
    assert FROZEN in Path(TESTS, "..", "docs", "paper", "protocol.md").read_text(encoding="utf-8")
    assert decode_plan(encode_plan(plan)) == plan


def test_no_context_contains_an_answer(plan: Plan) -> None:
    """Neither of the task's own project nor of any other, in no arm; with placebos made as long."""
    for name, context in plan.contexts.items():
        if name in plan.matched:
            context = fit_to_length(context, count(plan.contexts[plan.matched[name]].prefix), count)
        for task in plan.tasks.values():
            assert not contains_answer(context, task.answer), (name, task.id)


def test_no_context_shows_the_words_that_a_task_calls_unseen() -> None:
    """No context of a project has the module that is asked for, nor in far tasks the piece of work."""
    for place, project in enumerate(make_projects()):
        names = (*MAIN_ARMS[2:], "note+warm", "text", *(f"warm{k}" for k in DOSES))
        given = " ".join(arm_context(name, project, partner_of(place, make_projects())).prefix for name in names)
        for task in project_tasks(project):
            assert task.unseen
            for word in task.unseen:
                assert not re.search(rf"\b{word}\b", given), (task.id, word)
            if task.kind == "far":
                assert len(task.unseen) == 2


def test_two_step_tasks_join_what_was_never_shown_together() -> None:
    for project in make_projects():
        for task in project_tasks(project):
            if task.kind == "two-step":
                together = [each for each in shown_calls(project) if project.option in each.command]
                assert together
                assert project.option in task.answer
                work = next(work for work in project.work if re.search(rf"\b{work}\b", task.answer))
                assert not any(re.search(rf"\b{work}\b", each.command) for each in together)


def test_answers_begin_and_end_where_tokens_do_and_need_no_escape() -> None:
    for project in make_projects():
        for task in project_tasks(project):
            assert re.fullmatch(r"[A-Za-z][^\"\\\n]*[A-Za-z0-9]", task.answer)
        assert len({task.answer for task in project_tasks(project)}) == 8


def test_the_note_has_every_fact_of_the_four_calls_and_shows_none_of_them() -> None:
    """Each word of the calls but the modules stands in it: it is the same knowledge, as prose."""
    for project in make_projects():
        note = project_note(project)
        for each in shown_calls(project)[:K]:
            assert each.command not in note
            for word in re.findall(r"[A-Za-z0-9]+", each.command):
                known = any(module in word for module in project.modules)
                assert known or word in note, (project.name, word)
        for special in (project.special[2], project.option.strip()):
            assert special in note


def test_four_calls_show_all_that_tasks_need() -> None:
    """The pieces of work that have names, and the option: so k = 4 is the fewest that can do."""
    for project in make_projects():
        calls = [each.command for each in shown_calls(project)]
        assert all(any(re.search(rf"\b{work}\b", call) for call in calls[:K]) for work in project.work[:3])
        assert any(project.option in call for call in calls[:K])
        assert not all(any(re.search(rf"\b{work}\b", call) for call in calls[:2]) for work in project.work[:3])


def test_the_warm_arm_is_what_the_product_renders() -> None:
    """Its frame, its calls, its last words; as text its block."""
    project = make_projects()[0]
    context = warm_arm(project)
    assert context.messages[0].text == example_request(IDENTITY)
    assert context.messages[-1].text == CALLS_WORKED_REPLY
    assert [each.command for each in context.messages if each.command] == [
        each.command for each in shown_calls(project)[:K]
    ]
    assert text_arm(project).note.startswith("<preheat-context ")
    assert all(each.command in text_arm(project).note for each in shown_calls(project)[:K])


def test_a_placebo_is_as_long_as_the_warm_context_and_of_another_project() -> None:
    """In tokens: never more, and at most one of a hundred less; its calls stay whole."""
    found = make_projects()
    for place, project in enumerate(found):
        partner = partner_of(place, found)
        wanted = count(warm_arm(project).prefix)
        context = fit_to_length(arm_context("placebo", project, partner), wanted, count)
        assert 0.99 * wanted <= count(context.prefix) <= wanted
        assert [each.command for each in context.messages if each.command] == [
            each.command for each in shown_calls(partner)[:K]
        ]
        assert partner.shape.split(" ")[0] != project.shape.split(" ")[0] or partner.shape != project.shape


def test_a_text_is_cut_or_said_again_to_be_as_long() -> None:
    long, short = ArmContext("one two three four five six seven eight nine ten"), ArmContext("one two")
    for context in (long, short):
        wanted = count(ArmContext("a b c d e f").prefix)
        assert wanted - 2 <= count(fit_to_length(context, wanted, count).prefix) <= wanted
    with pytest.raises(ValueError, match="empty"):
        fit_to_length(ArmContext(""), 500, count)


def test_any_beginning_of_a_run_is_balanced(plan: Plan) -> None:
    """After each project every main arm has had the same tasks; no arm always comes first."""
    main = [cell for cell in plan.cells if cell.arm in MAIN_ARMS]
    step = 8 * len(MAIN_ARMS)
    firsts = Counter()  # type: Counter[str]
    for start in range(0, len(main), step):
        part = main[start : start + step]
        assert Counter(cell.arm for cell in part) == dict.fromkeys(MAIN_ARMS, 8)
        assert len({cell.task for cell in part}) == 8
        firsts[part[0].arm] += 1
    assert set(firsts) == set(MAIN_ARMS)
    assert list(plan.cells[: len(main)]) == main


def test_the_arm_that_was_added_afterwards_has_the_same_calls_with_their_requests() -> None:
    """So that it differs from the warm arm by what the calls were for, and by nothing that answers a task."""
    plan = make_explore_plan()
    assert len(plan.cells) == len(plan.tasks) == 336
    for project in make_projects():
        context = plan.contexts[f"{project.name}/asked"]
        assert [each.command for each in context.messages if each.command] == [
            each.command for each in shown_calls(project)[:K]
        ]
        assert [each.text for each in context.messages if each.role == "user"] == shown_requests(project)[:K]
        for task in project_tasks(project):
            assert not any(re.search(rf"\b{word}\b", context.prefix) for word in task.unseen)
