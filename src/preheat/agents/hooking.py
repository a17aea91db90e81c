"""How an agent's hooks are read, answered and set up: one value per agent, and what several of them share.

Knows no agent. Whatever comes in, reading gives an event or nothing and never fails; what goes out is one JSON object or nothing.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.agents.ways import Several
from preheat.model.live import HookAnswer, HookEvent, HookName, Start

MOST_CONTEXT = 9_800
"""Characters of one text: hosts cut, drop or move away what is longer than 10,000."""
_CUT = "\n[cut]"
_STARTS: dict[str, Start] = {
    "startup": "startup", "new": "startup", "resume": "resume", "clear": "clear", "compact": "compact", "fork": "fork",
}  # fmt: skip

UNANSWERED: frozenset[HookName] = frozenset(["subagent_start", "subagent_stop", "session_end", "other"])
"""Nobody is there to hear it, or it is not ours to speak."""

Payload: TypeAlias = dict[str, Any]


class Client(NamedTuple):
    """What the installed hooks call."""

    command: str
    """For the system's usual shell; the agent's name is the last word of it."""
    unfailing: str = ""
    """The same where a host refuses what it was about to do when a hook fails: even a client that is killed ends with 0."""
    powershell: str = ""
    arguments: tuple[str, ...] = ()
    """The same as words, for those that need no shell."""
    address: str = ""
    """Where the daemon takes posts from this agent; empty: not to be used."""
    token: str = ""


class Setup(NamedTuple):
    """What has to be where, so that the agent's program calls us."""

    user_file: Callable[[Mapping[str, str]], str]
    """The file for all of the person's projects, by the environment."""
    project_file: Callable[[str], str]
    """The file for one project, by its folder. Never one that is meant to be committed where there is another."""
    entries: Callable[[Client], dict[str, list[Payload]]] | None = None
    """Merged into the lists of the file's `hooks`, by event; None where the file is all ours."""
    whole: Callable[[Client], str] | None = None
    """The text of a file that is all ours."""
    beside: Mapping[str, Any] = {}
    """What else a new settings file must hold."""
    posts: bool = False
    """The program can post to an address instead of starting a command."""
    obeys: Callable[[Mapping[str, str], str], list[str]] = lambda environment, project: []
    """Every settings file whose hooks the program runs, those of other agents among them: ours in two of them fire twice."""
    double: str = ""
    """What to do about it when one of those is another agent's."""
    next_steps: tuple[str, ...] = ()
    """What the person has to do before the hooks run, and how to see that they do."""
    state: Callable[[Mapping[str, str], str, str, Payload], "State"] = lambda environment, project, path, settings: (
        State("unknown")
    )
    """Whether the program runs our hooks, by the file they are in and what is in it, as far as files tell."""
    tried: str = ""
    """The version of the program that the hooks were tried with; empty where it was with none."""
    several: Several | None = None
    """How it is set up where one file is not enough."""


class State(NamedTuple):
    """Whether a program runs our hooks."""

    active: Literal["yes", "no", "unknown"]
    reason: str = ""


class Hooks(NamedTuple):
    """One agent's hooks."""

    agent: str
    read: Callable[[bytes, float | None], HookEvent | None]
    """What the program tells. None for what is no event at all."""
    write: Callable[[HookEvent, HookAnswer], bytes | None]
    """The answer in the program's own form, exactly one JSON object; None where there is nothing to say that it would take."""
    setup: Setup
    seeds: str = ""
    """The form in which the program takes the start of a session as messages; empty: it takes a text only."""


_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_COMMAND = re.compile(r"-I -S -E .*hook\.py['\"]? (\w+)\b")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/hook/(\w+)\Z")


def ours(hook: Any) -> str:
    """The agent that a hook in somebody's settings calls us for; empty for a hook that is not ours."""
    for value in fields(hook).values():
        found = (_ADDRESS.match(value) or _COMMAND.search(value)) if isinstance(value, str) else None
        if found:
            return found[1]
    return ""


