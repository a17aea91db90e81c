"""Pi: sessions as trees of entries, one JSONL file each."""
