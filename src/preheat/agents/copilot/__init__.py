"""GitHub Copilot CLI: `events.jsonl` in one folder a session, the events of subagents among them."""
