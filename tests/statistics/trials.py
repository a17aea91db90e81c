"""Simulated trials: sessions of unequal lengths in projects that differ, assigned to two arms at random."""

import numpy as np
from hypothesis import strategies as some

from preheat.model.experiment import Observation


def make_trial(
    seed: int,
    sessions: int = 120,
    *,
    share: float = 0.5,
    effect: float = 0.0,
    base: float = 0.1,
    projects: int = 0,
    between: float = 0.0,
    equal: bool = False,
    before: bool = False,
) -> list[Observation]:
    """Mistakes out of calls. `between`: how much projects differ; `before`: the project's earlier rate is known."""
    random = np.random.default_rng(seed)
    levels = np.clip(base + random.normal(0, between, max(1, projects)), 0.01, 0.9)
    made = []
    for number in range(sessions):
        project = int(random.integers(0, projects)) if projects else 0
        warm = bool(random.random() < share)
        calls = 30 if equal else int(np.ceil(random.lognormal(3.2, 0.8)))
        rate = float(np.clip(levels[project] + random.normal(0, 0.03) + (effect if warm else 0.0), 0.0, 1.0))
        made.append(
            Observation(
                session=f"s{number:05}",
                arm="warm" if warm else "cold",
                above=float(random.binomial(calls, rate)),
                below=float(calls),
                stratum=f"p{project}" if projects else "",
                cluster=f"p{project}" if projects else "",
                before=float(levels[project]) + float(random.normal(0, 0.005)) if before else None,
                at=float(number),
            )
        )
    return made


@some.composite
def arbitrary_trials(draw: some.DrawFn, least: int = 0) -> list[Observation]:
    """Any arms, counts, clusters and covariates, small enough to shrink."""
    count = draw(some.integers(max(0, least), 40))
    clusters = draw(some.sampled_from([0, 1, 2, 7]))
    units = []
    for number in range(count):
        below = draw(some.integers(0, 60))
        units.append(
            Observation(
                session=f"s{number}",
                arm=draw(some.sampled_from(["warm", "cold"])),
                above=float(draw(some.integers(0, below))),
                below=float(below),
                cluster=f"c{draw(some.integers(0, clusters - 1))}" if clusters else "",
                stratum=draw(some.sampled_from(["", "a", "b"])),
                before=draw(some.none() | some.floats(0, 1)),
                at=float(number),
            )
        )
    return units
