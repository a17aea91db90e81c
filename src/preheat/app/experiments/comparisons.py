"""Comparisons by chance: planned, started, looked at, stopped and entered into the ledger; and what a person thought of sessions.

Knows no formula and nothing of who draws an arm (`assignment`). What a comparison has shown is made in `results`, which
loads the statistics: a second that listing plans or rating a session need not wait for.
"""

import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from preheat.app.experiments.assignment import check_key, lots_in
from preheat.app.experiments.assignment import left_to_chance as describe_chance
from preheat.app.later import Later
from preheat.app.projects import project_folder
from preheat.archive.connect import connect
from preheat.archive.lessons import lessons
from preheat.errors import NotFound, UserError
from preheat.experiments.plan import called, overlap, planned, standing
from preheat.experiments.retire import PAYS
from preheat.experiments.retire import standing as last_entries
from preheat.ingest.redact import redact
from preheat.installing.ledger import load as load_installation
from preheat.model.experiment import MARGINS, METRICS, STANDING, LedgerEntry, MetricName, Plan, Rating
from preheat.model.experiment_report import (
    AdviceEffect,
    ExperimentStatus,
    ItemEffect,
    Ledger,
    ListedPlan,
    Needed,
    RatedSession,
    Report,
    StartedExperiment,
    StoppedExperiment,
    TemplateEffect,
)
from preheat.settings import archive_path
from preheat.state import key, ledger, migration, plans, ratings
from preheat.state.connect import reading, writing
from preheat.state.plans import StoredPlan
from preheat.templates.store import Store

if TYPE_CHECKING:
    from preheat.app.experiments import results as _results
    from preheat.app.experiments import sample_size as _sample_size
    from preheat.archive import queries as _queries
else:
    _results = Later("preheat.app.experiments.results")  # numpy and scipy
    _sample_size = Later("preheat.app.experiments.sample_size")  # all of scipy's distributions
    _queries = Later("preheat.archive.queries")  # SQLAlchemy

LONGEST_NOTE = 2_000
"""Characters of a note to a rating."""
__all__ = ["LONGEST_NOTE", "PAYS", "Experiments"]


