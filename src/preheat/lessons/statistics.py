"""Exact tests for small tables, and the control of false discoveries among many of them. Knows numbers only."""

from collections.abc import Sequence
from math import exp, lgamma


def more_often(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """Fisher's exact test, one-sided: how likely chance alone gives the first group so large a share of all the hits."""
    drawn, whole = hits + other_hits, total + other_total
    most = min(drawn, total)
    tail = sum(exp(_log_chance(count, drawn, total, whole)) for count in range(hits, most + 1))
    return min(1.0, tail)


def _log_chance(count: int, drawn: int, marked: int, whole: int) -> float:
    """The logarithm of the hypergeometric probability of `count` marked ones among `drawn` of `whole`."""
    if count < drawn - (whole - marked):
        return float("-inf")
    return _log_choose(marked, count) + _log_choose(whole - marked, drawn - count) - _log_choose(whole, drawn)


def _log_choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


def false_discovery_rates(chances: Sequence[float]) -> list[float]:
    """By Benjamini and Hochberg: for each p-value the share of false ones among all that are at least as small."""
    order = sorted(range(len(chances)), key=lambda place: (chances[place], place))
    rates = [1.0] * len(chances)
    least = 1.0
    for rank in range(len(order), 0, -1):
        place = order[rank - 1]
        least = min(least, chances[place] * len(chances) / rank)
        rates[place] = least
    return rates
