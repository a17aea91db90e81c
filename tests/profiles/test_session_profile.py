"""The profile of one session: what is counted over what, and what is said when there is too little."""

import math

import msgspec
import pytest

from preheat.model.outcome import Outcome
from preheat.model.profile import Rate, SessionProfile
from preheat.model.session import Other, Session, Usage
from preheat.profiles import profile_session, trace

from .sessions import Story


def test_errors_are_failures_over_judged_calls_without_bookkeeping() -> None:
    story = Story().runs("a").runs("b", "failed").runs("c", "partial", cause="finding").runs("d", "empty")
    story.runs("e", "unknown").runs("f", "denied", cause="environment").runs("g", "interrupted")
    story.calls("todo", "plan", "failed")
    found = story.profile
    assert (found.calls, found.bookkeeping_calls) == (7, 1)
    assert (found.errors.count, found.errors.total) == (2, 4)
    assert (found.mistakes.count, found.mistakes.total) == (1, 4)
    assert found.causes == {"mistake": 1, "finding": 1}
    assert found.statuses == {
        "ok": 1, "failed": 1, "empty": 1, "partial": 1, "denied": 1, "interrupted": 1, "unknown": 1,
    }  # fmt: skip
    assert "todo" not in found.tools


def test_tools_stand_in_the_order_of_their_use() -> None:
    story = Story().reads("a").runs("x").runs("y", "failed").runs("z", "unknown")
    tools = story.profile.tools
    assert list(tools) == ["Shell", "Read"]
    assert tools["Shell"].calls == 3
    assert (tools["Shell"].errors.count, tools["Shell"].errors.total) == (1, 2)


def test_early_and_late_are_the_first_and_last_fifth() -> None:
    story = Story()
    for number in range(11):
        story.runs(f"echo {number}", "failed" if number in (0, 1, 5, 10) else "ok")
    found = story.profile
    assert (found.early.count, found.early.total) == (2, 2)
    assert (found.late.count, found.late.total) == (1, 2)
    assert found.proficiency_gain == -0.5
    assert found.slope is not None
    assert found.slope < 0


def test_fewer_than_five_calls_have_no_early_and_late() -> None:
    found = Story().runs("a").runs("b").runs("c").runs("d").profile
    assert found.early == found.late == Rate(0, 0)
    assert found.proficiency_gain is None
    assert found.slope is None


def test_recoveries_repeats_and_losses_add_up() -> None:
    story = (
        Story().says("go").runs("make x", "failed", signature="no rule").runs("make x", "failed", signature="no rule")
    )
    story.runs("make x").reads("a.py").reads("a.py")
    found = story.profile
    assert (found.recovery.count, found.recovery.total, found.recovery_calls) == (2, 2, 1.5)
    assert (found.repeats.count, found.repeats.total) == (3, 5)
    assert (found.repeated_failures.count, found.repeated_failures.total) == (1, 2)
    assert (found.rereads.count, found.rereads.total) == (1, 2)
    assert found.lost_seconds == sum(record.lost_seconds for record in story.records) > 0
    assert found.lost_tokens == sum(record.lost_tokens for record in story.records) > 0


def test_the_score_is_the_seeds() -> None:
    """0.7 x success rate + 0.3 x min(1, messages / 100); nothing under ten messages."""
    story = Story().runs("a", "failed").runs("b").runs("c").runs("d")
    assert story.profile.proficiency == 0.0
    story.runs("e")
    assert story.profile.messages == 10
    assert story.profile.proficiency == pytest.approx(0.7 * 0.8 + 0.3 * 0.1)
    for _ in range(60):
        story.runs("f")
    assert story.profile.proficiency == pytest.approx(0.7 * 64 / 65 + 0.3)


def test_context_is_the_largest_input_of_one_response() -> None:
    story = (
        Story().answers("a", "r", Usage(input=5, output=7)).answers("b", "r", Usage(input=10, output=9, cache_read=90))
    )
    story.answers("c", "s", Usage(input=20, cache_write=30))
    assert story.profile.context_peak == 100
    assert story.profile.tokens == 109 + 50
    assert story.profile.context_window is None
    story.events.append(Other(line=99, name="context_window", raw=200_000))
    assert story.profile.context_window == 200_000
    assert story.compacts().profile.context_peak == 500


def test_a_total_over_many_responses_is_no_context() -> None:
    """Some programs state their tokens once for a whole run."""
    story = Story().runs("a", response="1").runs("b", response="2").runs("c", response="3")
    assert story.answers("done", "", Usage(input=900_000)).profile.context_peak is None
    assert story.profile.tokens == 900_000


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([], "general"),
        ([("Bash", "shell"), ("Read", "read")], "terminal"),
        ([("Read", "read"), ("Edit", "edit"), ("Bash", "shell")], "file"),
        ([("execute_code", "shell"), ("execute_code", "other"), ("Bash", "shell")], "code"),
        ([("Grep", "search"), ("Fetch", "web"), ("Read", "read")], "research"),
        ([("Task", "delegate"), ("x", "other"), ("Task", "delegate")], "meta"),
        ([("TodoWrite", "plan"), ("TodoWrite", "plan"), ("x", "other")], "general"),
    ],
)
def test_the_dominant_type_is_what_most_calls_are(tools: list[tuple[str, str]], expected: str) -> None:
    story = Story()
    for tool, kind in tools:
        story.calls(tool, kind)  # type: ignore[arg-type]
    assert story.profile.dominant_tool_type == expected


# Bad input.
def empty() -> SessionProfile:
    session = Session(agent="some", id="none")
    return profile_session(session, (), trace(session, ()))


def test_an_empty_session_has_a_profile() -> None:
    found = empty()
    assert found.errors == Rate(0, 0)
    assert (found.proficiency, found.seconds, found.tokens, found.context_peak) == (0.0, None, 0, None)
    assert found.user.style == "unknown"


def test_one_call_unknown_calls_and_failures_alone_have_rates() -> None:
    assert Story().runs("a").profile.errors.value == 0.0
    unknown = Story().runs("a", "unknown").runs("b", "unknown").profile
    assert unknown.errors == Rate(0, 0)
    assert unknown.tools["Shell"].errors == Rate(0, 0)
    story = Story()
    for number in range(30):
        story.runs(f"x{number}", "failed", signature="same")
    found = story.profile
    assert found.errors.value == 1.0
    assert found.slope is None
    assert found.repeated_failures.count == 29
    assert found.recovery.value == 0.0


def test_ten_thousand_calls_take_time_in_proportion() -> None:
    """Half of them edits and half of them rereads, the worst case for the memory of what was written."""
    story = Story()
    for number in range(5000):
        story.reads(f"/w/{number % 7}.py").edits(f"/w/{number}.rs", "failed" if number % 10 == 0 else "ok")
    found = story.profile
    assert found.calls == 10_000
    assert found.errors.count == 500
    assert found.rereads.count == 5000 - 7
    assert all(math.isfinite(value) for value in (found.slope or 0, found.slope_low or 0, found.slope_high or 0))


def test_a_profile_is_json_and_comes_back() -> None:
    for found in (empty(), Story().says("hi?").runs("a", "failed").profile):
        assert msgspec.json.decode(msgspec.json.encode(found), type=SessionProfile) == found


def test_a_verdict_for_every_call_is_asked_for() -> None:
    with pytest.raises(ValueError, match="zip"):
        trace(Story().runs("a").session, (Outcome("1", "ok", "flag"), Outcome("2", "ok", "flag")))
