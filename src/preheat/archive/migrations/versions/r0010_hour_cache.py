"""Tokens that are kept in the cache for an hour cost more than others: they are counted apart."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("responses", sa.Column("cache_write_hour_tokens", sa.BigInteger, nullable=False, server_default=sa.text("0")))
