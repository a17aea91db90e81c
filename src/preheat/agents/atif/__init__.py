"""ATIF: trajectories in the Agent Trajectory Interchange Format, imported one file at a time."""
