"""Lab comparisons: planned, run, reported. Passes lessons, wording, agents' programs and the archive to the lab's stages.

Knows nothing of how a task is run, nor of what the numbers mean.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from preheat.agents import places_of
from preheat.agents.headless import endpoint_agents, find_program, headless_of, session_files
from preheat.app.analysis.one_pass import assess
from preheat.app.context import known_lessons, provision, render
from preheat.app.experiments.assignment import frame, note_text, placebo_text
from preheat.app.lazy import LazyModule
from preheat.app.projects import require_project
from preheat.app.sessions.archive import load_session, sync
from preheat.app.sessions.transcripts import compress
from preheat.archive.connect import connect
from preheat.errors import PreheatError, UserError
from preheat.experiments.assignment import FACTS, write_note
from preheat.lab.arms import Sources, Wording
from preheat.lab.plan import CHAT, METRICS, Cell, LabPlan, plan_runs
from preheat.lab.prepare import LabRequest, check_reachable, make_plan, prepare_plan, with_suite_settings
from preheat.lab.run import Bench, Measures, measure_run, run_lab
from preheat.lab.state import Lab, all_labs, find_lab, labs_folder
from preheat.lab.suite import Suite, Task, first_tasks, read_suite
from preheat.model.context import TOKEN_BUDGET, Context
from preheat.model.progress import SILENT, Progress
from preheat.provisioning import without_lessons
from preheat.provisioning.lesson_text import describe_lesson
from preheat.provisioning.tokens import estimate_tokens
from preheat.safe_text.cleanup import make_harmless
from preheat.templates.names import check_name
from preheat.templates.store import TemplateStore

if TYPE_CHECKING:
    from preheat.archive import queries as _queries
    from preheat.lab import report as _report
    from preheat.lab.report import ArmLevel, Report
else:
    _queries = LazyModule("preheat.archive.queries")  # SQLAlchemy, which neither a list nor a plan needs
    _report = LazyModule("preheat.lab.report")  # SciPy, likewise

__all__ = ["METRICS", "ArmLevel", "Cell", "LabList", "LabPlan", "LabRequest", "LabSummary", "Labs", "Report", "Suite"]

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


class LabList(NamedTuple):
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

    def read_suite(self, path: str, limit: int | None = None) -> Suite:
        """The tasks in a file, or the first `limit` of them, with the file's settings."""
        return first_tasks(read_suite(path), limit)

    def plan(self, suite: Suite, wanted: LabRequest, name: str = "") -> LabPlan:
        """Make a plan, with the context of each arm. Nothing is stored."""
        wanted = with_suite_settings(suite, wanted)
        bench = make_bench(self._folder, wanted, self._environment)
        name = check_name(name or suite.name, "a lab")
        return make_plan(name, suite, wanted, bench, make_sources(self._folder, wanted))

    def order(self, plan: LabPlan) -> list[Cell]:
        """The runs of a plan, in order."""
        return plan_runs(plan)

    def run(
        self,
        suite: Suite,
        wanted: LabRequest,
        name: str = "",
        restart: bool = False,
        keep_in: str = "",
        progress: Progress = SILENT,
    ) -> "Report":
        """Run a lab, or the rest of one that was started with the same settings, and report. With `restart` an earlier one is set
        aside. The folders of the runs stay in `keep_in`, if that is given."""
        wanted = with_suite_settings(suite, wanted)
        bench = make_bench(self._folder, wanted, self._environment, keep_in)
        if wanted.endpoint.startswith("http"):
            check_reachable(wanted.endpoint)
        name = check_name(name or suite.name, "a lab")
        lab = Lab(os.path.join(labs_folder(self._folder), name))
        plan = prepare_plan(lab, name, suite, wanted, bench, make_sources(self._folder, wanted), restart)
        return _report.make_report(plan, run_lab(lab, plan, bench, progress))

    def report(self, name: str) -> "Report":
        """The report of a lab, by name or folder. Raises NotFound."""
        lab = find_lab(self._folder, name)
        return _report.make_report(lab.plan(), lab.results())

    def summary(self, name: str) -> LabSummary:
        """The summary of a lab, by name or folder. Raises NotFound."""
        return _summary(find_lab(self._folder, name))

    def labs(self) -> LabList:
        """All labs; those that cannot be read are listed apart."""
        found = LabList([], [])
        for lab in all_labs(self._folder):
            try:
                found.labs.append(_summary(lab))
            except UserError as error:
                found.damaged.append(str(error))
        return found


