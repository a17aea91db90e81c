"""The application: everything Preheat can do, as methods of one object that return values.

>>> import preheat
>>> home = preheat.open()                                    # your own archive; or a folder of its own
>>> home.sync()                                              # doctest: +SKIP
>>> home.learn()                                             # doctest: +SKIP
>>> context = home.provision("fix the failing login test")   # doctest: +SKIP
>>> messages = preheat.render(context, "openai")             # doctest: +SKIP

Every surface (command line, MCP, daemon, plugins) calls these methods and shows what they return. Everyday methods are on
`Preheat` itself, the others on the object of their area (`home.experiments`). Light to import: a module is loaded when one of its
methods is first called. Knows nothing of terminals.
"""

import os
import time

from preheat.app.lazy import LazyModule
from preheat.settings import archive_path, data_folder, own_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from preheat.app import agents as _agents
    from preheat.app import commits as _commits
    from preheat.app import context as _context
    from preheat.app import costs as _costs
    from preheat.app import daemon as _daemon
    from preheat.app import digest as _digest
    from preheat.app import distilling as _distilling
    from preheat.app import fleet as _fleet
    from preheat.app import health as _health
    from preheat.app import home as _home
    from preheat.app import installation as _installation
    from preheat.app import learning as _learning
    from preheat.app import lessons as _lessons
    from preheat.app import orientation as _orientation
    from preheat.app import project_assignment as _projects
    from preheat.app import proposals as _proposals
    from preheat.app import trees as _trees
    from preheat.app.analysis import assessment as _assessment
    from preheat.app.analysis import one_pass as _analysis
    from preheat.app.analysis import reliability as _reliability
    from preheat.app.analysis import scorecard as _scorecard
    from preheat.app.experiments import comparisons as _experiments
    from preheat.app.lab import dataset as _dataset
    from preheat.app.lab import labs as _lab
    from preheat.app.lab import training as _training
    from preheat.app.live import outputs as _outputs
    from preheat.app.live import receipts as _receipts
    from preheat.app.live import signals as _signals
    from preheat.app.sessions import archive as _sessions
    from preheat.app.sessions import exports as _exports
    from preheat.app.sessions import sources as _sources
    from preheat.app.sessions import transcripts as _transcripts
    from preheat.app.sessions.archive import QuickLook
    from preheat.app.sessions.transcripts import Compressed
    from preheat.app.sharing import repository as _sharing
    from preheat.app.templates import library as _templates
    from preheat.app.views import settings_list as _settings
    from preheat.app.views import views as _views
    from preheat.archive import connect as _connect
    from preheat.archive import stamp as _stamp
    from preheat.errors import PreheatError
    from preheat.model import context as _contexts
    from preheat.model import listing as _listing
    from preheat.model import orientation as _orientations
    from preheat.model import progress as _progress
    from preheat.model.commit import CommitSessions, SessionCommits
    from preheat.model.comparison import CompactionCheck, Comparison
    from preheat.model.context import Context, RenderedContext, Renderer, StartedSession
    from preheat.model.cost import CostGrouping, Costs
    from preheat.model.digest import DigestForm, WeeklyDigest
    from preheat.model.health import Overview
    from preheat.model.home import HomeSummary
    from preheat.model.lesson import Lesson, LessonKind
    from preheat.model.listing import SearchHit, SessionSummary, Transcript
    from preheat.model.mistake import Mistakes
    from preheat.model.orientation import Orientation
    from preheat.model.outcome import Outcome
    from preheat.model.population import Population
    from preheat.model.profile import SessionProfile
    from preheat.model.progress import Progress
    from preheat.model.receipt import Receipts
    from preheat.model.session import Session
    from preheat.model.template import Template
