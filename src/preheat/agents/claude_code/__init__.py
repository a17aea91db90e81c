"""Claude Code: JSONL transcripts, one file a session, subagents in files of their own."""
