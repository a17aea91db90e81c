"""This machine: agents that call Preheat, the daemon that they talk to, and what is wrong with any of it."""
