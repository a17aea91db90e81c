"""The tools that a model can call, by whatever way it reaches us: MCP, a plugin, or `preheat tool`.

>>> from preheat.tools import call
>>> call("no_such_tool", {}, "somewhere", ".")["success"]
False

One file for each tool; `TOOLS` has them in the order in which they are listed.
"""

from preheat.tools.answering import TOOLS, call
from preheat.tools.tool import Asked, Tool

__all__ = ["TOOLS", "Asked", "Tool", "call"]
