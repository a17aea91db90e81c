"""Copied calls and responses are found by id, time and whether they count: sessions that share ids cost no more than others."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    for table, columns in (("calls", ["call_id", "at", "tool"]), ("responses", ["response", "at"])):
        op.drop_index(f"{table}_{columns[0]}", table)
        op.create_index(f"{table}_{columns[0]}", table, [*columns, "copied"])
