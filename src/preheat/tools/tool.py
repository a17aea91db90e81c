"""What a tool is, and what all tools share: the archive, the project in question, and answers that fit a number of tokens.

Knows no tool, and not how tools are reached (MCP, a plugin, `preheat admin tool`). Calls come in several threads at once.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from preheat.app import Preheat
from preheat.app.model_text import describe_source, estimate_tokens
from preheat.app.projects import project_root
from preheat.errors import UserError
from preheat.model.lesson import DAY
from preheat.model.listing import SessionFilter


class ToolRequest(NamedTuple):
    """One call of a tool."""

    folder: str
    """Preheat's folder."""
    arguments: dict[str, Any]
    """Checked against the schema and converted to its types."""
    cwd: str
    """The folder that the agent works in; the project, unless the arguments name another."""

    @property
    def home(self) -> Preheat:
        """The application that answers."""
        return Preheat(self.folder)


class Tool(NamedTuple):
    """`run` returns the answer without `success`, which is added. It raises UserError for what the model can fix."""

    name: str
    description: str
    """For a model: what the tool gives, and when to use it."""
    schema: dict[str, Any]
    """JSON schema of the arguments; small, because it costs tokens in every session."""
    run: Callable[[ToolRequest], dict[str, Any]]
    reads_only: bool = True


MOST_TOKENS = 2000
"""Length of an answer unless more is asked for; about as much as a session gets at its start."""


# Answers that fit a number of tokens
LEAST, MOST = 200, 20_000
"""Bounds of `max_tokens`."""
MAX_TOKENS = {
    "type": "integer",
    "minimum": LEAST,
    "maximum": MOST,
    "description": f"Length of the answer; default {MOST_TOKENS:,}.",
}
OFFSET = {"type": "integer", "minimum": 0, "description": "Skip this many rows, to continue an earlier answer."}
_CUTS = ((4000, 200), (1500, 60), (600, 25), (250, 10), (120, 5), (60, 3))
_DEPTH = 8


def count_tokens(value: Any) -> int:
    """Tokens of a value as JSON."""
    return estimate_tokens(json_text(value))


def json_text(value: Any) -> str:
    """A value as JSON on one line."""
    return msgspec.json.encode(value).decode()


def fit_rows(name: str, rows: Sequence[Any], arguments: dict[str, Any], taken: int = 0) -> dict[str, Any]:
    """The rows that fit into the answer (at least one), and how to get the rest. `taken`: tokens of the rest of the answer."""
    start = arguments.get("offset", 0)
    room = arguments.get("max_tokens", MOST_TOKENS) - taken - 60
    fitting: list[Any] = []
    for row in rows[start:]:
        room -= count_tokens(row)
        if fitting and room < 0:
            break
        fitting.append(row)
    left = len(rows) - start - len(fitting)
    answer: dict[str, Any] = {name: fitting}
    if left > 0:
        answer["left_out"] = left
        answer["more"] = (
            f"the same with `offset` {start + len(fitting)} gives the next; `max_tokens` gives more at once"
        )
    elif start and not fitting:
        answer["more"] = f"there are only {len(rows):,}; a smaller `offset` gives some"
    return answer


def shorten_answer(answer: dict[str, Any], most: int) -> dict[str, Any]:
    """The answer within `most` tokens, whatever is in it; if it was cut, it says so."""
    if count_tokens(answer) <= most:
        return answer
    for letters, rows in _CUTS:
        cut = {
            **_cut(answer, letters, rows, _DEPTH),
            "cut": f"too long: lists end after {rows}, texts after {letters} characters; ask for less at once",
        }
        if count_tokens(cut) <= most:
            return cut
    return {
        "success": answer.get("success") is True,
        "cut": "the answer is far too long; ask for less at once",
    }


def _cut(value: Any, letters: int, rows: int, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= letters else f"{value[: letters - 1]}…"
    if not isinstance(value, dict | list):
        return value
    if not depth:
        return "…"
    if isinstance(value, list):
        return [_cut(each, letters, rows, depth - 1) for each in value[:rows]]
    return {name[:100]: _cut(each, letters, rows, depth - 1) for name, each in list(value.items())[: max(rows, 12)]}


# The archive, and the sessions and the project that a call is about
ALL = "all"
PROJECT = {"type": "string", "description": f"Name or folder; default this one; `{ALL}`: every one."}
AGENT = {"type": "string", "description": "Only this agent's sessions."}
DAYS = {"type": "number", "minimum": 0, "description": "Only the last N days."}
SECONDS = 20.0
"""How long one call analyses sessions. Many clients allow a minute per call; the next call analyses the rest."""
_analysing = threading.Lock()


class AnalysedArchive(NamedTuple):
    """The archive, and how many of its sessions are not analysed yet."""

    home: Preheat
    waiting: int

    @property
    def waiting_note(self) -> dict[str, str]:
        """What an answer says about sessions that are not analysed yet."""
        text = f"{self.waiting:,} sessions are not analysed yet, and may be missing here; asking again continues"
        return {"missing": text} if self.waiting else {}


def open_archive(request: ToolRequest) -> Preheat:
    """The application with an archive, which must exist. When an agent's program asks, its new sessions are read first."""
    home = request.home
    home.sync_calling_agent()
    if not home.has_archive():
        raise UserError(
            f"there is no archive in `{home.folder}` yet; run `preheat sync`, then `preheat lessons learn`, and ask again"
        )
    return home


def open_analysed_archive(request: ToolRequest) -> AnalysedArchive:
    """The application with its sessions analysed, as far as time allows. Calls at the same time analyse once."""
    home = open_archive(request)
    end = time.monotonic() + SECONDS
    ours = _analysing.acquire(timeout=SECONDS)
    try:
        report = home.analyse(seconds=end - time.monotonic())
    finally:
        if ours:
            _analysing.release()
    return AnalysedArchive(home, report.left)


def named_project(request: ToolRequest) -> str:
    """The project in the arguments: its name, or its whole path; empty if there is none."""
    project: str = request.arguments.get("project", "").strip()
    if not project or (project[0] not in ".~" and not os.path.isabs(project)):
        return project
    return os.path.abspath(os.path.join(request.cwd, os.path.expanduser(project)))


def project_in_question(request: ToolRequest) -> str:
    """The project that the question is about: its name, or the folder of its repository; empty for all."""
    named = named_project(request)
    if named == ALL or (named and not os.path.isabs(named)):
        return "" if named == ALL else named
    return project_root(named or os.path.abspath(request.cwd)) or named


def make_filter(request: ToolRequest) -> SessionFilter:
    """The sessions that the question is about."""
    days = request.arguments.get("days")
    project = project_in_question(request)
    return SessionFilter(
        agent=request.arguments.get("agent") or None,
        project=project or None,
        project_key=open_archive(request).projects.find_key(project) if project else "",
        since=time.time() - days * DAY if days is not None else None,
    )


def data_note(project: str = "") -> str:
    """The note before everything that comes from sessions."""
    return describe_source(bool(project))
