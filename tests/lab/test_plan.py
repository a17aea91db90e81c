"""The order of runs: paired, blocked, and drawn by the seed alone."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.lab.plan import plan_runs, run_prompt
from tests.lab.conftest import a_plan


@given(st.integers(1, 12), st.integers(2, 5), st.integers(1, 4), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_every_task_runs_in_every_arm_in_blocks(tasks: int, arms: int, repeats: int, seed: int) -> None:
    """Each cell once; the arms of a task and repeat stand together, and repeats come one after the other."""
    names = ("cold", "warm", "placebo", "note", "k=1")[:arms]
    plan = a_plan(tasks, names, repeats, seed=seed)
    cells = plan_runs(plan)
    assert len(set(cells)) == len(cells) == tasks * arms * repeats
    blocks = [cells[place : place + arms] for place in range(0, len(cells), arms)]
    assert all({cell.arm for cell in block} == set(names) for block in blocks)
    assert all(len({cell.block for cell in block}) == 1 for block in blocks)
    assert [cell.repeat for cell in cells] == sorted(cell.repeat for cell in cells)
    assert plan_runs(plan) == cells


def test_no_arm_goes_first_more_often() -> None:
    """Over many blocks each arm stands first about equally often: nothing that changes with time favours one."""
    plan = a_plan(60, ("cold", "warm"), 10)
    first = Counter(cell.arm for cell in plan_runs(plan)[::2])
    assert 240 <= first["cold"] <= 360


def test_another_seed_gives_another_order() -> None:
    plan = a_plan(20)
    assert plan_runs(plan) != plan_runs(a_plan(20, seed=2))


def test_prompts_of_a_task_differ_by_the_context_alone() -> None:
    """Without the context, what an agent is asked is the same in all arms, to the letter."""
    plan = a_plan(2)
    plan = a_plan(2, texts={plan.contexts["warm"]["t0"].context: "<preheat-context>known</preheat-context>"})
    cold, warm = sorted((cell for cell in plan_runs(plan) if cell.task == "t0"), key=lambda cell: cell.arm)
    assert run_prompt(plan, warm).replace("<preheat-context>known</preheat-context>\n\n", "") == run_prompt(plan, cold)
    assert run_prompt(plan, cold).startswith('<preheat-run lab="')
