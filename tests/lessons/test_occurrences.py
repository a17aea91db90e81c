"""What occurred in a session, and how often a lesson would have been of use."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from preheat.lessons.learner import SessionNotes
from preheat.lessons.occurrences import (
    OccurrenceNotes,
    applies,
    error_key,
    forms_in,
    need,
    occurrence_share,
    reach,
    subject_of,
    take_notes,
)
from preheat.model.lesson import CheckResult, Lesson, ResumePacket, Scope

from .sessions import Made, ran, seen, used

MISSING = "error: no such script test"


def lesson(**fields: object) -> Lesson:
    defaults: dict[str, object] = {
        "id": "c1",
        "kind": "convention",
        "scope": Scope(project="shop"),
        "text": "A lesson.",
    }
    return Lesson(**{**defaults, **fields})  # type: ignore[arg-type]


def noted(occurred: Sequence[OccurrenceNotes], agent: str = "tester") -> list[SessionNotes[OccurrenceNotes]]:
    return [SessionNotes(f"{agent}:{n}", agent, "shop", float(n), float(n), each) for n, each in enumerate(occurred)]


def occurred(*calls: Made) -> OccurrenceNotes:
    return take_notes(seen(calls))


def test_commands_files_and_errors_are_noted() -> None:
    """Each command of a script by itself, files from the project on, and a failure by its words."""
    found = occurred(
        ran("cd app && npm run lint && npm test"),
        used("Look", "read", {"path": "/w/shop/src/till.py"}, "x"),
        ran("npm run tset", MISSING, 1),
    )
    assert {"npm run lint", "npm test", "Look"} <= set(found.forms)
    assert found.files == ("src/till.py",)
    assert found.errors == (error_key(MISSING),)


def test_a_session_without_anything_counts_too() -> None:
    """Else what is done in one session of ten would seem to be done always."""
    assert occurred() == OccurrenceNotes()
    assert reach(lesson(use="npm test"), noted([occurred(), occurred(ran("npm test"))])) is not None


def test_a_lesson_applies_by_its_command_its_file_or_its_error() -> None:
    """Any of them, and a file also by the folder it lies in."""
    there = occurred(
        ran("npm test"), used("Look", "read", {"path": "src/a/till.py"}, "x"), ran("npm run x", MISSING, 1)
    )
    assert applies(subject_of(lesson(use="npm test")), there)
    assert applies(subject_of(lesson(forms=("npm test",))), there)
    assert applies(subject_of(lesson(files=("src/a/",))), there)
    assert applies(subject_of(lesson(files=("src/a/till.py",))), there)
    assert applies(subject_of(lesson(signatures=(MISSING,))), there)
    assert not applies(subject_of(lesson(files=("src/b", "rc/a"))), there)
    assert not applies(subject_of(lesson(use="cargo test")), there)
    assert not applies(subject_of(lesson()), there)


def test_the_name_of_a_tool_alone_is_not_enough() -> None:
    """Nearly every session edits something; the tool with its arguments says more."""
    there = occurred(used("ask_stock", "other", {"article": "lamp"}, "7 left"))
    scope = Scope(project="shop", tool="ask_stock")
    assert not applies(subject_of(lesson(kind="repair", topic="ask_stock", scope=scope, forms=("ask_stock",))), there)
    assert not applies(subject_of(lesson(kind="example", scope=scope, forms=("ask_stock",))), there)
    (with_arguments,) = set(there.forms) - {"ask_stock"}
    assert applies(subject_of(lesson(kind="example", scope=scope, forms=(with_arguments,))), there)


def test_a_resume_packet_is_about_its_checks_and_files() -> None:
    """The next session of the work will touch them."""
    packet = ResumePacket(session="s", goal="g", checks=(CheckResult("npm test", True),), unverified=("src/till.py",))
    what = subject_of(lesson(kind="resume", packet=packet))
    assert "npm test" in what.forms
    assert "src/till.py" in what.files


def test_reach_is_the_share_of_sessions_with_a_prior() -> None:
    """Twice of twice is not always, and never is never."""
    yes, no = occurred(ran("npm test")), occurred(ran("make"))
    about_tests = lesson(use="npm test")
    always = reach(about_tests, noted([yes] * 20))
    assert always is not None
    assert 0.9 < always < 1
    assert reach(about_tests, noted([yes, yes])) is not None
    assert (reach(about_tests, noted([yes, yes])) or 0) < always
    assert reach(about_tests, noted([no] * 5)) == 0


def test_the_newest_sessions_count_most() -> None:
    """What a project does changes."""
    yes, no = occurred(ran("npm test")), occurred(ran("make"))
    about_tests = lesson(use="npm test")
    before, lately = (
        reach(about_tests, noted([yes] * 10 + [no] * 10)),
        reach(about_tests, noted([no] * 10 + [yes] * 10)),
    )
    assert before is not None
    assert lately is not None
    assert before < 0.4 < 0.6 < lately


def test_reach_counts_only_sessions_of_the_lesson_s_agent() -> None:
    """What another agent did says nothing about a tool that it does not have."""
    about_tests = lesson(scope=Scope(agent="tester", project="shop"), use="npm test")
    assert reach(about_tests, noted([occurred(ran("npm test"))], agent="other")) is None
    assert reach(about_tests, []) is None


def test_an_error_occurs_by_its_message_not_by_its_command() -> None:
    """A command that is run always may fail hardly ever."""
    about_tests = lesson(kind="error", topic="shell", forms=("npm test",), signatures=(MISSING,))
    fine = noted([occurred(ran("npm test"))] * 8)
    assert occurrence_share(about_tests, fine) == 0
    assert (reach(about_tests, fine) or 0) > 0.5


@given(st.text(max_size=200))
def test_any_command_has_forms_or_none(text: str) -> None:
    """Wild shell texts; the same text the same forms, none of them empty."""
    found = forms_in(text)
    assert found == forms_in(text)
    assert all(found)


@given(st.lists(st.booleans(), max_size=30))
def test_reach_is_a_share(did: list[bool]) -> None:
    """Between nothing and all, and one more session that did it never lowers it."""
    yes, no = OccurrenceNotes(forms=("npm test",)), OccurrenceNotes()
    about_tests = lesson(use="npm test")
    found = reach(about_tests, noted([yes if each else no for each in did]))
    if found is None:
        assert not did
        return
    assert 0 <= found <= 1
    more = reach(about_tests, noted([*(yes if each else no for each in did), yes]))
    assert more is not None
    assert more >= found


def test_what_a_change_needs_is_counted_among_the_sessions_that_changed_code() -> None:
    looked, told_nothing = (
        occurred(ran("git log")),
        occurred(used("Edit", "edit", {"file_path": "/w/shop/README.md"}, "ok")),
    )
    worked = occurred(used("Edit", "edit", {"file_path": "/w/shop/src/till.py"}, "ok"), ran("npm test"))
    assert [each.changed_code for each in (looked, told_nothing, worked)] == [False, False, True]
    about_tests = lesson(use="npm test")
    sessions = noted([worked, *[looked] * 30])
    assert (need(about_tests, sessions) or 0) > 10 * (reach(about_tests, sessions) or 0)
    assert need(about_tests, noted([looked, told_nothing])) is None
