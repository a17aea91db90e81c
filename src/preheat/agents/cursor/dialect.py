"""How Cursor words what becomes of a call."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(fields={"rejected": "denied", "status": {"cancelled": "interrupted"}})
