"""A module that is imported when something of it is first used, so that a command loads only what it needs.

Standard library only.
"""

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class LazyModule:
    """Stands for a module and imports it at the first attribute access, from any thread."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> "Any":
        __import__(self._name)
        return getattr(sys.modules[self._name], attribute)

    def __repr__(self) -> str:
        return f"LazyModule({self._name!r})"
