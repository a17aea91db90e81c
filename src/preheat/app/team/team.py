"""The team of this machine: make, join, invite, push, pull, review, leave; and what its server says of it.

A password comes in once, is kept in a file of its own and never given back.
"""

import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec.structs import replace

from preheat.app.lazy import LazyModule
from preheat.app.projects import explain_unknown_project, find_project
from preheat.app.team.lessons import ORIGIN, load_received, read_proposal, receive
from preheat.app.team.local_rows import find_local_sessions, read_transcript
from preheat.app.team.settings import load_team_settings
from preheat.archive.connect import connect as connect_archive
from preheat.errors import NotFound, UserError
from preheat.ingest.redact import redact
from preheat.membership import (
    Membership,
    change_membership,
    drop_membership,
    load_membership,
    load_password,
    require_membership,
    store_membership,
)
from preheat.model.lesson import Lesson
from preheat.model.progress import SILENT, Progress
from preheat.model.team import (
    Invitation,
    LessonReview,
    Level,
    ProjectPush,
    ProposedLesson,
    PullReport,
    PushPlan,
    PushReport,
    ReviewedProposal,
    TeamAddress,
    TeamIdentity,
    TeamMember,
    TeamRole,
    TeamStatus,
)
from preheat.remotes import normalise_remote
from preheat.safe_text.cleanup import strip_invisible
from preheat.state.connect import writing
from preheat.state.received_lessons import drop_received_lessons, store_received_lessons
from preheat.team.address import read_address

if TYPE_CHECKING:
    import psycopg

    from preheat.app.team import pushing as _pushing
    from preheat.team_server import connect as _connect
    from preheat.team_server import lessons as _lessons
    from preheat.team_server import people as _people
    from preheat.team_server import rows as _rows
else:  # they load the driver of PostgreSQL, which only a machine in a team needs
    _pushing = LazyModule("preheat.app.team.pushing")
    _connect = LazyModule("preheat.team_server.connect")
    _lessons = LazyModule("preheat.team_server.lessons")
    _people = LazyModule("preheat.team_server.people")
    _rows = LazyModule("preheat.team_server.rows")

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_LEAST_PEOPLE = 3
_SHORT_WAIT = 5
"""Seconds that a deletion waits for the server before it is left to the next push."""
_LEAST_DIGEST = 6
_LONGEST_REASON = 300


class TranscriptEntry(NamedTuple):
    """A transcript that somebody pushed, for reviewers."""

    session: str
    repository: str
    agent: str
    model: str
    calls: int
    bytes: int
    """As it is stored, compressed."""
    pushed_at: float


