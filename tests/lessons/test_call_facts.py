"""What a call of a tool goes by, and which calls run what a session wrote itself."""

from hypothesis import given
from hypothesis import strategies as some

from preheat.lessons.call_facts import describe_tool_call, find_own_script_runs
from preheat.lessons.occurrences import applies, subject_of, take_notes
from preheat.model.lesson import Lesson, Scope
from tests.lessons.sessions import ran, seen, used


def test_few_and_short_arguments_are_part_of_the_name() -> None:
    """The tool with its sorted arguments; the tool alone where arguments are many, long or nested."""
    assert describe_tool_call("Skill", {"skill": "ship"}) == "Skill skill=ship"
    assert describe_tool_call("Find", {"q": "x", "limit": 5}) == "Find limit=5, q=x"
    assert (
        describe_tool_call("Find", {"a": 1, "b": 2, "c": 3})
        == describe_tool_call("Find", {"a": [1]})
        == describe_tool_call("Find", {})
        == "Find"
    )


@given(some.text(), some.dictionaries(some.text(max_size=9), some.one_of(some.text(), some.integers(), some.none())))
def test_any_call_has_a_short_name_on_one_line(tool: str, arguments: dict[str, object]) -> None:
    """The added arguments are short and on one line."""
    name = describe_tool_call(tool, arguments)
    assert name.startswith(tool)
    assert len(name) <= len(tool) + 81
    assert "\n" not in name[len(tool) :]


def test_the_name_of_a_tool_alone_does_not_make_a_lesson_apply() -> None:
    """Nearly every session edits; a lesson about edits applies where its error occurs, an example where the same was asked."""
    there = take_notes(seen([used("Edit", "edit", {"file_path": "a.py"}), used("Skill", "other", {"skill": "ship"})]))
    scope = Scope(project="shop")
    repair = Lesson(id="r", kind="repair", scope=scope, topic="edit", text="x", forms=("Edit", "Write"))
    shown = Lesson(id="e", kind="example", scope=Scope(tool="Skill"), topic="other", text="x", forms=("Skill",))
    same = Lesson(
        id="f", kind="example", scope=Scope(tool="Skill"), topic="other", text="x", forms=("Skill skill=ship",)
    )
    assert [applies(subject_of(lesson), there) for lesson in (repair, shown, same)] == [False, False, True]


def test_a_script_is_the_session_s_own_after_it_was_written() -> None:
    """Written with a tool or by the shell, or standing in the call; a script of the project is not the session's own."""
    calls = [
        ran("python manage.py"),
        used("Write", "write", {"file_path": "/w/shop/try_it.py", "content": "x"}),
        ran("cat > more.py <<'EOF'\nx\nEOF"),
        ran("python try_it.py"),
        ran("cd . && python more.py"),
        ran("python -c 'import x'"),
        ran("python manage.py"),
    ]
    assert find_own_script_runs(seen(calls)) == {3, 4, 5}
