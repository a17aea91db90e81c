"""Known mistakes: what is taken into the index, when it is said, and that it is said once."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from preheat.app.live import advice
from preheat.live.advise import told
from preheat.live.fold import fold
from preheat.live.known import NOTHING, Known, after, before, known, pieces
from preheat.live.mistake import MISTAKE, MistakeState, about_to, happened
from preheat.live.part import Frame
from preheat.live.state import START, LiveState
from preheat.live.thresholds import DEFAULTS, ByPhase, Thresholds
from preheat.model.lesson import Lesson, LessonStatus, Scope, Support
from preheat.model.live import Advisory, Called, HookEvent, LiveEvent
from tests.live.made import asked, began, checked, ran

NOW = 1_770_000_000.0
ERROR = "error: unrecognized subcommand …"
FRAME = Frame(1, "productive", DEFAULTS)


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
) -> Lesson:
    shown = f" `{use}`" if use else ""
    return Lesson(
        id="r1", kind="repair", scope=Scope(agent=agent), text=f"`{avoid}` fails; {difference} it works:{shown}.", use=use,
        avoid=avoid, error=error, difference=difference, signatures=(error,), forms=(avoid.partition(" ")[0], "bun run test"),
        support=Support(worked[0], sessions, worked[1], 1 if worked[1] else 0), status=status, last_seen=NOW,
    )  # fmt: skip


def failure(command: str = "rtk bun run test", signature: str = ERROR) -> Called:
    return msgspec.structs.replace(
        ran(command, ok=False, signature=signature, cause="mistake"), form=" ".join(command.split()[1:4])
    )


def folded(*events: LiveEvent) -> MistakeState:
    state: MistakeState = MISTAKE.start
    for event in events:
        state = MISTAKE.step(state, event, FRAME)
    return state


# What is known.
def test_a_failure_is_known_by_its_words_and_its_program() -> None:
    """The same error of another program is another mistake."""
    index = known([repair()], NOW)
    found = after(index, "error unrecognized subcommand", "bun", "rtk bun run test")
    assert found is not None
    assert found.lesson == "r1"
    assert after(index, "error unrecognized subcommand", "cargo", "cargo tset") is None
    assert after(index, "error something else", "bun", "rtk bun run test") is None


def test_what_may_not_be_handed_out_is_not_known() -> None:
    """Weak, retired, quarantined, expired, from one session, or as often wrong as right."""
    unfit = [
        repair(status="weak"),
        repair(status="retired"),
        repair(status="quarantined"),
        repair(sessions=1),
        repair(worked=(4, 4)),
        msgspec.structs.replace(repair(), expires_at=NOW - 1),
    ]
    for lesson in unfit:
        assert known([lesson], NOW) == NOTHING


def test_a_repair_that_the_error_names_itself_is_not_repeated() -> None:
    """Whoever reads `File has not been read yet` needs nobody to say that it must be read."""
    lesson = repair(
        use="", avoid="Edit", difference="after reading the file", error="File has not been read yet. Read it first"
    )
    assert known([lesson], NOW) == NOTHING


def test_how_a_tool_is_used_is_said_only_to_who_does_not_find_out() -> None:
    """Agents mostly mend such a failure with their next calls. The second time within ten calls they have not."""
    lesson = repair(
        use="", avoid="apply_patch", difference="after reading the file", error="Failed to find expected lines"
    )
    index = known([lesson], NOW)
    failed = msgspec.structs.replace(
        ran("", ok=False, signature="Failed to find expected lines"), kind="edit", form="apply_patch"
    )
    once = folded(failed)
    assert happened(once, index) is None
    twice = folded(failed, ran("ls"), failed)
    found = happened(twice, index)
    assert found is not None
    assert "after reading the file, it worked 8 of 8 times" in found.text
    assert happened(folded(failed, *(ran(f"ls {n}") for n in range(12)), failed), index) is None


def test_the_text_has_the_evidence() -> None:
    """What fails, with what, what worked, how often, and which lesson says so."""
    found = happened(folded(failure()), known([repair()], NOW))
    assert found is not None
    assert found.text == (
        '`rtk bun run test` fails here with "error: unrecognized subcommand …"; `bun run test` worked 8 of 8 times in 8'
        " earlier sessions (lesson r1)."
    )


def test_the_repair_itself_is_not_answered_with_the_repair() -> None:
    """Where what worked earlier has just failed, it does not hold here."""
    index = known([repair(avoid="bun test", use="bun run test")], NOW)
    assert after(index, "error unrecognized subcommand", "bun", "cd app && bun run test") is None


def test_a_dead_end_is_told_for_its_own_command_only() -> None:
    """That one command never worked says nothing of the others that fail alike."""
    lesson = Lesson(
        id="d1", kind="dead_end", scope=Scope(), topic="command", text="…", avoid="docker compose up -d",
        error="Cannot connect to the Docker daemon", signatures=("Cannot connect to the Docker daemon",),
        forms=("docker compose up -d",), support=Support(4, 3), last_seen=NOW,
    )  # fmt: skip
    index = known([lesson], NOW)
    words = "cannot connect to the docker daemon"
    found = after(index, words, "docker", "docker compose up -d")
    assert found is not None
    assert "failed all 4 times in 3 earlier sessions" in found.text
    assert after(index, words, "docker", "docker ps") is None


# Before a call.
def test_a_command_that_always_failed_is_warned_of() -> None:
    """As it was typed, with what surrounds it; not its repair, nor anything that only looks like it."""
    index = known([repair()], NOW)
    for command in ("rtk bun run test", "cd app && CI=1 rtk bun run test 2>&1 | tail -20", "rtk bun run test --watch"):
        assert before(index, command) is not None
    for command in ("bun run test", "rtk bun run build", "echo rtk bun run test", "grep 'rtk bun run test' notes.md"):
        assert before(index, command) is None


def test_what_the_repair_adds_makes_a_command_another() -> None:
    """A repair by an option: only the command without it is meant."""
    index = known(
        [repair(avoid="go test ./pay", use="go test -tags=integration ./pay", difference="with `-tags`")], NOW
    )
    assert before(index, "go test ./pay") is not None
    assert before(index, "go test ./pay -tags=integration") is None
    assert before(index, "go test ./pay -run TestOne") is None


def test_placeholders_stand_for_anything() -> None:
    """A lesson's command names no case."""
    index = known([repair(avoid="gh pr diff N --stat", use="gh pr diff N --name-only")], NOW)
    assert before(index, "gh pr diff 1234 --stat") is not None
    assert before(index, "gh pr diff --stat") is None


