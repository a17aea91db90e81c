"""Every real session of the shared corpus, read whole: sessions, calls and problems by source, beside the corpus's own counts.

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
from preheat.errors import NotRecognised
from preheat.model.session import ToolCall, ToolResult


def run(quick: bool, data: str = "") -> dict[str, Any]:
    stated = _stated_calls(os.path.join(data or SHARED, CORPUS, "SOURCES.md"))
    result: dict[str, Any] = {}
    rows = [["source", "files", "unknown", "sessions", "calls", "stated calls", "results", "problems", "MB", "s"]]
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
    found = dict.fromkeys(("files", "unknown", "sessions", "calls", "results", "orphans", "problems", "bytes"), 0)
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
                calls = {event.call_id for event in session.events if isinstance(event, ToolCall)}
                results = [event.call_id for event in session.events if isinstance(event, ToolResult)]
                found["sessions"] += 1
                found["calls"] += len(calls)
                found["results"] += len(results)
                found["orphans"] += sum(result not in calls for result in results)
                found["problems"] += len(session.problems)
    return {**found, "agents": agents, "seconds": round(time.perf_counter() - started, 2)}


def _row(name: str, found: dict[str, Any]) -> list[str]:
    stated = found["stated_calls"]
    return [
        name, *(f"{found[key]:,}" for key in ("files", "unknown", "sessions", "calls")), "" if stated is None else f"{stated:,}",
        f"{found['results']:,}", f"{found['problems']:,}", f"{found['bytes'] / 1e6:.1f}", f"{found['seconds']:.1f}",
    ]  # fmt: skip


def _stated_calls(path: str) -> dict[str, int]:
    """Calls by source, as the corpus's table has them, if it has one."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in stream if line.startswith("| ")]
    return {row[0]: int(row[7]) for row in rows if len(row) == 9 and re.fullmatch(r"\d+", row[7])}
