"""Cursor: transcripts of its agent as JSONL, and the editor's own database."""
