"""A team: what this machine pushes to its server, what it gets from there, and who is in it."""
