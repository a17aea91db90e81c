"""The prompt for a person's own agent: within its budget, and with nothing that a session says as an order of ours."""

from preheat.distill.prompt import SessionDigest, make_prompt


def estimate(text: str) -> int:
    return len(text) // 4


def digests(number: int) -> list[SessionDigest]:
    calls = tuple((seq, f"ok: make step{seq}") for seq in range(20))
    return [SessionDigest(f"a:{each}", ("do it",), calls) for each in range(number)]


def test_as_many_sessions_as_the_budget_holds_are_in_it() -> None:
    whole = make_prompt("r", "shop", digests(50), 100_000, estimate)
    assert len(whole.sessions) == 50
    some = make_prompt("r", "shop", digests(50), 2_000, estimate)
    assert 0 < len(some.sessions) < 50
    assert some.tokens <= 2_000
    assert estimate(some.text) <= 2_000
    assert list(some.sessions)[:2] == ["S1", "S2"]
    assert make_prompt("r", "shop", digests(50), 100, estimate).sessions == {}


def test_a_program_that_takes_the_prompt_as_an_argument_gets_a_shorter_one() -> None:
    found = make_prompt("r", "shop", digests(500), 1_000_000, estimate, longest=20_000)
    assert len(found.text.encode()) <= 20_000
    assert found.sessions


def test_the_prompt_begins_with_our_mark_and_numbers_calls_from_one() -> None:
    text = make_prompt("r1", "shop", digests(1), 100_000, estimate).text
    assert text.startswith('<preheat-run distill="r1">\n')
    assert "  S1#1 ok: make step0\n" in text
