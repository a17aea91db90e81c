"""`agents-md`: a block between two marks, for a file of instructions that people edit too. A new block replaces the old one.

Knows no file: `place` takes the contents and gives the new contents.
"""

import re

from preheat.model.rendering import RenderedContext, Renderer, RenderParts
from preheat.provisioning.render.plain import system_message

BEGIN, END = "<!-- preheat:begin", "<!-- preheat:end -->"
_OLD_BLOCK = re.compile(rf"\n*{BEGIN}[^\n]*-->\n.*?{END}\n?", re.DOTALL)


def _render_agents_md(parts: RenderParts) -> RenderedContext:
    document = ""
    if parts.text:
        begin = f'{BEGIN} id="{parts.context.id}" (written by Preheat: changes in here are lost) -->'
        document = f"{begin}\n{parts.text}\n{END}\n"
    return RenderedContext(format="agents-md", document=document, messages=system_message(parts))


def place_block(contents: str, block: str) -> str:
    """The contents with this block in the place of an earlier one, else at the end; an empty block removes the earlier one."""
    found = _OLD_BLOCK.search(contents)
    if found is None:
        if not block:
            return contents
        before = contents.rstrip("\n")
        return f"{before}\n\n{block}" if before else block
    before, after = contents[: found.start()], _OLD_BLOCK.sub("", contents[found.end() :])
    middle = f"\n\n{block}" if before and block else block
    if not block and before and not before.endswith("\n"):
        before += "\n"
    return f"{before}{middle}{after}"


AGENTS_MD = Renderer("agents-md", "a block for AGENTS.md", _render_agents_md, insert=place_block)
