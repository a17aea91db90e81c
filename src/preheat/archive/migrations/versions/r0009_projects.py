"""Projects are known by repository, not by a folder's name: what each session says of its place, and the projects made of it.

Until the next learning assigns all sessions, folders keep the projects that they had.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "places",
        sa.Column("session_id", ID, sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("statement", sa.LargeBinary),
        sa.Column("tree", sa.LargeBinary),
        sa.Column("project", TEXT),
    )
    op.create_index("ix_places_project", "places", ["project"])
    op.drop_index("ix_projects_name", "projects")
    op.rename_table("projects", "earlier_projects")
    op.create_table(
        "projects",
        sa.Column("key", TEXT, primary_key=True),
        sa.Column("name", TEXT, nullable=False, unique=True),
    )
    op.create_table(
        "project_lookup",
        sa.Column("what", TEXT, primary_key=True),
        sa.Column("project", TEXT, nullable=False),
    )
    op.execute("INSERT INTO projects SELECT DISTINCT 'earlier:' || name, name FROM earlier_projects WHERE name <> ''")
    op.execute("INSERT INTO project_lookup SELECT 'path:' || folder, 'earlier:' || name FROM earlier_projects WHERE name <> ''")
    op.drop_table("earlier_projects")
