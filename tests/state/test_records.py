"""What is kept comes back as it was, the first or the last word counting as each has it."""

from pathlib import Path

from msgspec.structs import replace

from preheat.app import Preheat
from preheat.model.experiment import AdviceAssignment, Assignment, Delivery, Exposure, Rating
from preheat.model.lesson import Approval
from preheat.state import experiments, marks
from preheat.state.connect import reading, writing

FIRST = Assignment(
    session="a:1", root="a:1", experiment="mine@1", arm="cold", shares={"cold": 0.5, "warm": 0.5}, agent="a", project="/w",
    at=1.0, why="because",
)  # fmt: skip
GIVEN = Delivery(
    session="a:1", at=1.0, context="c", tokens=3, offered=2, shown=("i1",), withheld=("i2",), probability=0.9
)
SAID = AdviceAssignment(session="a:1", at=2.0, turn=3, signal="loop", cause="x", shown=False, probability=0.5)


def test_everything_comes_back_and_twice_is_once(tmp_path: Path) -> None:
    """Every field of every sort."""
    folder = str(tmp_path)
    for _ in range(2):
        with writing(folder) as state:
            experiments.keep_assignments(state, [FIRST, GIVEN, SAID])
    with reading(folder) as state:
        assert experiments.assignments(state) == [FIRST]
        assert experiments.find_assignment(state, "a:1") == FIRST
        assert experiments.find_assignment(state, "a:2") is None
        assert experiments.deliveries(state) == [GIVEN]
        assert experiments.advice_assignments(state) == [SAID]
        assert experiments.has_assignments(state)


def test_the_first_of_its_sort_stands(tmp_path: Path) -> None:
    """Else whoever asks again could choose what is measured: an arm never changes, nor whether an item was shown first."""
    with writing(str(tmp_path)) as state:
        later = Delivery(session="a:1", at=5.0, context="d", shown=("i2", "i3"), withheld=("i1",), probability=0.9)
        experiments.keep_assignments(state, [FIRST, GIVEN, later, replace(FIRST, arm="warm", at=9.0)])
        assert [each.arm for each in experiments.assignments(state)] == ["cold"]
        assert experiments.first_deliveries(state) == {"a:1": GIVEN}
        assert experiments.exposures(state) == [
            Exposure("i1", "a:1", True, 0.9, 1.0),
            Exposure("i2", "a:1", False, 0.9, 1.0),
            Exposure("i3", "a:1", True, 0.9, 5.0),
        ]


def test_what_is_forgotten_takes_what_came_out_of_it_along(tmp_path: Path) -> None:
    """A fork's assignment names the session that its line began with."""
    fork = Assignment(session="a:2", root="a:1", experiment="standing", arm="cold", at=2.0)
    other = Assignment(session="a:3", root="a:3", experiment="standing", arm="cold", at=3.0)
    with writing(str(tmp_path)) as state:
        experiments.keep_assignments(state, [FIRST, GIVEN, SAID, fork, other])
        assert experiments.assigned_sessions(state) == {"a:1", "a:2", "a:3"}
        experiments.forget_assignments(state, ["a:1"])
        assert experiments.assignments(state) == [other]
        assert experiments.deliveries(state) == []
        assert experiments.advice_assignments(state) == []


def test_the_last_word_on_a_session_counts(tmp_path: Path) -> None:
    """Whatever the clock said meanwhile."""
    with writing(str(tmp_path)) as state:
        experiments.keep_rating(state, Rating(session="a:1", good=True, at=9.0, note="fine"))
        experiments.keep_rating(state, Rating(session="a:1", good=False, at=2.0))
        assert experiments.ratings(state) == {"a:1": Rating(session="a:1", good=False, at=2.0)}


def test_a_stamp_tells_of_every_change_of_a_mark(tmp_path: Path) -> None:
    """Whoever has read lessons knows by it whether to read them again."""
    with writing(str(tmp_path)) as state:
        seen = {marks.marks_stamp(state)}
        for lesson, mark, at in (("a", "pinned", 1.0), ("b", "retired", 2.0), ("a", "retired", 3.0), ("b", None, 4.0)):
            marks.set_mark(state, lesson, mark, "", at)  # type: ignore[arg-type]
            seen.add(marks.marks_stamp(state))
        assert len(seen) == 5


def test_approvals_are_kept_and_taken_back(tmp_path: Path) -> None:
    """One for each lesson, with the digest of what was approved."""
    knowledge = Preheat(str(tmp_path)).knowledge
    assert knowledge.approvals() == {}
    knowledge.approve(Approval("c1", "d1", "read it", 1.0))
    knowledge.approve(Approval("c1", "d2", "", 2.0))
    assert knowledge.approvals() == {"c1": Approval("c1", "d2", "", 2.0)}
    assert knowledge.withdraw_approval("c1")
    assert not knowledge.withdraw_approval("c1")
