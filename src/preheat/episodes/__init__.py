"""Takes a session apart into episodes: each prompt with what followed it."""

from preheat.episodes.episodes import VERSION, episodes

__all__ = ["VERSION", "episodes"]
