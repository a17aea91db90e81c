"""The formats that a context can be rendered in. Knows no agent: agents bring formats of their own.

Every format carries the context's id in its first line, and all of them say the same.
"""

from collections.abc import Iterable

from preheat.errors import UserError
from preheat.model.context import Context
from preheat.model.rendering import RenderedContext, Renderer
from preheat.provisioning.messages import make_parts
from preheat.provisioning.render.agents_md import AGENTS_MD
from preheat.provisioning.render.anthropic import ANTHROPIC
from preheat.provisioning.render.hook import HOOK
from preheat.provisioning.render.mcp_prompt import MCP_PROMPT
from preheat.provisioning.render.openai import OPENAI
from preheat.provisioning.render.plain import TEXT
from preheat.provisioning.render.skill import SKILL

FORMATS: tuple[Renderer, ...] = (TEXT, OPENAI, ANTHROPIC, HOOK, AGENTS_MD, SKILL, MCP_PROMPT)
"""In the order in which they are shown to people."""


def render(context: Context, form: str | Renderer, formats: Iterable[Renderer] = FORMATS) -> RenderedContext:
    """A context in a format, which may be named by its name among `formats`."""
    if isinstance(form, str):
        named = {each.name: each for each in formats}
        if form not in named:
            raise UserError(f"no form `{form}`; there are {', '.join(named)}")
        form = named[form]
    return form.render(make_parts(context, form.agent))
