"""The formats that a context can be rendered in, and `render`. Knows no agent: agents bring formats of their own.

Every format carries the context's id in its first line, and all of them say the same.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from preheat.errors import UserError
from preheat.model.context import Context, RenderedContext, RenderedMessage, Renderer, RenderParts
from preheat.provisioning.messages import make_parts
from preheat.safe_text.slots import fit_name, fit_project
from preheat.safe_text.words import first_words


# `text`
def _render_text(parts: RenderParts) -> RenderedContext:
    return RenderedContext(format="text", document=parts.text, messages=system_message(parts))


def system_message(parts: RenderParts) -> tuple[RenderedMessage, ...]:
    """The one message of a format that is a single text."""
    return (RenderedMessage("system", parts.text),) if parts.text else ()


TEXT = Renderer("text", "the block by itself", _render_text)


# `openai`
def _render_openai(parts: RenderParts) -> RenderedContext:
    messages = (*parts.messages, *parts.task_messages)
    return RenderedContext(format="openai", document=[_openai_message(each) for each in messages], messages=messages)


def _openai_message(message: RenderedMessage) -> dict[str, Any]:
    if message.call is None:
        return {"role": message.role, "content": message.text}
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call.id, "content": message.text}
    function = {"name": message.call.tool, "arguments": message.call.arguments_json}
    return {
        "role": "assistant",
        "content": message.text or None,
        "tool_calls": [{"id": message.call.id, "type": "function", "function": function}],
    }


OPENAI = Renderer("openai", "chat messages with tool calls", _render_openai, uses_messages=True)


# `anthropic`
def _render_anthropic(parts: RenderParts) -> RenderedContext:
    messages = (*parts.messages, *parts.task_messages)
    system = "\n\n".join(each.text for each in messages if each.role == "system")
    document: dict[str, Any] = {"system": system} if system else {}
    document["messages"] = [_anthropic_message(each) for each in messages if each.role != "system"]
    return RenderedContext(format="anthropic", document=document, messages=messages)


def _anthropic_message(message: RenderedMessage) -> dict[str, Any]:
    if message.call is None:
        return {"role": message.role, "content": message.text}
    if message.role == "tool":
        return {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": message.call.id, "content": message.text}],
        }
    block = {"type": "tool_use", "id": message.call.id, "name": message.call.tool, "input": message.call.arguments}
    return {"role": "assistant", "content": [block]}


ANTHROPIC = Renderer("anthropic", "system text and messages with tool blocks", _render_anthropic, uses_messages=True)


# `hook`
def _render_hook(parts: RenderParts) -> RenderedContext:
    output = {"hookEventName": "SessionStart", "additionalContext": parts.text}
    document: dict[str, Any] = {"hookSpecificOutput": output} if parts.text else {}
    return RenderedContext(format="hook", document=document, messages=system_message(parts))


HOOK = Renderer("hook", "a hook's answer at the start of a session", _render_hook)


# `agents-md`
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


# `skill`
_NOT_IN_SKILL_NAMES = re.compile("[^a-z0-9]+")
_LONGEST_SKILL_NAME = 64


def _render_skill(parts: RenderParts) -> RenderedContext:
    if not parts.text:
        return RenderedContext(format="skill", document="")
    name = _skill_name(parts.context.project or parts.context.template.partition("@")[0])
    project = fit_project(parts.context.project)
    where = f" in {project}" if project else ""
    description = (
        f"What earlier sessions{where} found out: commands that work, variants that fail, errors and their repairs."
        " Read before running tests, builds or other commands."
    )
    # A JSON string is a valid YAML string on one line.
    heading = f"---\nname: {name}\ndescription: {json.dumps(description, ensure_ascii=False)}\n---\n"
    document = f"{heading}\n{parts.text}\n"
    return RenderedContext(
        format="skill", document=document, messages=system_message(parts), files={f"{name}/SKILL.md": document}
    )


def _skill_name(project: str) -> str:
    last = re.split(r"[\\/]", project.rstrip("\\/"))[-1]
    last = fit_name(last) or first_words(last)  # no name: its first words
    plain = _NOT_IN_SKILL_NAMES.sub("-", last.lower()).strip("-")
    return f"preheat-{plain or 'context'}"[:_LONGEST_SKILL_NAME].rstrip("-")


SKILL = Renderer("skill", "a folder with a SKILL.md", _render_skill)


# `mcp-prompt`
def _render_mcp_prompt(parts: RenderParts) -> RenderedContext:
    texts = (*(RenderedMessage("user", each.text) for each in system_message(parts)), *parts.task_messages)
    many = f"{parts.context.sessions:,} " if parts.context.sessions else ""
    document: dict[str, Any] = {
        "description": parts.context.reason or f"What {many}earlier sessions found out",
        "messages": [{"role": each.role, "content": {"type": "text", "text": each.text}} for each in texts],
    }
    return RenderedContext(format="mcp-prompt", document=document, messages=texts)


MCP_PROMPT = Renderer("mcp-prompt", "the answer to an MCP prompt request", _render_mcp_prompt)


# The formats that a context can be rendered in.
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
