"""What a new session is given: chosen, worded, rendered, written."""
