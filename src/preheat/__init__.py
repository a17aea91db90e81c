"""Preheat: start every session of a coding agent as good as the end of its best one.

>>> import preheat
>>> preheat.open("somewhere").folder.endswith("somewhere")
True

Importing the package does nothing; a name is imported when it is first used.
"""

TYPE_CHECKING = False  # importing `typing` would cost more than a sync that finds nothing new
if TYPE_CHECKING:
    from typing import Any

    from preheat.app import Preheat, open, provision, render  # noqa: A004 - read as `preheat.open()`

__version__ = "0.2.0"

_PUBLIC = ("Preheat", "open", "provision", "render")
__all__ = ["Preheat", "__version__", "open", "provision", "render"]


def __getattr__(name: str) -> "Any":
    if name in _PUBLIC:
        from preheat import app  # noqa: PLC0415 - asking for the version must not load the application

        return getattr(app, name)
    raise AttributeError(f"module `preheat` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
