"""What `codex exec --json` prints lies wherever it was sent: it is only imported."""

from preheat.agents.places import Places, nothing, nowhere

PLACES = Places("codex_exec", "Codex exec --json", 1, nowhere, nothing)
