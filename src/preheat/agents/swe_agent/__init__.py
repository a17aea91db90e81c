"""SWE-agent: trajectories, imported one file at a time."""
