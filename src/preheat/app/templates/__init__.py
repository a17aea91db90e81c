"""Templates: built, stored, shared, loaded for a project; and their uses."""
