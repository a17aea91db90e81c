"""Lab comparisons: planned, run, reported. Passes lessons, wording, agents' programs and the archive to the lab's stages.

Knows nothing of how a task is run, nor of what the numbers mean.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from preheat.agents import places_of
from preheat.agents.headless import files_of, headless_of, program_of, settled_agents
from preheat.app.analysis.one_pass import assess
from preheat.app.context.provisioning import known_lessons, provision, render
from preheat.app.experiments.arms import as_note, as_placebo, framed
from preheat.app.later import Later
from preheat.app.projects import project_named
from preheat.app.sessions.archive import load, sync
from preheat.app.sessions.compression import compress
from preheat.archive.connect import connect
from preheat.errors import PreheatError, UserError
from preheat.experiments.arms import FACTS, note
from preheat.lab.arms import Sources, Wording
from preheat.lab.measure import Measures, measured
from preheat.lab.plan import CHAT, METRICS, Cell, LabPlan, order
from preheat.lab.prepare import Wanted, planned, prepare, reachable, wanted_with
from preheat.lab.run import Bench, run_lab
from preheat.lab.state import Lab, every_lab, lab_named, labs
from preheat.lab.tasks.suite import Suite, Task, first_tasks, read_suite
from preheat.model.context import BUDGET, Context
from preheat.model.progress import SILENT, Progress
from preheat.provisioning import without
from preheat.provisioning.tokens import estimate
from preheat.provisioning.words import words
from preheat.safe_text.quotation import harmless
from preheat.templates.names import check_name
from preheat.templates.store import Store

if TYPE_CHECKING:
    from preheat.archive import queries as _queries
    from preheat.lab import report as _report
    from preheat.lab.levels import Level
    from preheat.lab.report import Report
else:
    _queries = Later("preheat.archive.queries")  # SQLAlchemy, which neither a list nor a plan needs
    _report = Later("preheat.lab.report")  # SciPy, likewise

__all__ = ["METRICS", "Cell", "LabPlan", "LabSummary", "Labs", "Level", "Listed", "Report", "Suite", "Wanted"]

_CHAT_READER = "openai_chat"
"""The reader of what Preheat's own chat loop writes."""


class LabSummary(NamedTuple):
    """A lab in a list."""

    name: str
    folder: str
    plan: LabPlan
    runs: int
    """The number of finished runs."""
    planned: int


class Listed(NamedTuple):
    """All labs."""

    labs: list[LabSummary]
    damaged: list[str]
    """Labs that cannot be read, a sentence each."""


class Labs:
    """Comparisons of arms on tasks: planned, run, reported."""

    def __init__(self, folder: str, environment: Mapping[str, str] | None = None) -> None:
        """`environment`: the variables of programs; this process's own unless given."""
        self._folder = folder
        self._environment = dict(os.environ if environment is None else environment)

    def agents(self) -> tuple[str, ...]:
        """The agents that can do the tasks of a lab."""
        return lab_agents()

    def suite(self, path: str, limit: int | None = None) -> Suite:
        """The tasks in a file, or the first `limit` of them, with the file's settings."""
        return first_tasks(read_suite(path), limit)

    def plan(self, suite: Suite, wanted: Wanted, name: str = "") -> LabPlan:
        """Make a plan, with the context of each arm. Nothing is stored."""
        wanted = wanted_with(suite, wanted)
        bench = bench_for(self._folder, wanted, self._environment)
        name = check_name(name or suite.name, "a lab")
        return planned(name, suite, wanted, bench, sources_for(self._folder, wanted))

    def order(self, plan: LabPlan) -> list[Cell]:
        """The runs of a plan, in order."""
        return order(plan)

    def run(
        self,
        suite: Suite,
        wanted: Wanted,
        name: str = "",
        restart: bool = False,
        keep_in: str = "",
        progress: Progress = SILENT,
    ) -> "Report":
        """Run a lab, or the rest of one that was started with the same settings, and report. With `restart` an earlier one is set
        aside. The folders of the runs stay in `keep_in`, if that is given."""
        wanted = wanted_with(suite, wanted)
        bench = bench_for(self._folder, wanted, self._environment, keep_in)
        if wanted.endpoint.startswith("http"):
            reachable(wanted.endpoint)
        name = check_name(name or suite.name, "a lab")
        lab = Lab(os.path.join(labs(self._folder), name))
        plan = prepare(lab, name, suite, wanted, bench, sources_for(self._folder, wanted), restart)
        return _report.report(plan, run_lab(lab, plan, bench, progress))

    def report(self, name: str) -> "Report":
        """The report of a lab, by name or folder. Raises NotFound."""
        lab = lab_named(self._folder, name)
        return _report.report(lab.plan(), lab.tried())

    def summary(self, name: str) -> LabSummary:
        """The summary of a lab, by name or folder. Raises NotFound."""
        return _summary(lab_named(self._folder, name))

    def labs(self) -> Listed:
        """All labs; those that cannot be read are listed apart."""
        found = Listed([], [])
        for lab in every_lab(self._folder):
            try:
                found.labs.append(_summary(lab))
            except UserError as error:
                found.damaged.append(str(error))
        return found


