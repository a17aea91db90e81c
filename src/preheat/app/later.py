"""Modules that are imported when they are first used: the application object knows all use cases, a command needs one.

Standard library only, and light.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Later:
    """Stands for a module until something of it is asked for. Several threads may ask at once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> "Any":
        __import__(self._name)
        return getattr(sys.modules[self._name], attribute)

    def __repr__(self) -> str:
        return f"Later({self._name!r})"
