"""Gemini CLI: a journal of JSONL for each session, formerly one JSON document."""
