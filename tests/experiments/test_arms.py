"""What placebo and note sessions read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.experiments.assignment import FACTS, write_note, write_placebo
from preheat.model.experiment import PLACEBO_TOLERANCE
from preheat.provisioning.messages import format_block
from preheat.provisioning.tokens import estimate_tokens


@pytest.mark.parametrize("tokens", [120, 163, 250, 400, 777, 1_000, 1_500, 2_000])
def test_a_placebo_costs_what_it_stands_for(tokens: int) -> None:
    """Within a twentieth, frame included, for every size that a context has."""
    text = write_placebo(tokens, lambda said: estimate_tokens(format_block("0a" * 6, said, 0, False, ())))
    assert abs(estimate_tokens(format_block("0a" * 6, text, 0, False, ())) - tokens) <= PLACEBO_TOLERANCE * tokens


def test_a_placebo_says_nothing_of_work() -> None:
    """No command, no path, no advice: words that could help are not in it."""
    text = write_placebo(2_000, estimate_tokens).lower()
    assert not set("`/_=") & set(text)
    assert not set(text.replace(".", "").split()) & {
        "test",
        "tests",
        "run",
        "file",
        "error",
        "command",
        "python",
        "git",
    }
    assert len(set(FACTS)) == len(FACTS)


@given(st.lists(st.text(max_size=60), max_size=6))
def test_a_note_has_every_item_in_one_paragraph(texts: list[str]) -> None:
    """Whatever the items are: their words are there in order, and no line ends in between."""
    said = write_note("Observations.", texts)
    assert len(said.splitlines()) == 1
    place = 0
    for text in texts:
        for line in text.splitlines():
            place = said.index(line.strip().removeprefix("- ").strip().rstrip(" ;:"), place)


def test_a_note_reads_as_sentences() -> None:
    """Items end with a stop, a list in an item becomes one sentence."""
    said = write_note("From 4 sessions.", ["Tests run with `make test`", "Stopped here:\n- one\n- two", "Done."])
    assert said == "From 4 sessions. Tests run with `make test`. Stopped here: one; two. Done."
