"""Who got what by lot, and what a person thought of it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]


def upgrade() -> None:
    op.create_table(
        "assignments",
        sa.Column("session", TEXT, primary_key=True),
        *texts("root", "experiment", "arm", "shares", "agent", "project"),
        sa.Column("at", sa.Float, nullable=False),
        *texts("why"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_assignments_root", "assignments", ["root"])
    op.create_index("ix_assignments_experiment", "assignments", ["experiment"])
    op.create_table(
        "deliveries",
        sa.Column("session", TEXT, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        *texts("context"),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("tokens", "offered")),
        *texts("template"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "advice_lots",
        sa.Column("session", TEXT, primary_key=True),
        sa.Column("at", sa.Float, primary_key=True),
        sa.Column("turn", sa.Integer, nullable=False),
        *texts("signal", "cause"),
        sa.Column("shown", sa.Boolean, nullable=False),
        sa.Column("probability", sa.Float, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ratings",
        sa.Column("session", TEXT, primary_key=True),
        sa.Column("good", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        *texts("note"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "intake",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("place", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
