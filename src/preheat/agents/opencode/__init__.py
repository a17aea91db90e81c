"""OpenCode: sessions in a SQLite database, `opencode.db`; formerly a tree of JSON files; exported, one JSON document."""
