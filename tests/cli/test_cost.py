"""`preheat report cost`: every response once, by every grouping, with the price of its time, and what has no price is said."""

import json
from typing import Any

import pytest

from preheat.model.session import Usage
from preheat.testing.builders import ClaudeTranscript
from tests.screens import check_screen

from .conftest import Person

FIRST, SECOND, THIRD = (f"{number:08d}-0000-4000-8000-000000000000" for number in (1, 2, 3))
DAY = 86_400.0
BEGAN = 1_767_606_000.0
"""2026-01-05 09:40 UTC."""


def transcript(session: str, days: float = 0.0, **more: Any) -> ClaudeTranscript:
    return ClaudeTranscript(session=session, started=BEGAN + days * DAY, **more).prompt("mend it")


def response(tokens: int) -> Usage:
    return Usage(input=tokens, output=0)


@pytest.fixture
def spent(person: Person) -> Person:
    """Three sessions of two projects on two days, one of them of a model without a price; one call in two fails."""
    failing = (
        transcript(FIRST)
        .call("Bash", {"command": "make"}, usage=response(1_000_000))
        .result("Exit code 2\nmake: *** [all] Error 2", is_error=True)
    )
    person.write(failing.call("Bash", {"command": "ls"}, usage=response(1_000_000)).result("a.c"))
    person.write(transcript(SECOND, 1, project="/w/other").answer("Done.", response(2_000_000)))
    person.write(transcript(THIRD, 1, model="house-model-1").answer("Done.", response(500)))
    assert person.run("sync").code == 0
    return person


def costs(person: Person, *options: str) -> Any:
    return json.loads(person.run("cost", "--json", *options).out)


def money_by_name(found: Any) -> dict[str, float]:
    return {each["name"]: round(each["money"], 4) for each in found["costs"]}


def test_days_come_newest_first_and_the_total_is_their_sum(spent: Person) -> None:
    found = costs(spent)
    assert [each["name"] for each in found["costs"]] == ["2026-01-06", "2026-01-05"]
    assert found["total"]["money"] == pytest.approx(sum(each["money"] for each in found["costs"]))
    assert found["total"]["usage"]["input"] == 4_000_500
    assert found["total"]["sessions"] == 3


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("project", ["other", "proj"]),
        ("model", ["claude-sonnet-4-5", "house-model-1"]),
        ("agent", ["claude_code"]),
        ("session", [f"claude_code:{each}" for each in (FIRST, SECOND, THIRD)]),
    ],
)
def test_every_grouping_adds_up_to_the_same(spent: Person, by: str, names: list[str]) -> None:
    found = costs(spent, "--by", by)
    assert sorted(each["name"] for each in found["costs"]) == sorted(names)
    assert sum(each["money"] for each in found["costs"]) == pytest.approx(costs(spent)["total"]["money"])


def test_a_failed_call_accounts_for_its_share_of_the_money(spent: Person) -> None:
    (first,) = (each for each in costs(spent, "--by", "session")["costs"] if FIRST in each["name"])
    assert first["failed_money"] == pytest.approx(first["money"] / 2)


def test_tokens_without_a_price_are_counted_apart_and_said(spent: Person) -> None:
    found = costs(spent)
    assert found["unpriced_models"] == ["house-model-1"]
    assert found["total"]["unpriced"] == 500
    assert "`house-model-1`" in spent.run("cost").out


def test_a_filter_by_time_chooses_responses_not_sessions(person: Person) -> None:
    """A session that goes on for days costs on each of them."""
    person.write(
        transcript(FIRST, pace=DAY).answer("One.", response(1000)).prompt("go on").answer("Two.", response(2000))
    )
    assert person.run("sync").code == 0
    assert [each["usage"]["input"] for each in costs(person)["costs"]] == [2000, 1000]
    assert [each["usage"]["input"] for each in costs(person, "--since", "2026-01-07")["costs"]] == [2000]
    assert [each["usage"]["input"] for each in costs(person, "--until", "2026-01-07")["costs"]] == [1000]


def test_a_response_that_a_resumed_session_repeats_counts_once(person: Person) -> None:
    original = transcript(FIRST).answer("One.", response(1000))
    person.write(original)
    records = tuple({**record, "sessionId": SECOND} for record in original.records)
    person.write(
        ClaudeTranscript(session=SECOND, started=BEGAN, records=records).prompt("more").answer("Two.", response(10))
    )
    assert person.run("sync").code == 0
    assert costs(person)["total"]["usage"]["input"] == 1010


def test_subagents_cost_too_unless_they_are_left_out(person: Person) -> None:
    person.write(transcript(FIRST).answer("One.", response(1000)))
    person.write(transcript(FIRST, 0.5, agent="abc").answer("Looked.", response(7)))
    assert person.run("sync").code == 0
    assert costs(person)["total"]["usage"]["input"] == 1007
    assert costs(person, "--no-subagents")["total"]["usage"]["input"] == 1000


def test_without_tokens_it_says_so(person: Person) -> None:
    person.write(ClaudeTranscript(session=FIRST).prompt("hello"))
    assert person.run("sync").code == 0
    done = person.run("cost")
    assert (done.code, "No tokens" in done.out) == (0, True)


@pytest.mark.parametrize("width", ["60", "110"])
def test_the_table_has_working_time_and_what_failed_and_repeated_calls_cost(
    person: Person, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """Four responses of a minute each: one call fails, one works, and the same one is made again."""
    listing = ("Bash", {"command": "ls"})
    person.write(
        transcript(FIRST, pace=60.0)
        .call("Bash", {"command": "make"}, usage=response(1_000_000))
        .result("Exit code 2\nmake: *** [all] Error 2", is_error=True)
        .call(*listing, usage=response(1_000_000))
        .result("a.c")
        .call(*listing, usage=response(2_000_000))
        .result("a.c")
    )
    assert person.run("sync").code == 0
    (cost,) = costs(person)["costs"]
    assert cost["failed_money"] == pytest.approx(cost["money"] / 4)
    assert cost["repeated_money"] == pytest.approx(cost["money"] / 2)
    monkeypatch.setenv("COLUMNS", width)
    titles, row = person.run("cost").out.splitlines()[:2]
    assert titles.split()[-3:] == ["money", "failed", "repeated"]
    assert row.split()[-3:] == [f"${cost[part]:,.2f}" for part in ("money", "failed_money", "repeated_money")]
    assert "work" in titles.split()
    assert f"{cost['seconds'] / 60:.0f} min" in row
    assert cost["seconds"] >= 120


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("width", ["60", "110"])
def test_the_screen(spent: Person, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setattr("preheat.app.costs.price_list", lambda: "genai-prices")
    check_screen(f"cost-{width}", spent.run("cost").out)
