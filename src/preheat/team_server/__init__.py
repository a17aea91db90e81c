"""The team's database: people, the rows that machines pushed, lessons and their reviews, in a schema of its own on PostgreSQL.

Needs psycopg (`pip install "preheat[postgresql]"`), so only the commands of a team import it. Who may see and do what is decided
in the database (`migrations`): by row-level security on every table, and by functions where something of several people is shown.
"""

from preheat.errors import UserError

try:
    import psycopg as psycopg
except ImportError as missing:
    raise UserError("a team needs the driver of PostgreSQL: pip install 'preheat[postgresql]'") from missing
