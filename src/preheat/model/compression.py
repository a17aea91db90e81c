"""The names of the strategies that shorten a history; what each does is in `compress`."""

COMPRESSION_STRATEGIES = ("none", "mask", "headtail", "markers")
"""From the one that keeps most of the text to the one that chooses most."""
