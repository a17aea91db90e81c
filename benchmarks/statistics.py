"""Do the statistics keep their word? Made-up trials whose truth is known, thousands of them, against what is promised.

- size: trials without effect that are said to have one; at most 5 %, also by cluster, with unequal lengths and arms, and with a
  look after every session.
- coverage: intervals that hold the truth; 94 to 96 %.
- power: what the plan promised against what new trials find; within 3 points.
- beside it what the user's documents would have claimed: one warm session against one cold, late against early in one session,
  and "preserved if post ≤ 1.2 × pre".

Each share stands with its count of trials and Wilson's interval. A row is `off` if that whole interval lies outside the promise.
"""

# ruff: noqa: A005 - only ever imported as `benchmarks.statistics`

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import table
from preheat.model.experiment import Exposure, MeasuredSession, Observation
from preheat.statistics.arms import (
    Codes,
    Flags,
    Numbers,
    Spread,
    compare_arms,
    jackknife_clusters,
    measure_arm,
    student_quantile,
    widen_for_small_arms,
)
from preheat.statistics.effect import BURN_IN, HORIZON, adjust_difference, always_valid_errors, estimate_difference
from preheat.statistics.excursion import AdviceMoment, estimate_excursion
from preheat.statistics.paired import compare_paired
from preheat.statistics.power import plan_sample_size, shift_counts
from preheat.statistics.sample_ratio import check_sample_ratio
from preheat.statistics.shares import wilson
from preheat.statistics.utility import estimate_utilities
from preheat.statistics.verdict import compare_with_margin

BASE = 0.08
SEED = 20261116
PILOT = 600
"""Earlier sessions that a plan is drawn from."""
WARM: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}


class Shape(NamedTuple):
    """How trials are made."""

    name: str
    sessions: int = 150
    share: float = 0.5
    kind: str = "mistakes"
    """`mistakes` out of calls; `success`: yes or no; `seconds`: skewed."""
    projects: int = 0
    unequal: bool = True
    effects_differ: bool = False


class Trials(NamedTuple):
    """Many trials at once: a row each."""

    above: Numbers
    below: Numbers
    treated: Flags
    project: Codes
    truth: float
    usual: Numbers
    """What the session's project is like without the arm."""


SHAPES = (
    Shape("sessions of one length, half and half", unequal=False),
    Shape("unequal lengths, half and half"),
    Shape("unequal lengths, a fifth held out", share=0.8),
    Shape("few: 60 sessions, a fifth held out", sessions=60, share=0.8),
    Shape("many: 400 sessions, a fifth held out", sessions=400, share=0.8),
    Shape("10 projects that differ", projects=10),
    Shape("30 projects that differ, a fifth held out", sessions=300, share=0.8, projects=30),
    Shape("6 projects that differ", projects=6),
    Shape("20 projects whose effects differ", sessions=300, projects=20, effects_differ=True),
    Shape("success, yes or no", kind="success"),
    Shape("success, a fifth held out", kind="success", share=0.8),
    Shape("seconds, skewed", kind="seconds"),
    Shape("seconds, skewed, a fifth held out", sessions=300, kind="seconds", share=0.8),
)


def simulate(shape: Shape, runs: int, relative: float, random: np.random.Generator, sessions: int = 0) -> Trials:
    """Trials in which the arm spares this share of the mistakes (or seconds)."""
    size = (runs, sessions or shape.sessions)
    treated = random.random(size) < shape.share
    base = 0.4 if shape.kind == "success" else BASE
    means = np.full(size, base)
    spared = np.full(size, relative)
    # Projects are of unequal size: the first hold most of the sessions.
    project = (random.random(size) ** 1.7 * max(1, shape.projects)).astype(np.int64)
    if shape.projects:
        means = np.take_along_axis(random.beta(6, 6 / base - 6, (runs, shape.projects)), project, axis=1)
    if shape.effects_differ:
        effects = np.clip(random.normal(relative, 0.15, (runs, shape.projects)), relative - 0.4, relative + 0.4)
        spared = np.take_along_axis(effects, project, axis=1)
    if shape.kind == "seconds":
        above = random.lognormal(5, 0.9, size) * means / base
        return Trials(
            np.where(treated, above * (1 - spared), above),
            np.ones(size),
            treated,
            project,
            -relative * float(np.exp(5.405)),
            means,
        )
    if shape.kind == "success":
        above = (random.random(size) < means).astype(float)
        below = np.ones(size)
    else:
        below = np.ceil(random.lognormal(3.3, 0.8, size)) if shape.unequal else np.full(size, 30.0)
        above = random.binomial(below.astype(np.int64), random.beta(means * 12, (1 - means) * 12)).astype(float)
    fewer = random.binomial(above.astype(np.int64), np.clip(1 - spared, 0, 1)) + np.where(
        spared < 0, random.binomial((above).astype(np.int64), np.clip(-spared, 0, 1)), 0
    )
    return Trials(np.where(treated, fewer, above), below, treated, project, -relative * base, means)


