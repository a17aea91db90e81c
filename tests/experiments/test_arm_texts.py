"""The texts that sessions in the arms `placebo` and `note` get."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.experiments.assignment import FACTS, write_note, write_placebo
from preheat.model.experiment import PLACEBO_TOLERANCE
from preheat.provisioning.messages import format_block
from preheat.provisioning.tokens import estimate_tokens


@pytest.mark.parametrize("tokens", [120, 163, 250, 400, 777, 1_000, 1_500, 2_000])
def test_a_placebo_has_as_many_tokens_as_the_context_it_replaces(tokens: int) -> None:
    """Within a twentieth, with its frame, for every size of a context."""
    text = write_placebo(tokens, lambda facts: estimate_tokens(format_block("0a" * 6, facts, 0, False, ())))
    assert abs(estimate_tokens(format_block("0a" * 6, text, 0, False, ())) - tokens) <= PLACEBO_TOLERANCE * tokens


def test_a_placebo_has_no_command_path_or_advice() -> None:
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
    """The words of all items in their order, without a line break."""
    note = write_note("Observations.", texts)
    assert len(note.splitlines()) == 1
    place = 0
    for text in texts:
        for line in text.splitlines():
            place = note.index(line.strip().removeprefix("- ").strip().rstrip(" ;:"), place)


def test_a_note_is_made_of_sentences() -> None:
    """Each item ends with a full stop, and a list in an item becomes one sentence."""
    note = write_note("From 4 sessions.", ["Tests run with `make test`", "Stopped here:\n- one\n- two", "Done."])
    assert note == "From 4 sessions. Tests run with `make test`. Stopped here: one; two. Done."
