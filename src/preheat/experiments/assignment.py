"""Assignment by keyed hash, and the texts of the arms `note` and `placebo`. Pure; stores nothing.

A session gets the same arm in every process and after every crash, and nobody without the key can predict it. An assignment
depends only on the key, its purpose and its subject, not on earlier sessions. Balance within strata is gained by comparing
within strata afterwards. Knows no frame and no tokeniser: these are passed in. A placebo contains nothing of another project.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b

from preheat.model.experiment import ARMS, AdviceAssignment, Arm, Assignment, ExperimentPlan

_RANGE = 2**64


def random_number(key: bytes, *words: str) -> float:
    """A pseudo-random number from 0 up to 1 that depends on the key and the words alone."""
    text = "\0".join(str(len(each)) + ":" + each for each in words)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()) / _RANGE


def shares_of(plan: ExperimentPlan) -> dict[str, float]:
    """The shares by arm, in the order of `ARMS`."""
    by_arm = dict(zip(plan.arms, plan.shares, strict=True))
    return {arm: by_arm[arm] for arm in ARMS if arm in by_arm}


def choose_arm(key: bytes, experiment: str, stratum: Sequence[str], root: str, shares: Mapping[str, float]) -> Arm:
    """The arm of a chain of sessions that began with `root`."""
    number = random_number(key, "arm", experiment, *stratum, root) * sum(shares.values())
    cumulated = 0.0
    chosen: Arm = "warm"
    for arm in ARMS:
        if shares.get(arm, 0.0) > 0:
            chosen, cumulated = arm, cumulated + shares[arm]
            if number < cumulated:
                break
    return chosen


def assign_session(
    key: bytes, plan: ExperimentPlan, experiment: str, agent: str, project: str, session: str, at: float, root: str = ""
) -> Assignment:
    """The assignment of a session that begins; `root` is the session that its chain began with, if not itself."""
    shares = shares_of(plan)
    name = f"{agent}:{session}"
    root = root or name
    arm = choose_arm(key, experiment, (agent, project), root, shares)
    return Assignment(
        session=name, root=root, experiment=experiment, arm=arm, shares=shares, agent=agent, project=project, at=at
    )


def items_left_out(key: bytes, experiment: str, root: str, items: Sequence[str], probability: float) -> frozenset[str]:
    """The items that are left out for a chain of sessions, each with this probability."""
    return frozenset(item for item in items if random_number(key, "item", experiment, root, item) < probability)


def assign_advice(
    key: bytes, root: str, session: str, signal: str, cause: str, turn: int, probability: float, at: float
) -> AdviceAssignment:
    """Whether an advisory is sent; `probability` is that of withholding it."""
    cause_hash = blake2b(f"{signal}\0{cause}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    withheld = random_number(key, "advice", root, cause_hash, str(turn)) < probability
    return AdviceAssignment(
        session=session,
        at=at,
        turn=turn,
        signal=signal,
        cause=cause_hash,
        shown=not withheld,
        probability=1 - probability,
    )


# The texts of the arms `note` and `placebo`.
_FIRST, _STEP = 13, 7
"""The first number that is squared, and the step to the next; arbitrary."""

FACTS: tuple[str, ...] = (
    "Water boils at a lower temperature on a mountain than at the sea.",
    "The Danube flows through more countries than any other river in Europe.",
    "Copper conducts electricity better than iron does.",
    "A leap year has 366 days, and the year 2000 was one.",
    "Sound travels faster in water than in air.",
    "The shadow of a sundial is shortest at noon.",
    "Bees see ultraviolet light, which people do not.",
    "Granite cools slowly below the ground, basalt quickly above it.",
    "The Moon shows the Earth always nearly the same side.",
    "Salt lowers the temperature at which water freezes.",
    "An octave doubles the frequency of a tone.",
    "Light needs a little over eight minutes from the Sun to the Earth.",
    "Oak wood is heavier than spruce wood of the same size.",
    "The Sahara is larger than the Gobi.",
    "Helium was seen in the light of the Sun before it was found on the Earth.",
    "A triangle with sides of three, four and five has a right angle.",
    "Mercury is a liquid metal at room temperature.",
    "The Pacific is the largest of the oceans.",
    "Clouds are made of small drops of water or crystals of ice.",
    "Glass is made of sand, soda and lime.",
    "A pendulum of four times the length swings half as fast.",
    "The days near the equator are about equally long all year.",
    "Spiders have eight legs and insects six.",
    "Gold is denser than lead.",
    "The Nile flows from the south to the north.",
    "Ice floats because it is less dense than water.",
    "The inner planets are smaller than the outer ones.",
    "Tea and coffee both contain caffeine.",
    "A compass needle points to magnetic north, not to the pole itself.",
    "Wool keeps warm because it holds air.",
)


def write_note(caveat: str, texts: Sequence[str]) -> str:
    """Facts as one paragraph: the caveat, then each text as a sentence."""
    return " ".join((caveat, *(_sentence(text) for text in texts if text.strip())))


def _sentence(text: str) -> str:
    lines = [line.strip().removeprefix("- ").strip() for line in text.splitlines()]
    flat = "; ".join(line.rstrip(" ;") for line in lines if line).replace(":;", ":")
    return flat if flat[-1:] in ".!?”" else f"{flat}."


def write_placebo(tokens: int, cost: Callable[[str], int]) -> str:
    """A paragraph of as nearly `tokens` tokens as possible; `cost` counts the tokens of a text."""
    text = ""
    for fact in _facts():
        longer = f"{text} {fact}".strip()
        spent = cost(longer)
        if spent > tokens:
            return longer if spent - tokens < tokens - cost(text) else text
        text = longer
    return text


def _facts() -> Iterator[str]:
    """Endless sentences: general facts, then squares, which are short enough to come near any number of tokens."""
    yield from FACTS
    number = _FIRST
    while True:
        yield f"The square of {number} is {number * number}."
        number += _STEP
