"""SpecStory keeps its histories in each project: files are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("specstory", "SpecStory", 1, nowhere, nothing)
