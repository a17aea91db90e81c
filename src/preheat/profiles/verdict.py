"""The answer to the marathon question in words, by rules that anyone can follow.

Knows only the numbers. A difference or slope counts when its 95 % interval leaves out zero; a slope moreover only when no
check speaks against it.
"""

import msgspec

from preheat.model.population import Answer, Direction, Estimate, Verdict, in_points

_FAIL = {"errors": "fail", "mistakes": "are the agent's own mistakes"}
_RATE = {"errors": "error rate", "mistakes": "rate of own mistakes"}
Shares = tuple[float | None, ...]
"""Of short and long sessions over all messages, then of both in their first 50."""


def concluded(answer: Answer, shares: Shares) -> Answer:
    """With its verdict and its words."""
    verdict = _verdict(answer)
    words = (_conclusion(answer, verdict), *_raw(answer, shares), *_selection(answer, shares), *_slopes(answer))
    return msgspec.structs.replace(answer, verdict=verdict, words=words)


def plain(errors: Answer, mistakes: Answer) -> str:
    """The answer for both measures in a few sentences. What an agent learns shows in its own mistakes; the error rate also
    falls when tests begin to pass, and rises when hard tests come last."""
    own, every = within(mistakes), within(errors)
    if own == every == "too_little_data":
        return "Too little data to say whether agents get better within a session."
    change = mistakes.slope.change
    amount = "" if change.value is None else f": {_pace(change)}"
    throughout = mistakes.slope_all.change.direction == "lower"
    said = {
        "lower": f"{'Yes' if throughout else 'Early in a session, yes'}: at equal work, agents make fewer mistakes of their"
        f" own as it goes on{amount}.",
        "higher": f"No, the opposite: at equal work, agents make more mistakes of their own as it goes on{amount}.",
        "no_difference": f"Nothing shows it. At equal work, agents' own mistakes do not clearly change{amount}.",
        "too_little_data": "There are too few mistakes of the agents' own to say.",
    }[own]
    if own == "lower" and not throughout:
        said += " Over whole sessions, however long, the fall is not clear."
    if every in ("lower", "higher") and every != own:
        said += (
            f" All failures together, failing tests included, get {'rarer' if every == 'lower' else 'more frequent'}."
        )
    if mistakes.selection.direction in ("lower", "higher"):
        fewer = "fewer" if mistakes.selection.direction == "lower" else "more"
        said += f" And sessions that become long have {fewer} own mistakes from the first messages on: that part is selection."
    return said


def within(answer: Answer) -> Direction:
    """Where the rate goes within sessions, unless a check speaks against it."""
    return "no_difference" if _against(answer) else answer.slope.change.direction


def _against(answer: Answer) -> list[str]:
    """The checks that take a clear slope back: another cut of the same messages that points the other way, or all messages
    together if they clearly do."""
    direction = answer.slope.change.direction
    if direction not in ("lower", "higher"):
        return []
    falls = direction == "lower"
    turned = [each.name for each in answer.checks if each.change.value is not None and (each.change.value < 0) != falls]
    opposite = "higher" if falls else "lower"
    return [*turned, answer.slope_all.name] if answer.slope_all.change.direction == opposite else turned


def _verdict(answer: Answer) -> Verdict:
    slope, selection, raw = within(answer), answer.selection.direction, answer.raw.direction
    differs = ("lower", "higher")
    if slope == "too_little_data":
        return "too_little_data"
    if slope == "lower":
        return "learning_and_selection" if selection in differs else "learning"
    if slope == "higher":
        return "worse"
    if selection in differs:
        return "selection"
    return "other_work" if raw in differs else "neither"


def _conclusion(answer: Answer, verdict: Verdict) -> str:
    rate = _RATE[answer.measure]
    change = _pace(answer.slope.change)
    start = "higher" if answer.selection.direction == "higher" else "lower"
    from_start = f"sessions that become long have a {start} {rate} from their first 50 messages on"
    # All failures together also fall when tests begin to pass: only own mistakes can be called learning without more ado.
    learning = (
        "Learning"
        if answer.measure == "mistakes"
        else "Falling within sessions (learning, or tests that begin to pass)"
    )
    by_length = "" if answer.raw.value is None else "with length, nor "
    return {
        "learning": f"{learning}: at the same kind of work, the {rate} falls within a session: {change}.",
        "learning_and_selection": (
            f"{learning}, and selection: at the same kind of work, the {rate} falls within a session: {change}; "
            f"and {from_start}."
        ),
        "selection": f"Selection, not learning: {from_start}, and nothing shows that it changes within a session.",
        "worse": f"No learning, the opposite: at the same kind of work, the {rate} rises within a session: {change}.",
        "other_work": (
            f"Other work: long and short sessions differ, but not from the start, and the {rate} does not change "
            "within a session at the same kind of work."
        ),
        "neither": f"Neither: this data shows no change of the {rate} {by_length}within a session.",
        "too_little_data": "Too little data: not enough sessions, calls or failures to tell learning from selection.",
    }[verdict]


def _raw(answer: Answer, shares: Shares) -> list[str]:
    fail = _FAIL[answer.measure]
    if answer.raw.value is None:
        return ["By length: too few short or too few long sessions to compare."]
    said = (
        f"By length: in sessions of over 100 messages {_share(shares[1])} of calls {fail}, in those of up to 50 "
        f"{_share(shares[0])}: {_points(answer.raw)}{_unclear(answer.raw)}."
    )
    inside = answer.within_agents
    if inside.value is None:
        return [said]
    return [f"{said} Inside each agent, so that their mix plays no part: {_points(inside)}{_unclear(inside)}."]


def _selection(answer: Answer, shares: Shares) -> list[str]:
    if answer.selection.value is None:
        return ["From the start: too few sessions to compare the first 50 messages."]
    said = (
        f"From the start: in their first 50 messages, {_share(shares[3])} in sessions that went on past 100, "
        f"{_share(shares[2])} in those that ended within 50: {_points(answer.selection)}{_unclear(answer.selection)}."
    )
    if answer.raw.value is None or answer.later.value is None:
        return [said]
    parts = f"{_bare(answer.selection)} were there from the start (selection), {_bare(answer.later)} came later"
    return [f"{said} So of {_bare(answer.raw)} points by length, {parts} (other work, learning or tiring)."]


def _slopes(answer: Answer) -> list[str]:
    change = answer.slope.change
    if change.value is None:
        return ["Within sessions: too few sessions, calls or failures for a slope."]
    said = (
        f"Within sessions: {_points(change)} per 100 messages at the same kind of work, over the first 200 messages"
        f"{_unclear(change, 'change')}; {_points(answer.slope_any_work.change)} whatever the work; "
        f"{_points(answer.slope_all.change)} at the same kind of work over all messages."
    )
    against = _against(answer)
    if change.direction == "no_difference":
        return [said]
    if against:
        return [f"{said} It does not hold up ({', '.join(against)}), so it is not counted."]
    return [f"{said} No check speaks against it."]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _bare(estimate: Estimate) -> str:
    return in_points(estimate.value) if estimate.value is not None else "-"


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "too little data"
    return f"{in_points(estimate.value)} points (95 % interval {in_points(estimate.low)} to {in_points(estimate.high)})"


def _pace(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "too little data"
    reach = f"95 % interval {in_points(estimate.low)} to {in_points(estimate.high)}"
    return f"{in_points(estimate.value)} points per 100 messages over the first 200 ({reach})"


def _unclear(estimate: Estimate, noun: str = "difference") -> str:
    return f", no clear {noun}" if estimate.direction == "no_difference" else ""
