"""What a new session is given: the chosen lessons within a token budget, and the forms in which agents take them. Frozen values.

Knows nothing of how lessons are chosen. A form arranges what `provisioning` has made ready and adds no text of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.lesson import Example, LessonKind

TOKEN_BUDGET = 2000
"""Tokens. One agent moves hook texts over 2,500 tokens to a file, and more lessons lower success rather than raise it."""


class ContextLesson(msgspec.Struct, frozen=True, kw_only=True):
    """One lesson as it is handed out."""

    lesson: str
    """The id of the lesson."""
    kind: LessonKind
    topic: str = ""
    text: str
    """The lesson on one line (a resume packet: a few) for the model to read."""
    example: Example | None = None
    """For message formats: a real call and its result."""
    tokens: int
    """Estimated tokens of the text."""
    value: float
    """What the lesson is worth for this task: lessons are chosen by it."""
    why: str = ""
    """Why the lesson was chosen, with its numbers: for people, not for the model."""
    pinned: bool = False
    """A person wants it given: it is never withheld at random."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """All that a new session is given."""

    id: str
    """A hash of the contents. Every rendering has it in its first line, so that the session that got it can be found."""
    task: str
    """What the session is to do, as far as it is known when the context is made."""
    agent: str = ""
    project: str = ""
    budget: int = TOKEN_BUDGET
    tokens: int = 0
    """Estimated tokens of the rendered text; never over the budget."""
    items: tuple[ContextLesson, ...] = ()
    """The chosen lessons; empty where there is nothing to give."""
    addendum: str = ""
    """A text by the person, from a template, placed before the lessons."""
    template: str = ""
    """Name and digest (`name@digest`) of the template that it was made from; empty: from lessons of the project."""
    reason: str = ""
    """Why the context is empty."""
    sessions: int = 0
    """How many earlier sessions the lessons rest on, as far as is known."""
    considered: int = 0
    """How many lessons could have been chosen."""
    left_out: dict[str, int] = {}
    """How many lessons were not taken, by reason."""

    @property
    def is_from_this_project(self) -> bool:
        """Whether all lessons were learned in the session's own project; a template may be from elsewhere."""
        return bool(self.project) and not self.template


# The forms in which agents and providers take a context.
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
    """What a renderer arranges: a context, as one text and as messages."""

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
    """A context in the form that one agent or provider takes."""

    format: str
    """The name of the form, as in `Renderer.name`."""
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
    """One form in which a context can be written."""

    name: str
    description: str
    """What the form is, in a few words."""
    render: Callable[[RenderParts], RenderedContext]
    agent: str = ""
    """The only agent that takes this form; empty: any. Examples from other agents are left out."""
    uses_messages: bool = False
    """The form consists of messages, with examples as calls."""
    insert: Callable[[str, str], str] | None = None
    """Puts the text into a file with other contents: takes the contents and the text, returns the new contents."""
    can_start_session: bool = False
    """The agent can continue the form as a session of its own: see `StartSession`."""


class StartedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in the agent's own store that waits for its first request."""

    session: str
    """The agent's id of the session."""
    title: str
    store: str
    """The file that the agent's program put the session into."""
    version: str
    """Version of the agent's program."""
    messages: int
    """How many messages the session begins with."""
    resume: tuple[str, ...]
    """The command that continues the session."""
    undo: tuple[str, ...]
    """The command that deletes the session."""


StartSession: TypeAlias = Callable[[RenderedContext, str, Mapping[str, str]], StartedSession]
"""Makes a session of a rendered context, for a folder and an environment. Raises UserError."""
