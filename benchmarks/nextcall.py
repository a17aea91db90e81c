"""The plan of the next-call study: real sessions in time order. Needs the shared sessions beside the checkout.

The first 60 % of each project's sessions are learned from; later ones give calls that really succeeded, each with what came
just before it. What is scored is how likely the model finds that very command, given what `provision` makes of the earlier
sessions (warm), the same lessons as prose (note), another project's context of the same length (placebo) or nothing. Plans
hold text of real sessions: they stay outside of the repository, where only figures go.
"""

import random
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from benchmarks.foresight import EARLIER, command_of, learn_lessons, opening_text, projects, take_notes
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text
from preheat.facts.choice import choose_for_prompt
from preheat.facts.start_choice import choose_for_start
from preheat.lab.study.plan import Cell, Plan, StudyTask, make_plan
from preheat.lab.study.prompts import ArmContext, Message
from preheat.model.context import Context
from preheat.model.lesson import Lesson
from preheat.model.session import ToolCall, UserMessage
from preheat.provisioning import provision
from preheat.provisioning.lesson_text import fit_example
from preheat.provisioning.messages import make_parts

SEED = 20261116
SESSIONS = 25
"""Later sessions of a project at most, drawn."""
CALLS = 4
"""Calls of a session at most, drawn."""
SHORTEST, LONGEST = 8, 200
"""Characters of a command."""
ARMS = ("cold", "placebo", "note", "warm")
MESSAGES = "messages"
"""What the product gives as messages, with real calls of the shell as examples: run after the others."""
_PROMPT, _COMMAND, _RESULT = 600, 300, 200
"""Characters of what stands before the call."""
_PLAIN = re.compile(r"[A-Za-z][^\n\t\"\\]*[A-Za-z0-9]")
"""Commands that stand in JSON as they are, and begin and end where tokens do."""


def make_nextcall_plan(sessions_by_project: dict[str, list[JudgedSession]] | None = None) -> Plan:
    """The plan; `found` are the projects' sessions in time order, read if they are not given."""
    sessions_by_project = sessions_by_project or projects()
    draw = random.Random(SEED)
    contexts: dict[str, ArmContext] = {"cold": ArmContext()}
    chosen: dict[str, list[_ChosenSession]] = {}
    for source, sessions in sorted(sessions_by_project.items()):
        chosen[source] = _choose_sessions(source, sessions, draw)
    sources = sorted(chosen)
    cells: list[Cell] = []
    later: list[Cell] = []
    tasks_asked: list[StudyTask] = []
    matched: dict[str, str] = {}
    rounds = max(len(sessions_chosen) for sessions_chosen in chosen.values())
    for turn in range(rounds):
        for place, source in enumerate(sources):
            if turn >= len(chosen[source]):
                continue
            session, context, with_examples, by_id, tasks = chosen[source][turn]
            other = chosen[sources[(place + 1) % len(sources)]]
            name = session.key
            contexts[f"{name}/warm"] = ArmContext(make_parts(context).text)
            contexts[f"{name}/{MESSAGES}"] = message_context(with_examples)
            later += [Cell(task.id, MESSAGES, f"{name}/{MESSAGES}") for task in tasks]
            contexts[f"{name}/note"] = ArmContext(note_text([by_id[item.lesson] for item in context.items]))
            contexts[f"{name}/placebo"] = ArmContext(make_parts(other[turn % len(other)][1]).text)
            matched[f"{name}/placebo"] = f"{name}/warm"
            tasks_asked += tasks
            for arm in _rotate(turn):
                cells += [Cell(task.id, arm, "cold" if arm == "cold" else f"{name}/{arm}") for task in tasks]
    return make_plan("nextcall", contexts, matched, tasks_asked, [*cells, *later])


def _rotate(turn: int) -> tuple[str, ...]:
    place = turn % len(ARMS)
    return ARMS[place:] + ARMS[:place]


class _ChosenSession(NamedTuple):
    of: JudgedSession
    context: Context
    with_examples: Context
    by_id: dict[str, Lesson]
    tasks: list[StudyTask]


def _choose_sessions(source: str, sessions: Sequence[JudgedSession], draw: random.Random) -> list[_ChosenSession]:
    """Later sessions with their context and calls. One without fit calls or with nothing to give is passed over."""
    cut = int(EARLIER * len(sessions))
    project = source.partition("__")[2]
    lessons = learn_lessons(project, take_notes(sessions[:cut]))
    started = {each.id: each for each in choose_for_start(lessons)}
    by_id = {lesson.id: lesson for lesson in lessons} | started
    last = sessions[cut - 1].session
    later = list(sessions[cut:])
    draw.shuffle(later)
    found: list[_ChosenSession] = []
    for session in later:
        now = session.session.started_at or last.ended_at or last.started_at or 0.0
        task = opening_text(session)
        asked = started.keys() | {each.lesson.id for each in choose_for_prompt(lessons, task)}
        give = partial(
            provision, list(by_id.values()), task=task, agent=session.session.agent, project=project, now=now,
            asked=frozenset(asked),
        )  # fmt: skip
        context = give()
        fit = list(fit_calls(session))
        if not context.items or not fit or len(found) >= SESSIONS:
            continue
        calls = sorted(draw.sample(fit, min(CALLS, len(fit))), key=lambda each: each.record.seq)
        tasks = [_make_task(source, session, each) for each in calls]
        found.append(_ChosenSession(session, context, give(examples=True), by_id, tasks))
    return found


