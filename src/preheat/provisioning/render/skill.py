"""`skill`: a folder with a `SKILL.md`, which an agent reads when its description fits the task."""

import json
import re

from preheat.model.rendering import RenderedContext, Renderer, RenderParts
from preheat.provisioning.render.plain import system_message
from preheat.safe_text.quotation import make_harmless_line

_NOT_IN_SKILL_NAMES = re.compile("[^a-z0-9]+")
_LONGEST_SKILL_NAME = 64


def _render_skill(parts: RenderParts) -> RenderedContext:
    if not parts.text:
        return RenderedContext(format="skill", document="")
    name = _skill_name(parts.context.project or parts.context.template.partition("@")[0])
    where = f" in {make_harmless_line(parts.context.project, 80)}" if parts.context.project else ""
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
    last = re.split(r"[\\/]", project.rstrip("\\/"))[-1].lower()
    plain = _NOT_IN_SKILL_NAMES.sub("-", last).strip("-")
    return f"preheat-{plain or 'context'}"[:_LONGEST_SKILL_NAME].rstrip("-")


SKILL = Renderer("skill", "a folder with a SKILL.md", _render_skill)