def spread_of(trials: Trials, projects: int, look: int | None = None) -> Spread:
    """What the product computes, for all trials at once (a sample of them is checked against the product itself)."""
    above, below = trials.above[:, :look], trials.below[:, :look]
    inside = trials.treated[:, :look].astype(float)
    sessions = compare_arms(measure_arm(above, below, inside), measure_arm(above, below, 1 - inside))
    if not projects:
        return sessions
    runs = len(above)
    flat = (trials.project[:, :look] + np.arange(runs)[:, None] * projects).ravel()
    sums = [
        np.bincount(flat, weights=(values * side).ravel(), minlength=runs * projects).reshape(runs, projects)
        for side in (inside, 1 - inside)
        for values in (above, below)
    ]
    smaller = np.minimum(inside.sum(-1), (1 - inside).sum(-1))
    return widen_for_small_arms(
        jackknife_clusters(*(np.asarray(each, dtype=float) for each in sums)), sessions, smaller
    )


def units_of(trials: Trials, row: int, projects: int, before: Numbers | None = None) -> list[Observation]:
    return [
        Observation(
            session=f"s{number:04}",
            arm="warm" if trials.treated[row, number] else "cold",
            above=float(trials.above[row, number]),
            below=float(trials.below[row, number]),
            cluster=f"p{trials.project[row, number]}" if projects else "",
            before=None if before is None else float(before[row, number]),
            at=float(number),
        )
        for number in range(trials.above.shape[1])
    ]


def check_against_product(trials: Trials, projects: int, rows: int) -> None:
    """The numbers of all trials at once are the product's own; a benchmark of something else would be worth nothing."""
    spread = spread_of(trials, projects)
    for row in range(rows):
        found = estimate_difference(units_of(trials, row, projects), **WARM)
        if found.error is None or found.difference is None:
            continue
        observed = (float(spread.difference[row]), float(np.sqrt(spread.variance[row])))
        if not np.allclose((found.difference, found.error), observed, rtol=1e-9, equal_nan=True):
            raise AssertionError(
                f"trial {row}: the product says {found.difference} ± {found.error}, the benchmark {observed}"
            )


def row(what: str, name: str, hits: int, runs: int, low: float, high: float, beside: str = "") -> dict[str, Any]:
    """A share with its interval, and whether it can be what is promised."""
    ends = wilson(hits, runs)
    return {
        "what": what,
        "case": name,
        "trials": runs,
        "share": round(hits / runs, 4),
        "interval": [round(end, 4) for end in ends],
        "promised": [low, high],
        "kept": ends[0] <= high and ends[1] >= low,
        "beside": beside,
    }


def measure_one_look(quick: bool) -> list[dict[str, Any]]:
    """Size and coverage with one look."""
    random = np.random.default_rng(SEED)
    runs = 500 if quick else 4000
    rows = []
    for shape in SHAPES:
        for relative in (0.0, 0.3):
            trials = simulate(shape, runs, relative, random)
            check_against_product(trials, shape.projects, 3)
            spread = spread_of(trials, shape.projects)
            reach = student_quantile(spread.freedom, 0.05) * np.sqrt(spread.variance)
            known = np.isfinite(reach)
            off = np.abs(spread.difference - trials.truth)[known] > reach[known]
            lost = int((~known).sum())
            beside = f"{lost} not told" if lost else ""
            if relative == 0.0 and not shape.effects_differ:
                rows.append(row("size, one look", shape.name, int(off.sum()), int(known.sum()), 0.0, 0.05, beside))
            else:
                kept = int((~off).sum())
                rows.append(row("coverage", shape.name, kept, int(known.sum()), 0.94, 0.96, beside))
    return rows