class Team:
    """The team of the machine whose archive is in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    # Making and joining.
    def init(
        self, address: str, password: str, team: str = "", name: str = "", least_people: int = _LEAST_PEOPLE
    ) -> tuple[TeamIdentity, bool]:
        """Make a team in a database, or bring the tables of one up to date, and join it as its owner; whether it is new. Numbers
        of fewer than `least_people` are never shown. Raises UserError."""
        where = read_address(address)
        owner = name or re.sub(r"[^a-z0-9_-]", "-", where.user.lower()).lstrip("-0123456789_")[:40] or "owner"
        _require_name(owner)
        with _connect.open_server(where, password) as server:
            is_new = _people.make_team(server, team or where.database, least_people, owner)
            identity = _people.identify(server)
        self._store(where, password, identity)
        return identity, is_new

    def join(self, address: str, password: str) -> TeamIdentity:
        """Join a team with the login of an invitation; an empty password is one that PGPASSWORD or ~/.pgpass has. Nothing is
        pushed by that. Raises UserError."""
        where = read_address(address)
        with _connect.connect(where, password) as server:
            identity = _people.identify(server)
        self._store(where, password, identity)
        return identity

    def _store(self, address: TeamAddress, password: str, identity: TeamIdentity) -> None:
        before = load_membership(self._folder)
        if before is not None and _place_of(before.address) != _place_of(address):
            raise UserError(f"this machine is in the team `{before.team}` already; `preheat team leave` comes first")
        known = before or Membership(
            address=address, team=identity.team, name=identity.name, role=identity.role, machine=str(uuid.uuid4())
        )
        store_membership(
            self._folder,
            replace(known, address=address, team=identity.team, name=identity.name, role=identity.role),
            password,
        )

    def is_joined(self) -> bool:
        """Whether this machine is in a team."""
        return load_membership(self._folder) is not None

    def is_automatic(self) -> bool:
        """Whether the person wants pushes and pulls in quiet times."""
        return load_team_settings(self._folder).automatic and self.is_joined()

    # People, for the owner.
    def invite(self, name: str, role: TeamRole, login: str = "") -> Invitation:
        """Let somebody into the team, with a new login or an existing one. The password is in the answer and nowhere else."""
        _require_name(name)
        membership = require_membership(self._folder)
        with self._server() as server:
            made, password = _people.invite(server, name, role, login)
        return Invitation(name=name, role=role, address=str(replace(membership.address, user=made)), password=password)

    def members(self) -> list[TeamMember]:
        """Everybody in the team, for its owner."""
        with self._server() as server:
            return _people.list_members(server)

    def remove(self, name: str, keep: bool) -> None:
        """Remove somebody at once; derived rows are kept without a person, or deleted."""
        with self._server() as server:
            _people.remove(server, name, keep)

    def leave(self, keep: bool) -> str:
        """Leave the team; derived rows are kept without a person, or deleted. Lessons that came from it are gone here, too. Gives
        the team's name."""
        membership = require_membership(self._folder)
        with self._server() as server:
            _people.leave(server, keep)
        self._drop(membership)
        return membership.team

    def forget_team(self) -> str:
        """Forget a team here without its server, which may be gone; what was pushed stays there. Gives the team's name."""
        membership = require_membership(self._folder)
        self._drop(membership)
        return membership.team

    def _drop(self, membership: Membership) -> None:
        with writing(self._folder) as state:
            drop_received_lessons(state, ORIGIN, membership.team)
        drop_membership(self._folder)

    # Pushing.
    def allow(self, project: str, level: Level) -> ProjectPush:
        """Say what may be pushed of a project (name or folder). The next push shows what that is. Raises NotFound."""
        membership = require_membership(self._folder)
        with closing(connect_archive(self._folder)) as connection:
            found = find_project(connection, project)
            if found is None:
                raise explain_unknown_project(connection, project)
        known = find_local_sessions(self._folder, membership).projects
        if found.key not in known:
            raise NotFound(f"no session of `{found.name}` is in the archive, so there is nothing to push")
        return _pushing.set_level(self._folder, known[found.key], level)

    def plan_push(self, everything: bool = True, progress: Progress = SILENT) -> PushPlan:
        """Exactly what a push would send: of all projects, or only of those that wait for the person's agreement."""
        return _pushing.plan_push(self._folder, everything, progress)

    def agree(self, plan: PushPlan) -> None:
        """Note that the person has seen this and wants it."""
        _pushing.agree(self._folder, plan.unagreed)

    def push(self, progress: Progress = SILENT) -> PushReport:
        """Send what is new of the projects that the person agreed to. Raises UserError; then nothing is lost."""
        return _pushing.push(self._folder, progress)

    def propose(self, address: str, lessons: Iterable[Lesson]) -> PushReport:
        """Propose lessons of a repository that were learned elsewhere, such as by a fleet, to the team's reviewers, in place of
        those proposed so before. Raises UserError; then nothing is lost."""
        repository = normalise_remote(address)
        if not repository:
            raise UserError(f"`{address}` is no address of a repository; give its remote, such as HOST/OWNER/NAME")
        return _pushing.propose(self._folder, repository, lessons)

    def waiting_deletions(self) -> int:
        """How many sessions wait to be deleted from the server."""
        membership = load_membership(self._folder)
        return len(membership.deletions) if membership is not None else 0

    def delete_queued(self) -> int:
        """Delete from the server what waits for that; how many sessions were there. Raises UserError if the server is away."""
        return _pushing.delete_queued(self._folder, _SHORT_WAIT)

    # Lessons.
    def pull(self) -> PullReport:
        """Get the approved lessons of the team, in place of those that came before."""
        membership = require_membership(self._folder)
        with self._server() as server:
            approved, now = _lessons.load_approved(server), _connect.find_time(server)
        received, refused = receive(approved, membership.team, now)
        before = load_received(self._folder, membership.team)
        after = {each.digest for each in received}
        if after != before.keys():
            with writing(self._folder) as state:
                store_received_lessons(state, ORIGIN, membership.team, received)
        change_membership(self._folder, lambda known: replace(known, last_pull=now))
        return PullReport(
            lessons=len(after), added=len(after - before.keys()), removed=len(before.keys() - after), refused=refused
        )

    def waiting_lessons(self) -> list[ReviewedProposal]:
        """The lessons that wait for a review, the oldest first, for reviewers."""
        with self._server() as server:
            return [_describe(each) for each in _lessons.load_waiting(server)]

    def approved_lessons(self) -> list[ReviewedProposal]:
        """The lessons that the team hands on now."""
        with self._server() as server:
            return [_describe(each) for each in _lessons.load_approved(server)]

    def review(self, name: str, verdict: Literal["approved", "declined"], why: str = "") -> ReviewedProposal:
        """Approve or decline a lesson, by the beginning of its digest. One that no machine would take cannot be approved."""
        with self._server() as server:
            known = [_describe(each) for each in (*_lessons.load_waiting(server), *_lessons.load_approved(server))]
            declined = [
                each for each in self._load_declined(server) if each.digest not in {one.digest for one in known}
            ]
            found = _find(name, [*known, *declined])
            if verdict == "approved" and not found.text:
                raise UserError(
                    f"`{found.digest[:12]}` is not what our grammar allows, so no machine would take it; decline it"
                )
            _lessons.review(server, found.digest, verdict, _clean_reason(why))
        return found

    def reviews(self) -> list[LessonReview]:
        """Who decided what and when, the newest first, for reviewers."""
        with self._server() as server:
            found = _lessons.load_reviews(server)
        return [
            LessonReview(
                digest=digest,
                repository=repository,
                text=_text_of(ProposedLesson(digest=digest, repository=repository, content=content)),
                verdict=verdict,
                why=why,
                reviewer=reviewer,
                at=at,
            )
            for digest, repository, content, verdict, why, reviewer, at in found
        ]

    def _load_declined(self, server: "psycopg.Connection") -> list[ReviewedProposal]:
        return [
            _describe(ProposedLesson(digest=digest, repository=repository, content=content))
            for digest, repository, content, *_ in _lessons.load_reviews(server)
            if content
        ]

    # Transcripts, for reviewers.
    def transcripts(self) -> list[TranscriptEntry]:
        """The sessions that people pushed as a whole, the newest first, for reviewers."""
        with self._server() as server:
            return [TranscriptEntry(*each) for each in _rows.list_transcripts(server)]

    def transcript(self, session: str) -> bytes:
        """A session that somebody pushed, as JSON lines, by the beginning of its hash, for reviewers. Raises NotFound."""
        with self._server() as server:
            found = [each[0] for each in _rows.list_transcripts(server) if str(each[0]).startswith(session)]
            data = _rows.read_transcript(server, found[0]) if len(found) == 1 and session else None
        if data is None:
            raise NotFound(f"no transcript `{session}`, or several; `preheat team transcripts` lists them")
        return read_transcript(data)

    # Status.
    def status(self) -> TeamStatus:
        """What this machine pushes and gets, and the numbers of the team; without the server's part if it is away."""
        membership = load_membership(self._folder)
        if membership is None:
            return TeamStatus(joined=False)
        projects = self._find_projects(membership)
        known = TeamStatus(
            joined=True,
            address=str(membership.address),
            team=membership.team,
            name=membership.name,
            role=membership.role,
            machine=membership.machine,
            automatic=self.is_automatic(),
            projects=projects,
            waiting_deletions=len(membership.deletions),
            last_push=membership.last_push,
            last_pull=membership.last_pull,
            received_lessons=len(load_received(self._folder, membership.team)),
        )
        try:
            with self._server() as server:
                identity = _people.identify(server)
                counts = _lessons.count_lessons(server)
                pushed = {} if identity.role == "reader" else _pushing.count_pushed(server, membership.machine)
                return replace(
                    known,
                    reachable=True,
                    team=identity.team,
                    role=identity.role,
                    least_people=identity.least_people,
                    projects=tuple(replace(each, pushed=pushed.get(each.repository, 0)) for each in projects),
                    waiting_lessons=counts.get("", 0),
                    approved_lessons=counts.get("approved", 0),
                    numbers=_rows.load_numbers(server),
                )
        except UserError as error:
            return replace(known, problem=str(error))

    def _find_projects(self, membership: Membership) -> tuple[ProjectPush, ...]:
        try:
            found = find_local_sessions(self._folder, membership).projects.values()
        except UserError:
            return ()
        return tuple(sorted(found, key=lambda each: (each.level == "nothing", -each.sessions, each.name)))

    @contextmanager
    def _server(self) -> "Iterator[psycopg.Connection]":
        membership = require_membership(self._folder)
        with _connect.connect(membership.address, load_password(self._folder)) as server:
            yield server


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UserError(f"`{name[:60]}` is no name here: small letters, digits, `-` and `_`, at most 41")


