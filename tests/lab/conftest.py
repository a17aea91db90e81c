"""Plans and runs that never were, for what is computed from them."""

from collections.abc import Callable

from preheat.lab.plan import ArmContext, LabPlan
from preheat.lab.state import RunResult
from preheat.lab.suite import Task
from tests.lab.training_fixtures import machine

__all__ = ["a_plan", "a_run", "machine"]

Outcome = Callable[[str, str, int], RunResult]


def a_plan(tasks: int = 8, arms: tuple[str, ...] = ("cold", "warm"), repeats: int = 1, **more: object) -> LabPlan:
    named = tuple(Task(id=f"t{number}", prompt=f"Do {number}.", verify="true") for number in range(tasks))
    contexts = {
        arm: {
            task.id: ArmContext() if arm == "cold" else ArmContext(context=f"{arm}".encode().hex()[:12], tokens=100)
            for task in named
        }
        for arm in arms
    }
    settings: dict[str, object] = {
        "name": "lab", "run": "0" * 12, "at": 1.0, "suite": "s", "tasks": named, "arms": arms, "repeats": repeats, "seed": 1,
        "agent": "chat", "endpoint": "http://localhost/v1", "model": "m", "contexts": contexts,
    }  # fmt: skip
    return LabPlan(**{**settings, **more})  # type: ignore[arg-type]


def a_run(plan: LabPlan, task: str, arm: str, repeat: int = 1, passed: bool = True, **more: object) -> RunResult:
    context = plan.contexts[arm][task].context
    fields: dict[str, object] = {
        "status": "passed" if passed else "not passed", "seconds": 10.0, "tokens": 1000, "calls": 10, "mistakes": 1, "errors": 2,
        "answers": 3, "sessions": (f"x:{task}{arm}{repeat}",), "context": context, "shown": (context,) if context else (),
    }  # fmt: skip
    return RunResult(task=task, arm=arm, repeat=repeat, **{**fields, **more})  # type: ignore[arg-type]
