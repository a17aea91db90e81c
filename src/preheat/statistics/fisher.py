"""Fisher's exact test of two shares, one-sided and two-sided. Knows four counts; imports nothing heavy.

By logarithms, so that tables of tens of thousands do not overflow; scipy's gives the same and takes half a second to load.
"""

from math import exp, lgamma

_TIED = 1 + 1e-7
"""Two tables whose chances differ by less are equally likely: rounding alone parts them."""


def more_often(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """One-sided: how likely chance alone gives the first group so large a share of all the hits."""
    drawn, whole = hits + other_hits, total + other_total
    most = min(drawn, total)
    tail = sum(exp(_log_chance(count, drawn, total, whole)) for count in range(hits, most + 1))
    return min(1.0, tail)


def fisher(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """Two-sided: how often chance alone parts the hits at least as unevenly."""
    drawn, whole = hits + other_hits, total + other_total
    least, most = max(0, drawn - other_total), min(drawn, total)
    chances = [exp(_log_chance(count, drawn, total, whole)) for count in range(least, most + 1)]
    seen = chances[hits - least] * _TIED
    return min(1.0, sum(chance for chance in chances if chance <= seen))


def _log_chance(count: int, drawn: int, marked: int, whole: int) -> float:
    """The logarithm of the hypergeometric probability of `count` marked ones among `drawn` of `whole`."""
    if count < drawn - (whole - marked):
        return float("-inf")
    return _log_choose(marked, count) + _log_choose(whole - marked, drawn - count) - _log_choose(whole, drawn)


def _log_choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)
