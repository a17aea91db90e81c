"""Forms of a context for agents and providers. Frozen values; the forms themselves are in `provisioning` and in `agents`.

A form arranges what `provisioning` has made ready and adds no text of its own, so that all forms say the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.context import Context

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

PREHEAT_CALL = "preheat_"
"""Ids of calls that Preheat puts into a history begin with this, so that they differ from the agent's own."""

NOTED_REPLY = "Noted: observations from earlier sessions."
CALLS_WORKED_REPLY = "These calls worked."
PREHEAT_REPLIES = frozenset((NOTED_REPLY, CALLS_WORKED_REPLY))
"""The texts of the assistant in a history that Preheat made: they are not the agent's."""


class ExampleCall(msgspec.Struct, frozen=True):
    """A real call with its result, as part of a history."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: str
    agent: str = ""

    @property
    def arguments_json(self) -> str:
        """The arguments as JSON text."""
        return msgspec.json.encode(self.arguments).decode()


class RenderedMessage(msgspec.Struct, frozen=True):
    """One message in no provider's form: a text, and for an assistant its call, for a tool the call that it answers."""

    role: Role
    text: str
    call: ExampleCall | None = None

    @property
    def model_text(self) -> str:
        """The text that a model reads."""
        if self.call is None or self.role == "tool":
            return self.text
        return " ".join(filter(None, (self.text, self.call.tool, self.call.arguments_json)))


class RenderParts(NamedTuple):
    """What a form arranges."""

    context: Context
    text: str
    """The whole context in one block; empty for an empty context."""
    messages: tuple[RenderedMessage, ...]
    """The context as messages, with examples as calls; without the task."""

    @property
    def task_messages(self) -> tuple[RenderedMessage, ...]:
        """The task as a message; none for an empty task, which providers refuse."""
        return (RenderedMessage("user", self.context.task),) if self.context.task.strip() else ()


class RenderedContext(msgspec.Struct, frozen=True, kw_only=True):
    """A context in one form."""

    format: str
    document: Any
    """A text, or the lists and dictionaries of a JSON document."""
    messages: tuple[RenderedMessage, ...] = ()
    """The messages that the model reads."""
    files: dict[str, str] = {}
    """For forms that are files: texts by path below the target folder."""

    @property
    def text(self) -> str:
        """The document as it is printed or written to a file."""
        if isinstance(self.document, str):
            return self.document
        return msgspec.json.format(msgspec.json.encode(self.document), indent=2).decode()


class Renderer(NamedTuple):
    """One form."""

    name: str
    description: str
    """A description in a few words."""
    render: Callable[[RenderParts], RenderedContext]
    agent: str = ""
    """The only agent that takes it: examples of other agents are left out."""
    uses_messages: bool = False
    """It consists of messages, with examples as calls."""
    insert: Callable[[str, str], str] | None = None
    """Inserts the text into a file with other contents: takes those and the text, returns the new contents."""
    can_start_session: bool = False
    """The agent can continue it as a session of its own: see `StartSession`."""


class StartedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in the agent's own store that waits for its first request."""

    session: str
    title: str
    store: str
    """The file that the agent's program put it into."""
    version: str
    """Of the agent's program."""
    messages: int
    resume: tuple[str, ...]
    """The command that continues it."""
    undo: tuple[str, ...]
    """The command that deletes it."""


StartSession: TypeAlias = Callable[[RenderedContext, str, Mapping[str, str]], StartedSession]
"""Makes a session of a rendered context, for a folder and an environment. Raises UserError."""
