"""Hermes Agent: sessions in a SQLite database, `state.db`, that a running program may be writing."""
