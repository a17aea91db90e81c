"""Events of a live session in few words, for the tests of every signal. Knows no signal and no agent.

The hashes that tell a call and its result apart come from the words given: the same words are the same call. Two edits are
never the same call, because nobody makes the same change twice, unless `change` says so.
"""

import re
from collections.abc import Iterable
from itertools import count
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from preheat.live.advice import PRIORITY
from preheat.live.signal import DEFAULTS, NO_READINGS, EarlierReadings, FoldContext, Signal, Thresholds
from preheat.model.live import (
    CallEvent,
    CompactionEvent,
    EndEvent,
    LiveEvent,
    Phase,
    PromptEvent,
    SignalReading,
    StartEvent,
    StartKind,
    StopEvent,
)
from preheat.model.outcome import Cause, Status
from preheat.model.session import ToolKind

TALKATIVE = replace(DEFAULTS, advise=PRIORITY)
"""Every signal may advise, also those that are silent by default."""
_ADVISE = f"advise = {list(PRIORITY)}"


def make_talkative(settings: str = "") -> str:
    """The text of a settings file in which every signal may advise, also those that are silent by default."""
    if "[live]" in settings:
        return settings.replace("[live]", f"[live]\n{_ADVISE}")
    return f"live.{_ADVISE}\n{settings}"


# Events of a live session in few words, for the tests of every signal.
_changes = count(1)
_WORD = re.compile(r"[a-z]{3,}")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.\w{1,5}\b")
_PLAIN = frozenset(
    ["the", "and", "for", "with", "that", "this", "from", "into", "please", "then", "must", "when", "all"]
)


def began(source: StartKind = "startup") -> StartEvent:
    return StartEvent(source=source)


def asked(text: str = "", *files: str) -> PromptEvent:
    """A prompt; the paths in its text are taken for files."""
    found = (*files, *_PATH.findall(text))
    words = [word for word in _WORD.findall(text.lower()) if word not in _PLAIN]
    return PromptEvent(words=tuple(dict.fromkeys(words))[:60], files=tuple(dict.fromkeys(found)))


def read(
    path: str, part: str = "", *, turn: str = "", context: int | None = None, window: int | None = None
) -> CallEvent:
    """A file looked at; `part` tells one stretch of it from another."""
    summary = f"{path}:{part}" if part else path
    return CallEvent(
        turn=turn, tool="Read", kind="read", activity="read", summary=summary, form="Read", files=(path,), status="ok",
        same_call=_hash("read", summary), same_result=_hash("text of", summary),
        context_tokens=context, context_window=window,
    )  # fmt: skip


def edited(
    *paths: str, change: str = "", ok: bool = True, signature: str = "", turn: str = "", kind: ToolKind = "edit"
) -> CallEvent:
    """Files changed; not `ok`: the change was refused, the agent's mistake."""
    what = change or f"change {next(_changes)}"
    return CallEvent(
        turn=turn, tool="Edit", kind=kind, activity=kind, summary=" ".join(paths), form="Edit", files=paths,
        edited=paths if ok else (), status="ok" if ok else "failed", cause=None if ok else "mistake",
        signature=signature or ("" if ok else "text to replace not found"),
        same_call=_hash("edit", *paths, what), same_result=_hash("edited", str(ok)),
        change=() if ok else (_hash(what),),
    )  # fmt: skip


def searched(pattern: str, *files: str, found: bool = True, turn: str = "") -> CallEvent:
    return CallEvent(
        turn=turn, tool="Grep", kind="search", activity="search", summary=pattern, form="Grep", files=files,
        status="ok" if found else "empty",
        same_call=_hash("search", pattern), same_result=_hash("matches of", pattern, str(found)),
    )  # fmt: skip


def checked(
    what: str = "test", *, ok: bool = True, signature: str = "", failing: int | None = None, command: str = "",
    files: tuple[str, ...] = (), output: str = "", cause: Cause = "finding", turn: str = "",
) -> CallEvent:  # fmt: skip
    """A check that ran: green, or red with the error that it tells."""
    command = command or {"test": "pytest", "build": "cargo build", "lint": "ruff check", "typecheck": "mypy"}.get(
        what, what
    )
    if not ok and not signature:
        signature = "assertion failed"
    return CallEvent(
        turn=turn, tool="Bash", kind="shell", activity=f"shell:{what}", summary=command, form=command, files=files,
        checks=(what,), status="ok" if ok else "failed", cause=None if ok else cause, signature="" if ok else signature,
        failing=0 if ok and failing is None else failing,
        same_call=_hash("shell", command), same_result=_hash(output or signature or "passed", str(failing)),
    )  # fmt: skip


def ran(
    command: str, *, ok: bool = True, signature: str = "", cause: Cause = "mistake", purpose: str = "run", output: str = "",
    files: tuple[str, ...] = (), changed: tuple[str, ...] = (), polling: bool = False, status: Status | None = None,
    turn: str = "",
) -> CallEvent:  # fmt: skip
    """A shell command that is no check; the same `output` is the same result."""
    if not ok and not signature:
        signature = "command not found"
    return CallEvent(
        turn=turn, tool="Bash", kind="shell", activity=f"shell:{purpose}", summary=command, form=command,
        files=tuple(dict.fromkeys((*files, *changed))), edited=changed,
        status=status or ("ok" if ok else "failed"), cause=None if ok else cause, signature="" if ok else signature,
        same_call=_hash("shell", command), same_result=_hash(output or signature or "done"), polling=polling,
    )  # fmt: skip


def polled(command: str = "gh run view 7", *, output: str = "in progress", turn: str = "") -> CallEvent:
    """A look at something that takes its time."""
    return ran(command, purpose="poll", output=output, polling=True, turn=turn)


def compacted() -> CompactionEvent:
    return CompactionEvent()


def stopped() -> StopEvent:
    return StopEvent()


def ended() -> EndEvent:
    return EndEvent()


def turns(*events: LiveEvent) -> list[LiveEvent]:
    """A list of them, for reading down a scenario."""
    return list(events)


def _hash(*words: str) -> int:
    return crc32("\0".join(words).encode())


# Plays events to one signal alone, or to all.
def fold_signal(
    part: Signal, events: Iterable[LiveEvent], *, phase: Phase = "productive", thresholds: Thresholds = DEFAULTS,
    earlier: EarlierReadings = NO_READINGS, state: Any = None, turn: int = 0,
) -> Any:  # fmt: skip
    """The state of one signal after events, each call being a turn."""
    state = part.start if state is None else state
    for event in events:
        turn += isinstance(event, CallEvent)
        state = part.step(state, event, FoldContext(turn, phase, thresholds, earlier))
    return state


def read_signal(
    part: Signal, events: Iterable[LiveEvent], *, phase: Phase = "productive", thresholds: Thresholds = DEFAULTS,
    earlier: EarlierReadings = NO_READINGS,
) -> SignalReading:  # fmt: skip
    """What one signal says after events."""
    state = fold_signal(part, events, phase=phase, thresholds=thresholds, earlier=earlier)
    return part.read(state, FoldContext(100, phase, thresholds, earlier))
