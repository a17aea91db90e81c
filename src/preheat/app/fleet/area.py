"""The methods of the fleet's area: analyse, report, list lessons, publish them.

Heavy: with pyarrow and DuckDB; Ray is imported when a cluster is asked for.
"""

import os
from typing import NamedTuple

from preheat.app.fleet.analysis import Run, make_request
from preheat.app.fleet.publishing import publish_lessons
from preheat.app.fleet.work import decode_lessons
from preheat.errors import NotFound, UserError
from preheat.fleet.cluster import connect
from preheat.fleet.manifest import ProjectLessons, Snapshot, load_snapshot
from preheat.fleet.report import make_report
from preheat.fleet.storage import Storage, locate
from preheat.lessons.conclusion import ALL_PROJECTS
from preheat.model.fleet import FleetLessons, FleetPublication, FleetReport, FleetRun
from preheat.model.progress import SILENT, Progress

BATCH = 64_000_000
"""Bytes of one batch: large enough that a task's overhead is small beside it, small enough that a lost one costs little."""
MOST = 512 * 1024 * 1024
"""Bytes of one object: what one machine reads of one file, too."""
MEMORY = 4_000_000_000
"""Bytes that a worker may take beyond what it has at the start."""


class Settings(NamedTuple):
    """How a run is done; what it finds does not depend on it."""

    address: str = ""
    """Of a Ray cluster; empty: one is started on this machine."""
    workers: int = 0
    """Processes at a time; 0: as many as there are processors."""
    batch: int = BATCH
    most: int = MOST
    memory: int = MEMORY


def analyse(
    source: str, destination: str, settings: Settings | None = None, progress: Progress | None = None
) -> FleetRun:
    """Analyse what is new in a source, and bring the destination up to date. Raises UserError."""
    chosen = settings or Settings()
    request = make_request(source, destination, chosen.batch, chosen.most, chosen.memory)
    with connect(chosen.address, chosen.workers) as cluster:
        return Run(request, cluster, progress or SILENT).analyse()


def report(destination: str) -> FleetReport:
    """What the sessions of a destination come to. Raises UserError if there is nothing."""
    storage, snapshot = _open(destination)
    return make_report(storage, snapshot, os.cpu_count() or 1)


def lessons(destination: str, project: str | None = None) -> list[FleetLessons]:
    """The lessons by project, the best first; those that hold anywhere come last. Raises NotFound for an unknown project."""
    storage, snapshot = _open(destination)
    wanted = [each for each in snapshot.lessons if project is None or each.project.casefold() == project.casefold()]
    if project is not None and not wanted:
        names = ", ".join(f"`{each.project}`" for each in snapshot.lessons[:8] if each.project)
        raise NotFound(f"no project `{project}` in `{destination}`; there are {names or 'none'}")
    ordered = sorted(wanted, key=lambda each: (each.project == ALL_PROJECTS, each.project))
    return [_load_lessons(storage, each) for each in ordered]


def publish(destination: str, project: str, where: str) -> FleetPublication:
    """Add the lessons of a project to the file that the repository around a folder shares. Raises UserError and NotFound."""
    found = lessons(destination, project)
    return publish_lessons(found[0].project, found[0].lessons, where)


def _load_lessons(storage: Storage, each: ProjectLessons) -> FleetLessons:
    found = [lesson for some in decode_lessons(storage.read(each.lessons)).values() for lesson in some]
    return FleetLessons(
        project=each.project,
        template=storage.name_of(each.template) if each.template else "",
        lessons=tuple(sorted(found, key=lambda lesson: (lesson.status != "active", -lesson.score, lesson.id))),
    )


def _open(destination: str) -> tuple[Storage, Snapshot]:
    storage = Storage(locate(destination))
    snapshot = load_snapshot(storage)
    if snapshot is None:
        raise UserError(
            f"nothing was analysed into `{destination}` yet; `preheat fleet analyse SOURCE --out {destination}`"
        )
    return storage, snapshot
