"""Runs the migrations on the connection that `upgrade.py` hands over, or writes them out as SQL."""

from alembic import context

from preheat.archive.schema import METADATA

connection = context.config.attributes.get("connection")
if connection is None:
    context.configure(
        dialect_name=context.config.get_main_option("dialect"), target_metadata=METADATA, literal_binds=True
    )
else:
    context.configure(connection=connection, target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
