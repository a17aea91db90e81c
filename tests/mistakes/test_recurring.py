"""Repeated mistakes: what counts as the same one, what it cost, and what is honestly called its repair."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.calls.form import form
from preheat.calls.words import telling_words
from preheat.mistakes.recurring import mistakes
from preheat.model.mistake import COSTS, Step
from preheat.model.outcome import CAUSES
from preheat.model.profile import FailureFact


def failure(session: str = "one", seq: int = 0, **changes: Any) -> FailureFact:
    fact = FailureFact(
        key=session, seq=seq, agent="agent", project="/w/p", at=1000.0 + seq, tool="Edit", kind="edit", activity="edit",
        bookkeeping=False, status="failed", cause="misuse", signature="String to replace not found in file", summary="a.py",
        lost_seconds=4.0, lost_tokens=100, recovered_in=None, repair_tool=None, repair_summary=None,
    )  # fmt: skip
    return fact._replace(**changes)


def test_only_what_came_back_in_another_session_is_repeated() -> None:
    """Ten failures of one session are its own trouble; one each in two sessions is a repeated mistake."""
    alone = [failure("one", seq, signature="only here") for seq in range(10)]
    shared = [failure("one", 20), failure("two", 3)]
    found = mistakes([*alone, *shared])
    assert [(each.title, each.calls) for each in found.mistakes] == [("String to replace not found in file", 2)]
    assert (found.failures, found.sessions, found.calls, found.seconds, found.tokens) == (12, 2, 2, 8.0, 200)
    assert len(mistakes([*alone, *shared], min_sessions=1).mistakes) == 2


def test_findings_and_bookkeeping_are_no_mistakes_unless_asked() -> None:
    """Failing tests are work; the agent's notes to itself never count."""
    facts = [failure(name, cause="finding", signature="N failed") for name in ("one", "two")]
    facts += [failure(name, bookkeeping=True) for name in ("one", "two")]
    assert mistakes(facts).mistakes == ()
    assert [each.cause for each in mistakes(facts, causes=("finding",)).mistakes] == ["finding"]


def test_the_same_message_of_another_kind_of_tool_is_another_mistake() -> None:
    facts = [failure(name, kind=kind) for name in ("one", "two") for kind in ("edit", "write")]
    assert sorted(each.family for each in mistakes(facts).mistakes) == ["edit", "write"]


def test_a_tool_of_no_kind_is_its_own_family() -> None:
    facts = [failure(name, kind="other", tool="deploy") for name in ("one", "two")]
    assert mistakes(facts).mistakes[0].family == "deploy"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("no such file PATH", "no such file …", True),
        ("a b c d e f g h one x y z", "a b c d e f g h two x y z", True),
        ("Traceback most recent call last file in line N TypeError no attribute",
         "Traceback most recent call last file in line N KeyError missing key", False),
        ("no such file", "no such folder", False),
        ("exit N", "EXIT N", True),
    ],
)  # fmt: skip
def test_messages_are_merged_only_when_they_begin_and_end_alike(left: str, right: str, same: bool) -> None:
    assert (telling_words(left) == telling_words(right)) is same


def test_a_failure_without_words_is_counted_but_not_named() -> None:
    found = mistakes([failure("one", signature=""), failure("two", signature="N PATH")])
    assert (found.mistakes, found.failures, found.unnamed) == ((), 2, 2)


def test_ranking_follows_the_cost_that_is_asked_for() -> None:
    facts = [failure(name, seq, signature="often", lost_seconds=0, lost_tokens=1) for name in "ab" for seq in range(3)]
    facts += [failure(name, signature="slow", lost_seconds=60.0, lost_tokens=0) for name in "ab"]
    facts += [failure(name, signature="large", lost_seconds=1.0, lost_tokens=900) for name in "ab"]
    first = {by: mistakes(facts, by=by).mistakes[0].title for by in COSTS}
    assert first == {"calls": "often", "minutes": "slow", "tokens": "large"}


def test_a_title_has_gaps_for_masks_and_no_empty_word_before_it() -> None:
    facts = [failure(name, signature="Error: no such file: PATH N, line N") for name in ("one", "two")]
    assert mistakes(facts).mistakes[0].title == "no such file: …, line …"


def test_the_id_stays_the_same_when_more_is_seen() -> None:
    """A person can note an id and come back to it."""
    before = mistakes([failure("one"), failure("two")]).mistakes[0]
    after = mistakes([failure("three", 7, agent="other"), failure("two"), failure("one")]).mistakes[0]
    assert before.id == after.id


def test_one_message_is_one_mistake_whatever_the_cause_of_each_call() -> None:
    facts = [failure("one"), failure("two"), failure("three", cause="environment")]
    (mistake,) = mistakes(facts).mistakes
    assert (mistake.calls, mistake.cause) == (3, "misuse")


# Repairs.
def shell(session: str, seq: int, failed: str, **changes: Any) -> FailureFact:
    return failure(session, seq, kind="shell", tool="Bash", signature="not found", summary=failed, **changes)


def steps_of(ways: dict[str, list[Step]]) -> Any:
    def steps(key: str, first: int, last: int) -> Sequence[Step]:
        return ways[key][: last - first + 1]

    return steps


