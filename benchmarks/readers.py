"""Each reader beside the standard library's `json.loads` of the same bytes: MB/s, calls/s, and whether cost grows with size.

Data: the largest real session of each format in the shared corpus, or else the largest recorded one; repeated with other ids
until it is large. `x8` is the time per byte of eight times as much, over that of once as much: 1 is linear, 8 quadratic.
"""

import json
import os
import re
import time
from collections.abc import Callable
from typing import Any, cast

from benchmarks.measuring import ROOT, SHARED, table
from preheat.agents import AGENTS, reader_of
from preheat.agents.reader import DatabaseReader
from preheat.agents.sources import detect, open_source
from preheat.errors import NotRecognised
from preheat.model.session import ToolCall

ENOUGH = 2_000_000
_ID = re.compile(rb"(?<![\\\w.])[0-9a-zA-Z]{4,}(?=[0-9a-f]{6})")
_TIMES = 3


def run(quick: bool) -> dict[str, Any]:
    result: dict[str, Any] = {}
    rows = [["reader", "MB", "MB/s", "json.loads MB/s", "ratio", "calls/s", "x8"]]
    largest = _largest()
    for agent in AGENTS:
        if agent not in largest:
            continue
        found = _measure(agent, *largest[agent], ENOUGH // 8 if quick else ENOUGH)
        result[agent] = found
        rows.append(
            [
                agent, f"{found['bytes'] / 1e6:.1f}", f"{found['mb_per_second']:.0f}", f"{found['json_mb_per_second']:.0f}",
                f"{found['ratio']:.2f}", f"{found['calls_per_second']:,.0f}", f"{found['x8']:.2f}",
            ]
        )  # fmt: skip
    table(rows)
    return result


def _largest() -> dict[str, tuple[str, str]]:
    """By agent the path of its largest file, and for a database the part."""
    found: dict[str, tuple[int, str]] = {}
    for root in (os.path.join(ROOT, "tests", "fixtures"), os.path.join(SHARED, "corpus")):
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    agent = detect(path).agent
                except NotRecognised:
                    continue
                found[agent] = max(found.get(agent, (0, "")), (os.path.getsize(path), path))
    return {agent: (path, _largest_part(agent, path)) for agent, (_, path) in found.items()}


def _largest_part(agent: str, path: str) -> str:
    if reader_of(agent).framing(path) != "database":
        return ""
    database = cast(DatabaseReader, reader_of(agent))
    return max(database.parts(path), key=lambda part: sum(map(len, database.dump(path, part.id)))).id


def _measure(agent: str, path: str, part: str, enough: int) -> dict[str, Any]:
    reader = reader_of(agent)
    framing = reader.framing(path)
    if framing == "database":
        data = b"".join(row + b"\n" for row in cast(DatabaseReader, reader).dump(path, part))
    else:
        with open_source(path) as stream:
            data = stream.read()
    one = _repeat(data, max(1, enough // len(data)))
    eight = _repeat(data, 8 * max(1, enough // len(data)))

    def parse(block: bytes) -> int:
        parser = reader.parser(path, part)
        parser.feed(block, 1)
        return sum(isinstance(event, ToolCall) for session in parser.take() for event in session.events)

    calls = parse(one)
    once, eightfold = _best(lambda: parse(one)), _best(lambda: parse(eight))
    plain = _best(lambda: _json(one)) if one.lstrip()[:1] in b"{[" else 0.0  # Markdown has nothing to compare with
    return {
        "file": os.path.basename(path),
        "framing": framing,
        "bytes": len(one),
        "mb_per_second": len(one) / 1e6 / once,
        "json_mb_per_second": len(one) / 1e6 / plain if plain else 0.0,
        "ratio": plain / once if plain else 0.0,
        "calls_per_second": calls / once,
        "x8": (eightfold / len(eight)) / (once / len(one)),
    }


def _repeat(data: bytes, times: int) -> bytes:
    """The same so many times over, each time with other ids: as lines, or in the longest list of a document."""
    copies = [_ID.sub(lambda found, n=number: _other(found[0], n), data) for number in range(times)]  # type: ignore[misc]
    try:
        document = json.loads(data)
    except ValueError:
        return b"\n".join(copy.rstrip(b"\n") for copy in copies) + b"\n"
    owner, key = _longest_list(document)
    if owner is None:
        return data
    lists = [_at(json.loads(copy), _path_to(document, owner[key])) for copy in copies]
    owner[key] = [item for items in lists for item in items]
    return json.dumps(document).encode()


def _other(name: bytes, number: int) -> bytes:
    return name if number == 0 or name.isdigit() else b"%04x" % number + name[4:]


def _longest_list(value: Any) -> tuple[Any, Any]:
    best: tuple[int, Any, Any] = (0, None, None)
    waiting = [value]
    while waiting:
        here = waiting.pop()
        for key, item in here.items() if isinstance(here, dict) else enumerate(here):
            if isinstance(item, list) and len(item) > best[0]:
                best = (len(item), here, key)
            if isinstance(item, dict | list):
                waiting.append(item)
    return best[1], best[2]


def _path_to(value: Any, target: Any) -> list[Any]:
    waiting: list[tuple[Any, list[Any]]] = [(value, [])]
    while waiting:
        here, path = waiting.pop()
        if here is target:
            return path
        if isinstance(here, dict | list):
            items = here.items() if isinstance(here, dict) else enumerate(here)
            waiting += [(item, [*path, key]) for key, item in items]
    raise LookupError


def _at(value: Any, path: list[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def _json(block: bytes) -> None:
    try:
        json.loads(block)
    except ValueError:
        for line in block.splitlines():
            try:
                json.loads(line)
            except ValueError:
                return


def _best(work: Callable[[], object]) -> float:
    spent = []
    for _ in range(_TIMES):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)
