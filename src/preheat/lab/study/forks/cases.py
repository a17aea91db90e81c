"""The cases of the fork study: a failure, its repair, what came before, and the texts. Standard library only.

Two points in each case: `call`, just before the call that failed, and `error`, just after its error. At both the same two
commands are scored: the one that failed and the one that repaired it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.lab.study.prompts import Count, Message

CALL, ERROR = "call", "error"
ARMS = (
    "call/absent", "call/start", "call/before", "call/placebo", "call/wrong",
    "error/absent", "error/start", "error/after", "error/placebo", "error/wrong",
)  # fmt: skip
"""POINT/WHERE THE TEXT STANDS. `start`: below the system's text; the others but `absent`: as the newest message."""
STRATA = ("product", "named")
"""`product`: what Preheat says of this failure. `named`: it says nothing, and the text names the repair outright."""
_QUOTED = re.compile(r"`([^`]+)`")


class ForkCase(NamedTuple):
    """A failure that a later call repaired."""

    id: str
    project: str
    stratum: str
    group: str
    """The kind of failure, by its message."""
    rule: str
    """The rule that has the text; empty in the stratum `named`."""
    conversation: tuple[Message, ...]
    failed: str
    error: str
    repair: str
    text: str
    placebo: str
    """A text on something else, of another project; made as long in tokens when it is run."""
    wrong: str
    """The text with another's remedy in the place of its own; empty where it names none."""


def encode_cases(cases: Sequence[ForkCase]) -> bytes:
    return json.dumps([case._asdict() for case in cases], ensure_ascii=False, indent=1).encode()


def decode_cases(data: bytes) -> list[ForkCase]:
    return [
        ForkCase(**{**each, "conversation": tuple(Message(*row) for row in each["conversation"])})
        for each in json.loads(data)
    ]


def find_remedies(text: str, failed: str) -> list[str]:
    """What a text names to use instead: all that stands in backticks but the first, which is what failed, and words of the
    failed command."""
    return [each for each in _QUOTED.findall(text)[1:] if each not in failed.split()]


def put_remedies(text: str, failed: str, others: Sequence[str]) -> str:
    """The text with other remedies in their places; empty where it names none, or nothing else is there to name."""
    own = find_remedies(text, failed)
    fit = [each for each in others if each not in own]
    if not own or not fit:
        return ""
    for place, each in enumerate(own):
        text = text.replace(f"`{each}`", f"`{fit[place % len(fit)]}`")
    return text


def give_other_texts(cases: Sequence[ForkCase]) -> list[ForkCase]:
    """The cases with a placebo (of the texts of other projects in the stratum, the one that is nearest in length) and a wrong
    remedy (that of the next case of the same rule and stratum, of another project where there is one)."""
    found = []
    for place, case in enumerate(cases):
        following = [*cases[place + 1 :], *cases[:place]]
        elsewhere = [other for other in following if other.project != case.project]
        texts = [other.text for other in elsewhere if other.stratum == case.stratum]
        placebo = min(
            ((abs(len(text) - len(case.text)), turn, text) for turn, text in enumerate(texts)), default=(0, 0, "")
        )[2]
        alike = [
            other
            for other in (*elsewhere, *following)
            if (other.stratum, other.rule) == (case.stratum, case.rule) and find_remedies(other.text, other.failed)
        ]
        others = find_remedies(alike[0].text, alike[0].failed) if alike else []
        found.append(case._replace(placebo=placebo, wrong=put_remedies(case.text, case.failed, others)))
    return found


def take_turns(cases: Iterable[ForkCase]) -> list[ForkCase]:
    """The cases in an order whose every beginning is balanced: those with a text of the product first, one of each project in
    turn."""
    ordered: list[ForkCase] = []
    rows = list(cases)
    for stratum in STRATA:
        by_project: dict[str, list[ForkCase]] = {}
        for case in rows:
            if case.stratum == stratum:
                by_project.setdefault(case.project, []).append(case)
        while any(by_project.values()):
            ordered += [of.pop(0) for _, of in sorted(by_project.items()) if of]
    return ordered


def fit_words(text: str, tokens: int, count: Count) -> str:
    """A text cut, or said again from its beginning, until it has so many tokens or hardly fewer."""
    words = text.split(" ")
    while count(" ".join(words)) < tokens:
        words += text.split(" ")
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(" ".join(words[:middle])) <= tokens:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low])
