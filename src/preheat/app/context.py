"""The context of a new session: loads lessons or a template, has the right ones chosen for a task, renders and writes them.

Knows nothing of how lessons are chosen or worded (`provisioning`). Light: every session's start waits for it.
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from preheat.agents import WITH_RENDERERS, renderers_of, start_session_of
from preheat.app.lazy import LazyModule
from preheat.app.projects import find_project_at, find_repository, project_folder, require_project
from preheat.archive.connect import connect, connect_for_hooks
from preheat.errors import StateUnusable, UserError
from preheat.files import UMASK_DEFAULT, follow_links, make_project_folder, read_text, write_atomically
from preheat.model.context import TOKEN_BUDGET, Context, RenderedContext, Renderer, StartedSession
from preheat.model.lesson import Lesson, ResumePacket
from preheat.model.session import PREHEAT_MARK
from preheat.model.template import TemplateUse
from preheat.programs import ask_git
from preheat.provisioning import FORMATS, TASK_CHARACTERS, without_lessons
from preheat.provisioning import provision as choose_context
from preheat.provisioning import render as render_context
from preheat.provisioning.selection import content_words
from preheat.provisioning.tokens import estimate_tokens as estimate_tokens
from preheat.settings import archive_path, state_path

if TYPE_CHECKING:
    from preheat.app import facts as _facts
    from preheat.app.facts import FolderFacts
    from preheat.app.templates import uses as _uses
    from preheat.archive import lessons as _lessons
    from preheat.archive import projects as _projects
    from preheat.lessons import resume as _resume
    from preheat.state import connect as _state
    from preheat.state import marks as _marks
    from preheat.templates import store as _store
else:  # a start needs a template or lessons, not both; most have no resume packet, whose module loads a parser of commands
    _facts = LazyModule("preheat.app.facts")
    _lessons = LazyModule("preheat.archive.lessons")
    _marks = LazyModule("preheat.state.marks")
    _projects = LazyModule("preheat.archive.projects")
    _resume = LazyModule("preheat.lessons.resume")
    _state = LazyModule("preheat.state.connect")
    _store = LazyModule("preheat.templates.store")
    _uses = LazyModule("preheat.app.templates.uses")

__all__ = [
    "TASK_CHARACTERS",
    "approved_texts",
    "begin_session",
    "estimate_tokens",
    "formats",
    "known_lessons",
    "load_folder_facts",
    "loaded_template",
    "provision",
    "record_use",
    "render",
    "resume_packet",
    "write_rendered",
]


def known_lessons(folder: str, project: str) -> list[Lesson]:
    """The lessons of a project, by its name, and the general ones."""
    with closing(connect(folder)) as connection:
        return _lessons.load_lessons(connection, ("", project))


def provision(
    folder: str,
    task: str,
    *,
    agent: str = "",
    project: str = "",
    budget: int = TOKEN_BUDGET,
    template: str = "",
    examples: bool = False,
    resuming: bool = False,
    loaded: bool = False,
    now: float | None = None,
    cwd: str = "",
    facts: "FolderFacts | None" = None,
    lesson_budget: int = 0,
    at_start: bool = False,
) -> Context:
    """Choose the context of a new session for a task, from the lessons of a project or from a template. The project is given by
    name or folder; else it is the one around `cwd`, which is the current folder unless given. `examples`: for a format made of
    messages; `resuming`: include the resume packet whatever the task is; `loaded`: use the template that is loaded for the
    project, if there is one with something for this task; `facts`: of the project, where they are loaded already;
    `lesson_budget`: the budget where no template is used, if that is another; `at_start`: only what holds for every task, because
    prompts and calls bring the rest. Empty, with the reason, where nothing fits."""
    now = time.time() if now is None else now
    where = project or cwd or os.getcwd()
    if loaded and not template and (pinned := loaded_template(folder, where)):
        with suppress(UserError):  # it may be gone by now, which `preheat admin doctor` reports
            context = provision(
                folder, task, agent=agent, project=project, budget=budget, template=pinned, examples=examples,
                resuming=resuming, now=now, cwd=cwd,
            )  # fmt: skip
            if context.items or context.addendum:
                return context
    if template:
        version = _store.TemplateStore(folder).find(template)
        template_name, addendum = f"{version.name}@{version.digest[:12]}", version.template.addendum
        packets = (
            _resume_packets(_load_project_lessons(folder, "", where)) if resuming else []
        )  # a template has no resume packet
        known = _ProjectLessons(version.template.project, where, [*version.template.lessons, *map(_as_pinned, packets)])
        asked: frozenset[str] = frozenset()
    else:
        template_name, addendum = "", ""
        known = _load_project_lessons(folder, project, where)
        if facts is None:
            facts = _facts.load_facts(known.folder, known.project, known.lessons, (agent,) if agent else (), folder)
        chosen = facts.choose_for_start(agent, task, at_once=not at_start)
        lessons = {each.id: each for each in facts.for_agent(agent)} | chosen
        known = known._replace(project=known.project or facts.name, lessons=list(lessons.values()))
        asked = frozenset(chosen)
        if resuming:
            known = known._replace(lessons=[_as_pinned(lesson) for lesson in known.lessons])
        budget = lesson_budget or budget
    known = known._replace(lessons=_without_other_packets(known, task))
    return choose_context(
        [_with_age(lesson, known.folder, now) for lesson in known.lessons],
        task=task,
        agent=agent,
        project=known.project,
        budget=budget,
        now=now,
        template=template_name,
        addendum=addendum,
        examples=examples,
        approved=approved_texts(folder),
        asked=asked,
        at_start=at_start and not template_name,
    )


def approved_texts(folder: str) -> frozenset[str]:
    """The digests of the texts that a person approved."""
    if not os.path.exists(state_path(folder)):
        return frozenset()
    with suppress(UserError), _state.reading(folder) as state:
        return frozenset(each.digest for each in _marks.approvals(state).values())
    return frozenset()


def load_folder_facts(folder: str, where: str, agents: Iterable[str] = ()) -> "FolderFacts":
    """The lessons and facts of the project around a folder, as `provision` takes them. Slow. Raises PreheatError."""
    known = _load_project_lessons(folder, "", where)
    return _facts.load_facts(where, known.project, known.lessons, agents, folder)


class _ProjectLessons(NamedTuple):
    """The lessons of a project."""

    project: str
    folder: str
    """Its folder on this machine."""
    lessons: list[Lesson]
    """Its own, and the general ones."""


def _load_project_lessons(folder: str, project: str, where: str) -> _ProjectLessons:
    """The lessons of a project by name or folder (raises NotFound if there is none), else of the project around `where`."""
    if not os.path.exists(archive_path(folder)):  # the start of a session does not create an archive
        received: list[Lesson] = []
        with suppress(StateUnusable):  # a damaged state is `doctor`'s to name: it stops no session
            received = _lessons.load_received_only(folder, where) if os.path.exists(state_path(folder)) else []
        return _ProjectLessons(received[0].scope.project if received else "", where, received)
    with closing(connect_for_hooks(folder)) as connection:
        if project:
            name = require_project(connection, project)
        else:
            name = found.name if (found := find_project_at(connection, where)) is not None else ""
        folders = _projects.load_project_folders(connection, name) if project and not os.path.isdir(project) else []
        folder_here = next((each for each in folders if os.path.isdir(each)), project or where)
        return _ProjectLessons(name, folder_here, _lessons.load_lessons(connection, ("", name), folder_here))


def _resume_packets(known: _ProjectLessons) -> list[Lesson]:
    """The resume packets of a project."""
    return [lesson for lesson in known.lessons if known.project and lesson.packet is not None]


def resume_packet(folder: str, *, project: str = "", cwd: str = "", now: float | None = None) -> Lesson | None:
    """Where the last session of a project ended, with its present age; None if unknown. The project is given as for
    `provision`."""
    now = time.time() if now is None else now
    known = _load_project_lessons(folder, project, project or cwd or os.getcwd())
    best = sorted(_resume_packets(known), key=lambda each: not each.is_usable(now))[:1]
    return _with_age(best[0], known.folder, now) if best else None


def loaded_template(folder: str, where: str) -> str:
    """The template that is loaded for the project around a folder; empty if there is none that can be handed out."""
    if not os.path.exists(os.path.join(folder, "templates")):
        return ""
    try:
        pin = _uses.load_pins(folder).get(project_folder(where))
    except UserError:  # reported by `preheat admin doctor`, not at the start of a session
        return ""
    return pin.address if pin is not None and not _uses.pin_status(folder, pin).problem else ""


_DEFAULT_BRANCHES = frozenset(["main", "master", "trunk", "develop", "dev"])
_CONTINUING = frozenset(["continue", "resume", "weiter", "proceed", "finish", "continua", "continuer", "continuar"])
_SHARED = 0.25
"""The share of a task's words that the last session's request must have, for the task to go on with it."""


def _without_other_packets(known: "_ProjectLessons", task: str) -> list[Lesson]:
    """The lessons without a resume packet whose work does not go on: on another branch, or with another aim."""
    if all(lesson.packet is None for lesson in known.lessons):
        return known.lessons
    branch = ask_git(known.folder, "branch", "--show-current") if os.path.isdir(known.folder) else ""
    return [lesson for lesson in known.lessons if lesson.packet is None or goes_on(lesson.packet, branch, task)]


def goes_on(packet: ResumePacket, branch: str, task: str) -> bool:
    """Whether a session on a branch with a task goes on where a packet ends: on the same branch, and with its aim. Without a task
    yet, only work that was left open on a branch of its own."""
    if packet.branch and branch and packet.branch != branch:
        return False
    is_open = not packet.committed or bool(packet.unverified) or any(not check.passed for check in packet.checks)
    words = content_words(task[:TASK_CHARACTERS])
    if not task.strip():
        return is_open and branch not in _DEFAULT_BRANCHES
    if not words.isdisjoint(map(_stem_of, _CONTINUING)) and len(words) <= 6:
        return True
    named = any(path.rpartition("/")[2] in task for path in (*packet.unverified, *packet.files) if path)
    return named or len(words & content_words(packet.goal)) >= max(1, _SHARED * len(words))


def _stem_of(word: str) -> str:
    return next(iter(content_words(word)), word)


def _as_pinned(lesson: Lesson) -> Lesson:
    """A resume packet as if a person had pinned it."""
    if lesson.packet is None:
        return lesson
    return msgspec.structs.replace(lesson, pinned=True)


def _with_age(lesson: Lesson, folder: str, now: float) -> Lesson:
    """A resume packet that says how old it is, by the clock and by the repository."""
    if lesson.packet is None or not lesson.is_usable(now):
        return lesson
    head, branch, commits = _repository_state(folder, lesson.packet)
    note = _resume.describe_staleness(lesson.packet, now, head, commits, branch)
    return msgspec.structs.replace(lesson, text="\n".join(_resume.render_packet(lesson.packet, note)))


def _repository_state(folder: str, packet: ResumePacket) -> tuple[str, str, int | None]:
    """The repository's head and branch now, and the number of commits since the packet was made."""
    if not os.path.isdir(folder):
        return "", "", None
    head = ask_git(folder, "rev-parse", "HEAD")
    if not head:
        return "", "", None
    branch = ask_git(folder, "branch", "--show-current")
    since = ask_git(folder, "rev-list", "--count", f"{packet.head}..HEAD") if packet.head else ""
    return head, branch, int(since) if since.isdigit() else None


