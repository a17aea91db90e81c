"""Trains a template: runs a suite of tasks with a real agent program, and learns from what it did there."""
