"""The verdict and its sentence follow from the interval and the margin."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from preheat.model.experiment import EffectEstimate
from preheat.statistics.effect import BURN_IN, add_always_valid_interval, estimate_difference
from preheat.statistics.verdict import METRIC_WORDS, Conclusion, Guardrail, conclude, format_figure
from tests.statistics.trials import make_trial


def estimate_of(metric: str, value: float, low: float, high: float, **more: Any) -> EffectEstimate:
    return EffectEstimate(
        metric=metric,
        arm="warm",
        against="cold",
        units=(118, 31),
        difference=value,
        low=low,
        high=high,
        error=(high - low) / 4,
        freedom=60.0,
        **more,
    )


def figures(conclusion: Conclusion) -> list[str]:
    """The numbers in the sentence, in order."""
    return re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?", conclusion.sentence)


def test_the_interval_and_the_margin_decide_between_the_four_verdicts() -> None:
    helps = conclude(estimate_of("mistakes", -0.021, -0.034, -0.008), 0.01)
    assert (helps.verdict, figures(helps)) == ("helps", ["2.1", "100", "95", "0.8", "3.4", "118", "31"])
    hurts = conclude(estimate_of("mistakes", 0.021, 0.008, 0.034), 0.01)
    assert (hurts.verdict, figures(hurts)) == ("hurts", figures(helps))
    none = conclude(estimate_of("mistakes", 0.001, -0.006, 0.008), 0.01)
    assert none.verdict == "no difference"
    assert figures(none) == ["1", "100", "0.1", "100", "95", "0.6", "0.8", "118", "31"]
    little = conclude(estimate_of("mistakes", -0.005, -0.03, 0.02), 0.01)
    assert little.verdict == "too little data"
    assert little.more == 1679
    assert figures(little)[-2:] == ["1,679", "1"]


def test_a_rise_helps_where_higher_is_better() -> None:
    found = conclude(estimate_of("success", 0.1, 0.02, 0.18), 0.01)
    assert (found.verdict, figures(found)) == ("helps", ["10", "100", "95", "2", "18", "118", "31"])
    assert conclude(estimate_of("seconds", 100.0, 20.0, 180.0), 10.0).verdict == "hurts"


def test_an_interval_within_the_margin_is_no_difference_even_if_it_excludes_zero() -> None:
    assert conclude(estimate_of("mistakes", -0.004, -0.007, -0.001), 0.01).verdict == "no difference"


def test_only_the_always_valid_interval_counts_while_a_trial_runs() -> None:
    found = estimate_of("mistakes", -0.021, -0.034, -0.008, always_low=-0.04, always_high=0.002)
    assert conclude(found, 0.01).verdict == "helps"
    assert conclude(found, 0.01, running=True).verdict == "too little data"
    early = conclude(
        add_always_valid_interval(
            estimate_difference(make_trial(1, 14), metric="mistakes", arm="warm", against="cold")
        ),
        0.01,
        running=True,
    )
    assert (early.verdict, figures(early)) == ("too little data", [str(BURN_IN)])


def test_a_guardrail_is_held_broken_or_not_known_and_a_broken_one_is_in_the_sentence() -> None:
    main = estimate_of("mistakes", -0.021, -0.034, -0.008)
    rails = [
        Guardrail(estimate_of("tokens", 900.0, 400.0, 1400.0), 500.0),
        Guardrail(estimate_of("seconds", 1.0, -5.0, 7.0), 10.0),
        Guardrail(estimate_of("success", -0.02, -0.1, 0.06), 0.05),
        Guardrail(estimate_difference([], metric="cost", arm="warm", against="cold"), 0.1),
    ]
    found = conclude(main, 0.01, guardrails=rails)
    assert [each.state for each in found.guardrails] == ["broken", "held", "not known", "not known"]
    assert found.verdict == "helps"
    assert found.sentence.endswith(f"{found.guardrails[0].sentence}.")
    assert {"500", "900"} <= set(figures(found))
    assert "no session in `warm`" in found.guardrails[3].sentence


def test_the_sentence_says_why_there_is_too_little_data() -> None:
    found = conclude(estimate_difference([], metric="mistakes", arm="warm", against="cold"), 0.01)
    assert found.verdict == "too little data"
    assert "`warm`" in found.sentence
    assert "`cold`" in found.sentence


@given(
    some.sampled_from([*METRIC_WORDS, "unheard of"]),
    some.floats(-5, 5),
    some.floats(0, 3),
    some.floats(0, 3),
    some.floats(0.001, 2),
    some.booleans(),
)
def test_helps_and_hurts_exclude_zero_and_no_difference_lies_within_the_margin(
    metric: str, value: float, down: float, up: float, margin: float, running: bool
) -> None:
    low, high = value - down, value + up
    found = conclude(estimate_of(metric, value, low, high, always_low=low, always_high=high), margin, running=running)
    if found.verdict in ("helps", "hurts"):
        assert low > 0 or high < 0
    if found.verdict == "no difference":
        assert -margin <= low
        assert high <= margin
    if found.verdict == "too little data":
        assert low <= 0 <= high
    assert found.sentence.endswith(".")
    assert "-" not in found.sentence


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.8, "0.8"),
        (10.04, "10"),
        (2.1, "2.1"),
        (-2.14, "2.1"),
        (31.44, "31.4"),
        (1234.5, "1,234"),
        (0.0123, "0.012"),
    ],
)
def test_figures_have_two_significant_digits(value: float, text: str) -> None:
    assert format_figure(value) == text