def measure_peeking(quick: bool) -> list[dict[str, Any]]:
    """A look after every session, with the sequence and with the interval for one look."""
    random = np.random.default_rng(SEED + 1)
    runs, most = (150, 150) if quick else (1000, 300)
    rows = []
    for shape in (
        Shape("unequal lengths, half and half"),
        Shape("unequal lengths, a fifth held out", share=0.8),
        Shape("10 projects that differ", projects=10),
        Shape("success, a fifth held out", kind="success", share=0.8),
        Shape("seconds, skewed, a fifth held out", kind="seconds", share=0.8),
    ):
        trials = simulate(shape, runs, 0.0, random, most)
        alarm, naive = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
        for look in range(2 * BURN_IN, most + 1):
            spread = spread_of(trials, shape.projects, look)
            held = trials.treated[:, :look].sum(1)
            ready = np.minimum(held, look - held) >= BURN_IN
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = np.abs(spread.difference) / np.sqrt(spread.variance)
                alarm |= ready & (errors > always_valid_errors(float(look), spread.freedom, horizon=HORIZON))
                naive |= ready & (errors > student_quantile(spread.freedom, 0.05))
        beside = f"interval for one look: {naive.mean():.1%}"
        rows.append(row(f"size, {most - 2 * BURN_IN + 1} looks", shape.name, int(alarm.sum()), runs, 0.0, 0.05, beside))
    return rows


def measure_power(quick: bool) -> list[dict[str, Any]]:
    """Plans from earlier sessions, and what new trials of the planned size find. A plan is as lucky as the sessions it was drawn
    from, so there are many, and the interval is that of their mean."""
    random = np.random.default_rng(SEED + 2)
    plans, runs = (5, 60) if quick else (20, 150)
    rows = []
    for shape in (
        Shape("unequal lengths, half and half"),
        Shape("unequal lengths, a fifth held out", share=0.8),
        Shape("40 projects that differ", projects=40),
        Shape("success, yes or no", kind="success"),
    ):
        effect = -0.3 * (0.4 if shape.kind == "success" else BASE)
        observed, sizes = [], []
        for number in range(plans):
            earlier = simulate(shape._replace(share=0.0), 1, 0.0, random, PILOT)
            units = units_of(earlier, 0, shape.projects)
            sessions = plan_sample_size(
                units, effect=effect, share=shape.share, seed=number, draws=200 if quick else 300
            ).sessions
            spread = spread_of(simulate(shape, runs, 0.3, random, sessions), shape.projects)
            found = -spread.difference / np.sqrt(spread.variance) > student_quantile(spread.freedom, 0.05)
            observed.append(float(found.mean()))
            sizes.append(sessions)
        mean, reach = (
            float(np.mean(observed)),
            float(student_quantile(plans - 1.0, 0.05) * np.std(observed, ddof=1) / np.sqrt(plans)),
        )
        rows.append(
            {
                **row("power, planned 80 %", shape.name, round(mean * plans * runs), plans * runs, 0.77, 0.83),
                "interval": [round(mean - reach, 4), round(mean + reach, 4)],
                "kept": mean - reach <= 0.83 and mean + reach >= 0.77,
                "beside": f"{plans} plans from {PILOT} sessions each: {min(sizes)} to {max(sizes)} sessions,"
                f" power {min(observed):.0%} to {max(observed):.0%}",
            }
        )
    return rows