def make_bench(folder: str, wanted: LabRequest, environment: Mapping[str, str], keep_in: str = "") -> Bench:
    """What a lab needs of this machine. Raises UserError if something is missing."""
    if wanted.key and not environment.get(wanted.key):
        raise UserError(f"the variable `{wanted.key}` is not set; `--api-key-env` names the one that holds the key")
    uses_chat = wanted.agent in ("", CHAT)
    take_in = partial(_measure_transcripts, folder, _CHAT_READER if uses_chat else wanted.agent)
    bench = Bench(environment, take_in, key=wanted.key, keep_in=keep_in)
    if uses_chat:
        return bench
    headless = headless_of(wanted.agent)
    if headless is None or headless.set_up is None:
        raise UserError(
            f"Preheat does not know how to give {places_of(wanted.agent).title} an endpoint in a home of its own; it knows"
            f" {', '.join(lab_agents())}"
        )
    program = find_program(headless, wanted.program)
    return bench._replace(headless=headless, program=program, files=partial(session_files, wanted.agent))


def lab_agents() -> tuple[str, ...]:
    """The agents that can do the tasks of a lab."""
    return (CHAT, *endpoint_agents())


def _summary(lab: Lab) -> LabSummary:
    plan = lab.plan()
    return LabSummary(os.path.basename(lab.folder), lab.folder, plan, len(lab.results()), len(plan_runs(plan)))


def _measure_transcripts(folder: str, agent: str, files: Sequence[str]) -> Measures:
    """Read the transcripts of a run into the archive, and measure them. They carry Preheat's mark: learning and profiles leave
    such sessions out."""
    if not files:
        return Measures(problem="the agent left no transcript")
    try:
        report = sync(folder, files=[(agent, path) for path in files])
        if report.failures:
            return Measures(problem=f"the transcript could not be read: {report.failures[0]}"[:400])
        with closing(connect(folder)) as connection:
            keys = _queries.list_keys_in_sources(connection, [os.path.realpath(path) for path in files] + list(files))
            sessions = [load_session(connection, key) for key in keys]
    except PreheatError as error:
        return Measures(problem=f"the transcript could not be read: {error}"[:400])
    return measure_run([(key, each, assess(each).profile) for key, each in zip(keys, sessions, strict=True)])


# Sources of contexts.
WORDING = Wording(
    frame, estimate_tokens, make_harmless, lambda lines: write_note("", lines).strip(), placebo_text, " ".join(FACTS)
)  # fmt: skip


def make_sources(folder: str, wanted: LabRequest) -> Sources:
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

    def full_text(self) -> str:
        return render(self._context).text

    def first_items(self, items: int) -> str:
        """The most valuable items, in their usual order."""
        best = sorted(self._context.items, key=lambda item: (-item.value, item.lesson))
        return render(without_lessons(self._context, frozenset(item.lesson for item in best[items:]))).text

    def as_prose(self) -> str:
        return note_text(self._context) if self._context.items or self._context.addendum else ""


def _choose_items(folder: str, wanted: LabRequest, task: Task) -> _ChosenItems:
    """What Preheat would hand out for a task."""
    return _ChosenItems(
        provision(
            folder,
            task.prompt,
            agent="" if wanted.agent == CHAT else wanted.agent,
            project=wanted.lessons,
            budget=wanted.budget or TOKEN_BUDGET,
            template=wanted.template,
        )
    )


def _lesson_lines(folder: str, warm: str, kind: str, name: str) -> list[str]:
    """The lessons of a template or a project, one a line; `warm` is the template of the warm runs."""
    if kind == "template":
        store = TemplateStore(folder)
        other = store.find(name)
        if warm and other.name == store.find(warm).name:
            raise UserError(f"`{name}` is what warm runs are given: a placebo comes from another template")
        return [describe_lesson(lesson) for lesson in other.template.lessons]
    with closing(connect(folder)) as connection:
        project = require_project(connection, name)
    return [describe_lesson(lesson) for lesson in known_lessons(folder, project) if lesson.scope.project == project]


def _compressed_messages(folder: str, session: str, strategy: str) -> list[dict[str, Any]]:
    """A past session as shorter messages."""
    with closing(connect(folder)) as connection:
        found = load_session(connection, session)
    return compress(found, strategy).messages
