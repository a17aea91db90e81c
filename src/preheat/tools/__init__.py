"""The tools that a model can call through MCP, a plugin, or `preheat admin tool`.

>>> from preheat.tools import call
>>> call("no_such_tool", {}, "somewhere", ".")["success"]
False

`TOOLS` has the tools in the order in which they are listed.
"""

from preheat.tools.registry import TOOLS, call
from preheat.tools.tool import Tool, ToolRequest

__all__ = ["TOOLS", "Tool", "ToolRequest", "call"]
