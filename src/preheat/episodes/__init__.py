"""Takes a session apart into episodes: each prompt with what followed it."""

from preheat.episodes.episodes import VERSION, split_episodes

__all__ = ["VERSION", "split_episodes"]
