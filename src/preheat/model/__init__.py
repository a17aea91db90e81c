"""Frozen values that the stages hand to each other; nothing here reads, writes or decides."""
