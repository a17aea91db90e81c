"""The next-call plan learns from earlier sessions only, asks for calls of later ones, and never shows what is asked for."""

import json

import pytest

from benchmarks.nextcall import ARMS, MESSAGES, fit_calls, make_nextcall_plan, sentence
from preheat.calls.judged import JudgedSession
from preheat.lab.study.plan import Plan
from preheat.model.lesson import Lesson, Scope
from tests.lessons.sessions import STARTED, Made, ran, seen

DAY = 86400.0


def project(name: str, command: str, count: int = 10) -> list[JudgedSession]:
    """Sessions in time order; each runs the project's own test command and something of its own."""
    found = []
    for number in range(count):
        done: list[Made] = [
            ran("git status", "clean"),
            ran(command, "12 passed"),
            ran(f"cat src/part{number}.py", "text"),
            ran(f"grep {name} src/part{number}.py", "found"),
        ]
        key, root = f"tester:{name}-{number}", f"/w/{name}"
        started = STARTED + number * DAY
        found.append(seen(done, said=[f"Mend part {number}"], key=key, root=root, started=started))
    return found


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_nextcall_plan({"x__shop": project("shop", "mise run test"), "x__bank": project("bank", "tox -e py311")})


def test_later_sessions_are_asked_and_earlier_ones_learned_from(plan: Plan) -> None:
    """The first six of ten are for learning: nothing of the later ones stands in a context."""
    assert {task.cluster.rpartition("-")[2] for task in plan.tasks.values()} <= {"6", "7", "8", "9"}
    assert {task.kind for task in plan.tasks.values()} == {"x__shop", "x__bank"}
    for name, context in plan.contexts.items():
        for number in (6, 7, 8, 9):
            assert f"part{number}" not in context.prefix, name


def test_warm_and_note_say_the_same_of_the_own_project(plan: Plan) -> None:
    """Both have the command that was learned; the placebo is of the other project."""
    key = next(task.cluster for task in plan.tasks.values() if task.kind == "x__shop")
    warm, note, placebo = (plan.contexts[f"{key}/{arm}"].note for arm in ("warm", "note", "placebo"))
    assert "mise run test" in warm
    assert "To run the tests, use `mise run test`." in note
    assert "mise run test" not in placebo
    assert "tox -e py311" in placebo
    assert plan.matched[f"{key}/placebo"] == f"{key}/warm"


def test_a_prompt_ends_before_the_call_that_is_asked_for(plan: Plan) -> None:
    """The conversation has at most two calls, none of them the one that comes."""
    for task in plan.tasks.values():
        before = [message.command for message in task.conversation if message.command]
        assert len(before) <= 2
        assert task.answer not in before
        assert task.conversation[0].text.startswith("Mend part")
        assert task.most == -1
    assert {cell.arm for cell in plan.cells} == {*ARMS, MESSAGES}


def test_only_plain_new_successful_commands_are_asked_for() -> None:
    """Failed ones, repeated ones, short ones and those that JSON would change are passed over."""
    session = seen(
        [
            ran("make check", "ok"),
            ran("make check", "ok"),
            ran("make chekc", "no rule", 2),
            ran("ls", "a"),
            ran('echo "a b" > c.txt', ""),
            ran("./run.sh now", "ok"),
            ran("make all\nmake test", "ok"),
            ran("make docs now", "ok"),
        ]
    )
    assert [each.call.input["command"] for each in fit_calls(session)] == ["make check", "make docs now"]


@pytest.mark.parametrize(
    ("lesson", "expected"),
    [
        (
            {"kind": "convention", "topic": "lint", "use": "just lint", "text": "Use `just lint`."},
            "To lint, use `just lint`.",
        ),
        (
            {"kind": "convention", "topic": "test", "use": "just t", "avoid": "pytest", "text": "Use `just t`."},
            "To run the tests, use `just t`. `pytest` does not work here.",
        ),
        (
            {
                "kind": "repair",
                "avoid": "cat -A",
                "use": "cat -v",
                "error": "illegal option",
                "text": "`cat -v` works.",
            },
            'When `cat -A` fails with "illegal option", use `cat -v` instead.',
        ),
        (
            {
                "kind": "repair",
                "forms": ("Edit",),
                "error": "not read",
                "difference": "after reading the file,",
                "text": "Read.",
            },
            'When `Edit` fails with "not read", it works after reading the file.',
        ),
        ({"kind": "working_set", "use": "src/a.py", "text": "Often."}, "Much of the work here is in `src/a.py`."),
        ({"kind": "dead_end", "avoid": "make x", "text": "Never."}, "`make x` does not work here."),
        (
            {"kind": "convention", "topic": "runner", "text": "The runner is `bun` (33 of 33 calls)."},
            "The runner is `bun`.",
        ),
    ],
)
def test_notes_are_written_by_rule(lesson: dict[str, str], expected: str) -> None:
    """A sentence as a person would write it, without counts."""
    learned = Lesson(**{"id": "1", "scope": Scope(), **json.loads(json.dumps(lesson))})
    assert sentence(learned) == expected
