"""What was learned from the sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]


def upgrade() -> None:
    op.create_table(
        "notes",
        sa.Column("session_id", ID, sa.ForeignKey("judgements.session_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("learner", TEXT, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("stamp", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary),
        sqlite_with_rowid=False,
    )
    op.create_table("projects", sa.Column("folder", TEXT, primary_key=True), *texts("root", "name"))
    op.create_index("ix_projects_name", "projects", ["name"])
    op.create_table(
        "learnings",
        sa.Column("project", TEXT, primary_key=True),
        sa.Column("learner", TEXT, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        *texts("seen"),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lessons",
        sa.Column("id", TEXT, primary_key=True),
        *texts("project", "learner", "kind"),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_lessons_project", "lessons", ["project"])
    op.create_table(
        "marks",
        sa.Column("lesson", TEXT, primary_key=True),
        *texts("mark", "why"),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "exposures",
        sa.Column("session", TEXT, primary_key=True),
        sa.Column("item", TEXT, primary_key=True),
        sa.Column("shown", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Float, nullable=False) for name in ("probability", "at")),
        sqlite_with_rowid=False,
    )
