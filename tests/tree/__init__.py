"""The index of a working tree."""
