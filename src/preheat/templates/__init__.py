"""Templates: chosen lessons under a name with a history. Build, keep, compare, share. Knows no archive and no learner."""
