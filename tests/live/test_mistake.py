"""Known mistakes: what is taken into the index, when it is said, and that it is said once."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from preheat.app.live import advice
from preheat.live.advice import record_advice
from preheat.live.mistake import (
    MISTAKE,
    NO_KNOWN_MISTAKES,
    KnownMistakes,
    MistakeState,
    find_hint_after_failure,
    find_hint_before_command,
    index_lessons,
    read_last_failure,
    read_planned_command,
    split_commands,
)
from preheat.live.signal import DEFAULTS, ByPhase, FoldContext, Thresholds
from preheat.live.state import START, LiveState, fold
from preheat.model.lesson import Lesson, LessonStatus, Scope, Support
from preheat.model.live import Advisory, CallEvent, HookEvent, LiveEvent
from tests.live.builders import asked, began, checked, ran

NOW = 1_770_000_000.0
ERROR = "error: unrecognized subcommand …"
FRAME = FoldContext(1, "productive", DEFAULTS)


def repair(
    *,
    use: str = "bun run test",
    avoid: str = "rtk bun run test",
    status: LessonStatus = "active",
    worked: tuple[int, int] = (8, 0),
    sessions: int = 8,
    difference: str = "without `rtk`",
    error: str = ERROR,
    agent: str = "",
    project: str = "shop",
) -> Lesson:
    shown = f" `{use}`" if use else ""
    return Lesson(
        id="r1", kind="repair", scope=Scope(agent, project), text=f"`{avoid}` fails; {difference} it works:{shown}.", use=use,
        avoid=avoid, error=error, difference=difference, signatures=(error,), forms=(avoid.partition(" ")[0], "bun run test"),
        support=Support(worked[0], sessions, worked[1], 1 if worked[1] else 0), status=status, last_seen=NOW,
    )  # fmt: skip


def failure(command: str = "rtk bun run test", signature: str = ERROR) -> CallEvent:
    return msgspec.structs.replace(
        ran(command, ok=False, signature=signature, cause="mistake"), form=" ".join(command.split()[1:4])
    )


def folded(*events: LiveEvent) -> MistakeState:
    state: MistakeState = MISTAKE.start
    for event in events:
        state = MISTAKE.step(state, event, FRAME)
    return state


# What is known.
def test_a_hint_is_found_by_the_words_of_an_error_and_the_program() -> None:
    index = index_lessons([repair()], NOW)
    found = find_hint_after_failure(index, "error unrecognized subcommand", "bun", "rtk bun run test")
    assert found is not None
    assert found.lesson == "r1"
    assert find_hint_after_failure(index, "error unrecognized subcommand", "cargo", "cargo tset") is None
    assert find_hint_after_failure(index, "error something else", "bun", "rtk bun run test") is None


def test_lessons_that_may_not_be_given_make_no_hint() -> None:
    unfit = [
        repair(status="weak"),
        repair(status="retired"),
        repair(status="quarantined"),
        repair(sessions=1),
        repair(worked=(4, 4)),
        msgspec.structs.replace(repair(), expires_at=NOW - 1),
    ]
    for lesson in unfit:
        assert index_lessons([lesson], NOW) == NO_KNOWN_MISTAKES


def test_a_repair_that_the_error_names_makes_no_hint() -> None:
    lesson = repair(
        use="", avoid="Edit", difference="after reading the file", error="File has not been read yet. Read it first"
    )
    assert index_lessons([lesson], NOW) == NO_KNOWN_MISTAKES


def test_a_generic_hint_is_given_only_for_a_repeated_failure() -> None:
    lesson = repair(
        use="", avoid="apply_patch", difference="after reading the file", error="Failed to find expected lines"
    )
    index = index_lessons([lesson], NOW)
    failed = msgspec.structs.replace(
        ran("", ok=False, signature="Failed to find expected lines"), kind="edit", form="apply_patch"
    )
    once = folded(failed)
    assert read_last_failure(once, index) is None
    twice = folded(failed, ran("ls"), failed)
    found = read_last_failure(twice, index)
    assert found is not None
    assert "after reading the file it worked 8 of 8 times" in found.text
    assert read_last_failure(folded(failed, *(ran(f"ls {n}") for n in range(12)), failed), index) is None


def test_the_text_of_a_hint_has_the_commands_counts_and_lesson() -> None:
    found = read_last_failure(folded(failure()), index_lessons([repair()], NOW))
    assert found is not None
    assert found.text == (
        "Where a call like this failed here, `bun run test` worked 8 of 8 times in 8 earlier sessions (lesson r1)."
    )


def test_a_hint_of_other_projects_does_not_say_here() -> None:
    """K3: it may never have failed in this one."""
    found = read_last_failure(folded(failure()), index_lessons([repair(project="")], NOW))
    assert found is not None
    assert found.text.startswith("Where a call like this failed in other projects, `bun run test` worked")
    assert " here" not in found.text.removeprefix("Where")


def test_a_failed_repair_gets_no_hint_with_the_same_repair() -> None:
    index = index_lessons([repair(avoid="bun test", use="bun run test")], NOW)
    assert find_hint_after_failure(index, "error unrecognized subcommand", "bun", "cd app && bun run test") is None


def test_the_hint_of_a_dead_end_is_for_its_own_command_only() -> None:
    lesson = Lesson(
        id="d1", kind="dead_end", scope=Scope(), topic="command", text="…", avoid="docker compose up -d",
        error="Cannot connect to the Docker daemon", signatures=("Cannot connect to the Docker daemon",),
        forms=("docker compose up -d",), support=Support(4, 3), last_seen=NOW,
    )  # fmt: skip
    index = index_lessons([lesson], NOW)
    words = "cannot connect to the docker daemon"
    found = find_hint_after_failure(index, words, "docker", "docker compose up -d")
    assert found is not None
    assert "failed all 4 times in 3 earlier sessions" in found.text
    assert find_hint_after_failure(index, words, "docker", "docker ps") is None


# Before a call.
def test_a_command_that_always_failed_gets_a_hint_before_it_runs() -> None:
    index = index_lessons([repair()], NOW)
    for command in ("rtk bun run test", "cd app && CI=1 rtk bun run test 2>&1 | tail -20", "rtk bun run test --watch"):
        assert find_hint_before_command(index, command) is not None
    for command in ("bun run test", "rtk bun run build", "echo rtk bun run test", "grep 'rtk bun run test' notes.md"):
        assert find_hint_before_command(index, command) is None


def test_a_command_with_the_words_that_the_repair_adds_gets_no_hint() -> None:
    index = index_lessons(
        [repair(avoid="go test ./pay", use="go test -tags=integration ./pay", difference="with `-tags`")], NOW
    )
    assert find_hint_before_command(index, "go test ./pay") is not None
    assert find_hint_before_command(index, "go test ./pay -tags=integration") is None
    assert find_hint_before_command(index, "go test ./pay -run TestOne") is None


def test_placeholders_match_any_word() -> None:
    index = index_lessons([repair(avoid="gh pr diff N --stat", use="gh pr diff N --name-only")], NOW)
    assert find_hint_before_command(index, "gh pr diff 1234 --stat") is not None
    assert find_hint_before_command(index, "gh pr diff --stat") is None


def test_a_hint_before_a_command_needs_more_sessions() -> None:
    index = index_lessons([repair(sessions=2)], NOW)
    assert find_hint_before_command(index, "rtk bun run test") is None
    assert read_last_failure(folded(failure()), index) is not None


def test_a_lesson_of_one_agent_makes_no_hint_for_another() -> None:
    index = index_lessons([repair(agent="codex")], NOW)
    assert find_hint_before_command(index, "rtk bun run test", "gemini") is None
    assert find_hint_before_command(index, "rtk bun run test", "codex") is not None


@given(st.text(max_size=200))
def test_any_text_can_be_split_into_commands(command: str) -> None:
    assert all(split_commands(command))
    find_hint_before_command(index_lessons([repair()], NOW), command)


# In a session.
def test_the_mistake_signal_counts_how_often_a_failure_occurred() -> None:
    state = folded(failure(), failure())
    assert MISTAKE.read(state, FRAME).value == 2
    assert MISTAKE.read(folded(failure(), ran("ls")), FRAME).value == 0
    assert MISTAKE.read(folded(checked(ok=False)), FRAME).value == 0
    assert folded(failure(), began("startup")) == MistakeState()
    assert folded(failure(), asked("more")).words


def test_the_mistake_state_stays_bounded() -> None:
    state = folded(*(failure(signature=f"error {chr(97 + n % 26) * (n + 1)} here") for n in range(200)))
    assert len(state.failure_counts) <= 32
    assert len(msgspec.msgpack.encode(state)) < 20_000
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=MistakeState) == state


def play(
    index: KnownMistakes, *events: LiveEvent, thresholds: Thresholds = DEFAULTS
) -> tuple[LiveState, list[Advisory]]:
    state, said = START, []
    for event in events:
        state, advisory = advice.step(state, event, index, thresholds)
        said += [advisory] if advisory else []
    return state, said


def test_a_lesson_is_given_once_in_a_session() -> None:
    events = [event for n in range(30) for event in (ran(f"ls {n}"), failure())]
    _, said = play(index_lessons([repair()], NOW), began(), *events)
    assert [advisory.lesson for advisory in said if advisory.signal == "mistake"] == ["r1"]


def test_a_lesson_given_before_a_call_is_not_given_after_it() -> None:
    index = index_lessons([repair()], NOW)
    hook = HookEvent(agent="claude_code", session="s", name="before_tool", tool="Bash",
                     arguments={"command": "rtk bun run test"})  # fmt: skip
    state = fold(START, ran("ls"))
    warning = advice.advise_before_call(state, hook, index)
    assert warning is not None
    assert warning.text.startswith("<preheat-advisory>")
    assert len(warning.text) < 120 * 3.5
    state = record_advice(state, warning)
    assert advice.advise_before_call(state, hook, index) is None
    _, advisory = advice.step(state, failure(), index)
    assert advisory is None


def test_hints_count_in_the_advice_budget() -> None:
    silent = msgspec.structs.replace(DEFAULTS, advice_per_ten_turns=ByPhase(0, 0, 0, 0, 0))
    _, said = play(index_lessons([repair()], NOW), began(), failure(), thresholds=silent)
    assert said == []


def test_a_hint_comes_before_other_signals() -> None:
    index = index_lessons([repair(sessions=2)], NOW)
    _, said = play(index, began(), *(failure() for _ in range(3)))
    assert said[0].signal == "mistake"


def test_only_commands_get_hints_before_they_run() -> None:
    hook = HookEvent(agent="claude_code", session="s", name="before_tool", tool="Write",
                     arguments={"file_path": "a.sh", "content": "rtk bun run test"})  # fmt: skip
    assert advice.advise_before_call(START, hook, index_lessons([repair()], NOW)) is None
    assert read_planned_command(MistakeState(), NO_KNOWN_MISTAKES, "rtk bun run test") is None