class Experiments:
    """The comparisons in a folder. They go by their names; without one the one that runs is meant, else the standing one."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    # Plans.
    def start(
        self,
        name: str,
        arms: Iterable[str] = ("warm", "cold"),
        shares: Iterable[float] = (),
        metric: str = "mistakes",
        guardrails: Iterable[str] = (),
        margin: float | None = None,
        stop: str = "anytime",
        *,
        agent: str = "",
        project: str | None = None,
        template: str = "",
        now: float | None = None,
    ) -> StartedExperiment:
        """Write a plan down and put it to work: from now on chance decides how sessions start. Raises UserError where it cannot
        be one, or where another one is in its way."""
        plan = planned(
            name,
            list(arms),
            list(shares),
            metric,
            guardrails,
            margin,
            stop,
            time.time() if now is None else now,
            agent=agent,
            project=_project(project),
            template=self._template(template),
        )
        experiment = called(plan)
        check_key(self._folder)
        with writing(self._folder) as state:
            _check_free(plan, plans.plans(state))
            key.make_secret(state)
            plans.start(state, experiment, plan)
        return StartedExperiment(
            experiment=experiment, plan=plan, agents_call=bool(load_installation(self._folder).files)
        )

    def stop(self, name: str = "", now: float | None = None) -> StoppedExperiment:
        """End a comparison and enter what it has shown into the ledger, whatever that is."""
        now = time.time() if now is None else now
        experiment, plan, stopped = self._find(name)
        if plan.standing:
            raise UserError(
                f"nothing runs but the standing holdout; `holdout = 0` below `[experiment]` in "
                f"`{os.path.join(self._folder, 'settings.toml')}` turns that off"
            )
        if stopped is not None:
            raise UserError(
                f"`{plan.name}` was stopped already; `preheat experiment report {plan.name}` shows what it showed"
            )
        connect(self._folder).close()  # without an archive there is nothing to tell, and that is entered, too
        found = self._report(StoredPlan(experiment, plan, now), now)
        entry = LedgerEntry(
            kind="experiment",
            at=now,
            name=plan.name,
            sentence=found.sentence,
            verdict=found.verdict,
            plan=plan,
            digest=experiment.partition("@")[2],
            estimates=found.estimates,
            problems=found.problems,
            sessions=found.drawn,
        )
        with writing(self._folder) as state:
            plans.stop(state, experiment, now)
            return StoppedExperiment(report=found, entry=ledger.enter(state, entry))

    def plans(self) -> list[ListedPlan]:
        """Every comparison that was started, the oldest first."""
        with reading(self._folder) as state:
            every, entries = plans.plans(state), ledger.entries(state)
        verdicts = {entry.digest: entry.verdict for entry in entries if entry.kind == "experiment"}
        return [
            ListedPlan(experiment=name, plan=plan, stopped=stopped, verdict=verdicts.get(name.partition("@")[2]))
            for name, plan, stopped in every
        ]

    def _template(self, wanted: str) -> str:
        if not wanted:
            return ""
        found = Store(self._folder).find(wanted)
        return f"{found.name}@{found.digest[:12]}"

    def _find(self, wanted: str) -> StoredPlan:
        """A plan by its name; without one the one that runs, else the standing one."""
        with reading(self._folder) as state:
            every = plans.plans(state)
        if not wanted:
            found = [each for each in every if each.stopped is None]
            if len(found) > 1:
                raise UserError(f"several run: {', '.join(f'`{each.plan.name}`' for each in found)}; name one")
            if found:
                return found[0]
            wanted = STANDING
        if wanted == STANDING:
            return StoredPlan(STANDING, standing(lots_in(self._folder).holdout), None)
        for each in every:
            if wanted in (each.experiment, each.plan.name):
                return each
        raise NotFound(f"no experiment `{wanted}`; `preheat experiment list` shows them")

    # Results.
    def chance(self) -> str:
        """In a sentence, what is left to chance now."""
        return describe_chance(self._folder)

    def status(self, now: float | None = None) -> ExperimentStatus:
        """What is left to chance now, and what is known so far."""
        names = [each.plan.name for each in self.plans() if each.stopped is None] or [""]
        has_archive = os.path.exists(archive_path(self._folder))
        reports = [self.report(name, now) for name in names] if has_archive else []
        return ExperimentStatus(sentence=self.chance(), reports=tuple(reports))

    def report(self, name: str = "", now: float | None = None) -> Report:
        """What a comparison has shown so far."""
        stored = self._find(name)
        self._check_archive()
        return self._report(stored, time.time() if now is None else now)

    def _report(self, stored: StoredPlan, now: float) -> Report:
        with reading(self._folder) as state:
            drawing = key.secret(state) is not None
        with self._archive() as archive:
            found = _results.make_report(archive, stored, now, drawing)
        damage = self.plan_damage()
        return msgspec.structs.replace(found, problems=(*damage, *found.problems)) if damage else found

    def plan_damage(self) -> list[str]:
        """What is wrong with the plans, a sentence each: their digests tell whether somebody changed one."""
        with reading(self._folder) as state:
            every, unreadable = plans.plans(state), plans.unreadable(state)
        said = [
            f"the plan `{plan.name}` was changed after it was written down"
            for experiment, plan, _ in every
            if experiment != called(plan)
        ]
        said += [f"the plan `{experiment}` cannot be read and does not count" for experiment in unreadable]
        return [*said, *migration.unread(self._folder, plans_only=True)]

    def power(
        self,
        metric: MetricName = "mistakes",
        margin: float | None = None,
        cold: float | None = None,
        power: float = 0.8,
        now: float | None = None,
    ) -> Needed:
        """How many sessions a comparison needs to see a difference of `margin` (unless given, by metric) with this power, when
        `cold` of them (unless given, the holdout) start without."""
        name = next((each for each in METRICS if each == metric), None)
        if name is None:
            raise UserError(f"no metric `{metric}`; there are {', '.join(METRICS)}")
        margin = MARGINS[name] if margin is None else margin
        share = lots_in(self._folder).holdout or 0.5 if cold is None else cold
        if not 0 < share < 1 or not 0 < power < 1 or not margin > 0:
            raise UserError("--cold and --power are between 0 and 1, and --margin is above 0")
        self._check_archive()
        with self._archive() as archive:
            return _sample_size.find_needed(archive, name, margin, share, power, time.time() if now is None else now)

    def _archive(self) -> closing[sqlite3.Connection]:
        return closing(connect(self._folder))

    def _check_archive(self) -> None:
        if not os.path.exists(archive_path(self._folder)):
            raise UserError(f"there is no archive in `{self._folder}` yet; `preheat sync` makes one")

    # What items, templates and advice did.
    def explain_items(self, wanted: str = "") -> list[ItemEffect]:
        """What every item did that chance decided on, or one by the beginning of its id. Raises NotFound."""
        with self._archive() as archive:
            every = _results.measure_items(archive)
            texts = {each.id: each.text for each in lessons(archive)}
        found = [each for each in every if each.item.startswith(wanted)]
        if wanted and not found:
            if any(name.startswith(wanted) for name in texts):
                raise NotFound(
                    f"no lot was drawn for `{wanted}` yet: it was in no warm session's start since lots are drawn"
                )
            raise NotFound(f"no item `{wanted}`; `preheat experiment explain` shows those that lots were drawn for")
        last = last_entries(self.ledger().entries)
        return [ItemEffect(utility=each, text=texts.get(each.item, ""), entry=last.get(each.item)) for each in found]

    def explain_templates(self, wanted: str = "", now: float | None = None) -> list[TemplateEffect]:
        """What every template did that was given to warm sessions and kept from cold ones, or those of a name."""
        with self._archive() as archive:
            every = _results.measure_templates(archive, time.time() if now is None else now)
        last = last_entries(self.ledger().entries)
        return [
            TemplateEffect(template=name, estimate=each, entry=last.get(name))
            for name, each in every.items()
            if name.partition("@")[0] == wanted or name.startswith(wanted)
        ]

    def explain_advice(self) -> AdviceEffect:
        """What saying something does to the mistakes in the next calls."""
        with self._archive() as archive:
            return _results.measure_advice(archive)

    # The ledger, and what a person thought.
    def ledger(self) -> Ledger:
        """What was tried and what came of it, and whether somebody changed it."""
        with reading(self._folder) as state:
            return Ledger(entries=tuple(ledger.entries(state)), changed_lines=tuple(ledger.damage(state)))

    def rate(self, session: str, good: bool, note: str = "", now: float | None = None) -> RatedSession:
        """Keep what a person thought of a session, by its name; the last word counts. Secrets in the note are taken out."""
        with self._archive() as archive:
            found = _queries.find(archive, session)
        clean = redact(note.encode("utf-8", "replace"))[0].decode("utf-8", "replace")
        kept = clean[:LONGEST_NOTE]  # after redacting: half a secret is none that would be known
        rating = Rating(session=found.key, good=good, at=time.time() if now is None else now, note=kept)
        with writing(self._folder) as state:
            ratings.rate(state, rating)
        return RatedSession(rating=rating, session=found, shortened=len(clean) > LONGEST_NOTE)


def _check_free(plan: Plan, every: Iterable[StoredPlan]) -> None:
    """Raises UserError where a plan is in the way of another one, or has its name."""
    for experiment, other, stopped in every:
        if stopped is None and overlap(plan, other):
            raise UserError(
                f"`{other.name}` runs, and a session can be in one experiment only; `preheat experiment stop {other.name}`"
                f" ends it ({experiment})"
            )
        if other.name == plan.name:
            raise UserError(
                f"there was an experiment `{plan.name}` already; `preheat ledger` shows it; take another name"
            )


def _project(wanted: str | None) -> str:
    if wanted is None:
        return ""
    if not os.path.isdir(os.path.expanduser(wanted)):
        raise UserError(f"`{wanted}` is no folder; name the folder of a project, `.` for this one")
    return project_folder(wanted)
