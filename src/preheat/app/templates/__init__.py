"""Templates: made, kept, shared, loaded for a project, and their uses."""
