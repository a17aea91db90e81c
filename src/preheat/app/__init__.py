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

    from preheat.app import analysis as _analysis
    from preheat.app import assessment as _assessment
    from preheat.app import caller as _caller
    from preheat.app import compression as _compression
    from preheat.app import context as _context
    from preheat.app import learning as _learning
    from preheat.app import lessons as _lessons
    from preheat.app import reliability as _reliability
    from preheat.app import sessions as _sessions
    from preheat.app import templates as _templates
    from preheat.compress import Compressed
    from preheat.model import context as _contexts
    from preheat.model import listing as _listing
    from preheat.model import progress as _progress
    from preheat.model.comparison import CompactionCheck, Comparison
    from preheat.model.context import Context
    from preheat.model.lesson import Lesson, LessonKind
    from preheat.model.listing import Hit, Summary
    from preheat.model.mistake import Mistakes
    from preheat.model.outcome import Outcome
    from preheat.model.population import Population
    from preheat.model.profile import SessionProfile
    from preheat.model.progress import Progress
    from preheat.model.rendering import Rendered
    from preheat.model.session import Session
    from preheat.model.template import Template
else:
    _analysis = Later("preheat.app.analysis")
    _assessment = Later("preheat.app.assessment")
    _caller = Later("preheat.app.caller")
    _compression = Later("preheat.app.compression")
    _context = Later("preheat.app.context")
    _contexts = Later("preheat.model.context")
    _learning = Later("preheat.app.learning")
    _lessons = Later("preheat.app.lessons")
    _listing = Later("preheat.model.listing")
    _progress = Later("preheat.model.progress")
    _reliability = Later("preheat.app.reliability")
    _sessions = Later("preheat.app.sessions")
    _templates = Later("preheat.app.templates")


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

    # The archive itself.
    def has_archive(self) -> bool:
        """Whether there is one; most questions make an empty one otherwise."""
        return os.path.exists(archive_path(self.folder))

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
        """Analyse every session of the archive that was not analysed as it is now, as far as what is needed goes: the
        `outcomes` that questions are answered from, or `everything` that is made of a session. After so many `seconds` nothing
        more is begun."""
        return _analysis.analyse_archive(self.folder, progress or _progress.SILENT, seconds, need)

    # Sessions.
    def sync(self, files: "Iterable[tuple[str, str]] | None" = None) -> "_sessions.SyncReport":
        """Read what is new from the agents' own places, or from the named files (agent and path)."""
        return _sessions.sync(self.folder, files=None if files is None else list(files))

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

    def profile(self, name: str | None = None, **filters: "Any") -> "SessionProfile | Population":
        """One session, measured; or, without a name, all that fit."""
        if name is not None:
            return self.reliability.profile(name)
        return self.reliability.population(_listing.Filter(**filters))

    def mistakes(self, min_sessions: int = 2, **filters: "Any") -> "Mistakes":
        """The mistakes that sessions repeat, what they cost, what fixes them."""
        return self.reliability.mistakes(_listing.Filter(**filters), min_sessions=min_sessions)

    def compare(self, a: "str | dict[str, Any]", b: "str | dict[str, Any]") -> "Comparison":
        """Two sessions by name, or two sets of sessions by their filters."""
        return self.reliability.compare(a, b)

    def compaction_check(self, name: str | None = None, margin: float = 0.2, **filters: "Any") -> "CompactionCheck":
        """Whether agents work as well after a compaction as before."""
        return self.reliability.compactions(_listing.Filter(**filters) if name is None else name, margin)

    def compress(self, name: str, strategy: str = "markers", keep: int | None = None) -> "Compressed":
        """A session as a shorter history."""
        return _compression.compress(self.session(name), strategy, keep)

    # Lessons.
    def learn(self, *tasks: str, progress: "Progress | None" = None) -> "_learning.LearnReport":
        """Learn from what is new: all ten learners, or those that are named."""
        return _learning.learn(self.folder, tasks, progress or _progress.SILENT)

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
        return _templates.extract_template(self.folder, session, name=name, description=description).built.template

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
        about = {"name": name, "description": description, "tags": tuple(tags)}
        rule = {"min_messages": min_messages, "max_sessions": max_sessions, "max_error_rate": max_error_rate}
        return self.library.build(about, rule, _listing.Filter(**filters))

    def auto_templates(self, **filters: "Any") -> "list[Template]":
        """Templates from the best sessions, one for each project that has enough of them."""
        return self.library.build_best(_listing.Filter(**filters))

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
    ) -> "Context":
        """What a new session is given for a task; empty, with the reason, where nothing fits. With `examples` real calls are
        wanted for themselves, as forms that are made of messages show them. A template's use is noted."""
        tokens = _contexts.BUDGET if budget is None else budget
        found = _context.provision(
            self.folder, task, agent=agent, project=project, budget=tokens, template=template, examples=examples
        )
        _context.note_use(self.folder, found, time.time())
        return found


def provision(
    task: str, agent: str = "", project: str = "", budget: int | None = None, template: str = "", examples: bool = False
) -> "Context":
    """What a new session is given for a task, from your own archive."""
    return open().provision(task, agent, project, budget, template, examples)


def render(context: "Context", format: str = "text") -> "Rendered":  # noqa: A002 - as the command's option is called
    """A context in the form that an agent or a provider takes."""
    return _context.render(context, format)
