"""SWE-agent keeps its trajectories wherever it is told to: they are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("swe_agent", "SWE-agent", 1, nowhere, nothing)
