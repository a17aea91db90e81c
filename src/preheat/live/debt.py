"""Verification debt: source files that were changed since a check that covers them last passed.

A failing check or a commit does not lower the debt. Documents, settings, lock files and generated files do not count, nor do
scratch files (outside of the project, in a temporary folder, named as a reproduction or a trial) and files that were removed or
restored. Knows no other signal.
"""

import re
from functools import lru_cache

import msgspec

from preheat.amounts import format_count
from preheat.live.project_files import covers, shorten_path
from preheat.live.sentences import ANY_CHECK, CHANGED_FILES, CHECK_COMMAND
from preheat.live.signal import FoldContext, Signal, check_passed
from preheat.model.live import CallEvent, LiveEvent, SignalReading, StartEvent
from preheat.safe_text.cleanup import one_line

_MOST_FILES = 64
"""Files that are remembered at most."""
_NAMED = 3
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
_GENERATED = re.compile(
    r"(?i)(?:^|/)(?:node_modules|vendor|third_party|dist|build|out|target|generated|__generated__|migrations/versions)/"
    r"|[._-](?:generated|gen|min|pb|d)\.\w+$|_pb2(?:_grpc)?\.pyi?$|\.config\.\w+$|(?:^|/)\.[\w-]+rc\.\w+$"
)
_SCRATCH = re.compile(
    r"(?i)^(?:[/~\\]|\.\./|[a-z]:[/\\])"  # outside of the project
    r"|(?:^|/)(?:te?mp|scratch|scratchpad|playground|notes)/"
    r"|(?:^|/)(?:repro|reproduce|reproduction|scratch|te?mp|debug|poc|playground)(?:[_.-][^/]*)?\.\w+$"
)
"""Files that nobody keeps."""
_GIT_RESTORE = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?(checkout|restore|reset\s+--hard|stash)\b([^;&|]*)")
_STASH_WITHOUT_RESTORE = re.compile(r"^\s*(?:pop|apply|list|show|drop|clear)\b")


class DebtState(msgspec.Struct, frozen=True, gc=False):
    files: tuple[str, ...] = ()
    """In the order in which they were first changed."""
    command: str = ""
    """The check command that was last used."""
    since: int = 0
    """The turn in which a check last passed; 0: none yet."""
    times: int = 0
    """How often the debt fell to zero: makes the cause of each debt different."""


START = DebtState()


def step(state: DebtState, event: LiveEvent, context: FoldContext) -> DebtState:
    if isinstance(event, CallEvent):
        if event.edited or event.checks or (state.files and _may_lower_debt(event)):
            return _fold_call(state, event, context.turn)
        return state
    if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        return START
    return state


def _may_lower_debt(event: CallEvent) -> bool:
    """Whether a call that neither edits nor checks may lower the debt: it may run a changed program, or restore files."""
    if event.removed:
        return True
    return event.kind == "shell" and (event.activity == "shell:run" or "git " in event.summary)


def _fold_call(state: DebtState, event: CallEvent, turn: int) -> DebtState:
    files, command, since = state.files, state.command, state.since
    proved = bool(event.checks) and check_passed(event)
    if files and event.kind == "shell" and "git " in event.summary:
        files = _without_restored(files, event.summary)
    for path in event.edited[:_MOST_FILES]:
        path = path[-_LONGEST:]
        if path not in files and is_written_source(path):
            files = (*files, path)[:_MOST_FILES]
    if event.removed and files:
        files = tuple(path for path in files if not _is_removed(path, event.removed))
    if event.checks and event.kind == "shell":
        command = _check_command(event.form, event.summary) if proved or not command else command
    if proved:
        since = turn
        files = tuple([path for path in files if not covers(event, path)])
    elif files and event.activity == "shell:run" and event.status == "ok":  # a changed program ran successfully
        files = tuple([path for path in files if path.rpartition("/")[2] not in event.summary])
    if files == state.files and command == state.command and since == state.since:
        return state
    return DebtState(files, command, since, state.times + (bool(state.files) and not files))


@lru_cache(maxsize=8192)
def is_written_source(path: str) -> bool:
    """Whether a file is source code that people write and keep."""
    return path.rpartition(".")[2].lower() in _SOURCE and not _GENERATED.search(path) and not _SCRATCH.search(path)


def _is_removed(path: str, removed: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in removed)


def _without_restored(files: tuple[str, ...], command: str) -> tuple[str, ...]:
    """The unverified files that remain after Git restored some to their last commit."""
    for verb, rest in _GIT_RESTORE.findall(command):
        if verb == "stash":
            if not _STASH_WITHOUT_RESTORE.match(rest) and "stash pop" not in command:
                return ()
        elif verb.startswith("reset") or rest.strip() in (".", "-- ."):
            return ()
        words = rest.split()
        files = tuple(path for path in files if not _is_removed(path, tuple(words)))
    return files


@lru_cache(maxsize=1024)
def _check_command(form: str, summary: str) -> str:
    """A check command on one line; only its form where it has a here-document."""
    return one_line(form if "<<" in summary else summary, _LONGEST_COMMAND)


def read(state: DebtState, context: FoldContext) -> SignalReading:
    number, least = len(state.files), context.thresholds.debt_files.of(context.phase)
    fired = number >= max(1, least)
    return SignalReading(
        signal="debt",
        value=float(number),
        fired=fired,
        cause=f"debt {state.times}" if number else "",
        facts={
            "files changed and not verified": str(number),
            "fires at": f"{least:g} ({context.phase})",
            "files": ", ".join(shorten_path(path) for path in state.files[:_NAMED]) or "none",
            "last passing check": f"turn {state.since}" if state.since else "none yet",
        },
        text=_text(state, number) if fired else "",
    )


def is_quiet(state: DebtState, context: FoldContext) -> bool:
    """Whether there are fewer files than the threshold."""
    return len(state.files) < context.thresholds.debt_files.of(context.phase)


def _text(state: DebtState, number: int) -> str:
    return _write_text(number, bool(state.since), tuple(state.files[-_NAMED:]), state.command)


@lru_cache(maxsize=256)
def _write_text(number: int, has_passed: bool, last: tuple[str, ...], command: str) -> str:
    """Cached: it is asked for after every call while the debt lasts, and is mostly the same."""
    said = CHANGED_FILES.write(
        files=format_count(number, "source file"),
        were="were" if number > 1 else "was",
        when="since a check that covers them passed" if has_passed else "and no check has passed yet",
        names=[shorten_path(path) for path in last],
        others=number - _NAMED if number > _NAMED else "",
    )
    return f"{said} {CHECK_COMMAND.write(command=command) or ANY_CHECK.write()}"


DEBT = Signal("debt", START, step, read, is_quiet)
