"""Records of the state are read as they were stored; of assignments the first counts, of ratings the last."""

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
DELIVERY = Delivery(
    session="a:1", at=1.0, context="c", tokens=3, offered=2, shown=("i1",), withheld=("i2",), probability=0.9
)
ADVICE = AdviceAssignment(session="a:1", at=2.0, turn=3, signal="loop", cause="x", shown=False, probability=0.5)


def test_records_are_read_as_they_were_stored_and_storing_twice_changes_nothing(tmp_path: Path) -> None:
    """Every field of every kind of record."""
    folder = str(tmp_path)
    for _ in range(2):
        with writing(folder) as state:
            experiments.keep_assignments(state, [FIRST, DELIVERY, ADVICE])
    with reading(folder) as state:
        assert experiments.assignments(state) == [FIRST]
        assert experiments.find_assignment(state, "a:1") == FIRST
        assert experiments.find_assignment(state, "a:2") is None
        assert experiments.deliveries(state) == [DELIVERY]
        assert experiments.advice_assignments(state) == [ADVICE]
        assert experiments.has_assignments(state)


def test_the_first_assignment_and_the_first_exposure_count(tmp_path: Path) -> None:
    """Else a session that starts twice could choose its arm."""
    with writing(str(tmp_path)) as state:
        later = Delivery(session="a:1", at=5.0, context="d", shown=("i2", "i3"), withheld=("i1",), probability=0.9)
        experiments.keep_assignments(state, [FIRST, DELIVERY, later, replace(FIRST, arm="warm", at=9.0)])
        assert [each.arm for each in experiments.assignments(state)] == ["cold"]
        assert experiments.first_deliveries(state) == {"a:1": DELIVERY}
        assert experiments.exposures(state) == [
            Exposure("i1", "a:1", True, 0.9, 1.0),
            Exposure("i2", "a:1", False, 0.9, 1.0),
            Exposure("i3", "a:1", True, 0.9, 5.0),
        ]


def test_forgetting_a_session_forgets_its_forks(tmp_path: Path) -> None:
    """The root of a fork's assignment is the session that its chain began with."""
    fork = Assignment(session="a:2", root="a:1", experiment="standing", arm="cold", at=2.0)
    other = Assignment(session="a:3", root="a:3", experiment="standing", arm="cold", at=3.0)
    with writing(str(tmp_path)) as state:
        experiments.keep_assignments(state, [FIRST, DELIVERY, ADVICE, fork, other])
        assert experiments.assigned_sessions(state) == {"a:1", "a:2", "a:3"}
        experiments.forget_assignments(state, ["a:1"])
        assert experiments.assignments(state) == [other]
        assert experiments.deliveries(state) == []
        assert experiments.advice_assignments(state) == []


def test_the_last_rating_of_a_session_counts(tmp_path: Path) -> None:
    """Also if the clock was set back meanwhile."""
    with writing(str(tmp_path)) as state:
        experiments.keep_rating(state, Rating(session="a:1", good=True, at=9.0, note="fine"))
        experiments.keep_rating(state, Rating(session="a:1", good=False, at=2.0))
        assert experiments.ratings(state) == {"a:1": Rating(session="a:1", good=False, at=2.0)}


def test_the_stamp_changes_with_every_mark(tmp_path: Path) -> None:
    """By it a reader of lessons knows whether to read them again."""
    with writing(str(tmp_path)) as state:
        stamps = {marks.marks_stamp(state)}
        for lesson, mark, at in (("a", "pinned", 1.0), ("b", "retired", 2.0), ("a", "retired", 3.0), ("b", None, 4.0)):
            marks.set_mark(state, lesson, mark, "", at)  # type: ignore[arg-type]
            stamps.add(marks.marks_stamp(state))
        assert len(stamps) == 5


def test_approvals_are_stored_and_withdrawn(tmp_path: Path) -> None:
    """One for each lesson, with the digest of the approved text."""
    knowledge = Preheat(str(tmp_path)).knowledge
    assert knowledge.approvals() == {}
    knowledge.approve(Approval("c1", "d1", "read it", 1.0))
    knowledge.approve(Approval("c1", "d2", "", 2.0))
    assert knowledge.approvals() == {"c1": Approval("c1", "d2", "", 2.0)}
    assert knowledge.withdraw_approval("c1")
    assert not knowledge.withdraw_approval("c1")
