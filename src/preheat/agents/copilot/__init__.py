"""GitHub Copilot CLI: `events.jsonl` in one folder a session, subagents in between."""
