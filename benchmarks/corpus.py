"""Every real session of the shared corpus, read whole: sessions, calls and problems by source, beside the corpus's own counts,
and the share of calls of which it is known what they do: a command, a file, or the purpose of the tool.

Files of formats that no reader knows yet are counted as such; an exception ends the run.
"""

import os
import re
import tempfile
import time
from typing import Any

from benchmarks.measuring import SHARED, table
from benchmarks.real import CORPUS, PACKED, PROJECT, SKIPPED, sources, unpack
from preheat.agents.sources import detect, read
from preheat.calls.files import file_of
from preheat.commands import command_text
from preheat.errors import NotRecognised
from preheat.live.results import is_polling
from preheat.model.session import ToolCall, ToolResult

_COUNTED = ("files", "unknown", "sessions", "calls", "known", "scripted", "results", "orphans", "problems", "bytes")


def run(quick: bool, data: str = "") -> dict[str, Any]:
    stated = _stated_calls(os.path.join(data or SHARED, CORPUS, "SOURCES.md"))
    result: dict[str, Any] = {}
    rows = [["source", "files", "unknown", "sessions", "calls", "stated calls", "known", "in scripts", "results",
             "problems", "MB", "s"]]  # fmt: skip
    for source in sources(data):
        if source.is_project and quick:
            continue
        name = f"{PROJECT}{source.name}" if source.is_project else source.name
        with tempfile.TemporaryDirectory() as unpacked:
            if source.path.endswith(PACKED):
                unpack(source.path, unpacked)
            found = _read(unpacked if source.path.endswith(PACKED) else source.path)
        result[name] = {**found, "stated_calls": None if source.is_project else stated.get(source.name)}
        rows.append(_row(name, result[name]))
    table(rows)
    return result


def _read(folder: str) -> dict[str, Any]:
    found = dict.fromkeys(_COUNTED, 0)
    agents: dict[str, int] = {}
    started = time.perf_counter()
    for parent, _, names in os.walk(folder):
        for name in names:
            if name in SKIPPED:
                continue
            path = os.path.join(parent, name)
            found["files"] += 1
            try:
                reader = detect(path)
            except NotRecognised:
                found["unknown"] += 1
                continue
            found["bytes"] += os.path.getsize(path)
            for session in read(path, reader):
                agents[session.agent] = agents.get(session.agent, 0) + 1
                calls = {event.call_id: event for event in session.events if isinstance(event, ToolCall)}
                results = [event.call_id for event in session.events if isinstance(event, ToolResult)]
                found["sessions"] += 1
                found["calls"] += len(calls)
                found["known"] += sum(map(_is_known, calls.values()))
                found["scripted"] += sum(call.script != "" for call in calls.values())
                found["results"] += len(results)
                found["orphans"] += sum(result not in calls for result in results)
                found["problems"] += len(session.problems)
    return {**found, "agents": agents, "seconds": round(time.perf_counter() - started, 2)}


def _is_known(call: ToolCall) -> bool:
    """Whether it is known what a call does; a look at a running command is known as such."""
    if call.kind == "shell":
        return bool(command_text(call.input)) or is_polling(call.tool, None, call.input)
    if call.kind in ("read", "edit", "write"):
        return bool(file_of(call))
    return call.kind != "other"


def _row(name: str, found: dict[str, Any]) -> list[str]:
    stated = found["stated_calls"]
    return [
        name, *(f"{found[key]:,}" for key in ("files", "unknown", "sessions", "calls")), "" if stated is None else f"{stated:,}",
        f"{found['known'] / max(1, found['calls']):.1%}", f"{found['scripted']:,}", f"{found['results']:,}",
        f"{found['problems']:,}", f"{found['bytes'] / 1e6:.1f}", f"{found['seconds']:.1f}",
    ]  # fmt: skip


def _stated_calls(path: str) -> dict[str, int]:
    """Calls by source, as the corpus's table has them, if it has one."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in stream if line.startswith("| ")]
    return {row[0]: int(row[7]) for row in rows if len(row) == 9 and re.fullmatch(r"\d+", row[7])}
