"""The last stages: lessons and templates out of their stores, the right part of them for a new session.

Knows nothing of how lessons are chosen or rendered. On the way of every session's start: nothing heavy is imported here.
"""

import os
import sqlite3
import subprocess
import time
from typing import TYPE_CHECKING

from preheat.archive.connect import connect
from preheat.errors import NotFound
from preheat.model.context import BUDGET
from preheat.settings import archive_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from preheat.archive.lessons import Place
    from preheat.model.context import Context
    from preheat.model.lesson import Lesson, ResumePacket
    from preheat.model.rendering import Rendered, Renderer
    from preheat.model.template import Action, Template

_PATIENCE = 2.0
"""Seconds that git may take to say where a repository stands."""


def project_named(connection: sqlite3.Connection, wanted: str) -> str:
    """The project by its name, or by a folder in it (`.` is here). Raises NotFound if no session ran there."""
    from preheat.archive.lessons import places

    known = places(connection)
    name = _named(known, wanted)
    if name is None:
        raise NotFound(
            f"no project `{wanted}` is known; `preheat learn` takes in new ones, `preheat sessions list` shows the folders"
        )
    return name


def _named(known: "Sequence[Place]", wanted: str) -> str | None:
    from preheat.lessons.projects import last_part, root_of
    from preheat.pipeline.learning import repository_of

    found = [place for place in known if place.name]
    for place in found:
        if wanted in (place.name, place.folder, place.root):
            return place.name
    folder = os.path.abspath(os.path.expanduser(wanted))
    root = root_of(folder, repository_of)
    for place in found:
        if root and root in (place.root, place.folder):
            return place.name
    # A checkout that no session ran in yet: a team's sessions of the same name are of the same project.
    alike = {place.name for place in found if root and place.name.lower() == last_part(root).lower()}
    return alike.pop() if len(alike) == 1 else None


def known_lessons(folder: str, project: str) -> "list[Lesson]":
    """The lessons of a project, by its name, and those that hold anywhere."""
    from preheat.archive.lessons import lessons

    connection = connect(folder)
    try:
        return lessons(connection, ("", project))
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
    now: float | None = None,
) -> "Context":
    """What a new session is given for a task: from what was learned in a project (its name or a folder in it, this folder
    unless given), or from a template. With `examples` for a form that is made of messages; `resuming`: with where the last
    session ended, whatever the task. Empty, with the reason, where nothing fits."""
    from preheat.provisioning import provision as choose

    now = time.time() if now is None else now
    where = project or os.getcwd()
    if template:
        from preheat.templates.store import Store

        version = Store(folder).find(template)
        chosen = version.template
        return choose(
            [_as_of_now(lesson, where, now) for lesson in chosen.lessons],
            task=task,
            agent=agent,
            project=chosen.project,
            budget=budget,
            now=now,
            template=f"{version.name}@{version.digest[:12]}",
            addendum=chosen.addendum,
            examples=examples,
        )
    if not os.path.exists(archive_path(folder)):  # a session that starts is no occasion to make one
        return choose([], task=task, agent=agent, project="", budget=budget, now=now)
    connection = connect(folder)
    try:
        from preheat.archive.lessons import lessons, places

        known = places(connection)
        name = project_named(connection, project) if project else (_named(known, where) or "")
        roots = [place.root for place in known if place.name == name and os.path.isdir(place.root)]
        found = lessons(connection, ("", name))
    finally:
        connection.close()
    here = roots[0] if roots else where
    if resuming:
        found = [_wanted(lesson) for lesson in found]
    return choose(
        [_as_of_now(lesson, here, now) for lesson in found],
        task=task,
        agent=agent,
        project=name,
        budget=budget,
        examples=examples,
        now=now,
    )


def _wanted(lesson: "Lesson") -> "Lesson":
    """A resume packet as if a person had asked for it."""
    if lesson.packet is None:
        return lesson
    import msgspec

    return msgspec.structs.replace(lesson, pinned=True)


def _as_of_now(lesson: "Lesson", folder: str, now: float) -> "Lesson":
    """A resume packet says how old it is, by the clock and by the repository."""
    if lesson.packet is None or not lesson.usable(now):
        return lesson
    import msgspec

    from preheat.lessons.resume import packet_lines, staleness

    head, branch, commits = _repository(folder, lesson.packet)
    note = staleness(lesson.packet, now, head, commits, branch)
    return msgspec.structs.replace(lesson, text="\n".join(packet_lines(lesson.packet, note)))


def _repository(folder: str, packet: "ResumePacket") -> tuple[str, str, int | None]:
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


def formats() -> "tuple[Renderer, ...]":
    """Every form that a context can be put into, the agents' own ones last."""
    from preheat.agents import RENDERING, renderers_of
    from preheat.provisioning.render import FORMATS

    return (*FORMATS, *(each for agent in RENDERING for each in renderers_of(agent)))


def render(context: "Context", form: str = "text") -> "Rendered":
    """A context in the form that an agent or a provider takes."""
    from preheat.provisioning.render import render as put_into

    return put_into(context, form, formats())


def note_use(folder: str, context: "Context", at: float) -> None:
    """Note that a context was handed out, if it came from a template and there is anything in it."""
    from preheat.templates.store import Store
    from preheat.templates.uses import Use, task_hash

    if context.template and context.items:
        store = Store(folder)
        digest = store.find(context.template).digest
        given = {"agent": context.agent, "project": context.project, "task": task_hash(context.task)}
        store.record(Use(at=at, template=digest, context=context.id, **given))


def keep_template(folder: str, template: "Template", action: "Action", note: str = "") -> str:
    """Keep a template as the newest version of its name; its digest."""
    from preheat.templates.store import Store

    return Store(folder).keep(template, action, time.time(), note).digest
