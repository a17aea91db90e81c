"""Learning: conclusions over the notes of all sessions, and the lessons that come of them."""