def bench_for(folder: str, wanted: Wanted, environment: Mapping[str, str], keep_in: str = "") -> Bench:
    """What a lab needs of this machine. Raises UserError if something is missing."""
    if wanted.key and not environment.get(wanted.key):
        raise UserError(f"the variable `{wanted.key}` is not set; `--api-key-env` names the one that holds the key")
    own = wanted.agent in ("", CHAT)
    take_in = partial(_take_in, folder, _CHAT_READER if own else wanted.agent)
    bench = Bench(environment, take_in, key=wanted.key, keep_in=keep_in)
    if own:
        return bench
    headless = headless_of(wanted.agent)
    if headless is None or headless.settle is None:
        raise UserError(
            f"Preheat does not know how to give {places_of(wanted.agent).title} an endpoint in a home of its own; it knows"
            f" {', '.join(lab_agents())}"
        )
    program = program_of(headless, wanted.program)
    return bench._replace(headless=headless, program=program, files=partial(files_of, wanted.agent))


def lab_agents() -> tuple[str, ...]:
    """The agents that can do the tasks of a lab."""
    return (CHAT, *settled_agents())


def _summary(lab: Lab) -> LabSummary:
    plan = lab.plan()
    return LabSummary(os.path.basename(lab.folder), lab.folder, plan, len(lab.tried()), len(order(plan)))


def _take_in(folder: str, agent: str, files: Sequence[str]) -> Measures:
    """Read the transcripts of a run into the archive, and measure them. They carry Preheat's mark: learning and profiles leave
    such sessions out."""
    if not files:
        return Measures(problem="the agent left no transcript")
    try:
        report = sync(folder, files=[(agent, path) for path in files])
        if report.failures:
            return Measures(problem=f"the transcript could not be read: {report.failures[0]}"[:400])
        with closing(connect(folder)) as connection:
            keys = _queries.keys_at(connection, [os.path.realpath(path) for path in files] + list(files))
            sessions = [load(connection, key) for key in keys]
    except PreheatError as error:
        return Measures(problem=f"the transcript could not be read: {error}"[:400])
    return measured([(key, each, assess(each).profile) for key, each in zip(keys, sessions, strict=True)])


# Sources of contexts.
WORDING = Wording(
    framed, estimate, harmless, lambda lines: note("", lines).strip(), as_placebo, " ".join(FACTS)
)  # fmt: skip


def sources_for(folder: str, wanted: Wanted) -> Sources:
    """The sources of a lab's contexts."""
    return Sources(
        WORDING,
        partial(_choose_items, folder, wanted),
        partial(_lesson_lines, folder, wanted.template),
        partial(_compressed_messages, folder, wanted.session),
        wanted.context,
        wanted.placebo,
        wanted.session,
    )


class _ChosenItems:
    """The items that were chosen for a task from lessons or a template."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.why = context.reason

    @property
    def count(self) -> int:
        return len(self._context.items)

    def whole(self) -> str:
        return render(self._context).text

    def first(self, items: int) -> str:
        """The most valuable items, in their usual order."""
        best = sorted(self._context.items, key=lambda item: (-item.value, item.lesson))
        return render(without(self._context, frozenset(item.lesson for item in best[items:]))).text

    def prose(self) -> str:
        return as_note(self._context) if self._context.items or self._context.addendum else ""


def _choose_items(folder: str, wanted: Wanted, task: Task) -> _ChosenItems:
    """What Preheat would hand out for a task."""
    return _ChosenItems(
        provision(
            folder,
            task.prompt,
            agent="" if wanted.agent == CHAT else wanted.agent,
            project=wanted.lessons,
            budget=wanted.budget or BUDGET,
            template=wanted.template,
        )
    )


def _lesson_lines(folder: str, warm: str, kind: str, name: str) -> list[str]:
    """The lessons of a template or a project, one a line; `warm` is the template of the warm runs."""
    if kind == "template":
        store = Store(folder)
        other = store.find(name)
        if warm and other.name == store.find(warm).name:
            raise UserError(f"`{name}` is what warm runs are given: a placebo comes from another template")
        return [words(lesson) for lesson in other.template.lessons]
    with closing(connect(folder)) as connection:
        project = project_named(connection, name)
    return [words(lesson) for lesson in known_lessons(folder, project) if lesson.scope.project == project]


def _compressed_messages(folder: str, session: str, strategy: str) -> list[dict[str, Any]]:
    """A past session as shorter messages."""
    with closing(connect(folder)) as connection:
        found = load(connection, session)
    return compress(found, strategy).messages
