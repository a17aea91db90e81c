"""Running sessions: what hooks tell, what is said, and the same of recorded sessions again."""
