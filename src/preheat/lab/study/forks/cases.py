"""The cases of the fork study: a failure, its repair, what came before, and the texts. Standard library only.

Two points in each case: `call`, just before the call that failed, and `error`, just after its error. At both the same two
commands are scored: the one that failed and the one that repaired it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from posixpath import basename
from typing import NamedTuple

from preheat.lab.study.prompts import Count, Message

CALL, ERROR = "call", "error"
ARMS = (
    "call/absent", "call/start", "call/before", "call/placebo", "call/wrong",
    "error/absent", "error/start", "error/after", "error/placebo", "error/wrong", "call/old", "error/old",
)  # fmt: skip
"""POINT/WHERE THE TEXT STANDS. `start`: below the system's text; the others but `absent`: as the newest message. `old`: the
text in the wording of the first study, which quotes what fails."""
LAST_ARM = "error/start"
"""The arm that is scored last: a case that has it is done."""
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
    remedies: tuple[str, ...] = ()
    """What the text names to use instead, as the rule has it."""
    old: str = ""
    """The text in the wording of the first study; empty in that study."""


def encode_cases(cases: Sequence[ForkCase]) -> bytes:
    return json.dumps([case._asdict() for case in cases], ensure_ascii=False, indent=1).encode()


def decode_cases(data: bytes) -> list[ForkCase]:
    return [
        ForkCase(
            **{
                **each,
                "conversation": tuple(Message(*row) for row in each["conversation"]),
                "remedies": tuple(each.get("remedies", ())),
            }
        )
        for each in json.loads(data)
    ]


def find_remedies(case: ForkCase) -> list[str]:
    """What the text of a case names to use instead, as it is written there: a path may be shown from another folder."""
    names = {basename(each.rstrip("/")) for each in case.remedies}
    return [
        each
        for each in _QUOTED.findall(case.text)
        if (each in case.remedies or basename(each.rstrip("/")) in names) and each not in case.failed.split()
    ]


def put_remedies(case: ForkCase, others: Sequence[str]) -> str:
    """The text with other remedies in their places; empty where it names none, or nothing else is there to name."""
    text, own = case.text, find_remedies(case)
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
            if (other.stratum, other.rule) == (case.stratum, case.rule) and find_remedies(other)
        ]
        others = find_remedies(alike[0]) if alike else []
        found.append(case._replace(placebo=placebo, wrong=put_remedies(case, others)))
    return found


def give_old_texts(cases: Sequence[ForkCase], earlier: Iterable[ForkCase]) -> list[ForkCase]:
    """The cases that an earlier plan has too, with its text of the same failure as the old one."""
    texts = {case.id: case.text for case in earlier if case.stratum == "product"}
    return [case._replace(old=texts[case.id]) for case in cases if case.stratum == "product" and case.id in texts]


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
