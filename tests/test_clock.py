"""No test depends on how fast the machine is: speed is measured in `benchmarks/`."""

import ast
import os
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.growth import grows_in_proportion
from tests.shared import TESTS
from tests.waiting import until

CLOCKS = {
    "perf_counter",
    "perf_counter_ns",
    "monotonic",
    "monotonic_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
}
"""Functions that are called only to measure how long something takes."""
TIME_OF_DAY = {"time", "time_ns"}
"""Functions that say what time it is, which a session has to know: only their differences are measurements."""
NOT_CHECKED = {
    "tests/growth.py": "compares a cost with another one of the same run",
    "tests/programs/dialogue.py": "ends a program that does not end by itself",
    "tests/ingest/test_endings.py": "spreads kills over the time that a sync takes",
    "tests/attacks/__main__.py": "times are figures in a table",
    "tests/attacks/flood_client.py": "the same",
    "tests/attacks/floods.py": "the same",
    "tests/attacks/hooks.py": "the same",
}
"""Files that measure times, and what for: no check hangs on them."""
WAITING = {
    "communicate",
    "wait",
    "join",
    "settimeout",
    "urlopen",
    "run",
    "check_output",
    "check_call",
    "HTTPConnection",
}
"""Functions with a time limit that ends a test when it is missed."""


def sources() -> Iterator[str]:
    for folder, _, names in os.walk(TESTS):
        for name in sorted(names):
            if name.endswith(".py") and f"{os.sep}fixtures{os.sep}" not in folder + os.sep:
                yield os.path.join(folder, name)


def called_name(node: ast.AST) -> str:
    """The name of the function that is called: `f` in `f()`, `time.f()` and `a.b.f()`; empty for anything else."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def reads_clock(node: ast.AST, known: set[str]) -> bool:
    """Whether a value depends on how long something took: a clock's, a difference of the time of day, or a name of such a one."""
    for part in ast.walk(node):
        if called_name(part) in CLOCKS or (isinstance(part, ast.Name) and part.id in known):
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and called_name(part.left) in TIME_OF_DAY:
            return not isinstance(part.right, ast.Constant | ast.BinOp)
    return False


def lines_asserting_times(tree: ast.AST) -> Iterator[int]:
    """Lines that assert how long something took, or pass that to a function that may."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            known: set[str] = set()
            for _ in range(2):  # a name may be made of another one from further down, in a loop
                for node in ast.walk(function):
                    known |= names_of_times(node, known)
            for node in ast.walk(function):
                value = node.test if isinstance(node, ast.Assert) else getattr(node, "value", None)
                if isinstance(node, ast.Assert | ast.Return) and value is not None and reads_clock(value, known):
                    yield node.lineno


def names_of_times(node: ast.AST, known: set[str]) -> set[str]:
    """Names that a statement assigns a measured time to."""
    targets: Sequence[ast.AST] = ()
    value: ast.AST | None = None
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        targets, value = [node.target], node.value
    elif called_name(node) == "append" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        targets, value = [node.func.value], node.args[0]
    if value is None or not reads_clock(value, known):
        return set()
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def lines_with_short_limits(tree: ast.AST) -> Iterator[int]:
    """Lines that give up on something after a short time."""
    for node in ast.walk(tree):
        if called_name(node) in WAITING and isinstance(node, ast.Call):
            limits = [each.value for each in node.keywords if each.arg == "timeout"]
            if called_name(node) in ("wait", "settimeout"):
                limits += node.args[:1]
            for limit in limits:
                if isinstance(limit, ast.Constant) and isinstance(limit.value, int | float) and 0.5 < limit.value < 60:
                    yield node.lineno


@pytest.mark.parametrize("check", [lines_asserting_times, lines_with_short_limits])
def test_no_test_depends_on_the_speed_of_the_machine(check: Callable[[ast.AST], Iterator[int]]) -> None:
    """Neither by an assertion on a measured time, nor by a short limit."""
    found = []
    for path in sources():
        name = os.path.relpath(path, os.path.dirname(TESTS))
        if name not in NOT_CHECKED:
            with open(path, encoding="utf-8") as stream:
                found += [f"{name}:{line}" for line in check(ast.parse(stream.read()))]
    assert found == [], "`tests/waiting.py` waits, `tests/growth.py` compares costs, `benchmarks/` measures"


ASSERTIONS = {
    "begun = time.monotonic()\nassert time.monotonic() - begun < 3": True,
    "begun = perf_counter()\ntook = perf_counter() - begun\nassert took < 3": True,
    "for _ in x:\n  runs.append(process_time() - begun)\n  begun = process_time()\nassert min(runs) < 3": True,
    "begun = monotonic()\nrun()\nreturn out, monotonic() - begun": True,
    "begun = time.time()\nassert time.time() - begun < 2": True,
    "end = time.monotonic() + 3\nwhile time.monotonic() < end:\n  pass\nassert done()": False,
    "past = time.time() - 3600\nassert store.clean(past) == 1": False,
    "assert session.started == 5.0": False,
}


@pytest.mark.parametrize(("body", "timed"), ASSERTIONS.items())
def test_assertions_on_measured_times_are_found(body: str, timed: bool) -> None:
    function = "def test():\n" + "\n".join(f"  {line}" for line in body.splitlines())
    assert bool([*lines_asserting_times(ast.parse(function))]) == timed


def test_short_limits_are_found() -> None:
    assert [
        *lines_with_short_limits(ast.parse("process.wait(10)\nrun(x, timeout=5)\nprocess.wait(HUNG)\nover.wait(0.1)"))
    ] == [
        1,
        2,
    ]


def test_quadratic_cost_is_found_and_linear_cost_is_not() -> None:
    grows_in_proportion(lambda text: sum(1 for _ in text), "x" * 400_000)
    with pytest.raises(pytest.fail.Exception, match="8 times the text costs"):
        grows_in_proportion(lambda text: sum(1 for _ in text for _ in text), "x" * 2_000)


def test_a_wait_that_fails_names_what_was_waited_for() -> None:
    assert until(lambda: "it", "it") == "it"
    with pytest.raises(pytest.fail.Exception, match="a train"):
        until(lambda: False, "a train", seconds=0.1)
