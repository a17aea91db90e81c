"""The first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0001"
down_revision = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def source_id(**options: Any) -> sa.Column[int]:
    return sa.Column("source_id", ID, sa.ForeignKey("sources.id", ondelete="CASCADE"), **options)


def session_id(**options: Any) -> sa.Column[int]:
    return sa.Column("session_id", ID, sa.ForeignKey("sessions.id", ondelete="CASCADE"), **options)


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("id", ID, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("agent", "path", "part", "stamp")),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("reader_version", "generation")),
        sa.Column("stored_at", sa.Float, nullable=False),
        sa.UniqueConstraint("path", "part"),
    )
    op.create_table(
        "positions",
        source_id(primary_key=True),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("offset", "line")),
        sa.Column("tail", sa.LargeBinary, nullable=False),
        sa.Column("state", sa.LargeBinary),
    )
    op.create_table(
        "packs", sa.Column("id", ID, primary_key=True), sa.Column("data", sa.LargeBinary, nullable=False)
    )
    op.create_table(
        "segments",
        source_id(primary_key=True),
        *(sa.Column(name, sa.Integer, primary_key=True) for name in ("generation", "seq")),
        sa.Column("pack_id", ID, sa.ForeignKey("packs.id"), nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("start", "length")),
        sa.Column("sha256", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_segments_pack_id", "segments", ["pack_id"])
    _sessions()
    _of_sessions()
    _of_sources()
    _search()


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", ID, primary_key=True),
        sa.Column("key", TEXT, nullable=False, unique=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("agent", "session")),
        sa.Column("source_id", ID, sa.ForeignKey("sources.id"), nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("version", "model", "project", "branch")),
        *(sa.Column(name, TEXT) for name in ("parent", "relation")),
        *(sa.Column(name, sa.Float) for name in ("started_at", "ended_at")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("starter", "title", "opening")),
        *(
            sa.Column(name, sa.Integer, nullable=False)
            for name in ("events", "prompts", "messages", "calls", "errors", "compactions")
        ),
        *(
            sa.Column(f"{name}_tokens", sa.BigInteger, nullable=False)
            for name in ("input", "output", "cache_read", "cache_write")
        ),
    )
    op.create_index("ix_sessions_source_id", "sessions", ["source_id"])
    op.create_index("sessions_started", "sessions", ["started_at"])
    op.create_index("sessions_project", "sessions", ["project"])


def _of_sessions() -> None:
    op.create_table(
        "calls",
        session_id(primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("call_id", TEXT, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("line", "response")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("tool", "kind", "summary")),
        *(sa.Column(name, sa.Float) for name in ("at", "ended_at")),
        sa.Column("is_error", sa.Boolean),
        sa.Column("exit_code", sa.BigInteger().with_variant(sa.Integer, "sqlite")),
        sa.Column("output_size", sa.BigInteger),
        sa.Column("copied", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("calls_call_id", "calls", ["call_id"])
    op.create_table(
        "responses",
        session_id(primary_key=True),
        sa.Column("response", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("model", TEXT, nullable=False),
        sa.Column("at", sa.Float),
        *(
            sa.Column(f"{name}_tokens", sa.BigInteger, nullable=False)
            for name in ("input", "output", "cache_read", "cache_write", "reasoning")
        ),
        sa.Column("copied", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("responses_response", "responses", ["response"])
    op.create_table(
        "passages",
        sa.Column("id", ID, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        session_id(nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_passages_session_id", "passages", ["session_id"])


def _of_sources() -> None:
    op.create_table(
        "contents",
        source_id(primary_key=True),
        sa.Column("key", TEXT, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_contents_key", "contents", ["key"])
    op.create_table(
        "problems",
        source_id(nullable=False),
        sa.Column("line", sa.BigInteger),
        sa.Column("message", TEXT, nullable=False),
    )
    op.create_index("ix_problems_source_id", "problems", ["source_id"])
    op.create_table(
        "redactions",
        source_id(primary_key=True),
        sa.Column("kind", TEXT, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "forgotten",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
    )


def _search() -> None:
    """Full-text search, each database its own way; neither keeps the text a second time."""
    if op.get_context().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE passages_index USING fts5("
            "text, content='', tokenize='unicode61 remove_diacritics 2')"
        )
    else:
        op.create_table(
            "passages_index",
            sa.Column("rowid", sa.BigInteger, primary_key=True),
            sa.Column("text", TSVECTOR, nullable=False),
            sa.Column("block", sa.BigInteger, nullable=False),
        )
        op.create_index("passages_index_text", "passages_index", ["text"], postgresql_using="gin")
        # What SQLite's file tells by its time and size: whether anything changed since one looked.
        op.create_table("archive_changes", sa.Column("number", sa.BigInteger, nullable=False))
        op.execute("INSERT INTO archive_changes (number) VALUES (0)")
