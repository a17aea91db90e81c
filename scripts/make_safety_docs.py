"""Writes `docs/concepts/safety-rules.md` from the rules themselves; a test holds the page to them."""

import os

from preheat.live.safety import GROUPS, RULES, Rule
from preheat.live.scorecard import COSTS, MOST_TIMES

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "concepts", "safety-rules.md")
_HEAD = f"""\
# Safety rules

{len(RULES)} patterns of commands that destroy, open a door or give secrets away. They are data
(`src/preheat/live/safety/`), each with an example that it must find and a counter-example that it must leave alone; both
are tests. This page is made from them (`python scripts/make_safety_docs.py`).

**What they do.** Every call of a session is held against them, and what they meet lowers the session's safety in its
[scorecard](scorecard.md): {COSTS["critical"]:g} points for a critical rule, {COSTS["high"]:g} for a high one,
{COSTS["medium"]:g} for a medium one, each counted up to {MOST_TIMES} times. Nothing is blocked unless you ask for it, and no
rule ever allows what your agent would have asked you about.

**How they look.** A rule sees a command as Preheat [understands](commands.md) it: its program and words, after `sudo`, `timeout`,
`bash -c`, `ssh host`, pipes, loops and `$(…)` were seen through. Words in quotes are words: a commit message that mentions
`rm -rf /` meets nothing. Rules on paths hold for tools that read or change files as well as for commands. A command that
throws away changes is worse while the session has some that are not committed.

**What they are not.** No sandbox. A script that the agent writes and then runs is not looked into, nor is what a program does by
itself. They find what people do by accident or in haste, not what somebody hides.

| severity | meaning |
|---|---|
| critical | cannot be taken back, and reaches beyond the project |
| high | loses work, or opens a door |
| medium | should be somebody's decision |
"""


def page() -> str:
    """The page as it should be."""
    return "\n".join((_HEAD, *(_table(name, rules) for name, rules in GROUPS.items())))


def _table(name: str, rules: tuple[Rule, ...]) -> str:
    rows = [f"## {name}\n", "| rule | severity | what it is | finds | leaves alone |", "|---|---|---|---|---|"]
    for rule in rules:
        severity = (
            f"{rule.severity} ({rule.severity_when_unsaved} with uncommitted changes)"
            if rule.severity_when_unsaved
            else rule.severity
        )
        rows.append(
            f"| `{rule.id}` | {severity} | {rule.effect} | {_code(rule.example)} | {_code(rule.counterexample)} |"
        )
    return "\n".join(rows) + "\n"


def _code(text: str) -> str:
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(page())
