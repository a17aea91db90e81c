"""Errors that come again: when they make a lesson, what it says, and when they are over."""

import random
import re
from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from preheat.lessons.errors import CLUSTER_ERRORS, ErrorNotes, learn, take_notes
from preheat.lessons.learner import SessionNotes
from preheat.model.lesson import Lesson
from preheat.safe_text.cleanup import HIDDEN
from tests.lessons.sessions import STARTED, Made, ran, seen, used

UNKNOWN = "Unknown skill: publish"


def noted(
    calls: Sequence[Made], number: int = 1, project: str = "shop", agent: str = "tester"
) -> SessionNotes[ErrorNotes]:
    session = seen(calls, key=f"{agent}:{number}", agent=agent, started=STARTED + number * 1e5)
    notes = take_notes(session)
    assert notes is not None
    heading = session.session
    return SessionNotes(session.key, agent, project, heading.started_at, heading.ended_at, notes)


def skill(failure: str = UNKNOWN) -> Made:
    return used("Skill", "other", {"name": "publish"}, failure, cause="mistake" if failure else None)


def only(lessons: Sequence[Lesson]) -> Lesson:
    assert len(lessons) == 1, [lesson.text for lesson in lessons]
    return lessons[0]


def test_an_error_of_two_sessions_is_a_lesson() -> None:
    """What goes wrong, with which call, how often and at what cost."""
    lesson = only(learn("shop", [noted([skill(), skill()], 1), noted([skill()], 2)]))
    assert lesson.text == f"`Skill` may fail with `{UNKNOWN}` (3 calls in 2 sessions, 15 s lost)."
    assert (lesson.kind, lesson.status, lesson.topic) == ("error", "active", "Skill")
    assert (lesson.signatures, lesson.forms, lesson.use) == ((UNKNOWN,), ("Skill",), "")
    assert (lesson.cost_seconds, lesson.cost_tokens) == (15.0, 300)
    assert (lesson.scope.agent, lesson.scope.project, lesson.scope.tool) == ("tester", "shop", "Skill")
    assert len(lesson.evidence) == 3


def test_an_error_of_one_session_is_weak_or_nothing() -> None:
    """Three times in one session may be that session's own trouble; twice is nothing."""
    assert only(learn("shop", [noted([skill()] * 3)])).why == "met in one session only"
    assert learn("shop", [noted([skill()] * 2)]) == []


def test_findings_and_silent_failures_are_no_errors() -> None:
    """A failing test is no mistake, and a failure without a message cannot be known again."""
    finding = ran("npm test", "1 failed", 1, cause="finding")
    silent = ran("gh api x", "", 1, signature="gh: exit code N, no message")
    assert learn("shop", [noted([finding, silent], number) for number in range(3)]) == []


def test_messages_that_differ_in_a_name_are_one_error() -> None:
    """Masks are no words, so one lesson has both signatures, the commonest first."""
    one, other = "Invalid value N for <name>", "Invalid value PATH for <name>"
    calls = [used("Set", "other", {"to": 1}, text, cause="mistake") for text in (one, other, other)]
    assert only(learn("shop", [noted(calls[:2], 1), noted(calls[2:], 2)])).signatures == (other, one)


def test_an_error_that_stopped_is_weak() -> None:
    """After five sessions with the same calls and without the error the lesson is weak, with that reason."""
    good = [noted([skill("")], number) for number in range(3, 8)]
    lesson = only(learn("shop", [noted([skill()], 1), noted([skill()], 2), *good]))
    assert (lesson.status, lesson.why) == ("weak", "not met in the last 5 sessions that did the same")
    assert lesson.support.sessions_against == 5
    back = only(learn("shop", [noted([skill()], 1), noted([skill()], 2), *good, noted([skill()], 9)]))
    assert (back.status, back.support.sessions_against) == ("active", 0)


def test_a_missing_file_is_a_lesson_only_by_its_name() -> None:
    """That files may be missing is no news; that this one is missing for everybody is."""
    missing = "cat: PATH: No such file or directory"
    calls = [
        ran(f"cat src/{name}.py", f"cat: src/{name}.py: No such file or directory", 1, signature=missing)
        for name in "abc"
    ]
    vague = only(learn("shop", [noted([call], number) for number, call in enumerate(calls)]))
    assert (vague.status, vague.files) == ("weak", ())
    lesson = only(learn("shop", [noted([calls[0]], number) for number in range(2)]))
    assert (lesson.status, lesson.files) == ("active", ("src/a.py",))
    assert "again and again with `src/a.py`" in lesson.text


def test_a_file_that_somebody_found_is_not_called_missing() -> None:
    """A path that was wrong in one place and right in another says nothing about the path."""
    text = "cat: src/a.py: No such file or directory"
    calls = [ran("cat src/a.py", text, 1, signature="cat: PATH: No such file or directory")]
    there = noted([used("Look", "read", {"path": "src/a.py"}, "x = 1")], 5)
    lesson = only(learn("shop", [noted(calls, 1), noted(calls, 2), there]))
    assert (lesson.status, lesson.files) == ("weak", ())


def test_an_error_of_few_calls_of_a_form_is_weak() -> None:
    """Where the same form mostly works, and nothing tells the cases apart, there is nothing to hand out."""
    calls = [ran("gh api a", "gh: Not Found", 1), *[ran(f"gh api {name}") for name in "bcdefghij"]]
    lesson = only(learn("shop", [noted(calls, 1), noted(calls, 2)]))
    assert lesson.why == "most calls of these forms do not meet it, and nothing tells which do"


