"""The MCP server: the tools, a prompt and the templates for programs that speak the Model Context Protocol.

Needs the official SDK (`pip install "preheat[mcp]"`), which is heavy: import `stdio` or `http` only to serve.
"""
