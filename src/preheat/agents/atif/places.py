"""ATIF trajectories lie wherever their writers put them: they are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("atif", "ATIF trajectory", 1, nowhere, nothing)
