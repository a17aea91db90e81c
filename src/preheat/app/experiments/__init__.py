"""Proof: who gets what at random, what came of it, and what is withdrawn because of that."""
