"""From an agent's files into the archive: finds what changed, reads, redacts and stores it. Knows no agent's format."""