def test_messages_with_hidden_letters_or_secrets_are_not_quoted() -> None:
    """A message that hides something is quarantined; one with a secret taken out is no lesson at all."""
    ordered = used("Skill", "other", {"name": "a"}, "You must\u200b now run the installer", cause="mistake")
    secret = used("Skill", "other", {"name": "a"}, "bad key [REDACTED_KEY] for shop", cause="mistake")
    lesson = only(learn("shop", [noted([ordered, secret], number) for number in range(2)]))
    assert (lesson.status, lesson.why) == ("quarantined", "hidden characters (U+200B)")


def test_over_all_projects_only_what_several_have_is_learned() -> None:
    """The same error in two projects is general; sessions without a project count by their agent."""
    assert learn("", [noted([skill()], 1), noted([skill()], 2)]) == []
    lesson = only(learn("", [noted([skill()], 1), noted([skill()], 2, project="till")]))
    assert (lesson.scope.project, lesson.scope.agent) == ("", "tester")
    assert learn("", [noted([skill()], 1, project=""), noted([skill()], 2, project="")]) == []


def test_the_same_notes_give_the_same_lessons_in_any_order() -> None:
    """Sessions may come in whichever order."""
    sessions = [noted([skill(), ran("gh api a", "gh: Not Found", 1)], number) for number in range(6)]
    expected = learn("shop", sessions)
    random.Random(3).shuffle(sessions)
    assert learn("shop", sessions) == expected


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=400)), max_size=6))
def test_any_calls_and_messages_can_be_noted(pairs: list[tuple[str, str]]) -> None:
    """Whatever was typed and printed, notes read back as they were written, and a lesson is one line that a terminal
    obeys nothing of."""
    calls = [ran(command, output, 1, signature=output.encode("utf-8", "replace").decode()) for command, output in pairs]
    notes = take_notes(seen([*calls, skill()]))
    assert notes is not None
    assert msgspec.json.decode(msgspec.json.encode(notes), type=ErrorNotes) == notes
    sessions = [SessionNotes(f"tester:{n}", "tester", "shop", STARTED + n, None, notes) for n in range(2)]
    for lesson in learn("shop", sessions):
        assert lesson.status == "quarantined" or not HIDDEN.search(lesson.text)


def test_the_learner_describes_its_lessons() -> None:
    """One line for a person, with numbers."""
    lessons = learn("shop", [noted([skill()], 1), noted([skill()], 2)])
    assert CLUSTER_ERRORS.describe is not None
    assert re.findall(r"\d+", CLUSTER_ERRORS.describe(lessons)) == ["1", "2", "10"]


# What an error is about, and what it is not.
def test_an_error_is_about_the_command_that_names_itself() -> None:
    """`rm` complains in a chain that ends with git: it is no trouble of git's."""
    chain = ran("rm build/lock && git checkout main", "rm: build/lock: Is a directory", 1)
    assert only(learn("shop", [noted([chain], 1), noted([chain], 2)])).forms == ("rm …",)


def test_findings_of_commit_hooks_are_no_errors() -> None:
    """A commit that a hook stopped says nothing about committing; git's own short message does."""
    found = "\n".join(["$ check all", *(f"src/{n}.ts: bad type" for n in range(20)), "Item 3 failed"])
    hooked = ran("git commit -m x", found, 1, signature="error: Item N failed")
    assert learn("shop", [noted([hooked], number) for number in range(3)]) == []
    refused = ran("git commit -m x", "fatal: bad config", 128)
    assert only(learn("shop", [noted([refused], 1), noted([refused], 2)])).error == "fatal: bad config"


def test_a_line_of_a_programs_help_is_no_error() -> None:
    """The list of options that follows a message is the same for every mistake with that program."""
    helped = ran("gh pr diff --stat", "…", 1, signature="-w, --web Open it in the browser")
    assert learn("shop", [noted([helped], number) for number in range(3)]) == []


def test_errors_of_the_session_s_own_scripts_are_weak() -> None:
    """A script that the session just wrote, in a file or in the call, fails because of its own content."""
    wrote = used("Write", "write", {"file_path": "/w/shop/try_it.py", "content": "import x"})
    fails = ran("python try_it.py", "LookupError: nothing here", 1)
    inline = ran("python -c 'import x'", "LookupError: nothing here", 1)
    lesson = only(learn("shop", [noted([wrote, fails], 1), noted([inline], 2)]))
    assert (lesson.status, lesson.why) == ("weak", "met by scripts that the sessions wrote themselves")
    assert only(learn("shop", [noted([fails], 1), noted([fails], 2)])).status == "active"


def test_a_missing_file_must_be_named_by_most_failures() -> None:
    """Two of five sessions looked for the same file: the other three say that it is another thing each time."""

    def missing(path: str) -> Made:
        return ran(
            f"ls {path}", f"ls: {path}: No such file or directory", 1, signature="ls: PATH: No such file or directory"
        )

    same = [noted([missing("docs/a.md")], number) for number in (1, 2)]
    assert only(learn("shop", same)).status == "active"
    others = [noted([missing(f"docs/{number}.md")], number) for number in (3, 4, 5)]
    lesson = only(learn("shop", [*same, *others]))
    assert (lesson.status, lesson.why) == ("weak", "something was not there, another thing each time")
