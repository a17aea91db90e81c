"""The process that hooks talk to: one for each user, started by the first hook, watching every running session."""