def _clean_reason(why: str) -> str:
    """A reviewer's reason on one line, without secrets."""
    block, _ = redact(" ".join(strip_invisible(why).split()).encode("utf-8", "replace"))
    return block.decode("utf-8", "replace")[:_LONGEST_REASON]


def _place_of(address: TeamAddress) -> tuple[str, int, str, str]:
    return address.host, address.port, address.database, address.user


def _text_of(proposed: ProposedLesson) -> str:
    dated = proposed if proposed.first_day else replace(proposed, first_day="2000-01-01")
    lesson = read_proposal(dated)
    return lesson.text if lesson is not None else ""


def _describe(proposed: ProposedLesson) -> ReviewedProposal:
    return ReviewedProposal(
        digest=proposed.digest,
        repository=proposed.repository,
        text=_text_of(proposed),
        calls_for=proposed.calls_for,
        sessions_for=proposed.sessions_for,
        calls_against=proposed.calls_against,
        sessions_against=proposed.sessions_against,
    )


def _find(name: str, known: list[ReviewedProposal]) -> ReviewedProposal:
    found = {each.digest: each for each in reversed(known) if each.digest.startswith(name)}
    if len(name) < _LEAST_DIGEST or len(found) != 1:
        raise NotFound(
            f"no lesson `{name[:70]}`, or several; `preheat team lessons` shows them by the beginning of their digests"
        )
    return next(iter(found.values()))
