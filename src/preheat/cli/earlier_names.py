"""The commands' names of version 0.1.0 and of the first implementations, each with its name now. Nothing lists them.

Knows only names: what was typed is rewritten before it is parsed.
"""

import sys

EARLIER = {
    "read": "sessions read",
    "replay": "sessions replay",
    "why": "sessions explain",
    "scorecard": "sessions score",
    "rate": "sessions rate",
    "compare": "sessions compare",
    "compress": "sessions compress",
    "export": "sessions export",
    "forget": "sessions delete",
    "watch": "sessions watch",
    "learn": "lessons learn",
    "profile": "report profile",
    "cost": "report cost",
    "compress-check": "report compactions",
    "lab": "experiment lab",
    "ledger": "experiment ledger",
    "warm start": "start",
    "warm analyze": "report profile",
    "warm compare": "sessions compare",
    "warm compress-check": "report compactions",
    "warm create-template": "templates extract",
    "warm list-templates": "templates list",
    "warm": "templates",
    "doctor": "admin doctor",
    "tree": "admin tree",
    "dataset": "admin dataset",
    "serve": "admin serve",
    "mcp": "admin mcp",
    "tool": "admin tool",
    "output": "admin output",
    "completion": "admin completion",
}
"""By one word or two; two are looked up first."""


def translate(arguments: list[str]) -> list[str]:
    """The arguments with the present name of their command. A person at a terminal is told it; programs, which are many of those
    that use earlier names, are not."""
    for words in (2, 1):
        before = " ".join(arguments[:words])
        if len(arguments) >= words and before in EARLIER:
            after = EARLIER[before]
            if sys.stderr.isatty() and "--json" not in arguments:
                print(f"preheat: `preheat {before}` is now `preheat {after}`", file=sys.stderr)
            return [*after.split(), *arguments[words:]]
    return arguments
