"""The plan of what was asked after the first results: not in the protocol, and nothing is concluded from it. Pure.

**asked**: the four good calls of the warm arm, each with the request that it answers before it, as a real history has it. The
product hands out calls and results alone; this tells whether what they were for is what a model misses.
"""

from study.arms import K, contains_answer
from study.chat import Message
from study.given import ArmContext
from study.lab import lab_plan
from study.plan import Cell, Plan, make_plan
from study.projects import Project, make_projects, shown_calls, shown_requests

ASKED_ARM = "asked"


def with_requests(of: Project) -> ArmContext:
    messages: list[Message] = []
    for request, call in zip(shown_requests(of)[:K], shown_calls(of)[:K], strict=True):
        messages += (Message("user", request), Message("assistant", "", call.command), Message("tool", call.result))
        messages.append(Message("assistant", "Done."))
    return ArmContext(messages=tuple(messages))


def explore_plan() -> Plan:
    """The lab's tasks in the lab's order, with that arm."""
    whole = lab_plan()
    contexts = {f"{project.name}/{ASKED_ARM}": with_requests(project) for project in make_projects()}
    for task in whole.tasks.values():
        if any(contains_answer(given, task.answer) for given in contexts.values()):
            raise ValueError(f"the answer of `{task.id}` stands in a context")
    tasks = [cell.task for cell in whole.cells if cell.arm == "warm"]
    cells = [Cell(task, ASKED_ARM, f"{whole.tasks[task].cluster}/{ASKED_ARM}") for task in tasks]
    return make_plan("explore", contexts, {}, whole.tasks.values(), cells)
