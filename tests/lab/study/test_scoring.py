"""Scores are of the command's own tokens, by the logits before them; what is written the quick way is what is written slowly."""

from math import exp, log

import pytest

from preheat.lab.study.errors import TokenBorderError
from preheat.lab.study.model import score, split_prompt, write_stepwise
from preheat.lab.study.prompts import CLOSE, Message, render_prefix, render_suffix
from tests.lab.study.models import SIZE, ScriptedModel

ASKED = "Test the shop."
PREFIX = render_prefix(())
SUFFIX = render_suffix([Message("user", ASKED)])
COMMAND = "make check UNIT=shop"


def likely() -> float:
    return log(exp(1) + SIZE - 1) - 1


def unlikely() -> float:
    return log(exp(1) + SIZE - 1)


def test_a_token_is_scored_by_the_logits_before_it() -> None:
    """A model that is sure of the command gives each of its tokens the same low cost: one place off, all would be dear."""
    model = ScriptedModel({ASKED: COMMAND + CLOSE})
    found = score(model, split_prompt(model, PREFIX, SUFFIX, COMMAND))
    assert found.nll == pytest.approx([likely()] * len(model.tokens(COMMAND)))
    assert found.argmax
    assert (found.text, found.closed) == (COMMAND, True)


def test_only_tokens_of_the_command_are_scored() -> None:
    """What comes after it, closing mark or not, changes no score."""
    closing, going_on = ScriptedModel({ASKED: COMMAND + CLOSE}), ScriptedModel({ASKED: f"{COMMAND} FAST=1" + CLOSE})
    found = [score(model, split_prompt(model, PREFIX, SUFFIX, COMMAND)) for model in (closing, going_on)]
    assert found[0].nll == found[1].nll
    assert len(found[0].nll) == len(closing.tokens(COMMAND))
    assert found[0].closed
    assert found[1].argmax
    assert found[1].text.startswith(f"{COMMAND} FAST")


def test_a_model_that_says_something_else_misses() -> None:
    """The first tokens agree, then it goes astray: no exact match, and the text shows where."""
    model = ScriptedModel({ASKED: "make check ALL=1" + CLOSE})
    found = score(model, split_prompt(model, PREFIX, SUFFIX, COMMAND))
    assert not found.argmax
    assert (found.text, found.closed) == ("make check ALL=1", True)
    assert found.nll[:2] == pytest.approx([likely()] * 2)
    assert found.nll[2] == pytest.approx(unlikely())


@pytest.mark.parametrize("answer", [COMMAND + CLOSE, "ls" + CLOSE, COMMAND, f"{COMMAND} X=1" + CLOSE, "make" + CLOSE])
def test_the_quick_way_and_the_slow_one_agree(answer: str) -> None:
    """Exact match by the most likely tokens is exact match by writing token by token."""
    model = ScriptedModel({ASKED: answer})
    prompt = split_prompt(model, PREFIX, SUFFIX, COMMAND)
    quick, slow = score(model, prompt), write_stepwise(model, prompt)
    assert (quick.closed and quick.text == COMMAND) == (slow == (COMMAND, True)) == (answer == COMMAND + CLOSE)


def test_a_border_within_a_token_is_refused() -> None:
    """Else the scored span would begin one token late."""
    model = ScriptedModel(merges=[' "make'])
    with pytest.raises(TokenBorderError, match="beginning of `make check"):
        split_prompt(model, PREFIX, SUFFIX, COMMAND)
    with pytest.raises(TokenBorderError, match="end of the prefix"):
        split_prompt(ScriptedModel(merges=["<|im_end|>\n<|im_start|>user"]), PREFIX, SUFFIX, COMMAND)


@pytest.mark.parametrize("length", [1, 40])
def test_the_same_text_in_other_tokens_is_an_exact_match(length: int) -> None:
    """A model that splits a word otherwise writes the command all the same, however much of it is left."""
    command = f"make shopping {' '.join(['part'] * length)}"
    model = ScriptedModel({ASKED: command + CLOSE})
    prompt = split_prompt(model, PREFIX, SUFFIX, command)
    split = ScriptedModel({ASKED: command + CLOSE}, splits={" shopping": (" shop", "ping")})
    found = score(split, split_prompt(split, PREFIX, SUFFIX, command))
    assert not found.argmax
    assert (found.text, found.closed, found.astray) == (command, True, False)
    assert write_stepwise(split, split_prompt(split, PREFIX, SUFFIX, command)) == (command, True)
    assert not score(model, prompt).astray


def test_a_kept_prefix_is_not_worked_on_again() -> None:
    """The second task of a context costs only what is its own, and scores the same."""
    model = ScriptedModel({ASKED: COMMAND + CLOSE})
    prompt = split_prompt(model, PREFIX, SUFFIX, COMMAND)
    first = score(model, prompt)
    before = model.worked_on
    assert score(model, prompt) == first
    assert model.worked_on - before < len(prompt.prefix)


def test_nothing_is_written_where_only_a_score_is_wanted() -> None:
    model = ScriptedModel({ASKED: COMMAND + CLOSE})
    found = score(model, split_prompt(model, PREFIX, SUFFIX, COMMAND), -1)
    assert (found.text, found.closed, found.argmax) == ("", False, True)


def test_an_escaped_quotation_mark_does_not_end_a_command() -> None:
    """It stands within the JSON; only a bare one closes."""
    model = ScriptedModel({ASKED: 'echo \\"hi\\" now' + CLOSE})
    found = score(model, split_prompt(model, PREFIX, SUFFIX, "echo done"), 40)
    assert (found.text, found.closed) == ('echo \\"hi\\" now', True)
