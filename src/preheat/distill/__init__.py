"""Distilling: sessions in short for a person's own agent, and what it answers, verified call by call. Pure; runs nothing."""