def test_before_anything_failed_more_is_asked_of_a_lesson() -> None:
    """Two sessions are enough to mend a failure, not to warn of one."""
    index = known([repair(sessions=2)], NOW)
    assert before(index, "rtk bun run test") is None
    assert happened(folded(failure()), index) is not None


def test_a_lesson_of_one_agent_is_not_told_to_another() -> None:
    """Tools differ."""
    index = known([repair(agent="codex")], NOW)
    assert before(index, "rtk bun run test", "gemini") is None
    assert before(index, "rtk bun run test", "codex") is not None


@given(st.text(max_size=200))
def test_any_command_can_be_looked_up(command: str) -> None:
    """No text breaks it; a piece always has a word."""
    assert all(pieces(command))
    before(known([repair()], NOW), command)


# In a session.
def test_the_signal_counts_how_often_a_failure_came() -> None:
    """Findings are no mistakes, and a good call ends it."""
    state = folded(failure(), failure())
    assert MISTAKE.read(state, FRAME).value == 2
    assert MISTAKE.read(folded(failure(), ran("ls")), FRAME).value == 0
    assert MISTAKE.read(folded(checked(ok=False)), FRAME).value == 0
    assert folded(failure(), began("startup")) == MistakeState()
    assert folded(failure(), asked("more")).words


def test_the_state_stays_small() -> None:
    """Whatever fails, however often."""
    state = folded(*(failure(signature=f"error {chr(97 + n % 26) * (n + 1)} here") for n in range(200)))
    assert len(state.met) <= 32
    assert len(msgspec.msgpack.encode(state)) < 20_000
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=MistakeState) == state


def play(index: Known, *events: LiveEvent, thresholds: Thresholds = DEFAULTS) -> tuple[LiveState, list[Advisory]]:
    state, said = START, []
    for event in events:
        state, advisory = advice.step(state, event, index, thresholds)
        said += [advisory] if advisory else []
    return state, said


def test_a_lesson_is_told_once_in_a_session() -> None:
    """However often the mistake is made again."""
    events = [event for n in range(30) for event in (ran(f"ls {n}"), failure())]
    _, said = play(known([repair()], NOW), began(), *events)
    assert [advisory.lesson for advisory in said if advisory.signal == "mistake"] == ["r1"]


def test_what_was_told_before_the_call_is_not_told_after_it() -> None:
    """One lesson, one word, whichever hook came first."""
    index = known([repair()], NOW)
    hook = HookEvent(agent="claude_code", session="s", name="before_tool", tool="Bash",
                     arguments={"command": "rtk bun run test"})  # fmt: skip
    state = fold(START, ran("ls"))
    warning = advice.before(state, hook, index)
    assert warning is not None
    assert warning.text.startswith("<preheat-advisory>")
    assert len(warning.text) < 120 * 3.5
    state = told(state, warning)
    assert advice.before(state, hook, index) is None
    _, advisory = advice.step(state, failure(), index)
    assert advisory is None


def test_there_is_no_more_than_the_budget_allows() -> None:
    """A known mistake counts as any other text."""
    silent = msgspec.structs.replace(DEFAULTS, advice_per_ten_turns=ByPhase(0, 0, 0, 0, 0))
    _, said = play(known([repair()], NOW), began(), failure(), thresholds=silent)
    assert said == []


def test_a_known_repair_comes_before_what_a_signal_says() -> None:
    """The repair for the very error beats advice in general: the third failure in a row is a loop as well."""
    index = known([repair(sessions=2)], NOW)
    _, said = play(index, began(), *(failure() for _ in range(3)))
    assert said[0].signal == "mistake"


def test_only_commands_are_looked_at_before_they_run() -> None:
    """A file that is written may hold any text."""
    hook = HookEvent(agent="claude_code", session="s", name="before_tool", tool="Write",
                     arguments={"file_path": "a.sh", "content": "rtk bun run test"})  # fmt: skip
    assert advice.before(START, hook, known([repair()], NOW)) is None
    assert about_to(MistakeState(), NOTHING, "rtk bun run test") is None
