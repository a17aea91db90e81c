"""What stands against believing a lab, each in a sentence: nothing is left out of it in silence. Pure."""

from collections.abc import Iterator, Sequence

from preheat.lab.plan import COLD, LabPlan, order, unmatched
from preheat.lab.state import Tried

_NAMED = 5


def problems(plan: LabPlan, tried: Sequence[Tried]) -> Iterator[str]:
    yield from _not_set_up(tried)
    left = [cell for cell in order(plan) if cell not in {each.cell for each in tried}]
    if left:
        yield f"{len(left)} runs are not done yet; tasks that not every arm has gone through are in no comparison"
    yield from _deliveries(tried)
    silent = [each for each in tried if each.status != "not set up" and not each.sessions]
    if silent:
        yield (
            f"{len(silent)} runs left no transcript that could be read: they count for success and seconds only:"
            f" {_few(f'`{each.cell.id}` ({each.note[-120:]})' for each in silent)}"
        )
    quiet = [each for each in tried if each.ending == "no answer"]
    if quiet:
        yield f"the model gave no answer in {len(quiet)} runs, which count as not passed: {_cells(quiet)}"
    unverified = [task.id for task in plan.tasks if not task.verify]
    if unverified:
        yield f"{len(unverified)} tasks have no `verify` and say nothing of success: {_few(f'`{name}`' for name in unverified)}"
    empty = {
        arm: [task for task, each in some.items() if not each.context]
        for arm, some in plan.given.items()
        if arm != COLD
    }
    for arm, tasks in empty.items():
        if tasks:
            why = plan.given[arm][tasks[0]].why
            named = _few(f"`{task}`" for task in tasks)
            yield f"`{arm}` gave nothing for {len(tasks)} tasks{f' ({why})' if why else ''}: {named}"
    if uneven := unmatched(plan):
        named = _few(f"`{task}`" for task in uneven)
        yield f"the placebo of {len(uneven)} tasks is not within 5 % of the tokens it stands for: {named}"


def _not_set_up(tried: Sequence[Tried]) -> Iterator[str]:
    failed = [each for each in tried if each.status == "not set up"]
    blocks = list(dict.fromkeys(each.cell.block for each in failed))
    for task, repeat in blocks[:_NAMED]:
        some = [each for each in failed if each.cell.block == (task, repeat)]
        arms = ", ".join(each.arm for each in some)
        yield f"`{task}` (repeat {repeat}) could not be set up in {arms}: {some[0].note[-160:] or 'no reason was given'}"
    if blocks:
        gone = sum(each.cell.block in blocks and each.status != "not set up" for each in tried)
        yield (
            f"{len(blocks)} task{'s' if len(blocks) > 1 else ''} with a set-up that failed in some arm: counted here, left out of"
            f" every comparison, with {gone} runs of the other arms"
        )


def _deliveries(tried: Sequence[Tried]) -> Iterator[str]:
    looked = [each for each in tried if each.sessions and each.answers]
    missing = [each for each in looked if each.context and each.context not in each.shown]
    if missing:
        yield (
            f"{len(missing)} runs do not show the context they were to be given: {_cells(missing)}; the agent may not have got"
            " it, or not record it"
        )
    wrong = [each for each in looked if set(each.shown) - {each.context}]
    if wrong:
        yield f"{len(wrong)} runs show a context that was not for them: {_cells(wrong)}"


def _cells(some: Sequence[Tried]) -> str:
    return _few(f"`{each.cell.id}`" for each in some)


def _few(names: Iterator[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return ", ".join(listed[:_NAMED]) + more
