"""The context of a new session: chosen, rendered, written."""
