"""Phase: what the session is in."""

from msgspec.structs import replace

from preheat.live.phase import PHASE, PhaseState
from preheat.live.signal import DEFAULTS, NO_READINGS, EarlierReadings, Thresholds
from preheat.model.live import LiveEvent
from tests.live.builders import asked, began, checked, edited, fold_signal, ran, read

LOOK = read("src/a.py")
LAPSE = EarlierReadings(is_lapse=True)


def after(
    events: list[LiveEvent], *, turn: int = 0, earlier: EarlierReadings = NO_READINGS, state: PhaseState | None = None,
    thresholds: Thresholds = DEFAULTS,
) -> PhaseState:  # fmt: skip
    """The state after events, the first of which is of the turn after `turn`."""
    found: PhaseState = fold_signal(
        PHASE,
        events,
        phase=state.phase if state else "warmup",
        thresholds=thresholds,
        earlier=earlier,
        state=state,
        turn=turn,
    )
    return found


WORKING = after([LOOK] * 10)


def test_warmup_is_the_first_five_turns() -> None:
    """And then the session is productive at once."""
    assert after([LOOK] * 5).phase == "warmup"
    state = after([LOOK] * 6)
    assert (state.phase, state.reason, state.since) == ("productive", "5 turns are over", 6)


def test_a_session_is_late_from_turn_eighty_on() -> None:
    assert after([LOOK] * 79).phase == "productive"
    assert (after([LOOK] * 80).phase, after([LOOK] * 80).reason) == ("late", "turn 80")


def test_a_session_with_a_full_window_is_late() -> None:
    state = after([LOOK], turn=10, earlier=EarlierReadings(context_share=0.8), state=WORKING)
    assert (state.phase, state.reason) == ("late", "the context is 80% full")
    assert after([LOOK], turn=11, earlier=EarlierReadings(context_share=0.1), state=state).phase == "late"
    assert after([LOOK] * 2, turn=11, earlier=EarlierReadings(context_share=0.1), state=state).phase == "productive"


def test_a_loop_makes_a_struggling_session_after_two_turns() -> None:
    loop = EarlierReadings(loop_cause="cycle")
    state = after([LOOK], turn=10, earlier=loop, state=WORKING)
    assert (state.phase, state.wanted) == ("productive", "struggling")
    state = after([LOOK], turn=11, earlier=loop, state=state)
    assert (state.phase, state.since) == ("struggling", 12)
    state = after([checked()], turn=12, state=state)
    assert state.phase == "struggling"
    assert after([LOOK], turn=13, state=state).phase == "productive"


def test_evidence_must_hold_for_two_turns_in_a_row() -> None:
    state = after([LOOK], turn=10, earlier=EarlierReadings(loop_cause="x"), state=WORKING)
    state = after([LOOK], turn=11, state=state)
    assert after([LOOK], turn=12, earlier=EarlierReadings(loop_cause="x"), state=state).phase == "productive"


def test_a_rising_number_of_lapses_makes_a_struggling_session() -> None:
    failed = ran("x", ok=False)
    state = after([failed] * 4, turn=10, earlier=LAPSE, state=WORKING)
    assert state.phase == "struggling"
    assert state.reason == "4 of the last 6 calls were mistakes or failures that came back"
    assert after([failed] * 2, turn=10, earlier=LAPSE, state=WORKING).phase == "productive"


def test_many_changes_of_one_file_without_a_passing_check_make_a_struggling_session() -> None:
    events: list[LiveEvent] = [edited("src/a.py"), checked(ok=False, failing=3)] * 4
    state = after(events, turn=10, state=WORKING)
    assert after([LOOK], turn=18, state=state).phase == "struggling"
    assert (
        after([LOOK], turn=18, state=state).reason == "`src/a.py` was changed 4 times, 4 checks failed and none passed"
    )
    progress = [event for left in (9, 7, 4, 2, 1) for event in (edited("src/a.py"), checked(ok=False, failing=left))]
    assert after([*progress, LOOK], turn=10, state=WORKING).phase == "productive"
    assert (
        after([edited("src/a.py"), checked(ok=False), edited("src/a.py"), checked()] * 5, turn=10, state=WORKING).phase
        == "productive"
    )
    assert after([edited("src/a.py")] * 12, turn=10, state=WORKING).phase == "productive"


def test_reads_outside_of_the_goal_make_an_exploring_session() -> None:
    state = after([LOOK] * 2, turn=10, earlier=EarlierReadings(looks_outside_goal=True), state=WORKING)
    assert state.phase == "exploring"
    assert after([LOOK] * 2, turn=12, state=state).phase == "productive"


def test_a_late_session_can_be_struggling() -> None:
    late = after([LOOK] * 80)
    state = after([LOOK] * 2, turn=80, earlier=EarlierReadings(loop_cause="x"), state=late)
    assert state.phase == "struggling"
    assert after([LOOK] * 2, turn=82, state=state).phase == "late"


def test_every_change_of_phase_has_a_reason() -> None:
    state = after([LOOK] * 2, turn=10, earlier=EarlierReadings(loop_cause="x"), state=WORKING)
    assert [(each.turn, each.phase) for each in state.changes] == [(6, "productive"), (12, "struggling")]
    assert all(each.reason for each in state.changes)
    for turn in range(12, 100, 4):
        state = after([LOOK] * 2, turn=turn, state=state)
        state = after([LOOK] * 2, turn=turn + 2, earlier=EarlierReadings(loop_cause="x"), state=state)
    assert len(state.changes) == 10


def test_many_calls_of_one_turn_are_one_turn_of_evidence() -> None:
    state = WORKING
    for _ in range(5):
        state = after([LOOK], turn=10, earlier=EarlierReadings(loop_cause="x"), state=state)
    assert state.phase == "productive"


def test_a_new_session_begins_anew() -> None:
    """`clear` is a beginning; a prompt and a resumed session are none."""
    assert after([began("clear")], state=WORKING).phase == "warmup"
    assert after([began("resume"), asked("go on")], turn=10, state=WORKING).phase == "productive"


def test_warmup_turns_acts() -> None:
    """Fewer turns, sooner productive."""
    assert after([LOOK] * 3, thresholds=replace(DEFAULTS, warmup_turns=2)).phase == "productive"


def test_late_turn_acts() -> None:
    """A smaller number, sooner late."""
    assert after([LOOK] * 20, thresholds=replace(DEFAULTS, late_turn=20)).phase == "late"


def test_late_share_acts() -> None:
    """A smaller share, sooner late."""
    half = EarlierReadings(context_share=0.5)
    assert after([LOOK] * 10, earlier=half).phase == "productive"
    assert after([LOOK] * 10, earlier=half, thresholds=replace(DEFAULTS, late_share=0.4)).phase == "late"


def test_phase_patience_acts() -> None:
    """With four turns of patience two are not enough."""
    patient = replace(DEFAULTS, phase_patience=4)
    assert (
        after([LOOK] * 3, turn=10, earlier=EarlierReadings(loop_cause="x"), state=WORKING, thresholds=patient).phase
        == "productive"
    )
    assert (
        after([LOOK] * 4, turn=10, earlier=EarlierReadings(loop_cause="x"), state=WORKING, thresholds=patient).phase
        == "struggling"
    )
