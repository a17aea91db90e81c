"""How an agent's hooks are read, answered and set up: one `Hooks` value per agent, and the functions that several agents share.

Reading a payload gives an event or nothing and never fails; an answer is one JSON object or nothing. An agent that is set up
in several steps, or in one of several ways, describes these as values, which `installing` carries out. Knows no agent.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.live import HookAnswer, HookEvent, HookName, StartKind


# Setting up an agent in one of several ways, each of several steps.
class PackageStep(NamedTuple):
    """A step: install this Preheat as a package in another program's Python."""

    interpreter: str
    group: str
    """The group of entry points in which the program looks for plugins."""
    obstacle: str = ""
    """Why the package would not stay installed; empty if it would."""


class FolderStep(NamedTuple):
    """A step: create a folder that is wholly Preheat's."""

    path: str
    files: Mapping[str, bytes]
    """The files of the folder, by name."""
    marker_file: str
    """The name of the file by which the folder is recognised as Preheat's."""
    former_files: tuple[str, ...] = ()
    """Names of files that earlier versions put there: they are removed even if nothing was recorded of that installation."""


class ListEntry(NamedTuple):
    """A step: add one entry to a list in the person's settings file."""

    path: str
    keys: tuple[str, ...]
    """The keys that lead to the list."""
    value: Any
    is_ours: Callable[[Any], bool]
    forbidding_lists: tuple[tuple[str, ...], ...] = ()
    """Lists whose entries forbid what this list allows, by their keys."""


InstallStep: TypeAlias = PackageStep | FolderStep | ListEntry


class InstallWay(NamedTuple):
    """One way to set up an agent, with its steps in order."""

    name: str
    steps: tuple[InstallStep, ...]
    description: str
    """What the way does, for the person."""
    next_steps: tuple[str, ...] = ()


class InstallContext(NamedTuple):
    """The surroundings that the steps depend on."""

    environment: Mapping[str, str]
    interpreter: str
    """The program's own Python; empty if the program was not found."""
    hook: tuple[str, ...]
    """The command that starts the hook client, as words."""
    folder: str
    """Where Preheat keeps its things."""


class InstallTarget(NamedTuple):
    """The program that is set up, as it was found on this machine."""

    title: str
    """The program's name with its version."""
    command: str
    interpreter: str
    version: str
    home: str
    settings: str
    """The program's settings file that says what to load."""
    notes: tuple[str, ...] = ()
    """What the person should know about this version or this installation."""


class InstallWays(NamedTuple):
    """An agent's ways to be set up."""

    names: tuple[str, ...]
    """Names of the ways; the one to try first comes first."""
    target: Callable[[Mapping[str, str]], InstallTarget]
    """Finds the program. Raises UserError if there is none that can be set up."""
    settings: Callable[[Mapping[str, str]], str]
    """The program's settings file that says what to load; the program need not exist."""
    ways: Callable[[InstallContext], tuple[InstallWay, ...]]
    """All ways, in the order of their names."""
    obstacle: Callable[[Mapping[str, str], str, Mapping[str, Any]], str] = lambda environment, how, settings: ""
    """What keeps the program from running an installed way, by environment, way and settings; empty if nothing does."""
    notes: tuple[str, ...] = ()
    """Notes for the status that hold for every way."""


# Reading, answering and setting up the hooks of an agent.
MAX_CONTEXT = 9_800
"""Longest text in an answer: programs cut, drop or move texts of more than 10,000 characters."""
_CUT = "\n[cut]"
_STARTS: dict[str, StartKind] = {
    "startup": "startup", "new": "startup", "resume": "resume", "clear": "clear", "compact": "compact", "fork": "fork",
}  # fmt: skip

UNANSWERED: frozenset[HookName] = frozenset(["subagent_start", "subagent_stop", "session_end", "other"])
"""Events that get no answer: nobody would read it, or the session is not the person's own."""

Payload: TypeAlias = dict[str, Any]


class Client(NamedTuple):
    """The command or address that installed hooks call."""

    command: str
    """For the system's usual shell; its last word is the agent's name."""
    safe_command: str = ""
    """The command for programs that refuse a call when its hook fails: it exits with 0 even if the client is killed."""
    powershell: str = ""
    arguments: tuple[str, ...] = ()
    """The command as a list of words, for programs that use no shell."""
    address: str = ""
    """The URL where the daemon takes this agent's events by POST; empty: not to be used."""
    token: str = ""


