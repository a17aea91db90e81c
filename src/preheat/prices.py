"""What a model's tokens cost, by the list prices that the package `genai-prices` carries; nothing is fetched.

Knows neither sessions nor the archive. Slow to import (a sixth of a second): only what adds up costs does.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

import genai_prices
from genai_prices import types as price_types

from preheat.model.session import Usage

__all__ = ["find_price", "price_list", "price_usage"]

_PROBE = 1000
"""Tokens by which the rates of a model are found out; below every threshold of a tier."""
_FIELDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")


class ModelPrice(NamedTuple):
    """The price of a model at a time: dollars for one token of each kind, up to a size of the input."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_hour: float
    most_input: float
    """Tokens of input, cached ones included, above which other rates hold."""


def price_usage(model: str, usage: Usage, at: float | None) -> float | None:
    """What the tokens of one response cost in dollars, at the prices of its time; None if the model has no known price."""
    price = find_price(model, -1 if at is None else int(at // 3600))
    if price is None:
        return None
    if usage.input + usage.cache_read + usage.cache_write > price.most_input:
        return float(_calculate(model, usage, at).total_price)
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + (usage.cache_write - usage.cache_write_hour) * price.cache_write
        + usage.cache_write_hour * price.cache_write_hour
    )


@lru_cache(maxsize=65536)
def find_price(model: str, hour: int) -> ModelPrice | None:
    """The price of a model in an hour (counted since the epoch, -1 for now); None if it is not known."""
    at = None if hour < 0 else hour * 3600.0

    def rate(usage: Usage) -> float:
        return float(_calculate(model, usage, at).total_price) / _PROBE

    try:
        found = _calculate(model, Usage(input=_PROBE), at)
        return ModelPrice(
            rate(Usage(input=_PROBE)),
            rate(Usage(output=_PROBE)),
            rate(Usage(cache_read=_PROBE)),
            rate(Usage(cache_write=_PROBE)),
            rate(Usage(cache_write=_PROBE, cache_write_hour=_PROBE)),
            _lowest_threshold(found.model_price),
        )
    except (LookupError, ValueError):
        return None


def price_list() -> str:
    """The list that the prices are of: `genai-prices 0.2.2`."""
    return f"genai-prices {genai_prices.__version__}"


def _calculate(model: str, usage: Usage, at: float | None) -> price_types.PriceCalculation:
    """The package's own calculation. Its input includes what came from the cache; ours does not."""
    tokens = genai_prices.Usage(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read or None,
        cache_write_tokens=usage.cache_write or None,
        cache_write_1h_tokens=usage.cache_write_hour or None,
    )
    when = datetime.fromtimestamp(at, UTC) if at is not None else None
    # A router's name (`anthropic/claude-…`) is no model of the maker's own list: the part behind it is.
    names = [model, model.rpartition("/")[2]] if "/" in model else [model]
    for name in names[:-1]:
        try:
            return genai_prices.calc_price(tokens, name, genai_request_timestamp=when)
        except LookupError:
            continue
    return genai_prices.calc_price(tokens, names[-1], genai_request_timestamp=when)


def _lowest_threshold(price: price_types.ModelPrice) -> float:
    tiers = [getattr(price, field, None) for field in _FIELDS]
    starts = [tier.start for each in tiers if isinstance(each, price_types.TieredPrices) for tier in each.tiers]
    return min(starts, default=float("inf"))
