"""What each arm gives to the model in an invented project. Pure; knows no model.

The warm arm is the product's own rendering of examples as messages, `text` its rendering as one block of text; a note is
written by rule from the same facts (`projects.note`). The placebo is the warm context of another project, made as long.
"""

from collections.abc import Sequence

import msgspec

from preheat.model.context import Context, Item
from preheat.model.lesson import Example, Lesson, Scope, Support
from preheat.provisioning.messages import parts
from preheat.provisioning.words import words
from study.chat import Message
from study.given import Given
from study.projects import Project, note, shown

K = 4
"""Examples in the warm arm, chosen before any result: the fewest that show every fact which tasks need."""
MAIN = ("cold", "placebo", "note", "warm")
MORE = ("note+warm", "text")
DOSES = (1, 2, 8)
"""Beside `K`, on the first projects only."""
DOSED_PROJECTS = 14


def context(of: Project, k: int) -> Context:
    """The first `k` good calls as the product would hand them out."""
    items = []
    for place, call in enumerate(shown(of)[:k]):
        example = Example(tool="bash", arguments={"command": call.command}, result=call.result, kind="shell")
        lesson = Lesson(
            id=f"{of.name}-{place}",
            kind="example",
            scope=Scope(project=of.name, tool="bash"),
            text=f"`{call.command}` worked.",
            example=example,
            support=Support(calls_for=1, sessions_for=1),
        )
        items.append(Item(lesson=lesson.id, kind="example", text=words(lesson), example=example, tokens=0, value=1.0))
    return Context(id="0a" * 6, task="", project=of.name, items=tuple(items), sessions=k)


def warm(of: Project, k: int = K) -> Given:
    return Given(messages=messages_of(context(of, k)))


def messages_of(of: Context) -> tuple[Message, ...]:
    """A context without facts as the messages of a chat; facts would be a second system message and are refused."""
    found = []
    for said in parts(of).said:
        if said.role == "system":
            raise ValueError("only examples can be messages here")
        command = str(said.call.arguments["command"]) if said.call is not None and said.role == "assistant" else ""
        found.append(Message(said.role, said.text, command))
    return tuple(found)


def text(of: Project, k: int = K) -> Given:
    return Given(note=parts(context(of, k)).text)


def arm(name: str, of: Project, partner: Project) -> Given:
    """What an arm gives in a project; `partner` is where a placebo comes from, still to be made as long."""
    if name == "cold":
        return Given()
    if name == "note":
        return Given(note=note(of))
    if name == "text":
        return text(of)
    if name == "note+warm":
        return Given(note(of), warm(of).messages)
    if name == "placebo":
        return warm(partner)
    if name.startswith("warm"):
        return warm(of, int(name.removeprefix("warm") or K))
    raise ValueError(f"no arm `{name}`")


def partner_of(place: int, among: Sequence[Project]) -> Project:
    """The project half-way round: never the same, and of another shape."""
    return among[(place + len(among) // 2) % len(among)]


def leaks(given: Given, answer: str) -> bool:
    """Whether a context contains the answer itself."""
    return answer in msgspec.json.encode([given.note, *given.messages]).decode() or answer in given.prefix
