"""Assignment by keyed hash: a session gets the same arm in every process and after every crash, and nobody without the key can
predict it. Knows no plan's purpose and stores nothing.

An assignment depends only on the key, its purpose and its subject, not on the order or number of earlier sessions. Balance within
strata is gained by comparing within strata afterwards.
"""

from collections.abc import Mapping, Sequence
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