def measure_others(quick: bool) -> list[dict[str, Any]]:
    """Adjustment, paired tasks, non-inferiority, the sample ratio, excursions, items."""
    random = np.random.default_rng(SEED + 3)
    runs = 150 if quick else 1000
    rows = []
    shape = Shape("by the project's earlier rate, a fifth held out", sessions=300, share=0.8, projects=20)
    trials = simulate(shape, runs, 0.3, random)
    before = trials.usual + random.normal(0, 0.01, trials.usual.shape)
    held, narrower = 0, []
    for place in range(runs):
        units = units_of(trials, place, 0, before)
        found, plain = adjust_difference(units, **WARM), estimate_difference(units, **WARM)
        held += found.low is not None and found.high is not None and found.low <= trials.truth <= found.high
        if found.error and plain.error:
            narrower.append(found.error / plain.error)
    rows.append(row("coverage, adjusted", shape.name, held, runs, 0.94, 0.96, f"width × {np.mean(narrower):.2f}"))
    rows += [_paired(runs, random), _inferior(runs, random), _ratio(runs, random), _excursion(runs, random)]
    rows.append(_items(40 if quick else 250, random))
    return rows


def _paired(runs: int, random: np.random.Generator) -> dict[str, Any]:
    held = 0
    for _ in range(runs):
        ease = random.random(60) * 0.8
        passed = random.random((2, 60)) < np.stack([ease + 0.2, ease])
        units = [
            Observation(session=f"{side}{task}", arm=side, above=float(passed[place, task]), cluster=f"t{task}")
            for place, side in enumerate(("warm", "note"))
            for task in range(60)
        ]
        found = compare_paired(units, metric="success", arm="warm", against="note", draws=10).estimate
        held += found.low is not None and found.high is not None and found.low <= 0.2 <= found.high
    return row("coverage, paired", "60 tasks, passed or not, lift of 20 points", held, runs, 0.94, 0.96)


def _inferior(runs: int, random: np.random.Generator) -> dict[str, Any]:
    trials = simulate(Shape("", sessions=300), runs, -0.2, random)
    spread = spread_of(trials, 0)
    passed = sum(
        compare_with_margin(float(gap), float(np.sqrt(variance)), float(freedom), 0.2 * BASE).not_inferior
        for gap, variance, freedom in zip(spread.difference, spread.variance, spread.freedom, strict=True)
    )
    return row("size, non-inferiority", "truly worse by just the margin (20 %), 300 sessions", passed, runs, 0.0, 0.05)


def _ratio(runs: int, random: np.random.Generator) -> dict[str, Any]:
    alarms = 0
    shares = {"warm": 0.8, "cold": 0.2}
    for _ in range(runs):
        warm = np.cumsum(random.random(200) < 0.8)
        alarms += any(
            check_sample_ratio(
                [("", "warm")] * int(warm[look - 1]) + [("", "cold")] * int(look - warm[look - 1]), shares
            ).whole.always_p
            < 0.05
            for look in range(10, 201, 10)
        )
    return row("size, sample ratio", "fair draws, 20 looks", alarms, runs, 0.0, 0.05)


def _excursion(runs: int, random: np.random.Generator) -> dict[str, Any]:
    held = 0
    plain = []
    for _ in range(runs):
        moments = []
        for session in range(60):
            trouble = random.gamma(2, 0.5)
            for now in trouble + random.normal(0, 0.3, int(random.integers(1, 7))):
                probability = 0.85 if now > 1.2 else 0.6
                advised = bool(random.random() < probability)
                outcome = float(random.poisson(0.3 + 0.5 * max(0.0, now) ** 1.3 - 0.25 * advised))
                moments.append(AdviceMoment(f"s{session}", advised, probability, outcome, (float(now),)))
        found = estimate_excursion(moments, metric="failures")
        held += found.low is not None and found.high is not None and found.low <= -0.25 <= found.high
        plain.append((found.level or 0.0) - (found.base or 0.0))
    beside = f"truth −0.25; a plain comparison says {np.mean(plain):+.2f}"
    return row(
        "coverage, advisories",
        "withheld at random, more often given in trouble, 60 sessions",
        held,
        runs,
        0.94,
        0.96,
        beside,
    )


