"""How `codex exec --json` words what becomes of a call."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(fields={"status": {"declined": "denied", "in_progress": "running"}})
