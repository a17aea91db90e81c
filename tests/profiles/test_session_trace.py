"""Each call in its place: message, era, repetition, what a failure cost."""

import pytest

from preheat.calls.intent import is_bookkeeping
from preheat.ingest.source_rows import make_session_rows
from preheat.model.session import Event, Rewind, ToolCall, ToolKind, ToolResult, Usage, UserMessage
from preheat.profiles import trace

from .sessions import Story


def test_messages_and_eras_are_counted_as_the_archive_counts() -> None:
    """Prompts of a person, texts of the assistant, calls and results; not what programs put in, not empty texts."""
    story = Story().says("go").answers("").answers("well").runs("ls")
    story.events.append(UserMessage(line=9, text="reminder", origin="injected"))
    story.compacts().runs("pwd")
    first, second = story.records
    assert (first.seq, first.message, first.era) == (0, 3, 0)
    assert (second.seq, second.message, second.era) == (1, 5, 1)
    assert story.profile.messages == make_session_rows(story.session).counts["messages"] == 6
    assert story.profile.compactions == 1


@pytest.mark.parametrize(
    ("tool", "kind", "expected"),
    [
        ("update_plan", "plan", True),
        ("memory", "other", True),
        ("mcp__memory__create_entities", "other", True),
        ("clarify", "other", True),
        ("AskUserQuestion", "other", True),
        ("ask_followup_question", "other", True),
        ("fact_store", "other", True),
        ("session_search", "search", True),
        ("skill_view", "read", True),
        ("skills_list", "search", True),
        ("TodoRead", "other", True),
        ("Task", "delegate", False),
        ("search_files", "search", False),
        ("list_sessions", "search", False),
        ("Skill", "other", False),
        ("factory", "other", False),
    ],
)
def test_bookkeeping_is_recognised_by_the_words_of_a_tool_s_name(tool: str, kind: ToolKind, expected: bool) -> None:
    assert is_bookkeeping(tool, kind) is expected


def test_the_activity_of_a_shell_call_is_its_purpose() -> None:
    story = (
        Story().runs("cd x && pytest -q | tail -3").runs("git status").reads("a.py").calls("stdin", "shell", chars="y")
    )
    assert [record.activity for record in story.records] == ["shell:test", "shell:vcs", "read", "shell"]


# Repetitions.
def test_a_repeated_call_has_the_same_tool_and_arguments_in_any_order() -> None:
    story = Story()
    story.calls("T", "other", a=1, b={"x": [1]}).calls("T", "other", b={"x": [1]}, a=1).calls("T", "other", a=2)
    story.calls("U", "other", a=2)
    assert [record.repeated for record in story.records] == [False, True, False, False]


def test_a_description_does_not_make_a_shell_call_another_one() -> None:
    story = (
        Story().runs("make", description="build").runs("make", description="once more").runs("make", workdir="/other")
    )
    assert [record.repeated for record in story.records] == [False, True, False]


def test_arguments_that_are_no_json_are_compared_too() -> None:
    story = Story().calls("T", "other", a="\ud800").calls("T", "other", a="\ud800").calls("T", "other", a="\ud801")
    assert [record.repeated for record in story.records] == [False, True, False]


def rereads(story: Story) -> list[bool]:
    return [record.reread for record in story.records]


def test_a_reread_is_of_the_same_file_and_range() -> None:
    story = Story().reads("/w/a.py").reads("/w/a.py", offset=10).reads("/w/a.py").reads("/w/b.py")
    assert rereads(story) == [False, False, True, False]


def test_a_written_file_is_read_anew_and_another_one_is_not() -> None:
    assert rereads(Story().reads("/w/a.py").edits("/w/a.py").reads("/w/a.py").reads("/w/a.py")) == [
        False,
        False,
        False,
        True,
    ]
    assert rereads(Story().reads("/w/a.py").edits("/w/b.py").reads("/w/a.py")) == [False, False, True]


@pytest.mark.parametrize(
    "command", ["sed -i s/a/b/ a.py", "cat > a.py <<'E'\nx\nE", "git checkout .", "git stash pop", "ruff format"]
)
def test_shell_commands_write_files_too(command: str) -> None:
    assert rereads(Story().reads("/w/a.py").runs(command).reads("/w/a.py"))[-1] is False


def test_shell_commands_read_files_too() -> None:
    story = Story().runs("sed -n 1,9p a.py").runs("sed -n 1,9p a.py").edits("/w/a.py").runs("sed -n 1,9p a.py")
    assert rereads(story) == [False, True, False, False]


