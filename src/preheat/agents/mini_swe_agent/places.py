"""mini-swe-agent keeps its trajectories wherever it is told to: they are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("mini_swe_agent", "mini-swe-agent", 2, nowhere, nothing)
