"""The archive: every session ever read, kept after its agent has deleted it. SQLite; the schema also fits PostgreSQL."""
