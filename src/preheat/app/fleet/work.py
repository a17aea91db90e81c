"""The tasks of a fleet, as functions that a cluster calls by name: read a batch, write partitions, conclude for a project.

The analysis and the learners are those of one machine. Knows nothing of Ray; what a task returns is bytes.
"""

from collections import Counter, defaultdict
from typing import Any, NamedTuple

import msgspec

from preheat.app.analysis.one_pass import analyse_to_rows
from preheat.app.templates.sharing import EXPORT_CHECKS
from preheat.archive.notes import unpack_notes
from preheat.archive.packing import Decompressor
from preheat.fleet.manifest import LESSONS, TEMPLATES, ProjectLessons, TableFile, partition_name
from preheat.fleet.reading import Analyse, Batch, read_batch
from preheat.fleet.storage import Location, Storage
from preheat.fleet.tables import PartitionGroup, load_table, write_partitions
from preheat.lessons.conclusion import ALL_PROJECTS, conclude, list_projects, weigh
from preheat.lessons.learner import SessionNotes
from preheat.lessons.learners import LEARNERS
from preheat.model.lesson import Lesson
from preheat.model.profile import SessionProfile
from preheat.safe_text.reasons import foreign_reason, transient_reason
from preheat.templates.build import Request, build
from preheat.templates.names import canonical_json, make_name
from preheat.templates.sharing import make_shareable, to_bytes

EVERYWHERE = "everywhere"
"""The name of the template of lessons that hold in any project."""
_NOTE_COLUMNS = ("session", "agent", "started_at", "ended_at", "learner", "data")
_PROFILE = msgspec.json.Decoder(SessionProfile)
_LESSONS = msgspec.json.Decoder(dict[str, list[Lesson]])


def read(batch: Batch) -> bytes:
    """Read a batch of objects; its entry in the manifest."""
    return msgspec.json.encode(read_batch(batch, _load_analysis))


def _load_analysis() -> Analyse:
    return analyse_to_rows


def write(group: PartitionGroup) -> bytes:
    """Write partitions; their files."""
    return msgspec.json.encode(write_partitions(group))


# Lessons.
class Conclusion(NamedTuple):
    """A project that is to be concluded for."""

    destination: Location
    project: str
    digest: str
    notes: tuple[TableFile, ...]
    """The files of notes: of the project, or of all projects."""
    sessions: tuple[TableFile, ...]
    """The files of the project's sessions."""


class Concluded(msgspec.Struct, frozen=True):
    """What was concluded, and the requests that this took."""

    found: ProjectLessons
    requests: dict[str, int]


def conclude_project(piece: Conclusion) -> bytes:
    """Conclude for a project: all its lessons, and a template of those that may be handed out."""
    storage = Storage(piece.destination)
    noted = _load_notes(storage, piece)
    concluded = {
        learner.name: conclude(learner, piece.project, noted[learner.name])
        for learner in LEARNERS
        if learner.learn is not None and noted[learner.name]
    }
    lessons = weigh(concluded, noted)
    name = f"{partition_name(piece.project)}/{piece.digest}.json"
    storage.write(f"{LESSONS}/{name}", encode_lessons(lessons))
    profiles = {} if piece.project == ALL_PROJECTS else _load_profiles(storage, piece)
    template = _make_template(piece.project, [each for some in lessons.values() for each in some], profiles)
    if template:
        storage.write(f"{TEMPLATES}/{name}", template)
    counts = Counter(each.status for some in lessons.values() for each in some)
    found = ProjectLessons(
        piece.project,
        piece.digest,
        f"{LESSONS}/{name}",
        f"{TEMPLATES}/{name}" if template else "",
        dict(sorted(counts.items())),
    )
    return msgspec.json.encode(Concluded(found, dict(storage.requests)))


def encode_lessons(lessons: dict[str, list[Lesson]]) -> bytes:
    """Lessons by learner as canonical bytes: equal lessons give equal bytes."""
    return canonical_json({name: sorted(some, key=lambda each: each.id) for name, some in sorted(lessons.items())})


def decode_lessons(data: bytes) -> dict[str, list[Lesson]]:
    return _LESSONS.decode(data)


def _load_notes(storage: Storage, piece: Conclusion) -> defaultdict[str, list[SessionNotes[Any]]]:
    """The notes that count for the project, by learner."""
    wanted = [each for each in LEARNERS if each.notes_type is not None and _counts_in(each, piece.project)]
    decoders = {each.name: msgspec.msgpack.Decoder(each.notes_type) for each in wanted}
    unpack = Decompressor().decompress
    found: defaultdict[str, list[SessionNotes[Any]]] = defaultdict(list)
    for row in load_table(storage, piece.notes, _NOTE_COLUMNS, {"learner": frozenset(decoders)}):
        found[row["learner"]].append(
            SessionNotes(
                row["session"], row["agent"], row["project"], row["started_at"], row["ended_at"],
                decoders[row["learner"]].decode(unpack_notes(row["data"], unpack)),
            )
        )  # fmt: skip
    return found


def _counts_in(learner: Any, project: str) -> bool:
    return project in list_projects(learner, project)


def _load_profiles(storage: Storage, piece: Conclusion) -> dict[str, SessionProfile]:
    rows = load_table(storage, piece.sessions, ("session", "profile"))
    return {row["session"]: _PROFILE.decode(row["profile"]) for row in rows if row["profile"] is not None}


def _make_template(project: str, lessons: list[Lesson], profiles: dict[str, SessionProfile]) -> bytes:
    """A template as `preheat templates export` writes it, without sessions and paths; empty if no lesson may be handed out."""
    request = Request(
        name=make_name(project) if project != ALL_PROJECTS else EVERYWHERE,
        description="Learned by a fleet" + (f" in {project}" if project else " in several projects"),
        tags=("fleet",),
        project=project,
    )
    built = build(request, lessons, profiles, lambda text: foreign_reason(text) or transient_reason(text))
    fit = make_shareable(built.template, EXPORT_CHECKS)
    return to_bytes(fit.template) if fit.template.lessons else b""