def _items(runs: int, random: np.random.Generator) -> dict[str, Any]:
    wrong = raw_wrong = items = 0
    for _ in range(runs):
        shown = random.random((150, 20)) >= 0.3
        calls = random.integers(10, 60, 150)
        mistakes = random.binomial(calls, random.beta(1.5, 10, 150))
        exposures = [Exposure(f"i{i}", f"s{s}", bool(shown[s, i]), 0.7) for s in range(150) for i in range(20)]
        measured = [MeasuredSession(f"s{s}", int(calls[s]), int(mistakes[s])) for s in range(150)]
        for each in estimate_utilities(exposures, measured, margin=0.005):
            items += 1
            wrong += each.verdict in ("helps", "hurts")
            raw_wrong += each.raw is not None and each.error is not None and abs(each.raw) > 1.97 * each.error
    beside = f"each on its own: {raw_wrong / items:.1%}"
    return row("false finds, items", "20 items that do nothing, 150 sessions", wrong, items, 0.0, 0.05, beside)


def measure_naive_claims(quick: bool) -> list[dict[str, Any]]:
    """What the user's documents would have claimed of the same kind of sessions."""
    random = np.random.default_rng(SEED + 4)
    runs = 2000 if quick else 20000
    shape = Shape("", sessions=2)
    rows = []

    def claimed(name: str, hits: int, beside: str) -> None:
        rows.append(
            {"what": "two sessions", "case": name, "trials": runs, "share": round(hits / runs, 4), "beside": beside,
             "interval": [round(end, 4) for end in wilson(hits, runs)]}
        )  # fmt: skip

    for relative, truth in ((0.0, "warm does nothing"), (-0.3, "warm makes 30 % more mistakes")):
        trials = simulate(shape, runs, 0.0, random)
        warm = trials.above[:, 0]
        if relative < 0:
            warm = shift_counts(warm, trials.below[:, 0], -relative * BASE, BASE, random)
        better = warm / trials.below[:, 0] < trials.above[:, 1] / trials.below[:, 1]
        claimed(f"`warm is better` though {truth}", int(better.sum()), "ours: see size, at most 5 %")
    calls = np.maximum(10, np.ceil(random.lognormal(3.8, 0.6, runs))).astype(np.int64)
    rate = random.beta(BASE * 12, (1 - BASE) * 12, runs)
    fifth = np.maximum(1, calls // 5)
    early, late = random.binomial(fifth, rate), random.binomial(fifth, rate)
    claimed("`late < early` though the session never changed", int((late < early).sum()), "")
    pre, post = random.binomial(calls, rate), random.binomial(calls, rate)
    claimed("`not preserved` though nothing was lost", int((post > 1.2 * pre).sum()), "")
    worse = random.binomial(calls, np.clip(1.5 * rate, 0, 1))
    claimed(
        "`preserved` though it makes 50 % more mistakes",
        int((worse <= 1.2 * pre).sum()),
        "ours: non-inferiority, at most 5 %",
    )
    return rows


PARTS = {
    "once": measure_one_look,
    "peeking": measure_peeking,
    "powers": measure_power,
    "others": measure_others,
    "naive": measure_naive_claims,
}


def run(quick: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"seed": SEED}
    started = time.perf_counter()
    for name, part in PARTS.items():
        before = time.perf_counter()
        result[name] = part(quick)
        shown = [("", "", "trials", "share", "95 %", "promised", "", "")]
        for each in result[name]:
            low, high = each["interval"]
            promised = each.get("promised")
            shown.append(
                (
                    each["what"],
                    each["case"],
                    f"{each['trials']:,}",
                    f"{each['share']:.1%}",
                    f"{low:.1%} to {high:.1%}",
                    f"{promised[0]:.0%} to {promised[1]:.0%}" if promised else "",
                    ("kept" if each["kept"] else "OFF") if promised else "",
                    each["beside"],
                )
            )
        table(shown)
        print(f"({time.perf_counter() - before:.0f} s)\n", flush=True)
    kept = [each["kept"] for name in ("once", "peeking", "powers", "others") for each in result[name]]
    result["kept"], result["rows"] = sum(kept), len(kept)
    result["seconds"] = round(time.perf_counter() - started, 1)
    print(f"{result['kept']} of {result['rows']} promises kept, {result['seconds']} s")
    return result
