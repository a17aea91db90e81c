"""Running sessions: hook events, advice and answers to hooks; and recorded sessions replayed."""
