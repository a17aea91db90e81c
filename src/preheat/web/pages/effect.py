"""Whether it helps: every comparison as an interval, lessons one by one, the ledger, and how many sessions are missing."""

from typing import NamedTuple

from preheat.app import Preheat
from preheat.errors import UserError
from preheat.model.experiment import Assignment, EffectEstimate
from preheat.model.experiment_report import (
    AdviceEffect,
    ExperimentLedger,
    ExperimentReport,
    ExperimentStatus,
    LessonEffect,
    ListedExperiment,
    SampleSizeForecast,
    TemplateEffect,
)
from preheat.model.receipt import Receipts
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site


class Effects(NamedTuple):
    """Everything that is known of effects."""

    status: ExperimentStatus
    plans: list[ListedExperiment]
    ledger: ExperimentLedger
    items: list[LessonEffect]
    templates: list[TemplateEffect]
    advice: AdviceEffect | None
    assignments: list[Assignment]
    """The newest ones."""
    receipts: Receipts


class ForestRow(NamedTuple):
    """One row of the forest plot."""

    name: str
    low: float | None
    high: float | None
    effect: float | None
    reach: float
    """What the ends of the plot stand for; rows of one metric share it."""
    units: str
    verdict: str
    is_known: bool
    link: str = ""


def show_effect(site: Site, query: Query) -> Page:
    """The page; what takes long is filled in later."""
    if not site.home.has_archive():
        return Page("empty.html", "Does it help?", {})
    found = site.kept.find(load_effects, site.home.folder).value
    needed = site.kept.find(forecast_sessions, site.home.folder).value
    values = {
        "found": found, "needed": needed, "reports": found.status.reports if found is not None else (),
        "comparisons": _compare(found.status.reports) if found is not None else [],
        "items": _list_items(found.items) if found is not None else [],
    }  # fmt: skip
    return Page("effect.html", "Does it help?", values)


def load_effects(folder: str) -> Effects:
    """Everything that is known of effects. Slow."""
    home = Preheat(folder)
    experiments = home.experiments
    try:
        advice: AdviceEffect | None = experiments.explain_advice()
    except UserError:
        advice = None
    return Effects(
        experiments.status(), experiments.plans(), experiments.ledger(), experiments.explain_items(),
        experiments.explain_templates(), advice, experiments.assignments(), home.receipts(),
    )  # fmt: skip


def forecast_sessions(folder: str) -> SampleSizeForecast | str:
    """How many sessions it takes to know; in words, why that cannot be said. Slow."""
    try:
        return Preheat(folder).experiments.sample_size()
    except UserError as error:
        return str(error)


def _compare(reports: tuple[ExperimentReport, ...]) -> list[ForestRow]:
    """Every estimate of every comparison, in units of the metric."""
    return [
        make_row(f"{report.name}: {estimate.metric}", estimate, report.final)
        for report in reports
        for estimate in (*report.estimates, *report.secondary)
    ]


def make_row(name: str, estimate: EffectEstimate, final: bool = False) -> ForestRow:
    """An estimate as a row; the interval that holds at every look, unless the planned end is reached."""
    low, high = (estimate.low, estimate.high) if final else (estimate.always_low, estimate.always_high)
    known = [abs(each) for each in (low, high, estimate.difference) if each is not None]
    is_known = low is not None and high is not None and (low > 0 or high < 0)
    verdict = estimate.why or ("the interval leaves no effect out" if is_known else "too little data to tell")
    return ForestRow(
        name, low, high, estimate.difference, max(known, default=1.0) or 1.0,
        f"{estimate.units[0]} {estimate.arm}, {estimate.units[1]} {estimate.against}", verdict, is_known,
    )  # fmt: skip


def _list_items(effects: list[LessonEffect]) -> list[ForestRow]:
    known = [abs(each) for one in effects for each in (one.utility.low, one.utility.high) if each is not None]
    reach = max(known, default=1.0) or 1.0
    return [
        ForestRow(
            one.text or one.utility.item, one.utility.low, one.utility.high, one.utility.effect, reach,
            f"{one.utility.shown} with, {one.utility.withheld} without", one.utility.verdict,
            one.utility.verdict in ("helps", "hurts", "no difference"), one.utility.item,
        )
        for one in effects
    ]  # fmt: skip
