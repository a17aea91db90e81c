"""The application: everything Preheat can do, as methods of one object that give values back.

>>> import preheat
>>> home = preheat.open()                                    # your own archive; or a folder of its own
>>> home.sync()                                              # doctest: +SKIP
>>> home.learn()                                             # doctest: +SKIP
>>> context = home.provision("fix the failing login test")   # doctest: +SKIP
>>> messages = preheat.render(context, "openai")             # doctest: +SKIP

Every surface (command line, MCP, daemon, plugins) calls this and shows what comes back. What is asked every day stands on
`Preheat` itself; what belongs to one area stands on an object of its own (`home.experiments`). Light to import: the module
of a use case is loaded when it is first used. Knows nothing of terminals.
"""

import os
import time

from preheat.app.later import Later
from preheat.settings import archive_path, data_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from preheat.app.analysis import assessment as _assessment
    from preheat.app.analysis import one_pass as _analysis
    from preheat.app.analysis import reliability as _reliability
    from preheat.app.analysis import scorecard as _scorecard
    from preheat.app.context import files as _rendered_files
    from preheat.app.context import provisioning as _context
    from preheat.app.experiments import comparisons as _experiments
    from preheat.app.lab import dataset as _dataset
    from preheat.app.lab import labs as _lab
    from preheat.app.lab import training as _training
    from preheat.app.learning import learning as _learning
    from preheat.app.learning import lessons as _lessons
    from preheat.app.live import outputs as _outputs
    from preheat.app.live import watching as _watching
    from preheat.app.machine import daemon as _daemon
    from preheat.app.machine import health as _health
    from preheat.app.machine import installation as _installation
    from preheat.app.sessions import archive as _sessions
    from preheat.app.sessions import caller as _caller
    from preheat.app.sessions import compression as _compression
    from preheat.app.sessions import exports as _exports
    from preheat.app.sessions import files as _session_files
    from preheat.app.sessions import overview as _overview
    from preheat.app.sessions import transcripts as _transcripts
    from preheat.app.sessions.archive import Look
    from preheat.app.sessions.compression import Compressed
    from preheat.app.templates import library as _templates
    from preheat.archive import connect as _connect
    from preheat.errors import PreheatError
    from preheat.model import context as _contexts
    from preheat.model import listing as _listing
    from preheat.model import progress as _progress
    from preheat.model.comparison import CompactionCheck, Comparison
    from preheat.model.context import Context
    from preheat.model.health import Overview
    from preheat.model.lesson import Lesson, LessonKind
    from preheat.model.listing import Hit, Summary
    from preheat.model.mistake import Mistakes
    from preheat.model.outcome import Outcome
    from preheat.model.population import Population
    from preheat.model.profile import SessionProfile
    from preheat.model.progress import Progress
    from preheat.model.rendering import Begun, Rendered, Renderer
    from preheat.model.session import Session
    from preheat.model.template import Template
    from preheat.model.transcript import Transcript
else:
    _analysis = Later("preheat.app.analysis.one_pass")
    _assessment = Later("preheat.app.analysis.assessment")
    _caller = Later("preheat.app.sessions.caller")
    _compression = Later("preheat.app.sessions.compression")
    _connect = Later("preheat.archive.connect")
    _context = Later("preheat.app.context.provisioning")
    _contexts = Later("preheat.model.context")
    _exports = Later("preheat.app.sessions.exports")
    _health = Later("preheat.app.machine.health")
    _dataset = Later("preheat.app.lab.dataset")
    _lab = Later("preheat.app.lab.labs")
    _daemon = Later("preheat.app.machine.daemon")
    _experiments = Later("preheat.app.experiments.comparisons")
    _installation = Later("preheat.app.machine.installation")
    _learning = Later("preheat.app.learning.learning")
    _lessons = Later("preheat.app.learning.lessons")
    _listing = Later("preheat.model.listing")
    _outputs = Later("preheat.app.live.outputs")
    _overview = Later("preheat.app.sessions.overview")
    _progress = Later("preheat.model.progress")
    _reliability = Later("preheat.app.analysis.reliability")
    _scorecard = Later("preheat.app.analysis.scorecard")
    _session_files = Later("preheat.app.sessions.files")
    _rendered_files = Later("preheat.app.context.files")
    _sessions = Later("preheat.app.sessions.archive")
    _templates = Later("preheat.app.templates.library")
    _training = Later("preheat.app.lab.training")
    _transcripts = Later("preheat.app.sessions.transcripts")
    _watching = Later("preheat.app.live.watching")


