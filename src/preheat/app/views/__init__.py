"""What a screen shows at once: pages of sessions, one session, parts of its transcript, activity, a prompt tried out."""
