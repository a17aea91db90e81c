"""Runs the migrations on the connection that `upgrade.py` hands over."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table_schema="preheat_team")
with context.begin_transaction():
    context.run_migrations()
