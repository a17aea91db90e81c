"""A team for tests, whom it consists of, and rows that its machines push."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from msgspec.structs import replace

from preheat.model.pushed import PushedEpisode, PushedLesson, PushedOutcome, PushedRows, PushedSession, PushedTranscript
from preheat.model.team import TeamAddress
from tests.postgresql import PostgresqlServer

OWNER_PASSWORD = "owner of the team"


class TestedTeam:
    """A team, and connections to its database as each of its people, without any code of ours in between."""

    __test__ = False

    def __init__(self, address: TeamAddress, server: PostgresqlServer, admin_url: str) -> None:
        self.address = address
        self.server = server
        self.admin_url = admin_url
        self.logins = {"founder": (address.user, OWNER_PASSWORD)}

    def address_of(self, name: str) -> TeamAddress:
        return replace(self.address, user=self.logins[name][0])

    @contextmanager
    def as_person(self, name: str) -> Iterator[psycopg.Connection]:
        login, password = self.logins[name]
        with psycopg.connect(
            host=self.address.host, port=self.address.port, dbname=self.address.database, user=login, password=password,
            autocommit=True,
        ) as connection:  # fmt: skip
            yield connection

    @contextmanager
    def as_superuser(self) -> Iterator[psycopg.Connection]:
        """For whom row-level security does not hold: sees what is really stored."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            yield connection

    def count(self, table: str, condition: str = "true") -> int:
        """Rows that are really stored."""
        with self.as_superuser() as connection:
            row = connection.execute(f"SELECT count(*) FROM preheat_team.{table} WHERE {condition}".encode()).fetchone()
            assert row is not None
            return int(row[0])


def new_machine() -> str:
    return str(uuid.uuid4())


def make_rows(
    session: str,
    repository: str = "forge.example/shop/cart",
    agent: str = "codex",
    model: str = "gpt-5",
    calls: int = 10,
    failed: int = 2,
    money: float | None = 1.5,
    transcript: bytes | None = None,
) -> PushedRows:
    """The rows of one session."""
    return PushedRows(
        session=PushedSession(
            session=session, digest=f"{session} {calls}", origin=f"{session} {calls}",
            level="derived" if transcript is None else "transcripts", repository=repository, agent=agent, model=model,
            prompts=1, messages=calls * 2, calls=calls, failed=failed, mistakes=failed // 2, compactions=0, input_tokens=100,
            output_tokens=50, cache_read_tokens=0, cache_write_tokens=0, money=money,
            failed_money=None if money is None else money / 10, work_seconds=60.0,
        ),
        outcomes=(
            PushedOutcome(
                activity="shell:test", status="failed", cause="mistake", calls=failed, lost_seconds=3.0, lost_tokens=40
            ),
            PushedOutcome(activity="read", status="ok", cause="", calls=calls - failed, lost_seconds=0.0, lost_tokens=0),
        ),
        episodes=(
            PushedEpisode(
                number=0, files_read=("src/cart.py", "it's, \"odd\"\\.py"), files_changed=("src/cart.py",), checks_passed=1,
                checks_failed=2, calls=calls, seconds=None,
            ),
        ),
        transcript=None if transcript is None else PushedTranscript(content=transcript),
    )  # fmt: skip


def make_lesson(content: str, repository: str = "forge.example/shop/cart", calls_for: int = 3) -> PushedLesson:
    """A lesson as a machine proposes it."""
    import hashlib

    digest = hashlib.sha256(f"{repository}\n{content}".encode()).hexdigest()
    return PushedLesson(
        digest=digest, repository=repository, content=content, calls_for=calls_for, sessions_for=2, calls_against=0,
        sessions_against=0, first_day="2026-01-31", last_day="",
    )  # fmt: skip
