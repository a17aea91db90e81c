"""What a new session is given: lessons or a template out of their stores, the right part of them for a task, in a form.

Knows nothing of how lessons are chosen or worded (`provisioning`). On the way of every session's start: nothing heavy is
imported here.
"""

import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from preheat.agents import RENDERING, begin_of, renderers_of
from preheat.app.later import Later
from preheat.app.projects import find_name, project_folder, project_named
from preheat.archive.connect import connect
from preheat.errors import UserError
from preheat.model.context import BUDGET, Context
from preheat.model.lesson import Lesson, ResumePacket
from preheat.model.rendering import Begun, Rendered, Renderer
from preheat.model.template import Use
from preheat.provisioning import FORMATS, TASK_READ
from preheat.provisioning import provision as choose
from preheat.provisioning import render as put_into
from preheat.provisioning.tokens import estimate as estimate_tokens
from preheat.settings import archive_path

if TYPE_CHECKING:
    from preheat.app.templates import state as _template_state
    from preheat.archive import lessons as _lessons
    from preheat.lessons import resume as _resume
    from preheat.templates import store as _store
    from preheat.templates import uses as _uses
else:  # a start takes a template or lessons, and many have no packet, whose module loads a parser of commands
    _lessons = Later("preheat.archive.lessons")
    _resume = Later("preheat.lessons.resume")
    _template_state = Later("preheat.app.templates.state")
    _store = Later("preheat.templates.store")
    _uses = Later("preheat.templates.uses")

__all__ = [
    "TASK_READ", "begin_session", "estimate_tokens", "formats", "known_lessons", "loaded_template", "note_use",
    "provision", "render", "resume_packet",
]  # fmt: skip

_PATIENCE = 2.0
"""Seconds that git may take to say where a repository stands."""


def known_lessons(folder: str, project: str) -> list[Lesson]:
    """The lessons of a project, by its name, and those that hold anywhere."""
    connection = connect(folder)
    try:
        return _lessons.lessons(connection, ("", project))
    finally:
        connection.close()


def provision(
    folder: str,
    task: str,
    *,
    agent: str = "",
    project: str = "",
    budget: int = BUDGET,
    template: str = "",
    examples: bool = False,
    resuming: bool = False,
    loaded: bool = False,
    now: float | None = None,
    cwd: str = "",
) -> Context:
    """What a new session is given for a task: from what was learned in a project (its name or a folder in it; unless given
    the one around `cwd`, which is this folder unless given, too), or from a template. With `examples` for a form that is
    made of messages; `resuming`: with where the last session ended, whatever the task; `loaded`: from the template that a
    person loaded for the project, where there is one and it has something for this session. Empty, with the reason, where
    nothing fits."""
    now = time.time() if now is None else now
    where = project or cwd or os.getcwd()
    if loaded and not template and (pinned := loaded_template(folder, where)):
        with suppress(UserError):  # it may have gone since: `preheat doctor` says it
            given = provision(
                folder, task, agent=agent, project=project, budget=budget, template=pinned, examples=examples,
                resuming=resuming, now=now, cwd=cwd,
            )  # fmt: skip
            if given.items or given.addendum:
                return given
    if template:
        version = _store.Store(folder).find(template)
        named, addendum = f"{version.name}@{version.digest[:12]}", version.template.addendum
        last = _packets(_learned(folder, "", where)) if resuming else []  # no template tells where a session ended
        known = _Learned(version.template.project, where, [*version.template.lessons, *map(_wanted, last)])
    else:
        named, addendum = "", ""
        known = _learned(folder, project, where)
        if resuming:
            known = known._replace(lessons=[_wanted(lesson) for lesson in known.lessons])
    return choose(
        [_as_of_now(lesson, known.folder, now) for lesson in known.lessons],
        task=task,
        agent=agent,
        project=known.project,
        budget=budget,
        now=now,
        template=named,
        addendum=addendum,
        examples=examples,
    )


class _Learned(NamedTuple):
    """What is known of a project."""

    project: str
    folder: str
    """Where it stands on this machine."""
    lessons: list[Lesson]
    """Its own, and those that hold anywhere."""


