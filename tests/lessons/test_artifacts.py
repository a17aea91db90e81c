"""ScoreArtifacts: examples are real, clean and fit for others; scores follow one formula; weak lessons go."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.calls.judged import JudgedSession
from preheat.lessons.examples import LONGEST_RESULT, MOST, ExampleNotes, learn, take_notes
from preheat.lessons.learner import SessionNotes
from preheat.lessons.scores import LEAST_CONFIDENCE, SCORE_ARTIFACTS, WORTH, describe, score_lesson, score_lessons
from preheat.model.lesson import LESSON_KINDS, MOST_EVIDENCE, Evidence, Lesson, Scope, Support
from tests.lessons.any_lessons import lessons
from tests.lessons.sessions import Made, ran, seen, used


def shown(*sessions: list[Made]) -> list[Lesson]:
    """The examples that come out of sessions with these calls."""
    made = [seen(calls, key=f"tester:{number}", started=1e9 + number) for number, calls in enumerate(sessions)]
    return learn("shop", [noted(each) for each in made])


def noted(session: JudgedSession) -> SessionNotes[ExampleNotes]:
    notes = take_notes(session) or ExampleNotes((), ())
    return SessionNotes(session.key, "tester", "shop", session.session.started_at, session.session.ended_at, notes)


def uses(found: list[Lesson]) -> list[str]:
    return [lesson.use for lesson in found]


def test_a_call_that_several_sessions_made_is_shown_with_its_real_result() -> None:
    """The tool's own arguments, all of them, the result, and how often calls of the form worked."""
    arguments = {"command": "cd /w/shop/api && just test unit", "timeout": 60}
    call = used("Bash", "shell", arguments, "\x1b[32m3 passed\x1b[0m in /w/shop/api", exit_code=0)
    (lesson,) = shown([call], [call], [ran("cd api && just test unit", "bad", 1)])
    assert lesson.example is not None
    assert lesson.example.arguments == {"command": "cd api && just test unit", "timeout": 60}
    assert lesson.example.result == "3 passed in api"
    assert (lesson.example.tool, lesson.example.agent, lesson.scope.tool) == ("Bash", "tester", "Bash")
    assert lesson.use == "cd api && just test unit"
    assert lesson.support == Support(2, 2, 1, 1)
    assert {each.session for each in lesson.evidence} == {"tester:0", "tester:1"}
    assert "1 example of 1 tool" in describe([lesson])