def test_a_patch_writes_every_file_it_names() -> None:
    patch = "*** Begin Patch\n*** Update File: x/b.py\n@@\n*** Add File: a.py\n+x\n*** End Patch"
    story = Story().reads("/w/a.py").reads("/w/c.py").calls("apply_patch", "edit", text=patch)
    assert rereads(story.reads("/w/a.py").reads("/w/c.py"))[-2:] == [False, True]


def test_a_failed_read_is_none_and_reads_outlast_a_compaction() -> None:
    assert rereads(Story().reads("/w/a.py", "failed").reads("/w/a.py"))[-1] is False
    assert rereads(Story().reads("/w/a.py").compacts().reads("/w/a.py"))[-1] is True


# What a failure costs.
def test_time_is_lost_from_the_models_last_input_to_the_result() -> None:
    """The prompt is at 1000, the answer begins at 1002; the failed call's result is there at 1006."""
    story = Story().says("go").answers("I run it.").runs("lss", "failed")
    (record,) = story.records
    assert record.seconds == 2.0
    assert record.lost_seconds == 6.0


def test_no_second_is_lost_twice() -> None:
    """Two calls of one response that run side by side and both fail."""
    story = Story().says("go")
    events: list[Event] = [
        ToolCall(line=2, at=1004.0, call_id="a", tool="T", kind="other", input={}, response="r"),
        ToolCall(line=3, at=1004.0, call_id="b", tool="T", kind="other", input={"b": 1}, response="r"),
        ToolResult(line=4, at=1010.0, call_id="a", text="no"),
        ToolResult(line=5, at=1013.0, call_id="b", text="no"),
    ]
    verdicts = Story().calls("T", "other", "failed").calls("T", "other", "failed").outcomes
    story.events += events
    lost = [record.lost_seconds for record in trace(story.session, tuple(verdicts))]
    assert lost == [10.0, 3.0]


def test_a_wait_over_night_costs_ten_minutes() -> None:
    story = Story().says("go")
    story.now += 50_000
    assert story.runs("lss", "failed").records[0].lost_seconds == 600.0


def test_tokens_are_lost_with_the_response_and_the_result() -> None:
    """Half of the response's output, because it made two calls, and a quarter of the result's letters."""
    story = Story().says("go").answers("", response="r", usage=Usage(output=100))
    story.runs("lss", "failed", response="r", result="x" * 40).runs("ls", response="r")
    assert [record.lost_tokens for record in story.records] == [60, 0]


@pytest.mark.parametrize(("status", "cause"), [("failed", "finding"), ("ok", None), ("denied", "environment")])
def test_findings_and_what_did_not_fail_cost_nothing(status: str, cause: str | None) -> None:
    """A failing test is what a test is for."""
    (record,) = Story().says("go").runs("pytest", status, cause=cause).records  # type: ignore[arg-type]
    assert (record.lost_seconds, record.lost_tokens) == (0.0, 0)


def test_calls_without_times_lose_no_seconds() -> None:
    story = Story()
    story.events = [
        ToolCall(line=1, call_id="call 0", tool="T", kind="other", input={}),
        ToolResult(line=2, call_id="call 0", text="abcdefgh"),
    ]
    verdicts = Story().calls("T", "other", "failed").outcomes
    (record,) = trace(story.session, tuple(verdicts))
    assert (record.seconds, record.lost_seconds, record.lost_tokens) == (None, 0.0, 2)


def test_results_that_are_missing_doubled_or_early_are_joined_by_id() -> None:
    """The first result counts; one that stands before its call counts; a rewind takes nothing out of the calls."""
    story = Story()
    story.events = [
        ToolResult(line=1, at=5.0, call_id="a", text="early", seconds=1.5),
        ToolCall(line=2, at=6.0, call_id="a", tool="T", kind="other", input={}),
        ToolResult(line=3, at=7.0, call_id="a", text="again", seconds=9.0),
        ToolCall(line=4, at=8.0, call_id="b", tool="T", kind="other", input={}),
        Rewind(line=5, after=2),
        ToolCall(line=6, at=9.0, call_id="c", tool="T", kind="other", input={}),
    ]
    verdicts = Story().calls("T", "other").calls("T", "other", "unknown").calls("T", "other", "unknown").outcomes
    records = trace(story.session, tuple(verdicts))
    assert [record.seconds for record in records] == [1.5, None, None]
    assert [record.message for record in records] == [2, 4, 5]