def _learned(folder: str, project: str, where: str) -> _Learned:
    """Of the project by its name or a folder in it (raises NotFound if there is none), else of the one around `where`."""
    if not os.path.exists(archive_path(folder)):  # a session that starts is no occasion to make one
        return _Learned("", where, [])
    connection = connect(folder)
    try:
        known = _lessons.places(connection)
        name = project_named(connection, project) if project else (find_name(known, where) or "")
        roots = [place.root for place in known if place.name == name and os.path.isdir(place.root)]
        return _Learned(name, roots[0] if roots else where, _lessons.lessons(connection, ("", name)))
    finally:
        connection.close()


def _packets(known: _Learned) -> list[Lesson]:
    """Where the last session of a project ended."""
    return [lesson for lesson in known.lessons if known.project and lesson.packet is not None]


def resume_packet(folder: str, *, project: str = "", cwd: str = "", now: float | None = None) -> Lesson | None:
    """Where the last session of a project ended, as of now; None where none is known. The project is given as for
    `provision`."""
    now = time.time() if now is None else now
    known = _learned(folder, project, project or cwd or os.getcwd())
    best = sorted(_packets(known), key=lambda each: not each.usable(now))[:1]
    return _as_of_now(best[0], known.folder, now) if best else None


def loaded_template(folder: str, where: str) -> str:
    """The version that is loaded for the project around a folder and can be handed out; empty where there is none."""
    if not os.path.exists(os.path.join(folder, "templates")):
        return ""
    try:
        pin = _template_state.pins(folder).get(project_folder(where))
    except UserError:  # `preheat doctor` says it; a session that starts has nothing to do with it
        return ""
    return pin.address if pin is not None and not _template_state.standing(folder, pin).problem else ""


def _wanted(lesson: Lesson) -> Lesson:
    """A resume packet as if a person had asked for it."""
    if lesson.packet is None:
        return lesson
    return msgspec.structs.replace(lesson, pinned=True)


def _as_of_now(lesson: Lesson, folder: str, now: float) -> Lesson:
    """A resume packet says how old it is, by the clock and by the repository."""
    if lesson.packet is None or not lesson.usable(now):
        return lesson
    head, branch, commits = _repository(folder, lesson.packet)
    note = _resume.staleness(lesson.packet, now, head, commits, branch)
    return msgspec.structs.replace(lesson, text="\n".join(_resume.packet_lines(lesson.packet, note)))


def _repository(folder: str, packet: ResumePacket) -> tuple[str, str, int | None]:
    """Where the repository stands now, and how many commits that is from where the packet saw it."""
    if not os.path.isdir(folder):
        return "", "", None
    head = _git(folder, "rev-parse", "HEAD")
    if not head:
        return "", "", None
    branch = _git(folder, "branch", "--show-current")
    since = _git(folder, "rev-list", "--count", f"{packet.head}..HEAD") if packet.head else ""
    return head, branch, int(since) if since.isdigit() else None


def _git(folder: str, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def formats() -> tuple[Renderer, ...]:
    """Every form that a context can be put into, the agents' own ones last."""
    return (*FORMATS, *(each for agent in RENDERING for each in renderers_of(agent)))


def render(context: Context, form: str | Renderer = "text") -> Rendered:
    """A context in the form that an agent or a provider takes, by its name or itself."""
    return put_into(context, form, formats())


def begin_session(renderer: Renderer, rendered: Rendered, folder: str, environment: Mapping[str, str]) -> Begun:
    """Put what was rendered as a session into the store of the agent that alone takes that form, for work in a folder.
    Raises UserError."""
    return begin_of(renderer.agent)(rendered, folder, environment)


def note_use(folder: str, context: Context, at: float) -> None:
    """Note that a context was handed out, if it came from a template and there is anything in it."""
    if context.template and context.items:
        digest = _store.Store(folder).find(context.template).digest
        given = {"agent": context.agent, "project": context.project, "task": _uses.task_hash(context.task)}
        _template_state.record_use(folder, Use(at=at, template=digest, context=context.id, **given))