def formats() -> tuple[Renderer, ...]:
    """Every format that a context can be rendered in, the agents' own ones last."""
    return (*FORMATS, *(each for agent in WITH_RENDERERS for each in renderers_of(agent)))


def render(context: Context, form: str | Renderer = "text") -> RenderedContext:
    """A context in a format, given by name or itself. What goes into a file of the project says nothing of the last session: it
    would be out of date with the next one, and it is nobody else's."""
    renderer = form if isinstance(form, Renderer) else next((each for each in formats() if each.name == form), None)
    if renderer is not None and (renderer.insert is not None or renderer.name in _FILE_FORMS):
        context = without_lessons(context, frozenset(item.lesson for item in context.items if item.kind == "resume"))
    return render_context(context, form, formats())


_FILE_FORMS = frozenset(["agents-md", "skill"])
"""Forms that are files of a project."""


def begin_session(
    renderer: Renderer, rendered: RenderedContext, folder: str, environment: Mapping[str, str]
) -> StartedSession:
    """Start a session from a rendered context in the agent's own session store, for work in a folder. Raises UserError."""
    return start_session_of(renderer.agent)(rendered, folder, environment)


def record_use(folder: str, context: Context, at: float) -> None:
    """Record that a context was handed out, if it came from a template and is not empty."""
    if context.template and context.items:
        digest = _store.TemplateStore(folder).find(context.template).digest
        origin = {"agent": context.agent, "project": context.project, "task": _uses.task_hash(context.task)}
        _uses.record_use(folder, TemplateUse(at=at, template=digest, context=context.id, **origin))


