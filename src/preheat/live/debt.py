"""Verification debt: source files that were changed since a check that covers them last passed.

A check that fails pays nothing, nor does a commit. Documents, settings, lock files and what programs write do not count. A
file that was taken away or put back as it was is no debt. Knows no other signal; what a check covers is `covers`.
"""

import re
from functools import lru_cache

import msgspec

from preheat.live.covers import covers
from preheat.live.part import Frame, Part, passed
from preheat.live.places import short
from preheat.model.live import Began, Called, LiveEvent, Reading
from preheat.safe_text.letters import one_line
from preheat.safe_text.reasons import orders

_MOST = 64
"""Files that are remembered: so many are as bad as more."""
_SHOWN = 3
_LONGEST = 200
_LONGEST_COMMAND = 80
_SOURCE = frozenset(
    [
        "py", "pyi", "pyx", "go", "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "astro", "java",
        "kt", "kts", "scala", "groovy", "clj", "cljs", "cs", "fs", "vb", "razor", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m",
        "mm", "swift", "rb", "php", "ex", "exs", "erl", "hs", "ml", "mli", "lua", "pl", "pm", "r", "jl", "zig", "nim", "dart",
        "sql", "sh", "bash", "zsh", "ps1", "proto", "sol", "elm",
    ]
)  # fmt: skip
_NOT_WRITTEN = re.compile(
    r"(?i)(?:^|/)(?:node_modules|vendor|third_party|dist|build|out|target|generated|__generated__|migrations/versions)/"
    r"|[._-](?:generated|gen|min|pb|d)\.\w+$|_pb2(?:_grpc)?\.pyi?$|\.config\.\w+$|(?:^|/)\.[\w-]+rc\.\w+$"
)
_PUT_BACK = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?(checkout|restore|reset\s+--hard|stash)\b([^;&|]*)")
_TAKEN_UP = re.compile(r"^\s*(?:pop|apply|list|show|drop|clear)\b")


class DebtState(msgspec.Struct, frozen=True, gc=False):
    files: tuple[str, ...] = ()
    """In the order in which they were first changed."""
    command: str = ""
    """The check that was last used here."""
    since: int = 0
    """The turn in which one last passed; 0: none yet."""
    times: int = 0
    """How often all was paid: tells one debt from the next."""


START = DebtState()


def step(state: DebtState, event: LiveEvent, frame: Frame) -> DebtState:
    if isinstance(event, Called):
        if event.edited or event.checks or (state.files and _may_pay(event)):
            return _called(state, event, frame.turn)
        return state
    if isinstance(event, Began) and event.source in ("startup", "clear"):
        return START
    return state


def _may_pay(event: Called) -> bool:
    """Whether a call that neither changes nor checks may make a debt smaller; most look at something."""
    if event.removed:
        return True
    return event.kind == "shell" and (event.activity == "shell:run" or "git " in event.summary)


def _called(state: DebtState, event: Called, turn: int) -> DebtState:
    files, command, since = state.files, state.command, state.since
    proved = bool(event.checks) and passed(event)
    if files and event.kind == "shell" and "git " in event.summary:
        files = _put_back(files, event.summary)
    for path in event.edited[:_MOST]:
        path = path[-_LONGEST:]
        if path not in files and counts(path):
            files = (*files, path)[:_MOST]
    if event.removed and files:
        files = tuple(path for path in files if not _removed(path, event.removed))
    if event.checks and event.kind == "shell":
        command = _command(event.form, event.summary) if proved or not command else command
    if proved:
        since = turn
        files = tuple([path for path in files if not covers(event, path)])
    elif files and event.activity == "shell:run" and event.status == "ok":  # a program that was changed did its work
        files = tuple([path for path in files if path.rpartition("/")[2] not in event.summary])
    if files == state.files and command == state.command and since == state.since:
        return state
    return DebtState(files, command, since, state.times + (bool(state.files) and not files))


@lru_cache(maxsize=8192)
def counts(path: str) -> bool:
    """Whether a file is source that people write."""
    return path.rpartition(".")[2].lower() in _SOURCE and not _NOT_WRITTEN.search(path)


def _removed(path: str, removed: tuple[str, ...]) -> bool:
    return any(path == gone or path.startswith(f"{gone}/") for gone in removed)


def _put_back(files: tuple[str, ...], command: str) -> tuple[str, ...]:
    """What is left when the version control program put files back as they were."""
    for verb, rest in _PUT_BACK.findall(command):
        if verb == "stash":
            if not _TAKEN_UP.match(rest) and "stash pop" not in command:
                return ()
        elif verb.startswith("reset") or rest.strip() in (".", "-- ."):
            return ()
        words = rest.split()
        files = tuple(path for path in files if not _removed(path, tuple(words)))
    return files


@lru_cache(maxsize=1024)
def _command(form: str, summary: str) -> str:
    """A check as it was run; its form where it begins with the text of a file."""
    return one_line(form if "<<" in summary else summary, _LONGEST_COMMAND)


def read(state: DebtState, frame: Frame) -> Reading:
    number, least = len(state.files), frame.thresholds.debt_files.of(frame.phase)
    fired = number >= max(1, least)
    return Reading(
        signal="debt",
        value=float(number),
        fired=fired,
        cause=f"debt {state.times}" if number else "",
        facts={
            "files changed and not verified": str(number),
            "fires at": f"{least:g} ({frame.phase})",
            "files": ", ".join(short(path) for path in state.files[:_SHOWN]) or "none",
            "last passing check": f"turn {state.since}" if state.since else "none yet",
        },
        text=_text(state, number) if fired else "",
    )


def quiet(state: DebtState, frame: Frame) -> bool:
    """Whether there are too few files to say anything."""
    return len(state.files) < frame.thresholds.debt_files.of(frame.phase)


def _text(state: DebtState, number: int) -> str:
    names = ", ".join(f"`{short(path)}`" for path in state.files[-_SHOWN:])
    others = f" and {number - _SHOWN} more" if number > _SHOWN else ""
    plural = "files were" if number > 1 else "file was"
    when = "since a check that covers them passed" if state.since else "and no check has passed yet"
    command = state.command.replace("`", "'")
    if command and not orders(command):
        then = f"`{command}` was last used here; running it now keeps a failure close to its cause."
    else:
        then = "A build or a test run now keeps a failure close to its cause."
    return f"{number} source {plural} changed {when}: {names}{others}. {then}"


DEBT = Part("debt", START, step, read, quiet)
