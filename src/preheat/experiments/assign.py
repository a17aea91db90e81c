"""Lots by keyed hash: the same session gets the same arm in every process and after every crash, and nobody without the key
can foretell it. Knows no plan's purpose and keeps nothing.

A lot hangs on the key, on what it is for and on whom it is for, and on nothing that happens: neither order nor number of the
sessions before. So there is nothing to lose and nothing to count. What blocks within each stratum would gain is gained by
comparing within strata afterwards.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from preheat.model.experiment import ARMS, AdviceLot, Arm, Assignment, Plan

_ALL = 2**64


def lot(key: bytes, *about: str) -> float:
    """A number from 0 up to 1, equal for equal words."""
    text = "\0".join(str(len(each)) + ":" + each for each in about)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()) / _ALL


def shares_of(plan: Plan) -> dict[str, float]:
    """The shares by arm, in the order in which the lots are cut."""
    given = dict(zip(plan.arms, plan.shares, strict=True))
    return {arm: given[arm] for arm in ARMS if arm in given}


def arm_of(key: bytes, experiment: str, stratum: Sequence[str], root: str, shares: Mapping[str, float]) -> Arm:
    """The arm that a line of sessions gets."""
    drawn = lot(key, "arm", experiment, *stratum, root) * sum(shares.values())
    reached = 0.0
    chosen: Arm = "warm"
    for arm in ARMS:
        if shares.get(arm, 0.0) > 0:
            chosen, reached = arm, reached + shares[arm]
            if drawn < reached:
                break
    return chosen


def assigned(
    key: bytes, plan: Plan, experiment: str, agent: str, project: str, session: str, at: float, root: str = ""
) -> Assignment:
    """The assignment of a session that begins; `root` is what its line began with, if not itself."""
    shares = shares_of(plan)
    name = f"{agent}:{session}"
    root = root or name
    arm = arm_of(key, experiment, (agent, project), root, shares)
    return Assignment(
        session=name, root=root, experiment=experiment, arm=arm, shares=shares, agent=agent, project=project, at=at
    )


def spared(key: bytes, experiment: str, root: str, items: Sequence[str], probability: float) -> frozenset[str]:
    """The items that a line of sessions is spared, each with this probability."""
    return frozenset(item for item in items if lot(key, "item", experiment, root, item) < probability)


def advice_lot(
    key: bytes, root: str, session: str, signal: str, cause: str, turn: int, probability: float, at: float
) -> AdviceLot:
    """Whether something is said; `probability` is that of keeping silent."""
    hashed = blake2b(f"{signal}\0{cause}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    silent = lot(key, "advice", root, hashed, str(turn)) < probability
    return AdviceLot(
        session=session,
        at=at,
        turn=turn,
        signal=signal,
        cause=hashed,
        shown=not silent,
        probability=1 - probability,
    )
