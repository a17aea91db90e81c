"""Recurring mistakes and their repairs, for every layer: the terminal, the page and the lessons tell of them by these rules.

- `identity`: when two failures are the same mistake, and what it is called.
- `failure`: whether a failed call counts, what form it has, how it is shown.
- `tries`, with `difference` and its two siblings: what was tried after it, and what changed in what was tried.
- `repair`: what usually puts it right.
- `recurring`: the mistakes of many sessions, what they cost, and their repairs.

A recovery is the first success of the same intent within five calls (`calls.intent`). Knows no archive, no lesson and no surface.
"""
