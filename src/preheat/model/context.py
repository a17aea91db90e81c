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
    """Its id."""
    kind: LessonKind
    topic: str = ""
    text: str
    """One line (a resume packet: a few) for the model to read."""
    example: Example | None = None
    """For message formats: a real call and its result."""
    tokens: int
    value: float
    why: str = ""
    """Why it was chosen, with its numbers: for people, not for the model."""
    pinned: bool = False
    """A person wants it given: it is never withheld at random."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A whole context. Without items it is empty, and `reason` says why."""

    id: str
    """A hash of the contents. Every rendering has it in its first line, so that the session that got it can be found."""
    task: str
    agent: str = ""
    project: str = ""
    budget: int = TOKEN_BUDGET
    tokens: int = 0
    """Of the rendered text, as estimated; never over the budget."""
    items: tuple[ContextLesson, ...] = ()
    addendum: str = ""
    template: str = ""
    """Name and digest (`name@digest`) where it was made from a template."""
    reason: str = ""
    sessions: int = 0
    """How many earlier sessions the lessons rest on, as far as is known."""
    considered: int = 0
    left_out: dict[str, int] = {}
    """How many lessons were not taken, by reason."""

    @property
    def is_from_this_project(self) -> bool:
        """Whether all lessons were learned in the session's own project; a template may be from elsewhere."""
        return bool(self.project) and not self.template


# Forms of a context for agents and providers.
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