def open(folder: str | None = None) -> "Preheat":  # noqa: A001 - read as `preheat.open()`
    """Preheat with its archive and templates in a folder; in its usual place (`PREHEAT_HOME`) unless one is given."""
    return Preheat(os.path.abspath(os.path.expanduser(folder)) if folder else data_folder())


class Preheat:
    """One archive with everything that belongs to it. Sessions go by their id, the beginning of one, or `latest`; filters
    (`agent`, `project`, `model`, `since`, `until`, `min_messages`, `max_messages`, `subagents`) are those of the commands."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"preheat.open({self.folder!r})"

    # Areas.
    @property
    def archive(self) -> "_sessions.Sessions":
        """The sessions in the archive: find, list, search, show, forget."""
        return _sessions.Sessions(self.folder)

    @property
    def reliability(self) -> "_reliability.Reliability":
        """How reliable agents were, what they do wrong again and again, and what differs between sessions."""
        return _reliability.Reliability(self.folder)

    @property
    def knowledge(self) -> "_lessons.Lessons":
        """What was learned, and what a person said of it."""
        return _lessons.Lessons(self.folder)

    @property
    def library(self) -> "_templates.Templates":
        """The templates: made, kept, shared, loaded."""
        return _templates.Templates(self.folder)

    @property
    def experiments(self) -> "_experiments.Experiments":
        """Comparisons by chance: started, reported, stopped; the ledger, and what a person thought of sessions."""
        return _experiments.Experiments(self.folder)

    @property
    def exports(self) -> "_exports.Exports":
        """Sessions written in forms that other programs read."""
        return _exports.Exports(self.folder)

    @property
    def health(self) -> "_health.Health":
        """What is on this machine, what the archive holds of it, and what is wrong."""
        return _health.Health(self.folder)

    @property
    def training(self) -> "_training.Training":
        """Templates that are trained on tasks, by an agent's own program."""
        return _training.Training(self.folder)

    @property
    def lab(self) -> "_lab.Labs":
        """The same tasks in every arm: planned, run, reported."""
        return _lab.Labs(self.folder)

    @property
    def dataset(self) -> "_dataset.Datasets":
        """Anonymous datasets: written, and looked through for leaks."""
        return _dataset.Datasets(self.folder)

    @property
    def watching(self) -> "_watching.Watching":
        """Sessions watched: those that run now, and earlier ones again. Keep one to look again and again."""
        return _watching.Watching(self.folder)

    @property
    def installation(self) -> "_installation.Installation":
        """Having agents call Preheat: installed, taken out, and how that stands."""
        return _installation.Installation(self.folder)

    @property
    def daemon(self) -> "_daemon.Daemon":
        """The process that the agents' hooks talk to: whether it runs, starting and ending it."""
        return _daemon.Daemon(self.folder)

    # The archive itself.
    def overview(self) -> "Overview":
        """What every agent left on this machine, and what the archive has of it."""
        return _overview.overview(self.folder)

    def has_archive(self) -> bool:
        """Whether there is one; most questions make an empty one otherwise."""
        return os.path.exists(archive_path(self.folder))

    def describe_failure(self, error: Exception) -> "PreheatError":
        """What a failure of the database means to a person."""
        return _connect.unusable(archive_path(self.folder), error)

    def caller(self) -> str:
        """The agent whose program started this one; empty where a person did."""
        return _caller.caller()

    def read_callers_sessions(self, progress: "Progress | None" = None) -> "_sessions.SyncReport | None":
        """Read the new sessions of the agent whose program started this one; None where a person did."""
        return _caller.read_first(self.folder, progress or _progress.SILENT)

    def analyse(
        self,
        progress: "Progress | None" = None,
        seconds: float = float("inf"),
        need: "_analysis.Part" = "everything",
    ) -> "_analysis.AnalysisReport":
        """Analyse every session of the archive that was not analysed as it is now. Where `rows` are all that is needed, what an
        earlier version has analysed is left as it is. After so many `seconds` nothing more is begun."""
        return _analysis.analyse_archive(self.folder, progress or _progress.SILENT, seconds, need)

    # Sessions.
    def sync(
        self,
        files: "Iterable[tuple[str, str]] | None" = None,
        agents: "Iterable[str]" = (),
        progress: "Progress | None" = None,
        seen: "Look | None" = None,
    ) -> "_sessions.SyncReport":
        """Read what is new from the agents' own places (of all, unless some are named), or from the named files (agent and
        path). `seen` is a look at the places of all agents that was taken just now."""
        return _sessions.sync(
            self.folder,
            agents=tuple(agents),
            files=None if files is None else list(files),
            progress=progress or _progress.SILENT,
            seen_already=seen,
        )

    def read_file(self, path: str, agent: str | None = None) -> "list[Session]":
        """The sessions in a file, as it is: that agent's, or whosever it is by its content. Nothing is kept."""
        return _session_files.read_file(path, agent)

    def find_files(self, names: "Iterable[str]", agents: "Iterable[str]" = ()) -> "_session_files.NamedFiles":
        """The session files among these and below those that are folders, of all agents or of some."""
        return _session_files.find_files(tuple(names), tuple(agents))

    def sessions(self, **filters: "Any") -> "list[Summary]":
        """The sessions that fit, the newest first."""
        return self.archive.sessions(_listing.Filter(**filters))

    def session(self, name: str) -> "Session":
        """One session with all its events."""
        return self.archive.load(name)

    def search(self, words: str, limit: int = 20, **filters: "Any") -> "list[Hit]":
        """Passages in what was said and run."""
        return self.archive.search(words, _listing.Filter(**filters), limit=limit)

    # Judgements and measurements.
    def outcomes(self, name: str) -> "tuple[Outcome, ...]":
        """What came of every call of a session."""
        return _assessment.judge(self.session(name))

    def judge(self, session: "Session") -> "Transcript":
        """A session that is not in the archive, with what came of each of its calls."""
        return _transcripts.transcript_of(session)

    def profile(self, name: str | None = None, **filters: "Any") -> "SessionProfile | Population":
        """One session, measured; or, without a name, all that fit."""
        if name is not None:
            return self.archive.profile(name)
        return self.reliability.population(_listing.Filter(**filters))

    def mistakes(self, min_sessions: int = 2, **filters: "Any") -> "Mistakes":
        """The mistakes that sessions repeat, what they cost, what fixes them."""
        return self.reliability.mistakes(_listing.Filter(**filters), min_sessions=min_sessions)

    def compare(self, a: "str | dict[str, Any]", b: "str | dict[str, Any]") -> "Comparison":
        """Two sessions by name, or two sets of sessions by their filters."""
        return self.reliability.compare(a, b)

    def compaction_check(self, name: str | None = None, margin: float = 0.2, **filters: "Any") -> "CompactionCheck":
        """Whether agents work as well after a compaction as before."""
        return self.reliability.compactions(_listing.Filter(**filters) if name is None else name, margin).check

    def compress(self, name: str, strategy: str = "markers", keep: int | None = None) -> "Compressed":
        """A session as a shorter history."""
        return _compression.compress(self.session(name), strategy, keep)

    def compress_all(self, name: str, keep: int | None = None) -> "list[Compressed]":
        """The same by every strategy."""
        return _compression.compress_all(self.session(name), keep)

    def scorecard(self, name: str, earlier: int = 20) -> "_scorecard.Scored":
        """How a session went, with the arithmetic, beside so many earlier ones of its project."""
        return _scorecard.score_named(self.folder, name, earlier)

    def output(self, name: str) -> bytes:
        """The whole of an output that was shortened for an agent, by its id."""
        return _outputs.kept_output(name, self.folder)

    # Lessons.
    def learn(self, *tasks: str, progress: "Progress | None" = None) -> "_learning.LearnReport":
        """Learn from what is new: all ten learners, or those that are named."""
        return _learning.learn(self.folder, tasks, progress or _progress.SILENT)

    def learners(self) -> "list[str]":
        """Who learns: the names that `learn` takes."""
        return _learning.learner_names()

    def lessons(self, project: str | None = None, kind: "LessonKind | None" = None) -> "list[Lesson]":
        """What was learned, the best first: everywhere, or of a project (name or folder) with what holds anywhere."""
        return [lesson for lesson in self.knowledge.lessons(project) if kind is None or lesson.kind == kind]

    def pin(self, lesson: str, why: str = "") -> None:
        """Hand out a lesson whenever it fits, whatever its score."""
        self.knowledge.mark(lesson, "pinned", why)

    def retire(self, lesson: str, why: str = "") -> None:
        """Never hand out a lesson again."""
        self.knowledge.mark(lesson, "retired", why)

    def release(self, lesson: str) -> None:
        """Take a pin or a retirement back."""
        self.knowledge.mark(lesson, None)

    # Templates.
    def extract_template(self, session: str, name: str = "", description: str = "") -> "Template":
        """A template from one session, kept under a name."""
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
        """A template from many sessions, kept under a name."""
        request = _templates.Request(name=name, description=description, tags=tuple(tags))
        rule = _templates.Wanted(min_messages=min_messages, max_sessions=max_sessions, max_error_rate=max_error_rate)
        return self.library.build(request, _listing.Filter(**filters), rule).built.template

    def auto_templates(self, **filters: "Any") -> "list[Template]":
        """Templates from the best sessions, one for each project that has enough of them."""
        return [
            made.built.template for made in self.library.build_best(self.library.find_best(_listing.Filter(**filters)))
        ]

    def templates(self) -> "list[Template]":
        """The newest version of each."""
        return self.library.templates()

    def template(self, name: str) -> "Template":
        """One version: `name`, `name@digest`, `name@-1`."""
        return self.library.template(name)

    def delete_template(self, name: str) -> None:
        """Recoverable: `preheat warm restore`."""
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
        note: bool = True,
    ) -> "Context":
        """What a new session is given for a task; empty, with the reason, where nothing fits. With `examples` real calls are
        wanted for themselves, as forms that are made of messages show them; with `loaded` the template that is loaded for the
        project comes first. `cwd` is the folder that the session works in. A template's use is noted, unless `note` is off."""
        tokens = _contexts.BUDGET if budget is None else budget
        found = _context.provision(
            self.folder, task, agent=agent, project=project, budget=tokens, template=template, examples=examples,
            loaded=loaded, cwd=cwd,
        )  # fmt: skip
        if note:
            self.note_use(found)
        return found

    def note_use(self, context: "Context") -> None:
        """Note that a context was handed out, if it came from a template and there is anything in it."""
        _context.note_use(self.folder, context, time.time())

    def formats(self) -> "tuple[Renderer, ...]":
        """Every form that a context can be put into, the agents' own ones last."""
        return _context.formats()

    def render(self, context: "Context", format: "str | Renderer" = "text") -> "Rendered":  # noqa: A002 - as the option
        """A context in the form that an agent or a provider takes."""
        return _context.render(context, format)

    def write_rendered(self, rendered: "Rendered", renderer: "Renderer", output: str, force: bool = False) -> str:
        """Write what was rendered to a file, or a folder for a form of several; where it is, empty if there was nothing to
        write. Raises UserError where something else stands there, unless forced."""
        return _rendered_files.write_rendered(rendered, renderer, output, force)

    def begin_session(self, renderer: "Renderer", rendered: "Rendered", folder: str) -> "Begun":
        """Put what was rendered as a session into the store of the agent that alone takes that form, for work in a folder."""
        return _context.begin_session(renderer, rendered, folder, os.environ)

    def resume_packet(self, project: str = "", cwd: str = "") -> "Lesson | None":
        """Where the last session of a project (by its name, or a folder in it; else of the one around `cwd`) ended, as of
        now; None where that is not known."""
        return _context.resume_packet(self.folder, project=project, cwd=cwd)


def provision(
    task: str, agent: str = "", project: str = "", budget: int | None = None, template: str = "", examples: bool = False
) -> "Context":
    """What a new session is given for a task, from your own archive."""
    return open().provision(task, agent, project, budget, template, examples)


def render(context: "Context", format: str = "text") -> "Rendered":  # noqa: A002 - as the command's option is called
    """A context in the form that an agent or a provider takes."""
    return _context.render(context, format)
