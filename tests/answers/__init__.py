"""Tests of answers on the spot."""
