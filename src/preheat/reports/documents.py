"""What documents share: a whole page around its body, and texts of sessions that mark nothing up. Knows no document."""

import re
from importlib.resources import files

from preheat.reports.charts import Html, tag

_CONTROL = dict.fromkeys(code for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10))
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def make_page(title: str, body: Html, style: str = "") -> str:
    """A whole page that loads nothing and runs nothing."""
    css = files("preheat.reports").joinpath("report.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">{tag("title", title)}<style>{css}{style}</style>'
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def clean_text(text: str) -> str:
    """A text without control characters, which every file can hold."""
    return text.replace("\r\n", "\n").translate(_CONTROL).encode("utf-8", "replace").decode()


def escape_markdown(text: str) -> str:
    """A text on one line in which Markdown marks nothing up, but for code between backticks."""
    pieces = " ".join(clean_text(text).split()).split("`")
    if len(pieces) % 2 == 0:  # a backtick without its partner
        return re.sub(r"([\\`*_\[\]<>#|!])", r"\\\1", "`".join(pieces))
    return "`".join(
        piece if number % 2 else re.sub(r"([\\*_\[\]<>#|!])", r"\\\1", piece) for number, piece in enumerate(pieces)
    )
