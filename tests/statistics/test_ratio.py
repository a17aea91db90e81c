"""The difference of two ratios: right, without bias, the same as large libraries say, and named where it cannot be told."""

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import ttest_ind

from preheat.errors import UserError
from preheat.model.experiment import Estimate, Unit
from preheat.statistics.adjust import adjusted
from preheat.statistics.ratio import bootstrap, difference, spread_of, sums_by_cluster
from preheat.statistics.sample import sample
from preheat.statistics.spread import arm, over_clusters, quantile, two_arms
from preheat.statistics.two_shares import newcombe
from tests.statistics.made import trial, wild_trials

WARM: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}
Estimator = Callable[..., Estimate]


def known(value: float | None) -> float:
    assert value is not None
    return value


def test_with_sessions_of_one_length_and_like_spread_it_is_welch() -> None:
    """A plain mean gives the estimate of Welch's t-test, and with balanced arms its error within what small arms are lent."""
    units = [msgspec.structs.replace(each, above=each.above / 30, below=1.0) for each in trial(1, 400, equal=True)]
    found = difference(units, **WARM)
    values = {name: [each.above for each in units if each.arm == name] for name in ("warm", "cold")}
    expected = ttest_ind(values["warm"], values["cold"], equal_var=False)
    interval = expected.confidence_interval()
    assert found.difference == pytest.approx(np.mean(values["warm"]) - np.mean(values["cold"]))
    assert found.low == pytest.approx(interval.low, abs=4e-4)
    assert found.high == pytest.approx(interval.high, abs=4e-4)
    one = arm(np.array(values["warm"]), np.ones(len(values["warm"])), np.ones(len(values["warm"])))
    assert float(one.variance) == pytest.approx(np.var(values["warm"], ddof=1) / len(values["warm"]))
    assert float(one.freedom) == pytest.approx(len(values["warm"]) - 1)


def frame(units: list[Unit]) -> Any:
    import pandas

    return pandas.DataFrame(
        [
            {
                "variant": int(each.arm == "warm"),
                "above": each.above,
                "below": each.below,
                "cluster": each.cluster,
                "before": each.before,
            }
            for each in units
        ]
    )


def test_statsmodels_gives_the_same_by_session_and_by_cluster() -> None:
    """Weighted least squares of the rate on the arm has our estimate; its robust variances (HC2 by session) are ours."""
    import statsmodels.api as models

    for seed in range(5):
        table = frame(trial(seed, 200, projects=12, between=0.04))
        design = models.add_constant(table["variant"].astype(float))
        model = models.WLS(table["above"] / table["below"], design, weights=table["below"])
        by_session = model.fit(cov_type="HC2")
        units = trial(seed, 200, projects=12, between=0.04)
        found = sample([msgspec.structs.replace(each, cluster="") for each in units], "warm", "cold")
        inside = found.treated.astype(float)
        one, other = arm(found.above, found.below, inside), arm(found.above, found.below, 1 - inside)
        assert float(one.ratio - other.ratio) == pytest.approx(by_session.params["variant"])
        assert float(one.variance + other.variance) == pytest.approx(by_session.bse["variant"] ** 2)
        # By cluster: the jackknife is at least the plain sandwich, and close to it with a dozen clusters.
        plain = model.fit(
            cov_type="cluster", cov_kwds={"groups": table["cluster"].astype("category").cat.codes.to_numpy()}
        )
        jackknife = over_clusters(*sums_by_cluster(sample(units, "warm", "cold")))
        assert float(jackknife.difference) == pytest.approx(plain.params["variant"])
        assert 0.95 < float(np.sqrt(jackknife.variance)) / plain.bse["variant"] < 1.35


