"""The agent's own mistakes are called `mistakes` in stored profiles, and `mistake` as a cause; both were `misuse`."""

from alembic import op

revision = "0007"
down_revision = "0006"

# In JSON a quoted word before a colon can only be a key: the rate before a brace, the number of a cause before a digit.
RENAMED = """replace(replace({}, '"misuse":{{', '"mistakes":{{'), '"misuse":', '"mistake":')"""
IN_SQLITE, IN_POSTGRESQL = RENAMED.format("CAST(data AS TEXT)"), RENAMED.format("convert_from(data, 'UTF8')")
RENAME = {
    "sqlite": f"UPDATE profiles SET data = CAST({IN_SQLITE} AS BLOB)",  # noqa: S608
    "postgresql": f"UPDATE profiles SET data = convert_to({IN_POSTGRESQL}, 'UTF8')",  # noqa: S608
}


def upgrade() -> None:
    op.execute(RENAME[op.get_context().dialect.name])
