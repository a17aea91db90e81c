"""Learning: conclusions from the notes of all sessions, and the lessons that they give."""
