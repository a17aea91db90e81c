"""Chat messages have no place of their own: they are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("openai_chat", "OpenAI chat messages", 1, nowhere, nothing)
