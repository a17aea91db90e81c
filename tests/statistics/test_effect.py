"""The difference of two ratios is unbiased and agrees with large libraries; always-valid intervals hold at every look."""

import re
import warnings
from collections.abc import Callable
from math import log, sqrt
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import ttest_ind

from preheat.errors import UserError
from preheat.model.experiment import EffectEstimate, Observation
from preheat.statistics.arms import compare_arms, jackknife_clusters, make_sample, measure_arm, student_quantile
from preheat.statistics.effect import (
    BURN_IN,
    add_always_valid_interval,
    adjust_difference,
    always_valid_errors,
    bootstrap_difference,
    estimate_difference,
    measure_spread,
    sum_by_cluster,
)
from preheat.statistics.intervals import newcombe
from tests.statistics.trials import arbitrary_trials, make_trial

# The difference of two ratios is unbiased, agrees with large libraries, and gives a reason where it cannot be
# estimated.
WARM: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}
Estimator = Callable[..., EffectEstimate]


def required(value: float | None) -> float:
    assert value is not None
    return value


def test_with_sessions_of_equal_length_the_estimate_is_that_of_welchs_t() -> None:
    """With balanced arms its error too, within the correction for small arms."""
    units = [msgspec.structs.replace(each, above=each.above / 30, below=1.0) for each in make_trial(1, 400, equal=True)]
    found = estimate_difference(units, **WARM)
    values = {name: [each.above for each in units if each.arm == name] for name in ("warm", "cold")}
    expected = ttest_ind(values["warm"], values["cold"], equal_var=False)
    interval = expected.confidence_interval()
    assert found.difference == pytest.approx(np.mean(values["warm"]) - np.mean(values["cold"]))
    assert found.low == pytest.approx(interval.low, abs=4e-4)
    assert found.high == pytest.approx(interval.high, abs=4e-4)
    one = measure_arm(np.array(values["warm"]), np.ones(len(values["warm"])), np.ones(len(values["warm"])))
    assert float(one.variance) == pytest.approx(np.var(values["warm"], ddof=1) / len(values["warm"]))
    assert float(one.freedom) == pytest.approx(len(values["warm"]) - 1)


def frame(units: list[Observation]) -> Any:
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


def test_estimate_and_variances_equal_those_of_statsmodels() -> None:
    """Weighted least squares of the rate on the arm has our estimate; its robust variances (HC2 by session) are ours."""
    import statsmodels.api as models

    for seed in range(5):
        table = frame(make_trial(seed, 200, projects=12, between=0.04))
        design = models.add_constant(table["variant"].astype(float))
        model = models.WLS(table["above"] / table["below"], design, weights=table["below"])
        by_session = model.fit(cov_type="HC2")
        units = make_trial(seed, 200, projects=12, between=0.04)
        found = make_sample([msgspec.structs.replace(each, cluster="") for each in units], "warm", "cold")
        inside = found.treated.astype(float)
        one, other = measure_arm(found.above, found.below, inside), measure_arm(found.above, found.below, 1 - inside)
        assert float(one.ratio - other.ratio) == pytest.approx(by_session.params["variant"])
        assert float(one.variance + other.variance) == pytest.approx(by_session.bse["variant"] ** 2)
        # By cluster: the jackknife is at least the plain sandwich, and close to it with a dozen clusters.
        plain = model.fit(
            cov_type="cluster", cov_kwds={"groups": table["cluster"].astype("category").cat.codes.to_numpy()}
        )
        jackknife = jackknife_clusters(*sum_by_cluster(make_sample(units, "warm", "cold")))
        assert float(jackknife.difference) == pytest.approx(plain.params["variant"])
        assert 0.95 < float(np.sqrt(jackknife.variance)) / plain.bse["variant"] < 1.35


