"""From an agent's files into the archive: find what changed, read it, redact it, store it."""
