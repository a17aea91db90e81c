"""Training: a suite of tasks done by a real agent program, and what of that is of use elsewhere. Knows no archive."""