# Files of a rendered context; a file that is not Preheat's is never replaced unless forced.
def write_rendered(rendered: RenderedContext, renderer: Renderer, output: str, force: bool = False) -> str:
    """Write a rendered context to a file, or to a folder if the format has several files. Returns its path, empty if there was
    nothing to write. Raises UserError if a file of somebody else is in the way, unless forced."""
    if renderer.insert is not None:
        before = _read_text(output)
        after = renderer.insert(before, rendered.text)
        if after == before:
            return output if before else ""
        _save(output, after)
        return output
    if rendered.files:
        if os.path.exists(output) and not os.path.isdir(output):
            raise UserError(f"`{output}` is a file; this form needs a folder")
        for name, text in rendered.files.items():
            path = os.path.join(output, name)
            _check_replaceable(path, force)
            _save(path, text, make_folder=True)
        return os.path.join(output, next(iter(rendered.files)))
    if not rendered.text:
        return ""
    _check_replaceable(output, force)
    _save(output, rendered.text.rstrip("\n") + "\n")
    return output


def _check_replaceable(path: str, force: bool) -> None:
    """Raise UserError if a folder, or a file that Preheat did not write, is in the way."""
    if os.path.isdir(path):
        raise UserError(f"`{path}` is a folder; name a file in it")
    if not force and (before := _read_text(path)).strip() and PREHEAT_MARK not in before:
        raise UserError(f"`{path}` is there already and not by Preheat; `--force` overwrites it")


def _read_text(path: str) -> str:
    try:
        return read_text(path, errors="surrogateescape")
    except FileNotFoundError:
        return ""


def _save(path: str, text: str, make_folder: bool = False) -> None:
    """Write a file whole or not at all."""
    target = follow_links(path, find_repository(os.path.dirname(os.path.abspath(path))))
    if make_folder:
        make_project_folder(os.path.dirname(target))
    write_atomically(target, text.encode("utf-8", "surrogateescape"), mode=UMASK_DEFAULT, like=path)
