"""Receipts folded from journal entries: what was said, what was seen of it, what it cost, and nothing that was not seen."""

from typing import Any

import msgspec
import pytest

from preheat.model.experiment import AdviceAssignment
from preheat.model.live import ANSWER, WARNING, Advisory, CallEvent, JournalEntry
from preheat.model.outcome import Status
from preheat.model.receipt import Receipt, SessionReceipt
from preheat.receipts import add_up, describe_session, update_receipt
from preheat.receipts.fold import MOST_FILES, MOST_TEXTS, WITHIN


def entry(**fields: Any) -> JournalEntry:
    return JournalEntry(at=1.0, agent="a", session="s", **fields)


def advisory(moment: str = ANSWER, rule: str = "missing path", *names: str, number: int = 0) -> Advisory:
    text = "<preheat-advisory>Nothing is at this call's path; `src/shop/cart.py` exists.</preheat-advisory>"
    return Advisory(signal="mistake", text=text, cause=f"{moment} {rule} {number:06}", turn=3, names=names)


def call(
    status: Status = "ok", summary: str = "", files: tuple[str, ...] = (), call_id: str = "", **more: Any
) -> CallEvent:
    return CallEvent(
        tool="Bash",
        kind="shell",
        activity="shell",
        summary=summary,
        files=files,
        status=status,
        call_id=call_id,
        **more,
    )


def fold(*entries: JournalEntry) -> Receipt:
    receipt = Receipt()
    for each in entries:
        receipt = update_receipt(receipt, each)
    return receipt


def draw(signal: str, shown: bool) -> AdviceAssignment:
    return AdviceAssignment(session="a:s", at=1.0, turn=1, signal=signal, cause="c", shown=shown, probability=0.5)


def test_an_answer_is_followed_when_a_later_call_uses_what_it_names_and_works() -> None:
    told = entry(advisory=advisory(ANSWER, "missing path", "src/shop/cart.py"))
    (seen,) = fold(told, entry(events=(call(summary="ls"),)), entry(events=(call(files=("src/shop/cart.py",)),))).texts
    assert (seen.kind, seen.about, seen.outcome, seen.turn) == ("answer", "missing path", "followed", 3)
    assert seen.text == "Nothing is at this call's path; `src/shop/cart.py` exists."


@pytest.mark.parametrize(
    "after",
    [
        call("failed", files=("src/shop/cart.py",)),
        call("ok", summary="cat src/shop/cart.pyc"),
        call("ok", summary="cat other/src/shop/cart.py.bak"),
        call("unknown", files=("src/shop/cart.py",)),
    ],
    ids=["it failed", "another name that begins so", "another path that ends so", "nobody knows"],
)
def test_what_was_not_seen_to_work_is_not_called_followed(after: CallEvent) -> None:
    (seen,) = fold(entry(advisory=advisory(ANSWER, "missing path", "src/shop/cart.py")), entry(events=(after,))).texts
    assert seen.outcome == ""


def test_a_use_long_after_an_answer_is_not_called_following_it() -> None:
    others = [entry(events=(call(summary="ls"),))] * WITHIN
    late = entry(events=(call(files=("src/shop/cart.py",)),))
    (seen,) = fold(entry(advisory=advisory(ANSWER, "missing path", "src/shop/cart.py")), *others, late).texts
    assert seen.outcome == ""


def test_an_answer_on_lines_is_followed_by_an_edit_of_their_file_only() -> None:
    told = entry(advisory=advisory(ANSWER, "edit text", "src/a.py"))
    read = entry(events=(call(files=("src/a.py",), summary="src/a.py"),))
    assert fold(told, read).texts[0].outcome == ""
    assert (
        fold(told, read, entry(events=(call(files=("src/a.py",), edited=("src/a.py",)),))).texts[0].outcome
        == "followed"
    )


@pytest.mark.parametrize(("status", "outcome"), [("failed", "failed"), ("ok", "worked"), ("unknown", "")])
def test_of_a_call_that_was_warned_of_is_counted_what_came_of_that_very_call(status: Status, outcome: str) -> None:
    told = entry(advisory=advisory(WARNING), planned_call="call-7")
    other = entry(events=(call("ok", call_id="call-6"),))
    (seen,) = fold(told, other, entry(events=(call(status, call_id="call-7"),))).texts
    assert (seen.kind, seen.outcome) == ("warning", outcome)


