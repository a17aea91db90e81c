"""Aider keeps its history in each repository: files are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("aider", "Aider", 1, nowhere, nothing)
