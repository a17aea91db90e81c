"""What came of calls: the one pass over a session, and what can be asked of its rows."""
