"""Templates as resources: as the text that a session is given, and as JSON. The store keeps them; nothing is made here."""

from urllib.parse import unquote

import msgspec
from mcp import types

from preheat.app import stages as pipeline
from preheat.errors import NotFound, UserError
from preheat.model.context import BUDGET
from preheat.safe_text.letters import visible
from preheat.safe_text.quotation import harmless_line, in_value
from preheat.templates.store import Store

SCHEME = "preheat://templates/"
AS_JSON = "/json"
TEMPLATES = (
    types.ResourceTemplate(
        name="template",
        title="A template as text",
        uri_template=f"{SCHEME}{{name}}",
        description="What a session is given of a template; `name`, or a version of it: `name@digest`, `name@-1`",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        name="template-json",
        title="A template as JSON",
        uri_template=f"{SCHEME}{{name}}{AS_JSON}",
        description="All of a template: its lessons with what they rest on",
        mime_type="application/json",
    ),
)
_DESCRIPTION = 200


def listed(folder: str) -> list[types.Resource]:
    """The templates that can be handed out, each as text; one that cannot be read is listed with the reason."""
    store = Store(folder)
    found: list[types.Resource] = []
    for name in store.names():
        try:
            if store.state(name).live is None:
                continue  # imported, and not reviewed yet
            template = store.find(name).template
            says = harmless_line(template.description, _DESCRIPTION) or f"{len(template.lessons):,} lessons"
        except UserError as error:
            says = harmless_line(str(error), _DESCRIPTION)
        found.append(types.Resource(name=name, uri=f"{SCHEME}{name}", description=says, mime_type="text/plain"))
    return found


def read(folder: str, address: str) -> types.TextResourceContents:
    """A template. Raises PreheatError."""
    if not address.startswith(SCHEME):
        raise NotFound(f"there is no resource `{address[:100]}`; there are `{SCHEME}NAME` and `{SCHEME}NAME{AS_JSON}`")
    name = unquote(address.removeprefix(SCHEME))
    as_json = name.endswith(AS_JSON)
    version = Store(folder).find(name.removesuffix(AS_JSON))
    if as_json:
        value = in_value(visible, {**msgspec.to_builtins(version.template), "digest": version.digest})
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
        return types.TextResourceContents(uri=address, mime_type="application/json", text=text)
    task = " ".join((version.template.description, version.name, *version.template.tags))
    context = pipeline.provision(folder, task, template=f"{version.name}@{version.digest}", budget=2 * BUDGET)
    text = pipeline.render(context).text or f"Nothing of it can be handed out now: {context.reason}"
    return types.TextResourceContents(uri=address, mime_type="text/plain", text=text)