class Setup(NamedTuple):
    """Which files have to hold what, so that the agent's program calls Preheat."""

    user_file: Callable[[Mapping[str, str]], str]
    """The settings file for all of the person's projects, by the environment."""
    project_file: Callable[[str], str]
    """The settings file for one project, by its folder; a file that is not committed where the program has one."""
    entries: Callable[[Client], dict[str, list[Payload]]] | None = None
    """Hooks by event, merged into the file's `hooks`; None where the whole file is Preheat's."""
    file_text: Callable[[Client], str] | None = None
    """The text of a file that is wholly Preheat's."""
    extra_settings: Mapping[str, Any] = {}
    """Further settings that a new file must hold."""
    can_post: bool = False
    """Whether the program can POST to a URL instead of starting a command."""
    settings_files: Callable[[Mapping[str, str], str], list[str]] = lambda environment, project: []
    """Every settings file whose hooks the program runs, other agents' included: Preheat's hooks in two of them fire twice."""
    duplicate_advice: str = ""
    """What the person can do when hooks fire twice because of another agent's file."""
    next_steps: tuple[str, ...] = ()
    """What the person has to do before the hooks run, and how to check that they run."""
    status: Callable[[Mapping[str, str], str, str, Payload], "HookStatus"] = (
        lambda environment, project, path, settings: HookStatus("unknown")
    )
    """Whether the program runs Preheat's hooks, by environment, project, path of the settings file and its content."""
    tested_version: str = ""
    """The version of the program that the hooks were tested with; empty if untested."""
    ways: InstallWays | None = None
    """The ways to set the agent up where one file is not enough."""


class HookStatus(NamedTuple):
    """Whether a program runs Preheat's hooks."""

    active: Literal["yes", "no", "unknown"]
    reason: str = ""


Reach: TypeAlias = Literal["request", "result", "later", "unreported", "never"]
"""When a text that is given at a moment is before the model: in the request that the moment leads to; with the result of the
call, which has run then; in one later request, and not in those after it; `unreported`: the program reports no such moment, and
what it writes down is followed instead; or never."""
History: TypeAlias = Literal["kept", "lost"]
"""Whether a resumed session sends the model again what it was given at its start."""
Compaction: TypeAlias = Literal["kept", "start", "next", "lost"]
"""What becomes of the context when the conversation is compacted: the program keeps it, reports a start that takes it again, or
reports the compaction only, so that it comes with the next event that carries a text; `lost`: it reports nothing."""


class Moments(NamedTuple):
    """What an agent's program does with a text, by the moment at which it is given. Tried with the real program where
    `Setup.tested_version` names one (`tests/programs/test_moments.py`), else by its documentation."""

    start: Reach
    prompt: Reach
    before_call: Reach
    after_call: Reach
    failure: Reach
    """After a call whose tool itself failed."""
    person: bool
    """Whether a line at the end of a turn is shown to the person."""
    resume: History
    compaction: Compaction

    def carry(self, event: HookName) -> bool:
        """Whether a text that answers an event comes before the model."""
        reaches: dict[HookName, Reach] = {
            "session_start": self.start, "prompt": self.prompt, "before_tool": self.before_call, "after_tool": self.after_call,
            "tool_failed": self.failure,
        }  # fmt: skip
        return reaches.get(event, "never") not in ("unreported", "never")


class Hooks(NamedTuple):
    """One agent's hooks."""

    agent: str
    read: Callable[[bytes, float | None], HookEvent | None]
    """Reads a payload; None if it is no event."""
    write: Callable[[HookEvent, HookAnswer], bytes | None]
    """Writes an answer in the program's form, exactly one JSON object; None if the program would take nothing of it."""
    moments: Moments
    setup: Setup
    message_format: str = ""
    """The format in which the program takes messages at the start of a session; empty: it takes text only."""


_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_COMMAND = re.compile(r"-I -S -E .*hook\.py['\"]? (\w+)\b")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/hook/(\w+)\Z")


