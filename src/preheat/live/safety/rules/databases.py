"""Databases: tables, rows and keys that are gone."""

from preheat.live.safety.rule import Rule

_CLIENTS = (
    "psql mysql mariadb sqlite3 sqlite duckdb sqlcmd clickhouse-client clickhouse cqlsh snowsql bq wrangler turso cockroach "
    "pgcli mycli usql"
)

DATABASES = (
    Rule(
        id="drop-database", severity="high", effect="Drops a whole database or schema.",
        programs=f"{_CLIENTS} dropdb",
        input_text=r"(?i)\bdrop\s+(?:database|schema)\b(?!\s+(?:if\s+exists\s+)?[\"`]?\w*(?:test|tmp|temp|scratch))"
             r"|^dropdb (?!.*(?:test|tmp|temp|scratch))",
        example='psql -c "DROP DATABASE shop"', counterexample='psql -c "DROP DATABASE IF EXISTS shop_test"',
    ),
    Rule(
        id="drop-table", severity="high", effect="Drops a table, or empties it.",
        programs=_CLIENTS,
        input_text=r"(?i)\b(?:drop\s+table|truncate\s+(?:table\s+)?[\"`\w])(?!\s+(?:if\s+exists\s+)?[\"`]?(?:test|tmp|temp|scratch"
             r"|_)\w*)",
        unless=r":memory:|/tmp/\S+\.(?:db|sqlite3?)\b",
        example='mysql shop -e "TRUNCATE TABLE orders"', counterexample='psql -c "SELECT * FROM drop_table_log"',
    ),
    Rule(
        id="delete-all-rows", severity="high", effect="Deletes or changes every row of a table.",
        programs=_CLIENTS,
        input_text=r"(?i)\bdelete\s+from\s+[\w.\"`]+\s*(?:;|[\"']?\s*$)|\bupdate\s+[\w.\"`]+\s+set\s+(?:(?!\bwhere\b)[^;])*(?:;|$)",
        unless=r":memory:|/tmp/\S+\.(?:db|sqlite3?)\b",
        example='psql -c "DELETE FROM users;"', counterexample='psql -c "DELETE FROM users WHERE id = 7"',
    ),
    Rule(
        id="redis-flush", severity="high", effect="Empties a key store.",
        programs="redis-cli valkey-cli", input_text=r"(?i)\b(?:flushall|flushdb)\b",
        example="redis-cli FLUSHALL", counterexample="redis-cli GET key",
    ),
    Rule(
        id="mongo-drop", severity="high", effect="Drops a database or a collection.",
        programs="mongosh mongo", input_text=r"\.(?:dropDatabase|drop)\(|\bdeleteMany\(\s*\{\s*\}",
        example="mongosh shop --eval 'db.dropDatabase()'", counterexample="mongosh shop --eval 'db.users.find()'",
    ),
    Rule(
        id="schema-reset", severity="medium", effect="Empties the database and builds its tables anew.",
        words=r"\bprisma (?:migrate reset|db push\b.*(?:--force-reset|--accept-data-loss))|\bdb:(?:drop|reset|wipe"
              r"|schema:load)(?:\s|$)|\bmanage\.py (?:flush|reset_db)\b|\bmigrate:(?:fresh|reset|refresh)\b"
              r"|\bsupabase db reset\b|\balembic downgrade base\b|\bschema:drop\b|\bdrizzle-kit drop\b"
              r"|\bsqlx database (?:drop|reset)\b|\bdiesel database reset\b|\becto\.(?:drop|reset)\b",
        unless=r"^(?:echo|printf|grep|rg|git|cat|sed|awk)\b|NODE_ENV=test|RAILS_ENV=test|--env[= ]test",
        signs="prisma db: manage.py migrate: supabase alembic schema:drop drizzle-kit database ecto.",
        example="npx prisma migrate reset --force", counterexample="npx prisma migrate status",
    ),
)  # fmt: skip
