"""tau-bench: result files, imported one at a time."""
