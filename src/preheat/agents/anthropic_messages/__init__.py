"""Anthropic messages as JSON or JSONL: conversations, requests and responses."""