def test_tea_tasting_gives_the_same_with_and_without_covariate() -> None:
    """An experimentation library's ratio of means: the same difference and nearly the same interval, plain and adjusted."""
    import tea_tasting as tasting

    for seed, effect in ((3, 0.0), (4, -0.03)):
        units = [
            msgspec.structs.replace(each, cluster="", stratum="")
            for each in trial(seed, 600, effect=effect, projects=20, between=0.05, before=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries below it
            table = frame(units)
            result = tasting.Experiment(
                plain=tasting.RatioOfMeans("above", "below"),
                cuped=tasting.RatioOfMeans("above", "below", numer_covariate="before"),
            ).analyze(table)
        for ours, theirs in ((difference(units, **WARM), result["plain"]), (adjusted(units, **WARM), result["cuped"])):
            width = known(ours.high) - known(ours.low)
            assert ours.difference == pytest.approx(theirs.effect_size, abs=0.06 * width)
            assert ours.low == pytest.approx(theirs.effect_size_ci_lower, abs=0.08 * width)
            assert ours.high == pytest.approx(theirs.effect_size_ci_upper, abs=0.08 * width)


@pytest.mark.parametrize("projects", [0, 30])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_delta_method_and_the_bootstrap_agree(projects: int, share: float) -> None:
    """Two ways that have nothing in common but the data end within a fifth of the interval's width."""
    for seed in range(4):
        units = trial(seed, 240, share=share, effect=-0.02, projects=projects, between=0.03)
        delta, drawn = difference(units, **WARM), bootstrap(units, **WARM, seed=seed)
        width = known(delta.high) - known(delta.low)
        assert drawn.difference == pytest.approx(delta.difference)
        assert drawn.low == pytest.approx(delta.low, abs=0.2 * width)
        assert drawn.high == pytest.approx(delta.high, abs=0.2 * width)


@settings(deadline=None, max_examples=80)
@given(wild_trials(), some.sampled_from([difference, adjusted]))
def test_swapping_the_arms_flips_the_sign(units: list[Unit], estimator: Estimator) -> None:
    """Warm against cold is the mirror of cold against warm, interval and p-value too."""
    one = estimator(units, **WARM)
    other = estimator(units, metric="mistakes", arm="cold", against="warm")
    assert (one.difference is None) == (other.difference is None)
    if one.difference is not None:
        assert one.difference == pytest.approx(-known(other.difference), abs=1e-9)
    if one.low is not None:
        assert one.low == pytest.approx(-known(other.high), abs=1e-9)
        assert one.p == (None if other.p is None else pytest.approx(other.p, abs=1e-7))


@settings(deadline=None, max_examples=60)
@given(wild_trials(), some.randoms(use_true_random=False), some.sampled_from([difference, adjusted]))
def test_the_order_of_the_sessions_does_not_matter(units: list[Unit], random: Random, estimator: Estimator) -> None:
    """The same sessions in another order give the very same numbers."""
    mixed = list(units)
    random.shuffle(mixed)
    assert estimator(mixed, **WARM) == estimator(units, **WARM)
    assert bootstrap(mixed, **WARM, seed=1, draws=50) == bootstrap(units, **WARM, seed=1, draws=50)


@settings(deadline=None, max_examples=60)
@given(wild_trials(), some.sampled_from([0.001, 3.0, 1000.0]), some.sampled_from([difference, adjusted]))
def test_another_unit_of_measure_changes_nothing_but_the_unit(
    units: list[Unit], factor: float, estimator: Estimator
) -> None:
    """Seconds or milliseconds: everything scales, the p-value stays."""
    one = estimator(units, **WARM)
    other = estimator([msgspec.structs.replace(each, above=each.above * factor) for each in units], **WARM)
    if one.difference is not None:
        assert other.difference == pytest.approx(one.difference * factor, rel=1e-6, abs=1e-9 * factor)
    if one.error is not None:
        assert other.error == pytest.approx(one.error * factor, rel=1e-6)
        assert other.p == pytest.approx(one.p, rel=1e-5, abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(wild_trials())
def test_whatever_comes_in_the_answer_is_whole(units: list[Unit]) -> None:
    """Either a difference with an interval that holds it, or why not; a share's difference lies between -1 and 1."""
    for found in (difference(units, **WARM), adjusted(units, **WARM), bootstrap(units, **WARM, seed=0, draws=60)):
        assert (found.low is None) == (found.high is None)
        if found.low is None:
            assert found.why
        else:
            assert known(found.low) <= known(found.difference) <= known(found.high)
            assert np.isfinite([known(found.low), known(found.high)]).all()
        if found.difference is not None and not found.adjusted:
            assert -1 <= found.difference <= 1
        if found.p is not None:
            assert 0 <= found.p <= 1


def unit(session: str, arm: str, above: float, below: float = 1.0, **more: Any) -> Unit:
    return Unit(session=session, arm=arm, above=above, below=below, **more)


def test_what_cannot_be_told_is_named() -> None:
    """No session, one session, nothing to count, no spread, one cluster: each in words."""
    warm = [unit(f"w{number}", "warm", number % 3, 10) for number in range(12)]
    assert difference(warm, **WARM).why == "no session in `cold`"
    assert difference([], **WARM).why == "no session in `warm` and none in `cold`"
    assert difference([*warm, unit("c", "cold", 1, 10)], **WARM).why == "one session in `cold`: a spread needs two"
    idle = difference([*warm, unit("c1", "cold", 0, 0), unit("c2", "cold", 0, 0)], **WARM)
    assert idle.why == "no session in `cold`"
    assert idle.named == ("2 sessions of `cold` had nothing to count and are left out",)
    seconds = [unit(f"{name}{number}", name, 5.0) for name in ("warm", "cold") for number in range(5)]
    assert "no spread" in difference(seconds, **WARM).why
    whole = [
        unit(f"{name}{number}", name, number % 2, 3, cluster=name) for name in ("warm", "cold") for number in range(9)
    ]
    assert difference(whole, **WARM).why == "all sessions of `warm` are of one cluster: a spread needs two"
    one = [msgspec.structs.replace(each, cluster="only") for each in trial(1, 60)]
    assert difference(one, **WARM).named == (
        "all sessions are of one cluster: the interval holds for those, not for others",
    )


def test_all_failures_against_none_is_still_an_answer() -> None:
    """Without spread in either arm each session is one trial; with spread in one, the other borrows it."""
    units = [unit(f"{name}{number}", name, float(name == "cold")) for name in ("warm", "cold") for number in range(20)]
    found = difference(units, **WARM)
    assert found.difference == -1
    assert -1 < known(found.high) < -0.7
    assert known(found.low) == -1
    assert len(found.named) == 2
    some_fail = [*units[:20], *(unit(f"c{number}", "cold", float(number % 2)) for number in range(20))]
    found = difference(some_fail, **WARM)
    assert known(found.low) < -0.5 < known(found.high) < 0
    assert found.named == ("every session of `warm` has the same value (0)",)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("field", ["above", "below", "before"])
def test_what_is_no_number_is_refused(value: float, field: str) -> None:
    """A number that is none is never averaged away, and the session is named."""
    units = [*trial(1, 20), msgspec.structs.replace(unit("bad", "warm", 1.0), **{field: value})]
    with pytest.raises(UserError, match="`bad`"):
        difference(units, **WARM)


def test_impossible_sessions_are_refused() -> None:
    """Something out of nothing, less than nothing, a session twice, an arm against itself."""
    for bad in (unit("bad", "warm", 1, 0), unit("bad", "warm", 1, -2)):
        with pytest.raises(UserError, match="`bad`"):
            difference([bad], **WARM)
    with pytest.raises(UserError, match="twice"):
        difference([unit("a", "warm", 1), unit("a", "cold", 1)], **WARM)
    with pytest.raises(UserError, match="itself"):
        difference([], metric="mistakes", arm="warm", against="warm")


def test_lots_by_cluster_count_clusters_however_few() -> None:
    """Where whole clusters were drawn, sessions inside them add little: the interval is by cluster, far wider than by session."""
    random = np.random.default_rng(5)
    units = []
    for number in range(8):
        level = 0.05 + 0.3 * random.random()
        units += [
            unit(
                f"{number}-{k}",
                "warm" if number % 2 else "cold",
                float(random.binomial(20, level)),
                20,
                cluster=f"c{number}",
            )
            for k in range(25)
        ]
    by_cluster = difference(units, **WARM)
    by_session = difference([msgspec.structs.replace(each, cluster="") for each in units], **WARM)
    assert by_cluster.clusters == 8
    assert known(by_cluster.error) > 2.5 * known(by_session.error)


def test_a_small_arm_in_many_clusters_is_guarded() -> None:
    """With fewer than three sessions of the smaller arm in a cluster the interval is never narrower than by session."""
    for seed in range(8):
        units = trial(seed, 80, share=0.8, projects=20, between=0.03)
        found = sample(units, "warm", "cold")
        inside = found.treated.astype(float)
        sessions = two_arms(arm(found.above, found.below, inside), arm(found.above, found.below, 1 - inside))
        clusters = over_clusters(*sums_by_cluster(found))
        taken = spread_of(found)
        reaches = [float(quantile(each.freedom, 0.05) * np.sqrt(each.variance)) for each in (taken, sessions, clusters)]
        assert found.clustered
        assert reaches[0] == pytest.approx(max(reaches[1:]))


@pytest.mark.parametrize(("share", "projects"), [(0.5, 0), (0.8, 0), (0.5, 10)])
def test_the_interval_holds_the_truth_nineteen_times_in_twenty(share: float, projects: int) -> None:
    """Under no effect, over 400 trials; the benchmark has thousands."""
    found = [difference(trial(seed, 120, share=share, projects=projects, between=0.03), **WARM) for seed in range(400)]
    held = sum(known(each.low) <= 0 <= known(each.high) for each in found)
    assert 0.925 <= held / 400 <= 0.99
    assert float(np.mean([known(each.difference) for each in found])) == pytest.approx(0.0, abs=0.004)


def test_shares_without_spread_have_newcombe_s_interval() -> None:
    """All of one arm succeeded and none of the other: Wilson's intervals joined as in `two_shares`; a smaller risk asks for
    a wider one."""
    units = [Unit(session=f"s{n}", arm="warm" if n < 9 else "cold", above=float(n < 9), below=1.0) for n in range(16)]
    found = difference(units, **WARM)
    assert (found.low, found.high) == pytest.approx(newcombe(9, 9, 0, 7))
    wide = difference(units, **WARM, risk=0.01)
    assert known(wide.low) < known(found.low)
