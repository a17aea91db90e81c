"""Building a template: which lessons get in, and that the order of the input does not matter."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preheat.model.lesson import Support
from preheat.model.profile import ToolUse, UserStyle
from preheat.templates.build import MOST_EXAMPLES, MOST_LESSONS, Request, build
from preheat.templates.names import canonical_json

from .made import example, lesson, profile, rate

REQUEST = Request(name="mine")
PROFILES = {"claude_code:one": profile()}


def test_lessons_keep_their_evidence_and_are_ordered_by_kind() -> None:
    some = [example("Bash", 1), lesson("repair", "x --fix", error="broken"), lesson()]
    built = build(REQUEST, some, PROFILES).template
    assert [each.kind for each in built.lessons] == ["convention", "repair", "example"]
    assert all(each.evidence for each in built.lessons)
    assert built.sources == ("claude_code:one",)
    assert built.agent == "claude_code"


def test_quarantined_and_retired_lessons_are_left_out() -> None:
    """Weak lessons get in on request, and are active then."""
    some = [
        lesson(use="a", status="quarantined"), lesson(use="b", status="retired"), lesson(use="c", status="weak", why="once"),
    ]  # fmt: skip
    strict, lenient = build(REQUEST, some, PROFILES), build(replace(REQUEST, weak=True), some, PROFILES)
    assert strict.template.lessons == ()
    assert strict.left_out == {"quarantined": 1, "retired": 1, "weak": 1}
    assert [(each.use, each.status) for each in lenient.template.lessons] == [("c", "active")]


def test_a_resume_packet_is_left_out() -> None:
    """In a template it would be stale at once."""
    built = build(REQUEST, [lesson(), lesson("resume", "", text="stopped at the pier")], PROFILES)
    assert [each.kind for each in built.template.lessons] == ["convention"]
    assert built.left_out == {"where one session stopped": 1}


def test_of_equal_lessons_the_better_supported_one_stays() -> None:
    """The same command in two scopes is one lesson; the same repair of another error is another."""
    weaker = lesson(use="make  test", support=Support(2, 1))
    stronger = lesson(use="make test", support=Support(40, 9))
    assert weaker.id != stronger.id
    others = [lesson("repair", "retry", error="one"), lesson("repair", "retry", error="two")]
    built = build(REQUEST, [weaker, stronger, *others], PROFILES)
    assert [each.support.calls_for for each in built.template.lessons if each.kind == "convention"] == [40]
    assert sum(each.kind == "repair" for each in built.template.lessons) == 2
    assert built.left_out == {"double": 1}


def test_calls_with_the_same_tool_and_arguments_are_one_example() -> None:
    """The order of arguments is no difference."""
    first = example("Edit", 1)
    assert first.example is not None
    turned = replace(first.example, arguments={"b": 1, "a": 2}), replace(first.example, arguments={"a": 2, "b": 1})
    some = [replace(first, id=f"e{place}", example=each) for place, each in enumerate(turned)]
    assert len(build(REQUEST, some, PROFILES).template.lessons) == 1


def test_examples_are_spread_over_the_tools() -> None:
    """One tool with many good calls does not replace the others."""
    some = [example("Bash", number, score=0.9) for number in range(40)]
    some += [example("Edit", number, score=0.1) for number in range(100, 102)]
    built = build(REQUEST, some, PROFILES)
    tools = [each.example.tool for each in built.template.lessons if each.example]
    assert len(tools) == MOST_EXAMPLES
    assert tools.count("Edit") == 2
    assert built.left_out == {"more examples than needed": 42 - MOST_EXAMPLES}


def test_the_best_and_the_pinned_lessons_stay_within_the_limit() -> None:
    some = [lesson(use=f"c{number}", score=number / 1000) for number in range(MOST_LESSONS + 30)]
    some.append(lesson(use="mine", score=0.0, pinned=True))
    built = build(REQUEST, some, PROFILES)
    kept = {each.use for each in built.template.lessons}
    assert len(kept) == MOST_LESSONS
    assert "mine" in kept
    assert "c0" not in kept
    assert built.left_out == {"beyond the best": 31}


def test_the_user_pattern_is_that_of_most_messages_and_calls() -> None:
    """Style by messages, feedback by length, tools by calls and only those that mostly work (the seeds' 70 %)."""
    tools = {"Bash": ToolUse(9, rate(1, 9), rate(1, 9)), "Patch": ToolUse(50, rate(20, 50), rate(20, 50))}
    profiles = {
        "claude_code:one": profile("one", tools=tools),
        "codex:two": profile("two", agent="codex", tools=tools, user=UserStyle(40, 300.0, 0.1, 0.0, "detailed")),
    }
    built = build(REQUEST, [lesson()], profiles).template
    assert (built.user.style, built.user.feedback) == ("detailed", "detailed")
    assert built.user.preferred_tools == ("Bash",)
    assert built.user.domains == ("terminal",)
    assert built.agent == ""


def test_feedback_is_corrections_only_if_half_of_the_later_messages_correct() -> None:
    many = tuple(replace(lesson().evidence[0], seq=None, at=float(place)) for place in range(3))
    corrected = lesson(topic="correction", evidence=many)
    assert build(REQUEST, [corrected], PROFILES).template.user.feedback == "corrections_only"


def test_markers_are_paths_of_the_project_and_addresses_that_two_sessions_used() -> None:
    """The most frequent first; no path of one machine, no code, and nothing that the check finds unfit."""
    junk = ("/Users/x/notes.md", "```python import os", "odd/thing.py", "./", "~/x.md", "C:/x/y.md", "../x.md")
    profiles = {
        "a:1": profile("1", context_markers=("src/pier.py", "https://tides.invalid/a", *junk)),
        "a:2": profile("2", context_markers=("docs/tides.md", "src/pier.py", "once.md", *junk)),
        "a:3": profile("3", context_markers=("docs/tides.md", "src/pier.py", "https://tides.invalid/a", *junk)),
    }
    built = build(REQUEST, [lesson()], profiles, lambda text: "odd" if "odd" in text else "")
    assert built.template.markers == ("src/pier.py", "docs/tides.md", "https://tides.invalid/a")
    alone = build(REQUEST, [lesson()], {"a:2": profiles["a:2"]}).template.markers
    assert "once.md" in alone


def test_a_template_records_its_origin() -> None:
    """Sessions, calls and rates of the profiles, skipped sessions, and the filters."""
    request = replace(REQUEST, skipped={"short": 3}, filters={"agent": "codex"})
    facts = build(request, [lesson()], {"a:1": profile("1"), "a:2": profile("2")}).template.extraction
    assert (facts.sessions, facts.calls, facts.error_rate, facts.mistake_rate) == (2, 80, 0.05, 0.05)
    assert facts.skipped == {"short": 3}
    assert facts.settings == {"agent": "codex"}
    assert build(REQUEST, [lesson()], {}).template.extraction.error_rate is None


@given(st.permutations(range(12)), st.permutations(range(4)))
def test_the_order_of_lessons_and_sessions_does_not_matter(lessons: list[int], sessions: list[int]) -> None:
    """Any order gives the same bytes."""
    some = [lesson(use=f"c{number % 7}", score=number % 3 / 3) for number in range(8)]
    some = [replace(each, id=f"l{number}") for number, each in enumerate(some)]
    some += [example("Bash", number % 3) for number in range(4)]
    profiles = [(f"a:{number}", profile(str(number), messages=number)) for number in range(4)]
    straight = build(REQUEST, some, dict(profiles))
    turned = build(REQUEST, [some[place] for place in lessons], dict([profiles[place] for place in sessions]))
    assert canonical_json(straight.template) == canonical_json(turned.template)
    assert straight.left_out == turned.left_out