else:
    _analysis = LazyModule("preheat.app.analysis.one_pass")
    _assessment = LazyModule("preheat.app.analysis.assessment")
    _agents = LazyModule("preheat.app.agents")
    _connect = LazyModule("preheat.archive.connect")
    _commits = LazyModule("preheat.app.commits")
    _context = LazyModule("preheat.app.context")
    _contexts = LazyModule("preheat.model.context")
    _costs = LazyModule("preheat.app.costs")
    _exports = LazyModule("preheat.app.sessions.exports")
    _fleet = LazyModule("preheat.app.fleet")
    _health = LazyModule("preheat.app.health")
    _home = LazyModule("preheat.app.home")
    _dataset = LazyModule("preheat.app.lab.dataset")
    _lab = LazyModule("preheat.app.lab.labs")
    _daemon = LazyModule("preheat.app.daemon")
    _digest = LazyModule("preheat.app.digest")
    _distilling = LazyModule("preheat.app.distilling")
    _experiments = LazyModule("preheat.app.experiments.comparisons")
    _installation = LazyModule("preheat.app.installation")
    _learning = LazyModule("preheat.app.learning")
    _lessons = LazyModule("preheat.app.lessons")
    _listing = LazyModule("preheat.model.listing")
    _orientation = LazyModule("preheat.app.orientation")
    _orientations = LazyModule("preheat.model.orientation")
    _outputs = LazyModule("preheat.app.live.outputs")
    _progress = LazyModule("preheat.model.progress")
    _projects = LazyModule("preheat.app.project_assignment")
    _proposals = LazyModule("preheat.app.proposals")
    _receipts = LazyModule("preheat.app.live.receipts")
    _reliability = LazyModule("preheat.app.analysis.reliability")
    _scorecard = LazyModule("preheat.app.analysis.scorecard")
    _sources = LazyModule("preheat.app.sessions.sources")
    _stamp = LazyModule("preheat.archive.stamp")
    _sessions = LazyModule("preheat.app.sessions.archive")
    _sharing = LazyModule("preheat.app.sharing.repository")
    _templates = LazyModule("preheat.app.templates.library")
    _training = LazyModule("preheat.app.lab.training")
    _transcripts = LazyModule("preheat.app.sessions.transcripts")
    _trees = LazyModule("preheat.app.trees")
    _signals = LazyModule("preheat.app.live.signals")
    _settings = LazyModule("preheat.app.views.settings_list")
    _views = LazyModule("preheat.app.views.views")


def open(folder: str | None = None) -> "Preheat":  # noqa: A001 - read as `preheat.open()`
    """Preheat with its archive and templates in a folder; without one in the usual place (`PREHEAT_HOME`)."""
    return Preheat(own_folder(os.path.abspath(os.path.expanduser(folder))) if folder else data_folder())