def decoded(payload: bytes) -> Payload | None:
    """The JSON object in a payload; None for anything else."""
    try:
        value = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_leniently(payload)
    if not isinstance(value, dict):
        return None
    found: Payload = _storable(value) if _LONG_NUMBER.search(payload) else value
    return found


def _decode_leniently(payload: bytes) -> Payload | None:
    """Half a surrogate or a byte that is no text must not cost the event: a tool's output may hold any."""
    import json  # noqa: PLC0415 - only for what is no clean JSON

    try:
        value = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return _storable(value) if isinstance(value, dict) else None


def _storable(value: Any, depth: int = 0) -> Any:
    """Without halves of surrogates and numbers of more than 64 bits, which nothing after us could write down."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if depth > 100:
        return None
    if isinstance(value, dict):
        return {_storable(name): _storable(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [_storable(inner, depth + 1) for inner in value]
    return value


def encoded(value: Payload) -> bytes | None:
    """One JSON object, or nothing where there is nothing in it."""
    if not value:
        return None
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_storable(value))


def text(value: Any) -> str:
    """A field that should be a text."""
    return value if isinstance(value, str) else ""


def fields(value: Any) -> Payload:
    """A field that should be an object; some programs put it in a string."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        return decoded(value.encode("utf-8", "replace")) or {}
    return value if isinstance(value, dict) else {}


def number(value: Any) -> int | None:
    """A field that should be a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and abs(value) < 2**53 else None


def seconds(milliseconds: Any) -> float | None:
    """A duration that is told in milliseconds."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return milliseconds / 1000 if 0 <= milliseconds < 1e12 else None


def flag(value: Any) -> bool:
    """A field that should be yes or no."""
    return value is True


def start(value: Any) -> Start:
    """How a session began."""
    return _STARTS.get(text(value), "startup")


def capped(context: str, most: int = MOST_CONTEXT) -> str:
    """A text that no host cuts by itself: it ends at the end of a line and says so."""
    if len(context) <= most:
        return context
    head = context[: most - len(_CUT)]
    end = head.rfind("\n")
    return (head[:end] if end > most // 2 else head) + _CUT


def joined(value: Any) -> str | None:
    """What a tool gave, as one text: a text, a list of parts, or an object as JSON. None where nothing is told."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part if isinstance(part, str) else text(fields(part).get("text")) for part in value]
        if all(parts):
            return "\n".join(parts)
    return msgspec.json.encode(value).decode()


def named(name: HookName, payload: Payload, agent: str, at: float | None, **more: Any) -> HookEvent:
    """An event of the shape that most programs share: snake case, `session_id`, `hook_event_name`, `transcript_path`."""
    common_fields: Payload = {
        "session": text(payload.get("session_id")),
        "told_as": text(payload.get("hook_event_name")),
        "cwd": text(payload.get("cwd")),
        "transcript": text(payload.get("transcript_path")),
        "model": text(payload.get("model")),
        "subagent": text(payload.get("agent_id")),
    }
    return HookEvent(agent=agent, name=name, at=at, **{**common_fields, **more})


def specific(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """An answer of the shape that most programs share: `hookSpecificOutput` with `additionalContext`, `systemMessage`."""
    reply: Payload = {}
    specific_answer: Payload = {}
    person = answer.person
    if event.name == "stop":
        # More context would make the agent go on: that is a block, and only on request. The person may be told.
        person = person or answer.context
        if answer.block and not event.stop_again:
            reply = {"decision": "block", "reason": capped(answer.block)}
    elif event.name in ("session_start", "prompt", "before_tool", "after_tool", "tool_failed"):
        if answer.context:
            specific_answer["additionalContext"] = capped(answer.context)
        if event.name == "before_tool" and answer.block:
            specific_answer |= {"permissionDecision": "deny", "permissionDecisionReason": capped(answer.block)}
    if specific_answer:
        reply["hookSpecificOutput"] = {"hookEventName": event.told_as, **specific_answer}
    if person and event.name not in UNANSWERED:
        reply["systemMessage"] = capped(person, 1_000)
    return encoded(reply)
