"""Everything that is made of a session in one pass: episodes beside judgements and notes, under one version."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")

COPIED = "SELECT 1 FROM calls WHERE calls.session_id = {table}.{column} AND calls.copied"
FAILED = """
SELECT count(*) FROM outcomes JOIN purposes ON purposes.id = outcomes.purpose_id
JOIN calls ON calls.session_id = outcomes.session_id AND calls.seq = outcomes.seq
WHERE outcomes.session_id = sessions.id AND outcomes.status IN (1, 3) AND NOT purposes.bookkeeping AND NOT calls.copied
"""


def upgrade() -> None:
    op.create_table(
        "episodes",
        sa.Column("session_id", ID, sa.ForeignKey("judgements.session_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.add_column("judgements", sa.Column("learned", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute(
        "UPDATE judgements SET learned = true"
        " WHERE EXISTS (SELECT 1 FROM notes WHERE notes.session_id = judgements.session_id)"
    )
    # The version goes on after its first part now; a judgement that counts copied calls no longer holds.
    copied = COPIED.format(table="judgements", column="session_id")
    op.execute(f"UPDATE judgements SET version = version || '+' WHERE NOT EXISTS ({copied})")  # noqa: S608
    op.execute(
        f"UPDATE sessions SET errors = ({FAILED}) WHERE id IN (SELECT session_id FROM judgements)"  # noqa: S608
    )
