"""Spans lie wherever a collector wrote them: they are only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("otel_genai", "OpenTelemetry GenAI spans", 1, nowhere, nothing)
