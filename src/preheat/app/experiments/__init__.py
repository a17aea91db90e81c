"""Randomised comparisons: assignment of sessions to arms, results, and withdrawal of what does not help."""
