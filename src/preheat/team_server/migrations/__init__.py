"""The migrations of the team's schema, run by its owner."""
