"""The agent's own mistakes are called `mistakes` in stored profiles, and `mistake` as a cause; both were `misuse`."""

from alembic import op

revision = "0007"
down_revision = "0006"

# In JSON a quoted word before a colon can only be a key: the rate before a brace, the number of a cause before a digit.
RENAME = """
UPDATE profiles SET data = CAST(
    replace(replace(CAST(data AS TEXT), '"misuse":{', '"mistakes":{'), '"misuse":', '"mistake":') AS BLOB)
"""


def upgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        op.execute(RENAME)