def agent_of_hook(hook: Any) -> str:
    """The agent for which a hook in a settings file calls Preheat; empty for a hook that is not Preheat's."""
    for value in fields(hook).values():
        found = (_ADDRESS.match(value) or _COMMAND.search(value)) if isinstance(value, str) else None
        if found:
            return found[1]
    return ""


def decode_payload(payload: bytes) -> Payload | None:
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
    """Decode despite lone surrogates and invalid bytes: a tool's output may hold any."""
    import json  # noqa: PLC0415 - only for what is no clean JSON

    try:
        value = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return _storable(value) if isinstance(value, dict) else None


def _storable(value: Any, depth: int = 0) -> Any:
    """The value without lone surrogates and numbers of more than 64 bits, which no later stage could encode."""
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


def encode_answer(value: Payload) -> bytes | None:
    """One JSON object as bytes; None if it is empty."""
    if not value:
        return None
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_storable(value))


def text(value: Any) -> str:
    """A field that should be a text; empty if it is not."""
    return value if isinstance(value, str) else ""


def fields(value: Any) -> Payload:
    """A field that should be an object, also as JSON in a string; empty if it is neither."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        return decode_payload(value.encode("utf-8", "replace")) or {}
    return value if isinstance(value, dict) else {}


def number(value: Any) -> int | None:
    """A field that should be a whole number; None if it is not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and abs(value) < 2**53 else None


def seconds(milliseconds: Any) -> float | None:
    """A duration in milliseconds as seconds; None if it is no sensible number."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return milliseconds / 1000 if 0 <= milliseconds < 1e12 else None


def is_true(value: Any) -> bool:
    """A field that should be true or false; anything else is false."""
    return value is True


def start_of(value: Any) -> StartKind:
    """How a session began; `startup` for an unknown word."""
    return _STARTS.get(text(value), "startup")


def cap_text(context: str, limit: int = MAX_CONTEXT) -> str:
    """The text, shortened if it is longer than programs take: cut at the end of a line, with a mark."""
    if len(context) <= limit:
        return context
    head = context[: limit - len(_CUT)]
    end = head.rfind("\n")
    return (head[:end] if end > limit // 2 else head) + _CUT


def result_text(value: Any) -> str | None:
    """A tool's result as one text: a text as it is, a list of parts joined, anything else as JSON; None stays None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part if isinstance(part, str) else text(fields(part).get("text")) for part in value]
        if all(parts):
            return "\n".join(parts)
    return msgspec.json.encode(value).decode()


def common_event(name: HookName, payload: Payload, agent: str, at: float | None, **extra_fields: Any) -> HookEvent:
    """An event from a payload with the fields that most programs share: `session_id`, `hook_event_name`, `transcript_path`."""
    common_fields: Payload = {
        "session": text(payload.get("session_id")),
        "host_event": text(payload.get("hook_event_name")),
        "cwd": text(payload.get("cwd")),
        "transcript": text(payload.get("transcript_path")),
        "model": text(payload.get("model")),
        "subagent": text(payload.get("agent_id")),
    }
    return HookEvent(agent=agent, name=name, at=at, **{**common_fields, **extra_fields})


def common_answer(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """An answer in the form that most programs share: `hookSpecificOutput` with `additionalContext`, and `systemMessage`."""
    reply: Payload = {}
    specific_answer: Payload = {}
    person = answer.person
    if event.name == "stop":
        # Context at a stop would make the agent continue, which only `block` may do; so the person gets it instead.
        person = person or answer.context
        if answer.block and not event.stop_again:
            reply = {"decision": "block", "reason": cap_text(answer.block)}
    elif event.name in ("session_start", "prompt", "before_tool", "after_tool", "tool_failed"):
        if answer.context:
            specific_answer["additionalContext"] = cap_text(answer.context)
        if event.name == "before_tool" and answer.block:
            specific_answer |= {"permissionDecision": "deny", "permissionDecisionReason": cap_text(answer.block)}
    if specific_answer:
        reply["hookSpecificOutput"] = {"hookEventName": event.host_event, **specific_answer}
    if person and event.name not in UNANSWERED:
        reply["systemMessage"] = cap_text(person, 1_000)
    return encode_answer(reply)
