"""Alembic's scripts: how an archive of any earlier version becomes one of this version."""
