"""Fisher's exact test of two shares, one-sided and two-sided. Knows four counts; imports neither numpy nor scipy.

It uses logarithms, so that tables of tens of thousands do not overflow; scipy gives the same but takes half a second to load.
"""

from math import exp, lgamma

_TIED = 1 + 1e-7
"""Two tables whose probabilities differ by less are equally likely: the difference is rounding."""


def fisher_one_sided(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """One-sided p-value: the probability that the first group gets at least this many of all hits by chance."""
    drawn, whole = hits + other_hits, total + other_total
    most = min(drawn, total)
    tail = sum(exp(_log_chance(count, drawn, total, whole)) for count in range(hits, most + 1))
    return min(1.0, tail)


def fisher(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """Two-sided p-value: the probability that chance divides the hits at least as unevenly."""
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
