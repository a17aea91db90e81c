"""Sessions: read into the archive, listed, found, shown, exported, forgotten."""
