"""HTML as text, in which every value is escaped.

Names of projects, tools and models, and messages out of tools, are data: nothing in them is markup on the page.
"""

from collections.abc import Iterable
from html import escape

_CONTROL = dict.fromkeys((*range(32), 127, *range(128, 160), 8232, 8233, *range(8234, 8239), *range(8294, 8298)), " ")
"""Characters that break lines, end documents or turn the direction of writing."""


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape_text(value: object) -> Html:
    """Anything as text on the page; markup stays as it is."""
    if isinstance(value, Html):
        return value
    plain = str(value).translate(_CONTROL)
    return Html(escape(plain.encode("utf-8", "replace").decode(), quote=True))


def tag(name: str, *inside: object, **attributes: object) -> Html:
    """An element. `class_` stands for `class`, and underscores in other attributes for hyphens."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{join(inside)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    return Html(between.join(map(escape_text, parts)))