@pytest.mark.parametrize(
    "call",
    [
        ran("git status", "clean"),
        ran("cat src/a.py", "text"),
        ran("npm test | tail -3", "ok"),
        ran("npm test || true", "ok"),
        ran("npm test", ""),
        ran("npm test --prefix /tmp/x", "ok"),
        ran("npm test --prefix ~/elsewhere", "ok"),
        ran("npm test -- $HOME/x", "ok"),
        ran("npm test -- " + "x" * 300, "ok"),
        ran("npm test", "ok\u202e"),
        used("Read", "read", {"file_path": "a.py"}, "text"),
        used("Edit", "edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "done"),
        used("mcp__bank__send_money", "other", {"to": "x", "amount": 3}, "sent"),
        used("mcp__site__login", "other", {"password": "hunter"}, "ok"),
        used("mcp__site__now", "other", {}, "ok"),
        used("mcp__site__show", "other", {"page": "https://shop.test/orders/17"}, "ok"),
        ran("gh issue view 5992 --comments", "ok"),
        used("mcp__site__find", "other", {"query": None}, "ok"),
    ],
    ids=lambda call: str(call.arguments)[:40],
)
def test_unfit_calls_are_never_examples(call: Made) -> None:
    """Known to all, masked, without a result, of one machine, too long, hiding letters, acting on the world, private, empty."""
    assert shown([call], [call], [call]) == []


def test_what_starts_a_command_is_counted_with_it() -> None:
    """A wrapper that does not know the command fails; that does not count against the command itself."""
    wrapped = ran("rtk just test", "error: unrecognized subcommand", 2)
    (lesson,) = shown([ran("just test", "ok"), wrapped], [ran("just test", "ok")])
    assert (lesson.support.calls_for, lesson.support.calls_against, lesson.forms) == (2, 0, ("just test",))


def test_a_call_after_a_failure_of_the_same_intent_is_no_example() -> None:
    """A call that worked after the same intent had failed in the session is a repair, not an example."""
    failing, working = ran("just test", "bad", 1), ran("just test --all", "ok")
    assert shown([failing, working], [failing, working]) == []
    assert uses(shown([working], [working])) == ["just test --all"]


def test_one_session_is_not_enough() -> None:
    """A call of only one session may have been an accident: it is kept as weak, not handed out."""
    once = [ran("just test api", "ok")]
    (lesson,) = shown(once)
    assert (lesson.status, lesson.why) == ("weak", "used in 1 of 1 sessions")


def test_an_example_that_few_sessions_used_is_weak() -> None:
    """Two of ten sessions used it: kept, with the count, but not handed to every session."""
    (lesson,) = shown(*[[ran("just bench all", "ok")]] * 2, *[[ran("git status", "clean")]] * 8)
    assert (lesson.status, lesson.why) == ("weak", "used in 2 of 10 sessions")
    (lesson,) = shown(*[[ran("just bench all", "ok")]] * 3, *[[ran("git status", "clean")]] * 7)
    assert lesson.status == "active"


def test_a_tool_of_the_projects_own_comes_before_a_command() -> None:
    """A custom tool's argument form is what a model can know least."""
    tool = used("mcp__graph__find", "other", {"q": "Cart", "limit": 5}, '{"found": 2}')
    command = ran("just test", "ok")
    found = shown([command, tool], [command, tool])
    assert [lesson.forms for lesson in found] == [("mcp__graph__find limit=5, q=Cart",), ("just test",)]
    assert found[0].example is not None
    assert found[0].example.arguments == {"q": "Cart", "limit": 5}


def test_examples_are_limited_per_tool_and_in_total() -> None:
    """Three test commands say enough, and a project has at most twenty examples."""
    tests = [ran(f"just test {name}", "ok") for name in ("a.py", "b")] + [
        ran(f"{r} test", "ok") for r in ("npm", "yarn", "bun")
    ]
    assert len(shown(tests, tests)) == 3
    tools = [used(f"mcp__x__find{chr(97 + n)}", "other", {"q": 1}, "ok") for n in range(26)]
    assert len(shown(tools, tools)) == MOST


def test_a_long_result_keeps_its_beginning_and_end() -> None:
    """The result is capped, with a mark where something is missing."""
    call = ran("just test", "FIRST " + "x" * 20_000 + " LAST")
    (lesson,) = shown([call], [call])
    assert lesson.example is not None
    assert len(lesson.example.result) <= LONGEST_RESULT
    assert lesson.example.result.startswith("FIRST")
    assert lesson.example.result.endswith("LAST")
    assert "[…]" in lesson.example.result


@given(
    st.lists(
        st.lists(
            st.builds(
                lambda tool, arguments, output, failed: used(
                    tool, "shell" if tool == "Bash" else "other", arguments, output, cause="mistake" if failed else None
                ),
                st.sampled_from(["Bash", "mcp__x__find"]),
                st.dictionaries(
                    st.sampled_from(["command", "q"]),
                    st.sampled_from(["just test", "npm run lint"]) | st.text(max_size=20) | st.lists(st.integers()),
                ),
                st.text(max_size=700),
                st.booleans(),
            ),
            max_size=8,
        ),
        max_size=4,
    )
)
def test_any_calls_give_sound_examples(sessions: list[list[Made]]) -> None:
    """Whatever was called: arguments are never empty, results are capped, notes survive storing, order does not matter."""
    pages = []
    for number, calls in enumerate(sessions):
        notes = take_notes(seen(calls, key=f"tester:{number}"))
        if notes is not None:
            assert msgspec.msgpack.decode(msgspec.msgpack.encode(notes), type=ExampleNotes) == notes
            pages.append(SessionNotes(f"tester:{number}", "tester", "shop", 1.0, 2.0, notes))
    found = learn("shop", pages)
    assert found == learn("shop", pages[::-1])
    for lesson in found:
        assert lesson.example is not None
        assert lesson.example.arguments
        assert 0 < len(lesson.example.result) <= LONGEST_RESULT


def lesson(name: str, **fields: Any) -> Lesson:
    made: dict[str, Any] = {"kind": "convention", "scope": Scope(project="shop"), "text": f"`{name}` works."}
    return Lesson(id=name, **{**made, **fields})


def test_the_score_follows_its_formula() -> None:
    """More support, more sessions and dearer failures each raise it; a resume packet is worth its kind."""
    little = lesson("a", support=Support(2, 2))
    assert score_lesson(little) == pytest.approx(little.support.confidence * 0.7 * 2 / 3, abs=1e-4)
    assert score_lesson(lesson("a", support=Support(20, 2))) > score_lesson(little)
    assert score_lesson(lesson("a", support=Support(2, 2), cost_tokens=5000)) > score_lesson(little)
    assert score_lesson(lesson("a", support=Support(4, 4))) > score_lesson(lesson("a", support=Support(4, 2)))
    assert score_lesson(lesson("a", support=Support(2, 2, 2, 2))) < score_lesson(little)
    assert score_lesson(lesson("a", kind="resume", support=Support(1, 1))) == WORTH["resume"]
    assert score_lesson(lesson("a", topic="correction", support=Support(1, 1))) > score_lesson(little)
    assert set(WORTH) == set(LESSON_KINDS)


def test_a_lesson_that_mostly_fails_is_weak() -> None:
    """Below the least confidence a lesson is weak, with its reason; pinned lessons and kinds that only count stay."""
    poor = Support(1, 1, 3, 2)
    assert poor.confidence < LEAST_CONFIDENCE
    found = {
        each.id: each
        for each in score_lessons(
            [
                lesson("a", support=poor),
                lesson("b", support=poor, pinned=True, use="b"),
                lesson("c", support=poor, kind="working_set"),
                lesson("d", support=Support(1, 1), use="d"),
            ]
        )
    }
    assert [found[name].status for name in "abcd"] == ["weak", "active", "active", "active"]
    assert found["a"].why == "held 1 of 4 times: confidence 0.05 is below 0.20"


def test_near_duplicates_are_joined() -> None:
    """Same kind, topic and thing to do: the better supported one stays, with the evidence of both counted once."""
    one = lesson(
        "a", use="npm test", support=Support(3, 2), evidence=(Evidence("s1", 1), Evidence("s2", 4)), last_seen=1.0
    )
    other = lesson(
        "b", use="npm test", support=Support(2, 2), evidence=(Evidence("s2", 4), Evidence("s3", 1)), last_seen=2.0
    )
    different = lesson("c", use="npm run lint", support=Support(2, 2))
    joined, kept = score_lessons([different, other, one])
    assert (joined.id, kept.id) == ("a", "c")
    assert joined.support == Support(4, 3)
    assert [each.session for each in joined.evidence] == ["s1", "s2", "s3"]
    assert joined.last_seen == 2.0


def test_a_similar_sentence_about_another_file_is_no_duplicate() -> None:
    """Two files of a working set read alike but are two files; two errors that differ in numbers only are one."""
    files = [
        lesson(
            name,
            kind="working_set",
            text=f"`src/{name}.py` was edited.",
            use=f"src/{name}.py",
            files=(f"src/{name}.py",),
        )
        for name in ("car", "cat")
    ]
    errors = [
        lesson(f"e{n}", kind="error", text=f"`no such file` met {n} times.", support=Support(n, n)) for n in (3, 4)
    ]
    assert [each.id for each in score_lessons([*files, *errors])] == ["car", "cat", "e4"]


@settings(max_examples=60)
@given(lessons())
def test_scoring_twice_changes_nothing(given_lessons: list[Lesson]) -> None:
    """Whatever the lessons: scores between 0 and 1, evidence within bounds, the same again and in any order."""
    once = score_lessons(given_lessons)
    assert score_lessons(once) == once
    assert score_lessons(given_lessons[::-1]) == once
    assert all(0 <= each.score <= 1 for each in once)
    aside = {each.id for each in given_lessons if each.status in ("retired", "quarantined")}
    assert aside <= {each.id for each in once}
    assert all(len(each.evidence) <= max(MOST_EVIDENCE, 30) for each in once)
    assert SCORE_ARTIFACTS.revise is score_lessons
