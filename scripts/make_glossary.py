"""Writes the list of values at the end of `docs/glossary.md` from the public types of `preheat.model`.

    python scripts/make_glossary.py

The words above it are written by hand; `tests/test_glossary.py` holds both to the code.
"""

import importlib
import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Iterator

import msgspec

import preheat.model

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "glossary.md")
_MARKS = re.compile(r"(<!-- values -->\n).*?(<!-- /values -->)", re.DOTALL)


def public_types() -> Iterator[tuple[str, str, type]]:
    """Module, name and type of every public value, in the order of the modules and of the code."""
    for module in sorted(each.name for each in pkgutil.iter_modules(preheat.model.__path__)):
        inside = importlib.import_module(f"preheat.model.{module}")
        for name, value in vars(inside).items():
            if isinstance(value, type) and value.__module__ == inside.__name__ and not name.startswith("_"):
                yield module, name, value


def summary(value: type) -> str:
    """The first sentence of a type's docstring; empty where it has none of its own."""
    if value.__doc__ in (None, msgspec.Struct.__doc__, tuple.__doc__):
        return ""
    words = " ".join(inspect.cleandoc(value.__doc__ or "").split())
    return re.split(r"(?<=[.:]) (?=[A-Z`])", words)[0].rstrip(".:").replace("|", "\\|")


def values() -> str:
    rows = ["| module | value | what it is |", "|---|---|---|"]
    before = ""
    for module, name, value in public_types():
        rows.append(f"| {'' if module == before else f'`{module}`'} | `{name}` | {summary(value)} |")
        before = module
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with its list of values as the code has them."""
    return _MARKS.sub(lambda found: f"{found[1]}{values()}{found[2]}", text)


def main() -> int:
    with open(PAGE, encoding="utf-8") as stream:
        text = stream.read()
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(page(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
