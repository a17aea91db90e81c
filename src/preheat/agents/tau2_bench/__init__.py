"""tau2-bench: result files, imported one at a time."""