def test_the_usual_repair_has_what_was_done_on_the_way() -> None:
    """An edit that failed is put right by an edit; what mends it is the read before."""
    way = [Step("Read", "read", "/w/a.py"), Step("Bash", "shell", "git status"), Step("Edit", "edit", "/w/a.py")]
    facts = [failure(name, summary="/w/a.py", recovered_in=3) for name in ("one", "two", "three")]
    found = mistakes([*facts, failure("four")], steps=steps_of(dict.fromkeys(("one", "two", "three"), way)))
    repair = found.mistakes[0].repair
    assert repair is not None
    assert (repair.form, repair.count) == ("Read → Edit", 3)
    assert (found.mistakes[0].calls, found.mistakes[0].recovered) == (4, 3)


def test_one_lucky_call_is_no_usual_repair() -> None:
    ways = {"one": [Step("Bash", "shell", "npm ci")], "two": [Step("Bash", "shell", "make all")]}
    found = mistakes([shell(name, 0, "npm test", recovered_in=1) for name in ways], steps=steps_of(ways))
    assert (found.mistakes[0].repair, found.mistakes[0].recovered) == (None, 2)


def test_no_recovery_is_no_repair() -> None:
    found = mistakes([failure("one"), failure("two")]).mistakes[0]
    assert (found.repair, found.recovered) == (None, 0)


def test_looking_around_is_no_part_of_a_repair() -> None:
    way = [
        Step("Bash", "shell", "ls -la"),
        Step("Bash", "shell", "pip install flask"),
        Step("Bash", "shell", "pytest -q"),
    ]
    facts = [shell(name, 0, "pytest", recovered_in=3) for name in ("one", "two")]
    repair = mistakes(facts, steps=steps_of({"one": way, "two": way})).mistakes[0].repair
    assert repair is not None
    assert repair.form == "pip install … → pytest -q"


def test_without_steps_the_last_call_is_the_repair() -> None:
    facts = [
        shell(name, 0, "pyhton a.py", recovered_in=1, repair_tool="Bash", repair_summary="python a.py")
        for name in ("one", "two")
    ]
    repair = mistakes(facts).mistakes[0].repair
    assert repair is not None
    assert (repair.failed, repair.worked, repair.count) == ("pyhton a.py", "python a.py", 2)


def test_the_example_is_the_pair_that_differs_least() -> None:
    """There the repair can be seen; calls that have nothing in common show nothing."""
    ways = {"one": "python3 -m pip list", "two": "cat /etc/hosts | wc -l", "three": "python3 -m pip list"}
    failed = {"one": "python -m pip list", "two": "mkdir x; cd x; make world", "three": "python3 -m pip list"}
    steps = steps_of({name: [Step("Bash", "shell", command)] for name, command in ways.items()})
    repair = mistakes([shell(name, 0, failed[name], recovered_in=1) for name in ways], steps=steps).mistakes[0].repair
    assert repair is not None
    assert (repair.count, repair.failed, repair.worked) == (2, "python -m pip list", "python3 -m pip list")
    unlike = [shell(name, 0, "mkdir x; cd x; make world", recovered_in=1) for name in ("one", "three")]
    repair = mistakes(unlike, steps=steps).mistakes[0].repair
    assert repair is not None
    assert (repair.failed, repair.worked) == ("", "")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd /w && git commit -m 'x y'", "git commit -m …"),
        ("npm run build", "npm run build"),
        ("python3 script.py --fast=1", "python script.py --fast"),
        ("/bin/bash -lc 'grep -R x src'", "grep -R …"),
        ("mise run lint 2>&1 | tail -3", "mise run lint"),
    ],
)
def test_the_form_of_a_command_leaves_out_what_belongs_to_the_case(command: str, expected: str) -> None:
    assert form(Step("Bash", "shell", command)) == expected


texts = st.text(max_size=60)
facts_of_any_kind = st.builds(
    failure,
    st.sampled_from(["one", "two", "three"]),
    st.integers(0, 50),
    signature=texts,
    summary=texts,
    tool=texts,
    kind=st.sampled_from(["edit", "shell", "other", "read"]),
    cause=st.sampled_from([None, *CAUSES]),
    at=st.none() | st.floats(0, 2e9),
    recovered_in=st.none() | st.integers(1, 5),
    repair_tool=st.none() | texts,
    repair_summary=st.none() | texts,
    project=texts,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(facts_of_any_kind, max_size=30), st.sampled_from(COSTS), st.integers(1, 3))
def test_any_failures_give_sums_that_add_up(facts: list[FailureFact], by: Any, least: int) -> None:
    """Whatever tools said: nothing is lost, counted twice or unable to become JSON, and titles are one line."""
    found = mistakes(facts, by=by, min_sessions=least, causes=CAUSES)
    assert found.calls == sum(len(each.occurrences) for each in found.mistakes) <= found.failures
    assert found.failures == sum(fact.cause is not None for fact in facts)
    for each in found.mistakes:
        assert len(each.sessions) >= least
        assert each.recovered <= each.calls
        assert each.repair is None or 2 <= each.repair.count <= each.recovered
        assert "\n" not in each.title
        assert each.title
    try:
        encoded = msgspec.json.encode(found)
    except UnicodeEncodeError:
        return  # half a character out of a tool: `as_json` escapes it
    assert "NaN" not in json.dumps(json.loads(encoded))
