"""ShareGPT conversations have no place of their own: their files are imported by name."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("sharegpt", "ShareGPT conversation", 1, nowhere, nothing)