def message_context(context: Context) -> ArmContext:
    """Facts below the system's own text, and the shell's examples as calls; other tools are not there to be called."""
    items = [item for item in context.items if item.example is None or item.example.kind == "shell"]
    note, messages = "", []
    for message in make_parts(msgspec.structs.replace(context, items=tuple(items))).messages:
        if message.role == "system":
            note = message.text
        else:
            called = message.call is not None and message.role == "assistant"
            messages.append(
                Message(
                    message.role, message.text, command_text(message.call.arguments) if called and message.call else ""
                )
            )
    return ArmContext(note, tuple(messages))


def fit_calls(session: JudgedSession) -> Iterator[JudgedCall]:
    """Successful shell calls whose command is new in the session and plain enough to be scored as it stands."""
    known: set[str] = set()
    for each in session.calls:
        command = command_of(each, session).strip()
        if command and command not in known:
            known.add(command)
            if each.record.status == "ok" and SHORTEST <= len(command) <= LONGEST and _PLAIN.fullmatch(command):
                yield each


def _make_task(source: str, session: JudgedSession, asked: JudgedCall) -> StudyTask:
    """The last thing that a person said before the call, the two shell calls before it, and the call."""
    conversation = [Message("user", session.relative(prompt_before(session, asked))[:_PROMPT])]
    before = [
        earlier for earlier in session.calls if earlier.call.kind == "shell" and earlier.record.seq < asked.record.seq
    ][-2:]
    for earlier in before:
        result = session.relative(earlier.result.text)[:_RESULT] if earlier.result is not None else ""
        conversation.append(Message("assistant", "", command_of(earlier, session)[:_COMMAND]))
        conversation.append(Message("tool", result))
    identity = f"{session.key}/{asked.record.seq}"
    return StudyTask(identity, session.key, source, tuple(conversation), command_of(asked, session).strip(), most=-1)


def prompt_before(session: JudgedSession, call: JudgedCall) -> str:
    prompt = opening_text(session)
    for event in session.events():
        if isinstance(event, ToolCall) and event is call.call:
            break
        if isinstance(event, UserMessage) and event.origin == "human":
            prompt = event.text
    return prompt


# The note.
_PURPOSES = {
    "test": "run the tests", "lint": "lint", "build": "build", "typecheck": "check the types", "format": "format the code",
    "install": "install what is needed",
}  # fmt: skip
_COUNTS = re.compile(r" \([^()]*\b\d[^()]*\)")


def note_text(lessons: Sequence[Lesson]) -> str:
    """The same lessons as a person would write them into the project's AGENTS.md, by rule: sentences, no counts."""
    return "\n\n".join(["# Working in this project", *(sentence(lesson) for lesson in lessons)])


def sentence(lesson: Lesson) -> str:
    """One lesson; where there is no rule for it, its own sentence without the counts."""
    use = lesson.use if f"`{lesson.use}`" in lesson.text else ""
    failed = lesson.avoid or next(iter(lesson.forms), "")
    if lesson.kind == "convention" and use and lesson.topic in _PURPOSES:
        never = f" `{lesson.avoid}` does not work here." if lesson.avoid else ""
        return f"To {_PURPOSES[lesson.topic]}, use `{use}`.{never}"
    if lesson.kind == "repair" and failed and lesson.error and (use or lesson.difference):
        instead = f"use `{use}` instead" if use else f"it works {lesson.difference.rstrip(',')}"
        return f'When `{failed}` fails with "{lesson.error}", {instead}.'
    if lesson.kind == "dead_end" and lesson.avoid:
        instead = f" Use `{use}` instead." if use else ""
        return f"`{lesson.avoid}` does not work here.{instead}"
    if lesson.kind == "error" and lesson.error:
        where = f" from `{lesson.forms[0]}`" if lesson.forms else ""
        return f'Beware of the error "{lesson.error}"{where}.'
    if lesson.kind == "example" and lesson.example is not None:
        arguments, _ = fit_example(lesson.example)
        return f"A call of {lesson.example.tool} that works: `{next(iter(arguments.values()), '')}`."
    if lesson.kind == "working_set" and lesson.use:
        return f"Much of the work here is in `{lesson.use}`."
    return _COUNTS.sub("", lesson.text)
