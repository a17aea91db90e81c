"""What the judge said of each session and call."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def session_id(parent: str) -> sa.Column[int]:
    return sa.Column("session_id", ID, sa.ForeignKey(parent, ondelete="CASCADE"), primary_key=True)


def where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def upgrade() -> None:
    # A few calls are copies: found without looking through all of them.
    op.create_index("calls_copied", "calls", ["session_id", "seq"], **where("copied"))
    op.create_table(
        "judgements",
        session_id("sessions.id"),
        sa.Column("version", TEXT, nullable=False),
        sa.Column("source_id", ID, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("generation", "events")),
    )
    op.create_table(
        "profiles",
        session_id("judgements.session_id"),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "purposes",
        sa.Column("id", ID, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("tool", "kind", "activity")),
        sa.Column("bookkeeping", sa.Boolean, nullable=False),
        sa.UniqueConstraint("tool", "kind", "activity", "bookkeeping"),
    )
    op.create_table(
        "signatures",
        sa.Column("id", ID, primary_key=True),
        sa.Column("text", TEXT, nullable=False, unique=True),
    )
    _outcomes()


def _outcomes() -> None:
    op.create_table(
        "outcomes",
        session_id("judgements.session_id"),
        sa.Column("seq", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("message", "era")),
        sa.Column("purpose_id", ID, sa.ForeignKey("purposes.id"), nullable=False),
        *(sa.Column(name, sa.SmallInteger, nullable=False) for name in ("status", "rung")),
        sa.Column("cause", sa.SmallInteger),
        sa.Column("exit_code", sa.BigInteger),
        sa.Column("signature_id", ID, sa.ForeignKey("signatures.id")),
        sa.Column("confidence", sa.Float, nullable=False),
        *(sa.Column(name, sa.Boolean, nullable=False) for name in ("repeated", "reread")),
        sa.Column("seconds", sa.Float),
        sa.Column("lost_seconds", sa.Float, nullable=False),
        sa.Column("lost_tokens", sa.BigInteger, nullable=False),
        sa.Column("recovered_in", sa.SmallInteger),
        sqlite_with_rowid=False,
    )
    op.create_index("outcomes_signature", "outcomes", ["signature_id"], **where("signature_id IS NOT NULL"))
