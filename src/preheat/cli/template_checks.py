"""The checks that templates are looked through with before they leave this machine, and after they come from another.

Puts together what other stages know: instructions and foreign paths from `safe_text`, secrets from `ingest.redact`.
"""

from preheat.ingest.redact import redact
from preheat.safe_text.reasons import foreign, orders
from preheat.templates.findings import Check


def secret(text: str) -> str:
    """Why a text looks as if a secret were in it."""
    counts = redact(text.encode("utf-8", "replace"))[1]
    return f"it looks like a secret ({', '.join(sorted(counts))})" if counts else ""


LEAVING: tuple[Check, ...] = (foreign, secret)
COMING: tuple[Check, ...] = (orders, secret)