class Preheat:
    """One archive with everything that belongs to it. A session is named by its id, the beginning of it, or `latest`; filters
    (`agent`, `project`, `model`, `since`, `until`, `min_messages`, `max_messages`, `subagents`) are the commands'."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"preheat.open({self.folder!r})"

    # Areas.
    @property
    def archive(self) -> "_sessions.Sessions":
        """The sessions in the archive: list, find, search, load, forget."""
        return _sessions.Sessions(self.folder)

    @property
    def views(self) -> "_views.Views":
        """What a screen shows at once: pages of sessions, one session, parts of its transcript. Keep this object."""
        return _views.Views(self.folder)

    @property
    def settings(self) -> "_settings.Settings":
        """The person's settings: list all with what they do, change one."""
        return _settings.Settings(self.folder)

    @property
    def trees(self) -> "_trees.Trees":
        """The indexes of working trees: update, look up, list, forget."""
        return _trees.Trees(self.folder)

    @property
    def reliability(self) -> "_reliability.Reliability":
        """How reliable agents were: error rates, repeated mistakes, comparisons, compactions."""
        return _reliability.Reliability(self.folder)

    @property
    def knowledge(self) -> "_lessons.Lessons":
        """The lessons, and the marks and approvals that people gave them."""
        return _lessons.Lessons(self.folder)

    @property
    def sharing(self) -> "_sharing.Sharing":
        """Lessons in a repository's own file: share, trust, check."""
        return _sharing.Sharing(self.folder)

    @property
    def proposals(self) -> "_proposals.Proposals":
        """Proposals for a project's instructions file: make, write, undo, commit."""
        return _proposals.Proposals(self.folder)

    @property
    def distilling(self) -> "_distilling.Distilling":
        """Lessons that a person's own agent proposes: plan, run."""
        return _distilling.Distilling(self.folder)

    @property
    def projects(self) -> "_projects.Projects":
        """The projects that sessions belong to: list, show, link, split."""
        return _projects.Projects(self.folder)

    @property
    def library(self) -> "_templates.Templates":
        """The templates: build, store, share, load."""
        return _templates.Templates(self.folder)

    @property
    def experiments(self) -> "_experiments.Experiments":
        """Randomised comparisons: start, report, stop; the ledger of results; ratings of sessions."""
        return _experiments.Experiments(self.folder)

    @property
    def exports(self) -> "_exports.Exports":
        """Sessions written in formats that other programs read."""
        return _exports.Exports(self.folder)

    @property
    def health(self) -> "_health.Health":
        """The state of this machine: agents, archive, daemon, hooks, and what is wrong with them."""
        return _health.Health(self.folder)

    @property
    def fleet(self) -> "_fleet.Fleet":
        """Runs over the transcripts of many machines, on Ray: analyse, report, list lessons."""
        return _fleet.Fleet()

    @property
    def training(self) -> "_training.Training":
        """Templates trained on tasks that an agent's own program does."""
        return _training.Training(self.folder)

    @property
    def lab(self) -> "_lab.Labs":
        """Lab comparisons, the same tasks in every arm: plan, run, report."""
        return _lab.Labs(self.folder)

    @property
    def dataset(self) -> "_dataset.Datasets":
        """Anonymous datasets: export one, check one for leaks."""
        return _dataset.Datasets(self.folder)

    @property
    def live(self) -> "_signals.LiveSignals":
        """Live signals: of the sessions that run now, and of recorded ones replayed. Keep this object to poll."""
        return _signals.LiveSignals(self.folder)

    @property
    def installation(self) -> "_installation.Installation":
        """Preheat's hooks in the agents' settings: install, uninstall, status."""
        return _installation.Installation(self.folder)

    @property
    def daemon(self) -> "_daemon.Daemon":
        """The daemon that the agents' hooks talk to: status, start, stop."""
        return _daemon.Daemon(self.folder)

    # The archive itself.
    def overview(self) -> "Overview":
        """Which sessions every agent has left on this machine, and what the archive holds."""
        return _sources.survey_machine(self.folder)

    def home_summary(self, where: str = "") -> "HomeSummary":
        """The first screen: what the week's sessions cost, the repeated mistakes that can be mended, what the next session in the
        folder `where` (default: this one) would be told, whether it helped so far, and what to do next. Reads no new session."""
        return _home.summarize_home(self.folder, os.path.abspath(where or os.getcwd()), time.time())

    def read_news(self, progress: "Progress | None" = None) -> "_sessions.SyncReport | None":
        """Read what is new into the archive and learn from it, before the first screen; None if no file is new."""
        return _home.read_news(self.folder, progress or _progress.SILENT, time.time())

    def has_archive(self) -> bool:
        """Whether the archive exists; most other methods create an empty one."""
        return os.path.exists(archive_path(self.folder))

    def is_archive_changed(self) -> bool:
        """Whether something other than Preheat has changed the archive: its values may be anything then."""
        return self.has_archive() and not _stamp.is_ours(archive_path(self.folder))

    def translate_error(self, error: Exception) -> "PreheatError":
        """An error of the database as one that a person can understand."""
        return _connect.explain_database_error(archive_path(self.folder), error)

    def calling_agent(self) -> str:
        """The agent whose program started this process; empty if a person did."""
        return _agents.calling_agent()

    def sync_calling_agent(self, progress: "Progress | None" = None) -> "_sessions.SyncReport | None":
        """Read the new sessions of the agent whose program started this process; None if a person did."""
        return _agents.sync_calling_agent(self.folder, progress or _progress.SILENT)

    def analyse(
        self,
        progress: "Progress | None" = None,
        seconds: float = float("inf"),
        need: "_analysis.AnalysisNeed" = "everything",
    ) -> "_analysis.AnalysisReport":
        """Analyse every session of the archive that is new, has grown, or was analysed by another version. If only `rows` are
        needed, analyses of other versions are left as they are. After this many `seconds` no further session is begun."""
        return _analysis.analyse_archive(self.folder, progress or _progress.SILENT, seconds, need)

    # Sessions.
    def sync(
        self,
        files: "Iterable[tuple[str, str]] | None" = None,
        agents: "Iterable[str]" = (),
        progress: "Progress | None" = None,
        scan: "QuickLook | None" = None,
    ) -> "_sessions.SyncReport":
        """Read new sessions into the archive: from the places of all agents, of the named agents, or from the named files (agent
        and path). `scan` is a scan of all agents' places that was made just now."""
        return _sessions.sync(
            self.folder,
            agents=tuple(agents),
            files=None if files is None else list(files),
            progress=progress or _progress.SILENT,
            scan=scan,
        )

    def read_file(self, path: str, agent: str | None = None) -> "list[Session]":
        """The sessions in a file, whose agent is recognised by the content unless it is named. Nothing is stored."""
        return _sources.read_file(path, agent)

    def find_files(self, names: "Iterable[str]", agents: "Iterable[str]" = ()) -> "_sources.NamedFiles":
        """The session files among the named files and below the named folders, of all agents or of the named ones."""
        return _sources.find_files(tuple(names), tuple(agents))

    def sessions(self, **filters: "Any") -> "list[SessionSummary]":
        """The sessions that match the filters, the newest first."""
        return self.archive.sessions(_listing.SessionFilter(**filters))

    def session(self, name: str) -> "Session":
        """One session with all its events."""
        return self.archive.load(name)

    def search(self, words: str, limit: int = 20, **filters: "Any") -> "list[SearchHit]":
        """Passages of messages, commands and outputs that contain the words."""
        return self.archive.search(words, _listing.SessionFilter(**filters), limit=limit)

    def sessions_for(self, commit: str, where: str = "") -> "CommitSessions":
        """The sessions that may have made a commit, or a pull request (`#12`), of the repository around a folder (default: this
        one): by the command that made it, by files and by time."""
        return _commits.find_sessions_of(self.folder, commit, os.path.abspath(where or os.getcwd()))

    def commits(self, name: str) -> "SessionCommits":
        """The commits that a session made, and the pull requests that it opened."""
        return _commits.commits_of(self.folder, name)

    # Judgements and measurements.
    def outcomes(self, name: str) -> "tuple[Outcome, ...]":
        """The outcome of every call of a session."""
        return _assessment.judge(self.session(name))

    def judge(self, session: "Session") -> "Transcript":
        """The transcript of a session that is not in the archive, with the outcome of each call."""
        return _transcripts.make_transcript(session)

    def profile(self, name: str | None = None, **filters: "Any") -> "SessionProfile | Population":
        """The profile of one session; without a name, of all sessions that match the filters."""
        if name is not None:
            return self.archive.profile(name)
        return self.reliability.population(_listing.SessionFilter(**filters))

    def mistakes(self, min_sessions: int = 2, **filters: "Any") -> "Mistakes":
        """Mistakes that several sessions made, with their cost and the repair that worked."""
        return self.reliability.mistakes(_listing.SessionFilter(**filters), min_sessions=min_sessions)

    def costs(self, chosen: "_listing.SessionFilter | None" = None, by: "CostGrouping" = "day") -> "Costs":
        """What sessions cost, in tokens and money: by day, project, model, agent or session."""
        return _costs.add_up_costs(self.folder, chosen or _listing.SessionFilter(), by)

    def receipts(self, project: str = "", session: str = "", since: float = 0.0) -> "Receipts":
        """What sessions of the last fourteen days were told, what was seen of it, and what it cost: all of them, those of a
        project, one, or since a time."""
        return _receipts.collect_receipts(self.folder, project, session, since)

    def digest(self, project: str = "") -> "WeeklyDigest":
        """The last week in short, of one project or of all: new, better, worse, prevented, learned, waiting."""
        return _digest.make_digest(self.folder, time.time(), project)

    def render_digest(self, digest: "WeeklyDigest", form: "DigestForm" = "text", width: int = 100) -> str:
        """A weekly digest as text of a width, as Markdown, or as a page."""
        return _digest.render(digest, form, width)

    def compare(self, a: "str | dict[str, Any]", b: "str | dict[str, Any]") -> "Comparison":
        """Compare two sessions by name, or two sets of sessions by their filters."""
        return self.reliability.compare(a, b)

    def check_compactions(self, name: str | None = None, margin: float = 0.2, **filters: "Any") -> "CompactionCheck":
        """Whether agents work as well after a compaction as before it."""
        return self.reliability.check_compactions(
            _listing.SessionFilter(**filters) if name is None else name, margin
        ).check

    def compress(self, name: str, strategy: str = "markers", keep: int | None = None) -> "Compressed":
        """A session as a shorter history, by one strategy."""
        return _transcripts.compress(self.session(name), strategy, keep)

    def compress_all(self, name: str, keep: int | None = None) -> "list[Compressed]":
        """A session as a shorter history, once by every strategy."""
        return _transcripts.compress_all(self.session(name), keep)

    def scorecard(self, name: str, earlier: int = 20) -> "_scorecard.RankedScorecard":
        """The scores of a session with their arithmetic, and their ranks among earlier sessions of its project."""
        return _scorecard.score_named(self.folder, name, earlier)

    def read_output(self, name: str) -> bytes:
        """The full text of an output that was shortened for an agent, by its id."""
        return _outputs.read_output(name, self.folder)

    # Lessons.
    def learn(self, *learners: str, progress: "Progress | None" = None) -> "_learning.LearnReport":
        """Learn from new sessions, with all ten learners or the named ones."""
        return _learning.learn(self.folder, learners, progress or _progress.SILENT)

    def learners(self) -> "list[str]":
        """The names of the learners, which `learn` takes."""
        return _learning.learner_names()

    def lessons(self, project: str | None = None, kind: "LessonKind | None" = None) -> "list[Lesson]":
        """Lessons, the best first: all, or those of a project (name or folder) and the general ones."""
        return [lesson for lesson in self.knowledge.lessons(project) if kind is None or lesson.kind == kind]

    def pin(self, lesson: str, why: str = "") -> None:
        """Hand out a lesson whenever it fits the task, whatever its score."""
        self.knowledge.mark(lesson, "pinned", why)

    def retire(self, lesson: str, why: str = "") -> None:
        """Never hand out a lesson again."""
        self.knowledge.mark(lesson, "retired", why)

    def release(self, lesson: str) -> None:
        """Undo `pin` or `retire`."""
        self.knowledge.mark(lesson, None)

    # Templates.
    def extract_template(self, session: str, name: str = "", description: str = "") -> "Template":
        """Build a template from one session and store it."""
        return self.library.extract(session, name, description).built.template

    def build_template(
        self,
        name: str,
        description: str = "",
        tags: "Iterable[str]" = (),
        min_messages: int = 30,
        max_sessions: int = 50,
        max_error_rate: float = 0.5,
        **filters: "Any",
    ) -> "Template":
        """Build a template from many sessions and store it."""
        request = _templates.Request(name=name, description=description, tags=tuple(tags))
        rule = _templates.SessionRule(
            min_messages=min_messages, max_sessions=max_sessions, max_error_rate=max_error_rate
        )
        return self.library.build(request, _listing.SessionFilter(**filters), rule).built.template

    def build_best_templates(self, **filters: "Any") -> "list[Template]":
        """Build a template from the best sessions of each project that has enough of them."""
        return [
            build.built.template
            for build in self.library.build_from_best(
                self.library.find_best_sessions(_listing.SessionFilter(**filters))
            )
        ]

    def templates(self) -> "list[Template]":
        """The current version of every template."""
        return self.library.templates()

    def template(self, name: str) -> "Template":
        """One version of a template: `name`, `name@digest`, `name@-1`."""
        return self.library.template(name)

    def delete_template(self, name: str) -> None:
        """Delete a template; `preheat templates restore` brings it back."""
        self.library.delete(name)

    # A new session.
    def provision(
        self,
        task: str,
        agent: str = "",
        project: str = "",
        budget: int | None = None,
        template: str = "",
        examples: bool = False,
        *,
        cwd: str = "",
        loaded: bool = False,
        record: bool = True,
    ) -> "Context":
        """Choose the context of a new session for a task; empty, with the reason, where nothing fits. With `examples` real calls
        are included, for formats made of messages; with `loaded` the template that is loaded for the project comes first. `cwd`
        is the folder that the session works in. The use of a template is recorded, unless `record` is off."""
        tokens = _contexts.TOKEN_BUDGET if budget is None else budget
        context = _context.provision(
            self.folder, task, agent=agent, project=project, budget=tokens, template=template, examples=examples,
            loaded=loaded, cwd=cwd,
        )  # fmt: skip
        if record:
            self.record_use(context)
        return context

    def orient(
        self,
        prompt: str,
        cwd: str = "",
        opened: "Iterable[str]" = (),
        edited: "Iterable[str]" = (),
        updating: bool = True,
    ) -> "Orientation":
        """Where the work of a prompt lies in the project around a folder (the current one unless given): files that exist and
        are not `opened` yet, each with its reasons and how sure that is, the check that covers them, similar earlier work. Empty,
        with the reason, where nothing stands out. If `updating`, a working tree that has no index is indexed first."""
        touched = _orientations.TouchedFiles(frozenset([*opened, *edited]), frozenset(edited))
        return _orientation.orient(self.folder, prompt, os.path.abspath(cwd or os.getcwd()), touched, updating)

    def describe_orientation(self, orientation: "Orientation") -> str:
        """An orientation as a model gets it; empty where there is nothing to say."""
        return _orientation.describe(orientation)

    def record_use(self, context: "Context") -> None:
        """Record that a context was handed out, if it came from a template and is not empty."""
        _context.record_use(self.folder, context, time.time())

    def formats(self) -> "tuple[Renderer, ...]":
        """Every format that a context can be rendered in, the agents' own ones last."""
        return _context.formats()

    def render(self, context: "Context", format: "str | Renderer" = "text") -> "RenderedContext":  # noqa: A002 - as the option
        """A context in the format that an agent or a provider takes."""
        return _context.render(context, format)

    def write_rendered(
        self, rendered: "RenderedContext", renderer: "Renderer", output: str, force: bool = False
    ) -> str:
        """Write a rendered context to a file, or to a folder if the format has several files. Returns its path, empty if there
        was nothing to write. Raises UserError if a file of somebody else is in the way, unless forced."""
        return _context.write_rendered(rendered, renderer, output, force)

    def begin_session(self, renderer: "Renderer", rendered: "RenderedContext", folder: str) -> "StartedSession":
        """Start a session from a rendered context in the agent's own session store, for work in a folder."""
        return _context.begin_session(renderer, rendered, folder, os.environ)

    def resume_packet(self, project: str = "", cwd: str = "") -> "Lesson | None":
        """Where the last session of a project ended, with its present age; None if unknown. The project is given by name or
        folder; else it is the one around `cwd`."""
        return _context.resume_packet(self.folder, project=project, cwd=cwd)

    def __getattr__(self, name: str) -> "Any":
        """The methods that version 0.1.0 had under other names; gone in 0.3."""
        if name not in EARLIER_METHODS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self, EARLIER_METHODS[name])


EARLIER_METHODS = {"compaction_check": "check_compactions", "auto_templates": "build_best_templates"}


def provision(
    task: str, agent: str = "", project: str = "", budget: int | None = None, template: str = "", examples: bool = False
) -> "Context":
    """Choose the context of a new session for a task, from your own archive."""
    return open().provision(task, agent, project, budget, template, examples)


def render(context: "Context", format: str = "text") -> "RenderedContext":  # noqa: A002 - as the command's option is called
    """A context in the format that an agent or a provider takes."""
    return _context.render(context, format)
