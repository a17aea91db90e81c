"""Receipts: what a session was told, what was seen of it, and what it cost. A pure stage over the daemon's journal."""

from preheat.receipts.fold import update_receipt
from preheat.receipts.summary import add_up, describe_seen, describe_session

__all__ = ["add_up", "describe_seen", "describe_session", "update_receipt"]
