"""Randomised comparisons: started, reported, stopped and entered into the ledger; and people's ratings of sessions.

Knows no formula, and nothing of how a session is assigned (`assignment`). Results are computed in `results`, which loads the
statistics: a second that listing plans or rating a session need not wait for.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from preheat.app.experiments.assignment import check_key, describe_assignment, load_assignment_settings
from preheat.app.lazy import LazyModule
from preheat.app.live.running import load_ended_sessions
from preheat.app.projects import project_folder
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons
from preheat.errors import NotFound, UserError
from preheat.experiments.plan import holdout_plan, make_plan, plan_name, plans_overlap
from preheat.experiments.withdrawal import ITEM_MARGIN, last_entries
from preheat.ingest.redact import redact
from preheat.installing.ledger import load_ledger as load_installation
from preheat.model.experiment import (
    HOLDOUT,
    MARGINS,
    METRICS,
    STORED_HOLDOUT,
    Assignment,
    ExperimentPlan,
    LedgerEntry,
    MetricName,
    Rating,
)
from preheat.model.experiment_report import (
    AdviceEffect,
    ExperimentLedger,
    ExperimentReport,
    ExperimentStatus,
    LessonEffect,
    ListedExperiment,
    OrientationEffect,
    RatedSession,
    SampleSizeForecast,
    SessionArm,
    StartedExperiment,
    StoppedExperiment,
    TemplateEffect,
)
from preheat.state import experiments, ledger, migration
from preheat.state.connect import reading, writing
from preheat.state.experiments import StoredPlan
from preheat.templates.store import TemplateStore

if TYPE_CHECKING:
    from preheat.app.experiments import results as _results
    from preheat.archive import queries as _queries
else:
    _results = LazyModule("preheat.app.experiments.results")  # numpy and scipy
    _queries = LazyModule("preheat.archive.queries")  # SQLAlchemy

LONGEST_NOTE = 2_000
"""Characters of a note to a rating."""
__all__ = ["ITEM_MARGIN", "LONGEST_NOTE", "Experiments"]


class Experiments:
    """The comparisons in a folder, by name. Without a name the running one is meant, else the holdout."""

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
        """Store a plan and start it: from now on sessions are assigned to its arms. Raises UserError if the plan is not valid,
        or overlaps with a running one."""
        plan = make_plan(
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
        experiment = plan_name(plan)
        check_key(self._folder)
        with writing(self._folder) as state:
            _check_free(plan, experiments.plans(state))
            experiments.make_secret(state)
            experiments.start_plan(state, experiment, plan)
        return StartedExperiment(
            experiment=experiment, plan=plan, agents_call=bool(load_installation(self._folder).files)
        )

    def stop(self, name: str = "", now: float | None = None) -> StoppedExperiment:
        """Stop a comparison and enter its result into the ledger, whatever it is."""
        now = time.time() if now is None else now
        experiment, plan, stopped = self._find(name)
        if plan.is_holdout:
            raise UserError(
                f"nothing runs but the holdout; `holdout = 0` below `[experiment]` in "
                f"`{os.path.join(self._folder, 'settings.toml')}` turns that off"
            )
        if stopped is not None:
            raise UserError(
                f"`{plan.name}` was stopped already; `preheat experiment report {plan.name}` shows what it showed"
            )
        connect(self._folder).close()  # creates an archive if there is none: then the entry says that there is no data
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
            sessions=found.assigned,
        )
        with writing(self._folder) as state:
            experiments.stop_plan(state, experiment, now)
            return StoppedExperiment(report=found, entry=ledger.add_entry(state, entry))

    def plans(self) -> list[ListedExperiment]:
        """Every comparison that was started, the oldest first."""
        with reading(self._folder) as state:
            every, entries = experiments.plans(state), ledger.load_entries(state)
        verdicts = {entry.digest: entry.verdict for entry in entries if entry.kind == "experiment"}
        return [
            ListedExperiment(experiment=name, plan=plan, stopped=stopped, verdict=verdicts.get(name.partition("@")[2]))
            for name, plan, stopped in every
        ]

    def _template(self, wanted: str) -> str:
        if not wanted:
            return ""
        found = TemplateStore(self._folder).find(wanted)
        return f"{found.name}@{found.digest[:12]}"

    def _find(self, wanted: str) -> StoredPlan:
        """A plan by name; without a name the running one, else the holdout."""
        with reading(self._folder) as state:
            every = experiments.plans(state)
        if not wanted:
            found = [each for each in every if each.stopped is None]
            if len(found) > 1:
                raise UserError(f"several run: {', '.join(f'`{each.plan.name}`' for each in found)}; name one")
            if found:
                return found[0]
        for each in every:
            if wanted in (each.experiment, each.plan.name):
                return each
        if wanted in ("", HOLDOUT, STORED_HOLDOUT):  # the last one as in version 0.1.0, until 0.3
            holdout = holdout_plan(load_assignment_settings(self._folder).holdout)
            return StoredPlan(plan_name(holdout), holdout, None)
        raise NotFound(f"no experiment `{wanted}`; `preheat experiment list` shows them")

    # Results.
    def describe_assignment(self) -> str:
        """In a sentence, what is assigned at random now."""
        return describe_assignment(self._folder)

    def status(self, now: float | None = None) -> ExperimentStatus:
        """What is assigned at random now, and the results so far."""
        names = [each.plan.name for each in self.plans() if each.stopped is None] or [""]
        reports = [self.report(name, now) for name in names] if has_archive(self._folder) else []
        return ExperimentStatus(sentence=self.describe_assignment(), reports=tuple(reports))

    def report(self, name: str = "", now: float | None = None) -> ExperimentReport:
        """The result of a comparison so far."""
        plan = self._find(name)
        self._check_archive()
        return self._report(plan, time.time() if now is None else now)

    def _report(self, stored: StoredPlan, now: float) -> ExperimentReport:
        with reading(self._folder) as state:
            assigning = experiments.find_secret(state) is not None
        with self._archive() as archive:
            found = _results.make_report(archive, stored, now, assigning, load_ended_sessions(self._folder))
        damage = self.plan_problems()
        return msgspec.structs.replace(found, problems=(*damage, *found.problems)) if damage else found

    def plan_problems(self) -> list[str]:
        """What is wrong with the stored plans, a sentence each; a digest that does not match shows that a plan was changed."""
        with reading(self._folder) as state:
            every, unreadable = experiments.plans(state), experiments.unreadable_plans(state)
        problems = [
            f"the plan `{plan.name}` was changed after it was written down"
            for experiment, plan, _ in every
            if experiment != plan_name(plan)
        ]
        problems += [f"the plan `{experiment}` cannot be read and does not count" for experiment in unreadable]
        return [*problems, *migration.unreadable_lines(self._folder, plans_only=True)]

    def sample_size(
        self,
        metric: MetricName = "mistakes",
        margin: float | None = None,
        cold: float | None = None,
        power: float = 0.8,
        now: float | None = None,
    ) -> SampleSizeForecast:
        """How many sessions a comparison needs to detect a difference of `margin` (default: the metric's) with this power, if the
        share `cold` of them (default: the holdout) starts cold."""
        name = next((each for each in METRICS if each == metric), None)
        if name is None:
            raise UserError(f"no metric `{metric}`; there are {', '.join(METRICS)}")
        margin = MARGINS[name] if margin is None else margin
        share = load_assignment_settings(self._folder).holdout or 0.5 if cold is None else cold
        if not 0 < share < 1 or not 0 < power < 1 or not margin > 0:
            raise UserError("--cold and --power are between 0 and 1, and --margin is above 0")
        self._check_archive()
        with self._archive() as archive:
            return _results.required_sample(archive, name, margin, share, power, time.time() if now is None else now)

    def _archive(self) -> closing[ArchiveConnection]:
        return closing(connect(self._folder))

    def _check_archive(self) -> None:
        if not has_archive(self._folder):
            raise UserError(f"there is no archive in `{self._folder}` yet; `preheat sync` makes one")

    # Effects of items, templates and advice.
    def explain_items(self, wanted: str = "") -> list[LessonEffect]:
        """The effect of every item that was assigned at random, or of one by the beginning of its id. Raises NotFound."""
        with self._archive() as archive:
            every = _results.measure_items(archive)
            texts = {each.id: each.text for each in load_lessons(archive)}
        found = [each for each in every if each.item.startswith(wanted)]
        if wanted and not found:
            if any(name.startswith(wanted) for name in texts):
                raise NotFound(
                    f"`{wanted}` was not assigned yet: no warm session was offered it since assignment began"
                )
            raise NotFound(f"no item `{wanted}`; `preheat experiment explain` shows those that were assigned at random")
        last = last_entries(self.ledger().entries)
        return [LessonEffect(utility=each, text=texts.get(each.item, ""), entry=last.get(each.item)) for each in found]

    def explain_templates(self, wanted: str = "", now: float | None = None) -> list[TemplateEffect]:
        """The effect of every template that warm sessions got and cold ones did not, or of those with a name."""
        with self._archive() as archive:
            every = _results.measure_templates(archive, time.time() if now is None else now)
        last = last_entries(self.ledger().entries)
        return [
            TemplateEffect(template=name, estimate=each, entry=last.get(name))
            for name, each in every.items()
            if name.partition("@")[0] == wanted or name.startswith(wanted)
        ]

    def explain_advice(self) -> AdviceEffect:
        """The effect of advice on the mistakes in the next calls."""
        with self._archive() as archive:
            return _results.measure_advice(archive)

    def explain_orientation(self) -> OrientationEffect:
        """The effect of naming files with a prompt on the calls and tokens before the next edit."""
        with self._archive() as archive:
            return _results.measure_orientation(archive)

    # The ledger and ratings.
    def ledger(self) -> ExperimentLedger:
        """All entries of the ledger, which lines were changed, and what has no entry yet."""
        with reading(self._folder) as state:
            entries = tuple(ledger.load_entries(state))
            stopped = {plan.experiment for plan in experiments.plans(state) if plan.stopped is not None}
            waiting = Counter(
                each.experiment.partition("@")[0]
                for each in experiments.assignments(state)
                if each.arm != "unassigned" and each.experiment not in stopped
            )
            return ExperimentLedger(
                entries=entries,
                changed_lines=tuple(ledger.changed_lines(state)),
                unfinished={_plain_name(name): number for name, number in sorted(waiting.items())},
            )

    def assignments(self, most: int = 200) -> list[Assignment]:
        """The newest assignments of sessions to arms, the newest first."""
        with reading(self._folder) as state:
            return experiments.assignments(state)[::-1][:most]

    def find_arm(self, session: str) -> SessionArm | None:
        """Into which arm a session was assigned and what it was given, by its key (`agent:id`); None if it was not assigned."""
        with reading(self._folder) as state:
            found = experiments.find_assignment(state, session)
            delivery = experiments.first_deliveries(state).get(session) if found is not None else None
        if found is None:
            return None
        return SessionArm(
            arm=found.arm,
            experiment=_plain_name(found.experiment.partition("@")[0]),
            at=found.at,
            why=found.why,
            inherited_from=found.root if found.root != session else "",
            context=delivery.context if delivery is not None else "",
            lessons=delivery.offered if delivery is not None else 0,
        )

    def rate(self, session: str, good: bool, note: str = "", now: float | None = None) -> RatedSession:
        """Store a person's rating of a session, in place of an earlier one. Secrets in the note are redacted."""
        with self._archive() as archive:
            found = _queries.find_session(archive, session)
        clean = redact(note.encode("utf-8", "replace"))[0].decode("utf-8", "replace")
        shortened = clean[:LONGEST_NOTE]  # after redacting: half a secret would not be recognised
        rating = Rating(session=found.key, good=good, at=time.time() if now is None else now, note=shortened)
        with writing(self._folder) as state:
            experiments.keep_rating(state, rating)
        return RatedSession(rating=rating, session=found, shortened=len(clean) > LONGEST_NOTE)


def _check_free(plan: ExperimentPlan, every: Iterable[StoredPlan]) -> None:
    """Raise UserError if a plan overlaps with a running one, or has the name of an earlier one."""
    for experiment, other, stopped in every:
        if stopped is None and plans_overlap(plan, other):
            raise UserError(
                f"`{other.name}` runs, and a session can be in one experiment only; `preheat experiment stop {other.name}`"
                f" ends it ({experiment})"
            )
        if other.name == plan.name:
            raise UserError(
                f"there was an experiment `{plan.name}` already; `preheat experiment ledger` shows it; take another name"
            )


def _project(wanted: str | None) -> str:
    if wanted is None:
        return ""
    if not os.path.isdir(os.path.expanduser(wanted)):
        raise UserError(f"`{wanted}` is no folder; name the folder of a project, `.` for this one")
    return project_folder(wanted)


def _plain_name(stored: str) -> str:
    """The name of a comparison as people know it: the holdout is stored under an earlier one."""
    return HOLDOUT if stored == STORED_HOLDOUT else stored