def test_difference_and_interval_are_close_to_those_of_tea_tasting() -> None:
    """Plain and adjusted."""
    import tea_tasting as tasting

    for seed, effect in ((3, 0.0), (4, -0.03)):
        units = [
            msgspec.structs.replace(each, cluster="", stratum="")
            for each in make_trial(seed, 600, effect=effect, projects=20, between=0.05, before=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries below it
            table = frame(units)
            result = tasting.Experiment(
                plain=tasting.RatioOfMeans("above", "below"),
                cuped=tasting.RatioOfMeans("above", "below", numer_covariate="before"),
            ).analyze(table)
        for ours, theirs in (
            (estimate_difference(units, **WARM), result["plain"]),
            (adjust_difference(units, **WARM), result["cuped"]),
        ):
            width = required(ours.high) - required(ours.low)
            assert ours.difference == pytest.approx(theirs.effect_size, abs=0.06 * width)
            assert ours.low == pytest.approx(theirs.effect_size_ci_lower, abs=0.08 * width)
            assert ours.high == pytest.approx(theirs.effect_size_ci_upper, abs=0.08 * width)


@pytest.mark.parametrize("projects", [0, 30])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_delta_method_and_the_bootstrap_agree(projects: int, share: float) -> None:
    """Within a fifth of the interval's width."""
    for seed in range(4):
        units = make_trial(seed, 240, share=share, effect=-0.02, projects=projects, between=0.03)
        delta, drawn = estimate_difference(units, **WARM), bootstrap_difference(units, **WARM, seed=seed)
        width = required(delta.high) - required(delta.low)
        assert drawn.difference == pytest.approx(delta.difference)
        assert drawn.low == pytest.approx(delta.low, abs=0.2 * width)
        assert drawn.high == pytest.approx(delta.high, abs=0.2 * width)


@settings(deadline=None, max_examples=80)
@given(arbitrary_trials(), some.sampled_from([estimate_difference, adjust_difference]))
def test_swapping_the_arms_mirrors_the_result(units: list[Observation], estimator: Estimator) -> None:
    one = estimator(units, **WARM)
    other = estimator(units, metric="mistakes", arm="cold", against="warm")
    assert (one.difference is None) == (other.difference is None)
    if one.difference is not None:
        assert one.difference == pytest.approx(-required(other.difference), abs=1e-9)
    if one.low is not None:
        assert one.low == pytest.approx(-required(other.high), abs=1e-9)
        assert one.p == (None if other.p is None else pytest.approx(other.p, abs=1e-7))


@settings(deadline=None, max_examples=60)
@given(
    arbitrary_trials(), some.randoms(use_true_random=False), some.sampled_from([estimate_difference, adjust_difference])
)
def test_the_order_of_the_sessions_does_not_matter(
    units: list[Observation], random: Random, estimator: Estimator
) -> None:
    mixed = list(units)
    random.shuffle(mixed)
    assert estimator(mixed, **WARM) == estimator(units, **WARM)
    assert bootstrap_difference(mixed, **WARM, seed=1, draws=50) == bootstrap_difference(
        units, **WARM, seed=1, draws=50
    )


@settings(deadline=None, max_examples=60)
@given(
    arbitrary_trials(),
    some.sampled_from([0.001, 3.0, 1000.0]),
    some.sampled_from([estimate_difference, adjust_difference]),
)
def test_another_unit_of_measure_scales_everything_but_the_p_value(
    units: list[Observation], factor: float, estimator: Estimator
) -> None:
    one = estimator(units, **WARM)
    other = estimator([msgspec.structs.replace(each, above=each.above * factor) for each in units], **WARM)
    if one.difference is not None:
        assert other.difference == pytest.approx(one.difference * factor, rel=1e-6, abs=1e-9 * factor)
    if one.error is not None:
        assert other.error == pytest.approx(one.error * factor, rel=1e-6)
        assert other.p == pytest.approx(one.p, rel=1e-5, abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(arbitrary_trials())
def test_every_estimate_has_an_interval_around_its_difference_or_a_reason(units: list[Observation]) -> None:
    """A share's difference lies between -1 and 1."""
    for found in (
        estimate_difference(units, **WARM),
        adjust_difference(units, **WARM),
        bootstrap_difference(units, **WARM, seed=0, draws=60),
    ):
        assert (found.low is None) == (found.high is None)
        if found.low is None:
            assert found.why
        else:
            assert required(found.low) <= required(found.difference) <= required(found.high)
            assert np.isfinite([required(found.low), required(found.high)]).all()
        if found.difference is not None and not found.adjusted:
            assert -1 <= found.difference <= 1
        if found.p is not None:
            assert 0 <= found.p <= 1


def unit(session: str, arm: str, above: float, below: float = 1.0, **more: Any) -> Observation:
    return Observation(session=session, arm=arm, above=above, below=below, **more)


def named_arms(text: str) -> list[str]:
    """The arms that a sentence names, in order."""
    return re.findall("`([a-z]+)`", text)


def test_the_reason_is_given_where_nothing_can_be_estimated() -> None:
    """No session, one session, nothing to count, no variance, one cluster."""
    warm = [unit(f"w{number}", "warm", number % 3, 10) for number in range(12)]
    assert named_arms(estimate_difference(warm, **WARM).why) == ["cold"]
    assert named_arms(estimate_difference([], **WARM).why) == ["warm", "cold"]
    assert named_arms(estimate_difference([*warm, unit("c", "cold", 1, 10)], **WARM).why) == ["cold"]
    idle = estimate_difference([*warm, unit("c1", "cold", 0, 0), unit("c2", "cold", 0, 0)], **WARM)
    assert named_arms(idle.why) == ["cold"]
    (remark,) = idle.remarks
    assert (remark.split()[0], named_arms(remark)) == ("2", ["cold"])
    seconds = [unit(f"{name}{number}", name, 5.0) for name in ("warm", "cold") for number in range(5)]
    assert "no spread" in estimate_difference(seconds, **WARM).why
    whole = [
        unit(f"{name}{number}", name, number % 2, 3, cluster=name) for name in ("warm", "cold") for number in range(9)
    ]
    why = estimate_difference(whole, **WARM).why
    assert (named_arms(why), "one cluster" in why) == (["warm"], True)
    one = [msgspec.structs.replace(each, cluster="only") for each in make_trial(1, 60)]
    (remark,) = estimate_difference(one, **WARM).remarks
    assert "one cluster" in remark


def test_all_failures_against_none_has_an_interval() -> None:
    """Without spread in either arm each session is one trial; with spread in one, the other borrows it."""
    units = [unit(f"{name}{number}", name, float(name == "cold")) for name in ("warm", "cold") for number in range(20)]
    found = estimate_difference(units, **WARM)
    assert found.difference == -1
    assert -1 < required(found.high) < -0.7
    assert required(found.low) == -1
    assert len(found.remarks) == 2
    some_fail = [*units[:20], *(unit(f"c{number}", "cold", float(number % 2)) for number in range(20))]
    found = estimate_difference(some_fail, **WARM)
    assert required(found.low) < -0.5 < required(found.high) < 0
    (remark,) = found.remarks
    assert named_arms(remark) == ["warm"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("field", ["above", "below", "before"])
def test_a_value_that_is_no_number_is_refused_with_its_session(value: float, field: str) -> None:
    units = [*make_trial(1, 20), msgspec.structs.replace(unit("bad", "warm", 1.0), **{field: value})]
    with pytest.raises(UserError, match="`bad`"):
        estimate_difference(units, **WARM)


def test_impossible_sessions_are_refused() -> None:
    """Something out of nothing, less than nothing, a duplicate session, an arm against itself."""
    for bad in (unit("bad", "warm", 1, 0), unit("bad", "warm", 1, -2)):
        with pytest.raises(UserError, match="`bad`"):
            estimate_difference([bad], **WARM)
    with pytest.raises(UserError, match="twice"):
        estimate_difference([unit("a", "warm", 1), unit("a", "cold", 1)], **WARM)
    with pytest.raises(UserError, match="itself"):
        estimate_difference([], metric="mistakes", arm="warm", against="warm")


def test_where_whole_clusters_were_assigned_the_interval_is_by_cluster() -> None:
    """It is far wider than by session."""
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
    by_cluster = estimate_difference(units, **WARM)
    by_session = estimate_difference([msgspec.structs.replace(each, cluster="") for each in units], **WARM)
    assert by_cluster.clusters == 8
    assert required(by_cluster.error) > 2.5 * required(by_session.error)


def test_a_small_arm_in_many_clusters_is_never_narrower_than_by_session() -> None:
    for seed in range(8):
        units = make_trial(seed, 80, share=0.8, projects=20, between=0.03)
        found = make_sample(units, "warm", "cold")
        inside = found.treated.astype(float)
        sessions = compare_arms(
            measure_arm(found.above, found.below, inside), measure_arm(found.above, found.below, 1 - inside)
        )
        clusters = jackknife_clusters(*sum_by_cluster(found))
        taken = measure_spread(found)
        reaches = [
            float(student_quantile(each.freedom, 0.05) * np.sqrt(each.variance)) for each in (taken, sessions, clusters)
        ]
        assert found.clustered
        assert reaches[0] == pytest.approx(max(reaches[1:]))


@pytest.mark.parametrize(("share", "projects"), [(0.5, 0), (0.8, 0), (0.5, 10)])
def test_the_interval_has_its_coverage(share: float, projects: int) -> None:
    """Without an effect, over 400 trials; the benchmark has thousands."""
    found = [
        estimate_difference(make_trial(seed, 120, share=share, projects=projects, between=0.03), **WARM)
        for seed in range(400)
    ]
    held = sum(required(each.low) <= 0 <= required(each.high) for each in found)
    assert 0.925 <= held / 400 <= 0.99
    assert float(np.mean([required(each.difference) for each in found])) == pytest.approx(0.0, abs=0.004)


def test_shares_without_variance_have_newcombes_interval() -> None:
    """All of one arm succeeded and none of the other: Wilson's intervals joined as in `two_shares`; a smaller risk asks for
    a wider one."""
    units = [
        Observation(session=f"s{n}", arm="warm" if n < 9 else "cold", above=float(n < 9), below=1.0) for n in range(16)
    ]
    found = estimate_difference(units, **WARM)
    assert (found.low, found.high) == pytest.approx(newcombe(9, 9, 0, 7))
    wide = estimate_difference(units, **WARM, risk=0.01)
    assert required(wide.low) < required(found.low)


# Always-valid intervals are wider than for one look, narrowest at their horizon, and hold at every look.
ARMS: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}


def test_with_many_sessions_the_width_is_that_of_the_published_formula() -> None:
    """Robbins' normal mixture, as Waudby-Smith and others write it, with the tuning at the horizon."""
    risk, horizon, count = 0.05, 500.0, 700.0
    scale = sqrt((-2 * log(risk) + log(1 - 2 * log(risk))) / horizon)
    published = sqrt(2 * (count * scale**2 + 1) / (count**2 * scale**2) * log(sqrt(count * scale**2 + 1) / risk))
    assert float(always_valid_errors(count, 1e9, horizon=horizon, risk=risk)) / sqrt(count) == pytest.approx(
        published, rel=1e-6
    )


def test_the_always_valid_interval_is_narrowest_at_its_horizon() -> None:
    """In standard errors, and always wider than for one look."""
    counts = np.arange(20, 5000)
    held = always_valid_errors(counts.astype(float), 1e9, horizon=300)
    at = [float(always_valid_errors(300.0, 1e9, horizon=each)) for each in (75.0, 300.0, 1200.0)]
    assert min(at) == at[1]
    assert max(at) < 1.1 * at[1]
    assert (held > float(student_quantile(1e9, 0.05))).all()


@pytest.mark.parametrize(("share", "lengths"), [(0.5, "unequal"), (0.8, "unequal"), (0.8, "yes or no")])
def test_looking_after_every_session_keeps_false_alarms_under_five_percent(share: float, lengths: str) -> None:
    """300 trials without an effect, 250 looks each."""
    random = np.random.default_rng(7)
    runs, most = 300, 250
    projects = random.gamma(4, 0.02, (runs, 10))
    rates = np.clip(np.take_along_axis(projects, random.integers(0, 10, (runs, most)), axis=1), 0.001, 0.9)
    below = np.ceil(random.lognormal(3.2, 0.8, (runs, most))) if lengths == "unequal" else np.ones((runs, most))
    above = random.binomial(below.astype(int), rates).astype(float)
    treated = (random.random((runs, most)) < share).astype(float)
    alarm, naive = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for look in range(2 * BURN_IN, most + 1):
        inside = treated[:, :look]
        spread = compare_arms(
            measure_arm(above[:, :look], below[:, :look], inside),
            measure_arm(above[:, :look], below[:, :look], 1 - inside),
        )
        ready = np.minimum(inside.sum(1), look - inside.sum(1)) >= BURN_IN
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.abs(spread.difference) / np.sqrt(spread.variance)
            alarm |= ready & (errors > always_valid_errors(float(look), spread.freedom))
            naive |= ready & (errors > student_quantile(spread.freedom, 0.05))
    assert alarm.mean() <= 0.05
    assert naive.mean() > 0.1


def test_the_always_valid_interval_contains_the_plain_one_and_is_missing_before_the_burn_in() -> None:
    found = add_always_valid_interval(estimate_difference(make_trial(1, 200, effect=-0.05), **ARMS))
    assert found.always_low is not None
    assert found.always_high is not None
    assert found.low is not None
    assert found.high is not None
    assert found.always_low < found.low < found.high < found.always_high
    early = add_always_valid_interval(estimate_difference(make_trial(1, 14), **ARMS))
    assert early.always_low is None
    assert early.remarks[-1].startswith("too early")
    assert add_always_valid_interval(estimate_difference([], **ARMS)) == estimate_difference([], **ARMS)
