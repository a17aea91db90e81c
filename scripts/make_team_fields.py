"""Writes the table of every field that is pushed to a team into `docs/guides/team.md`, from `preheat.model.pushed`.

    python scripts/make_team_fields.py

`tests/team/test_guide.py` holds the page to the code.
"""

import os
import re

from preheat.model.pushed import PUSHED_TABLES, list_pushed_fields

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "guides", "team.md")
_MARKS = re.compile(r"(<!-- fields -->\n).*?(<!-- /fields -->)", re.DOTALL)


def fields() -> str:
    rows = ["| table | field | what it is | `derived` | `transcripts` | `nothing` |", "|---|---|---|---|---|---|"]
    before = ""
    for each in list_pushed_fields():
        table = "" if each.table == before else f"`{each.table}`, one row for {_ONE[each.table]}"
        marks = " | ".join(("yes" if each.level == "derived" else "no", "yes", "no"))
        rows.append(f"| {table} | `{each.name}` | {each.about} | {marks} |")
        before = each.table
    return "\n".join(rows) + "\n"


_ONE = {
    "sessions": "each session",
    "outcomes": "each kind of calls of a session and the way they ended",
    "episodes": "each prompt of a session",
    "lessons": "each lesson that you approved",
    "transcripts": "each session",
}
assert set(_ONE) == set(PUSHED_TABLES)


def page(text: str) -> str:
    """The page with its table as the code has it."""
    return _MARKS.sub(lambda found: f"{found[1]}{fields()}{found[2]}", text)


def main() -> int:
    with open(PAGE, encoding="utf-8") as stream:
        text = stream.read()
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(page(text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