def test_where_a_program_gives_no_ids_the_next_call_of_the_tool_counts() -> None:
    told = entry(advisory=advisory(WARNING), planned_call="tool Bash")
    assert fold(told, entry(events=(call("failed"),))).texts[0].outcome == "failed"


def test_a_held_call_that_comes_again_counts_as_what_came_of_it() -> None:
    told = entry(advisory=advisory(WARNING, "missing path", "src/shop/cart.py"), held_call="k1")
    passed = entry(events=(call("failed"),), passed_call="k1")
    assert fold(told, passed).texts[0].outcome == "failed"
    instead = entry(events=(call("ok", files=("src/shop/cart.py",)),))
    (seen,) = fold(told, instead).texts
    assert (seen.kind, seen.outcome) == ("hold", "followed")


def test_files_count_as_opened_only_after_they_were_named() -> None:
    opened = entry(events=(call(files=("a.py", "b.py")),))
    named = entry(orientation=("a.py", "c.py"))
    assert [each.is_opened for each in fold(opened, named).files] == [False, False]
    assert [each.is_opened for each in fold(opened, named, opened).files] == [True, False]


def test_what_was_withheld_at_random_is_followed_too_and_stands_apart() -> None:
    withheld = entry(withheld=advisory(ANSWER, "missing path", "x.py"), assignments=(draw("mistake", False),))
    shown = entry(advisory=advisory(ANSWER, "missing path", "y.py", number=1), assignments=(draw("mistake", True),))
    files = entry(orientation=("z.py",), assignments=(draw("orientation", False),))
    receipt = fold(withheld, shown, files, entry(events=(call(files=("x.py", "z.py")),)))
    total = add_up([_session(receipt)])
    assert (total.said["answer"].said, total.said["answer"].followed) == (1, 0)
    assert (total.drawn["answer"].said, total.drawn["answer"].followed) == (1, 0)
    assert (total.withheld["answer"].said, total.withheld["answer"].followed) == (1, 1)
    assert (total.files.named, total.files_withheld.named, total.files_withheld.opened) == (0, 1, 1)
    assert receipt.said == 1


def test_costs_are_added_up() -> None:
    receipt = fold(
        entry(tokens=100, context="c1", events_taken=2, microseconds=700, slowest=500),
        entry(tokens=20, events_taken=1, microseconds=300, slowest=300),
    )
    total = add_up([_session(receipt), _session(receipt)])
    assert (total.tokens, total.contexts, total.events) == (240, 2, 6)
    assert (total.milliseconds, total.slowest_milliseconds) == (2.0, 0.5)


def test_a_long_session_keeps_a_bounded_receipt() -> None:
    many = [entry(advisory=advisory(number=number), orientation=(f"{number}.py",)) for number in range(300)]
    receipt = fold(*many)
    assert (len(receipt.texts), len(receipt.files), receipt.said) == (MOST_TEXTS, MOST_FILES, 600)


def test_the_line_for_the_person_says_only_what_was_seen() -> None:
    assert describe_session(Receipt(tokens=50)) == ""
    receipt = fold(
        entry(advisory=advisory(WARNING), planned_call="c1", tokens=30),
        entry(
            events=(call("failed", call_id="c1"),), advisory=advisory(ANSWER, "script", "build", number=2), tokens=20
        ),
        entry(events=(call("ok", summary="npm run build"),), microseconds=2400, events_taken=3),
        entry(orientation=("a.py", "b.py")),
        entry(events=(call(files=("b.py",)),)),
    )
    assert describe_session(receipt) == (
        "Preheat, seen in this session: 1 call warned of (made and failed 1); 1 of 1 answer followed; 1 of 2 named files opened "
        "afterwards. Cost: 50 tokens, 2 ms in the daemon."
    )


def test_a_receipt_survives_being_stored() -> None:
    receipt = fold(entry(advisory=advisory(ANSWER, "script", "build")), entry(orientation=("a.py",)))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(receipt), type=Receipt) == receipt


def _session(receipt: Receipt) -> SessionReceipt:
    return SessionReceipt(
        agent="a", session="s", project="/p", began_at=0.0, last_at=1.0, is_over=True, receipt=receipt
    )
