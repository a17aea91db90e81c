"""What each arm gives to the model in an invented project. Pure; knows no model.

The warm arm is the product's own rendering of examples as messages, `text` its rendering as one block of text; a note is
written by rule from the same facts (`projects.note`). The placebo is the warm context of another project, made as long.
"""

from collections.abc import Sequence

import msgspec

from preheat.model.context import Context, ContextLesson
from preheat.model.lesson import Example, Lesson, Scope, Support
from preheat.provisioning.messages import make_parts
from preheat.provisioning.words import describe_lesson
from study.chat import Message
from study.given import ArmContext
from study.projects import Project, project_note, shown_calls

K = 4
"""Examples in the warm arm, chosen before any result: the fewest that show every fact which tasks need."""
MAIN = ("cold", "placebo", "note", "warm")
MORE = ("note+warm", "text")
DOSES = (1, 2, 8)
"""Beside `K`, on the first projects only."""
DOSED_PROJECTS = 14


def example_context(of: Project, k: int) -> Context:
    """The first `k` good calls as the product would hand them out."""
    items = []
    for place, call in enumerate(shown_calls(of)[:k]):
        example = Example(tool="bash", arguments={"command": call.command}, result=call.result, kind="shell")
        lesson = Lesson(
            id=f"{of.name}-{place}",
            kind="example",
            scope=Scope(project=of.name, tool="bash"),
            text=f"`{call.command}` worked.",
            example=example,
            support=Support(calls_for=1, sessions_for=1),
        )
        items.append(
            ContextLesson(
                lesson=lesson.id, kind="example", text=describe_lesson(lesson), example=example, tokens=0, value=1.0
            )
        )
    return Context(id="0a" * 6, task="", project=of.name, items=tuple(items), sessions=k)


def warm_arm(of: Project, k: int = K) -> ArmContext:
    return ArmContext(messages=context_messages(example_context(of, k)))


def context_messages(of: Context) -> tuple[Message, ...]:
    """A context without facts as the messages of a chat; facts would be a second system message and are refused."""
    found = []
    for said in make_parts(of).messages:
        if said.role == "system":
            raise ValueError("only examples can be messages here")
        command = str(said.call.arguments["command"]) if said.call is not None and said.role == "assistant" else ""
        found.append(Message(said.role, said.text, command))
    return tuple(found)


def text_arm(of: Project, k: int = K) -> ArmContext:
    return ArmContext(note=make_parts(example_context(of, k)).text)


def arm_context(name: str, of: Project, partner: Project) -> ArmContext:
    """What an arm gives in a project; `partner` is where a placebo comes from, still to be made as long."""
    if name == "cold":
        return ArmContext()
    if name == "note":
        return ArmContext(note=project_note(of))
    if name == "text":
        return text_arm(of)
    if name == "note+warm":
        return ArmContext(project_note(of), warm_arm(of).messages)
    if name == "placebo":
        return warm_arm(partner)
    if name.startswith("warm"):
        return warm_arm(of, int(name.removeprefix("warm") or K))
    raise ValueError(f"no arm `{name}`")


def partner_of(place: int, among: Sequence[Project]) -> Project:
    """The project half-way round: never the same, and of another shape."""
    return among[(place + len(among) // 2) % len(among)]


def contains_answer(given: ArmContext, answer: str) -> bool:
    """Whether a context contains the answer itself."""
    return answer in msgspec.json.encode([given.note, *given.messages]).decode() or answer in given.prefix
