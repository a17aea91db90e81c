"""The MCP server: the tools, a prompt and the templates for every program that speaks the Model Context Protocol.

Needs the official SDK (`pip install "preheat[mcp]"`), which is heavy: whoever serves imports `stdio` or `http` then.
"""
