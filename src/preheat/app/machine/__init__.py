"""This machine: hooks installed in agents, the daemon, and the health of everything."""
