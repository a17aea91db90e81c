"""The problems of a lab, a sentence each: runs that failed, are missing, or were left out of a comparison. Pure."""

from collections.abc import Iterator, Sequence

from preheat.amounts import format_count
from preheat.lab.plan import COLD, LabPlan, Limit, plan_runs, unmatched_tasks
from preheat.lab.state import RunResult

_MOST_NAMED = 5


def find_problems(plan: LabPlan, tried: Sequence[RunResult]) -> Iterator[str]:
    yield from _not_set_up(tried)
    missing = [cell for cell in plan_runs(plan) if cell not in {each.cell for each in tried}]
    if missing:
        yield f"{_count_are(len(missing), 'run')} not done yet; tasks that not every arm has gone through are in no comparison"
    yield from _deliveries(tried)
    silent = [each for each in tried if each.status != "not set up" and not each.sessions]
    if silent:
        yield (
            f"{format_count(len(silent), 'run')} left no transcript that could be read, and count for success and seconds only:"
            f" {_list_some(f'`{each.cell.id}` ({each.note[-120:]})' for each in silent)}"
        )
    quiet = [each for each in tried if each.ending == "no answer"]
    if quiet:
        yield f"the model gave no answer in {format_count(len(quiet), 'run')}: {_run_names(quiet)}"
    failed = [each for each in tried if each.ending == "failed"]
    if failed:
        reason = failed[0].note[-160:] or "no reason was given"
        yield f"the agent ended with an error in {format_count(len(failed), 'run')}: {_run_names(failed)}; the first: {reason}"
    late = [each for each in tried if each.status == "verify timed out"]
    if late:
        yield f"`verify` ran out of time in {format_count(len(late), 'run')}, counted as not passed: {_run_names(late)}"
    yield from _exceeded_limits(plan, tried)
    unverified = [task.id for task in plan.tasks if not task.verify]
    if unverified:
        named = _list_some(f"`{name}`" for name in unverified)
        yield f"without a `verify`, {format_count(len(unverified), 'task')} can say nothing of success: {named}"
    empty = {
        arm: [task for task, each in some.items() if not each.context]
        for arm, some in plan.contexts.items()
        if arm != COLD
    }
    for arm, tasks in empty.items():
        if tasks:
            why = plan.contexts[arm][tasks[0]].why
            named = _list_some(f"`{task}`" for task in tasks)
            yield f"`{arm}` gave nothing for {format_count(len(tasks), 'task')}{f' ({why})' if why else ''}: {named}"
    if uneven := unmatched_tasks(plan):
        named = _list_some(f"`{task}`" for task in uneven)
        yield f"the placebo of {format_count(len(uneven), 'task')} is not within 5 % of the tokens it stands for: {named}"


def _not_set_up(tried: Sequence[RunResult]) -> Iterator[str]:
    failed = [each for each in tried if each.status == "not set up"]
    blocks = list(dict.fromkeys(each.cell.block for each in failed))
    for task, repeat in blocks[:_MOST_NAMED]:
        runs = [each for each in failed if each.cell.block == (task, repeat)]
        arms = ", ".join(each.arm for each in runs)
        yield f"`{task}` (repeat {repeat}) could not be set up in {arms}: {runs[0].note[-160:] or 'no reason was given'}"
    if blocks:
        others = sum(each.cell.block in blocks and each.status != "not set up" for each in tried)
        with_others = f", with {format_count(others, 'run')} of the other arms" if others else ""
        yield (
            f"{format_count(len(blocks), 'task')} with a set-up that failed in some arm: counted here, left out of"
            f" every comparison{with_others}"
        )


def _deliveries(tried: Sequence[RunResult]) -> Iterator[str]:
    looked = [each for each in tried if each.sessions and each.answers]
    missing = [each for each in looked if each.context and each.context not in each.shown]
    if missing:
        yield (
            f"the context that was to be given does not show in {format_count(len(missing), 'run')}: "
            f"{_run_names(missing)}; the agent"
            " may not have got it, or not record it"
        )
    wrong = [each for each in looked if set(each.shown) - {each.context}]
    if wrong:
        yield f"a context that was for others shows in {format_count(len(wrong), 'run')}: {_run_names(wrong)}"


def _exceeded_limits(plan: LabPlan, tried: Sequence[RunResult]) -> Iterator[str]:
    """Limits that were not enforced, and the runs that exceeded them."""
    options: dict[Limit, str] = {"turns": f"--turns {plan.turns}", "tokens": f"--max-tokens {plan.tokens}"}
    for limit in plan.unenforced:
        most = getattr(plan, limit)
        over = [each for each in tried if getattr(each, limit) > most]
        if over:
            largest = max(getattr(each, limit) for each in over)
            yield (
                f"`{options[limit]}` was not enforced, with {plan.agent} it is only measured:"
                f" {format_count(len(over), 'run')} took more (up to {largest:,}): {_run_names(over)}"
            )


def _count_are(number: int, name: str) -> str:
    return f"{format_count(number, name)} {'is' if number == 1 else 'are'}"


def _run_names(runs: Sequence[RunResult]) -> str:
    return _list_some(f"`{each.cell.id}`" for each in runs)


def _list_some(names: Iterator[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMED} more" if len(listed) > _MOST_NAMED else ""
    return ", ".join(listed[:_MOST_NAMED]) + more
