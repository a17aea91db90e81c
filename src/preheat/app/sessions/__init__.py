"""The sessions: read from the agents into the archive, listed, found, shown, exported, forgotten."""
