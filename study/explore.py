"""The plan of what was asked after the first results: not in the protocol, and nothing is concluded from it. Pure.

**asked**: the four good calls of the warm arm, each with the request that it answers before it, as a real history has it. The
product hands out calls and results alone; this tells whether what they were for is what a model misses.
"""

from study.arms import K, leaks
from study.chat import Message
from study.given import Given
from study.lab import lab
from study.plan import Cell, Plan, plan
from study.projects import Project, asked_for, projects, shown

ARM = "asked"


def asked(of: Project) -> Given:
    messages: list[Message] = []
    for request, call in zip(asked_for(of)[:K], shown(of)[:K], strict=True):
        messages += (Message("user", request), Message("assistant", "", call.command), Message("tool", call.result))
        messages.append(Message("assistant", "Done."))
    return Given(messages=tuple(messages))


def explore() -> Plan:
    """The lab's tasks in the lab's order, with that arm."""
    whole = lab()
    contexts = {f"{project.name}/{ARM}": asked(project) for project in projects()}
    for task in whole.tasks.values():
        if any(leaks(given, task.answer) for given in contexts.values()):
            raise ValueError(f"the answer of `{task.id}` stands in a context")
    tasks = [cell.task for cell in whole.cells if cell.arm == "warm"]
    cells = [Cell(task, ARM, f"{whole.tasks[task].cluster}/{ARM}") for task in tasks]
    return plan("explore", contexts, {}, whole.tasks.values(), cells)
