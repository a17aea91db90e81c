"""Codex CLI: rollout files below `sessions/` and `archived_sessions/`, plain or compressed."""
