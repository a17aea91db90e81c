"""A context as an agent or a provider takes it. Frozen values; the forms themselves are in `provisioning` and in agents'
folders.

A form arranges what `provisioning` has made ready, and makes no text of its own: so every form says the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.context import Context

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

PREHEAT_CALL = "preheat_"
"""The id of every call that Preheat puts into a history begins with this, so that it can be told from the agent's own."""

NOTED = "Noted: observations from earlier sessions."
CALLS_WORKED = "These calls worked."
PREHEAT_SAID = frozenset((NOTED, CALLS_WORKED))
"""What an assistant says in a history that Preheat made, word for word: it is not the agent's."""


class Exchange(msgspec.Struct, frozen=True):
    """A real call with its real result, as a history shows it."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: str
    agent: str = ""

    @property
    def encoded(self) -> str:
        """The arguments as JSON text."""
        return msgspec.json.encode(self.arguments).decode()


class Said(msgspec.Struct, frozen=True):
    """One message in no provider's form: a text; of an assistant also a call; of a tool the call that it answers."""

    role: Role
    text: str
    call: Exchange | None = None

    @property
    def read(self) -> str:
        """What a model reads of it."""
        if self.call is None or self.role == "tool":
            return self.text
        return " ".join(filter(None, (self.text, self.call.tool, self.call.encoded)))


class Parts(NamedTuple):
    """What a form has to arrange."""

    context: Context
    text: str
    """All of it in one block; empty where there is nothing to say."""
    said: tuple[Said, ...]
    """The same as messages, with the examples as calls; the task is not among them."""

    @property
    def asked(self) -> tuple[Said, ...]:
        """The task as a message; providers refuse an empty one."""
        return (Said("user", self.context.task),) if self.context.task.strip() else ()


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A context in one form."""

    format: str
    document: Any
    """A text, or the lists and dictionaries of a JSON document."""
    said: tuple[Said, ...] = ()
    """What the model reads, message by message."""
    files: dict[str, str] = {}
    """For forms that are files: their texts by their paths below the folder they go to."""

    @property
    def text(self) -> str:
        """The document as it is printed or written to a file."""
        if isinstance(self.document, str):
            return self.document
        return msgspec.json.format(msgspec.json.encode(self.document), indent=2).decode()


class Renderer(NamedTuple):
    """One form."""

    name: str
    says: str
    """What it is, in a few words."""
    render: Callable[[Parts], Rendered]
    agent: str = ""
    """The agent that alone takes it: other agents' examples are left out."""
    messages: bool = False
    """It is made of messages, in which examples stand as calls."""
    place: Callable[[str, str], str] | None = None
    """Puts the text into a file that may have other contents: by those and the text, the new contents."""
    begins: bool = False
    """The agent can be given it as a session of its own to go on with: see `Begin`."""


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A session that stands in the agent's own store and waits for its first request."""

    session: str
    title: str
    store: str
    """The file that it was put into, by the agent's own program."""
    version: str
    """Of that program."""
    messages: int
    resume: tuple[str, ...]
    """The command that goes on with it."""
    undo: tuple[str, ...]
    """The command that deletes it."""


Begin: TypeAlias = Callable[[Rendered, str, Mapping[str, str]], Begun]
"""Makes a session of what was rendered, for work in a folder, with the settings of an environment. Raises UserError."""
