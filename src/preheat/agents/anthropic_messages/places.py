"""Anthropic messages have no place of their own: they are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("anthropic_messages", "Anthropic messages", 1, nowhere, nothing)
