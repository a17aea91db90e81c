"""What `codex exec --json` prints, imported one file at a time."""
