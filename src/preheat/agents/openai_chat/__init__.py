"""OpenAI chat messages as JSON or JSONL, as many tools export them."""
