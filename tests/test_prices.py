"""Prices: our sum by rates is the package's own calculation, for every model it knows."""

from datetime import UTC, datetime

import pytest
from genai_prices import Usage as TheirUsage
from genai_prices import calc_price
from genai_prices.data import providers
from hypothesis import given
from hypothesis import strategies as st

from preheat.model.session import Usage
from preheat.prices import find_price, price_list, price_usage

MODELS = sorted(
    {
        model.id
        for provider in providers
        for model in provider.models
        if provider.id in ("anthropic", "openai", "google")
    }
)
SIZES = st.integers(0, 2_000_000)


@given(st.sampled_from(MODELS), SIZES, SIZES, SIZES, SIZES, st.sampled_from([None, 1_700_000_000.0, 1_790_000_000.0]))
def test_a_response_costs_what_the_package_calculates(
    model: str, fresh: int, output: int, read: int, written: int, at: float | None
) -> None:
    """Also where a large input has other rates, and where part of it is kept for an hour."""
    usage = Usage(input=fresh, output=output, cache_read=read, cache_write=written)
    ours = price_usage(model, usage, at)
    if ours is None:
        assert find_price(model, -1 if at is None else int(at // 3600)) is None
        return
    cached = {"cache_read_tokens": read or None, "cache_write_tokens": written or None}
    theirs = calc_price(
        TheirUsage(input_tokens=fresh + read + written, output_tokens=output, **cached),
        model,
        genai_request_timestamp=None if at is None else datetime.fromtimestamp(at, UTC),
    )
    assert ours == pytest.approx(float(theirs.total_price), abs=1e-9)


def test_what_is_kept_in_the_cache_for_an_hour_costs_more() -> None:
    brief = price_usage("claude-opus-4-5", Usage(cache_write=10_000), None)
    hour = price_usage("claude-opus-4-5", Usage(cache_write=10_000, cache_write_hour=10_000), None)
    half = price_usage("claude-opus-4-5", Usage(cache_write=10_000, cache_write_hour=5_000), None)
    assert brief is not None
    assert hour == pytest.approx(brief * 2 / 1.25)
    assert half == pytest.approx((brief + (hour or 0)) / 2)


@pytest.mark.parametrize("model", ["", "no-such-model", "<synthetic>", "default", "a/b/c", "\n", "x" * 10_000])
def test_a_model_without_a_price_has_none(model: str) -> None:
    assert price_usage(model, Usage(input=1000), None) is None


def test_a_model_of_a_router_costs_what_its_maker_asks() -> None:
    usage = Usage(input=1000, output=1000)
    assert price_usage("anthropic/claude-opus-4-5", usage, None) == price_usage("claude-opus-4-5", usage, None)


def test_the_list_of_the_prices_is_named_with_its_version() -> None:
    assert price_list().startswith("genai-prices 0")
