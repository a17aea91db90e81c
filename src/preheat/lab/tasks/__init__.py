"""Suites of tasks, and what it takes to run one: folders, programs, files that are whole or not there. Knows no agent."""
