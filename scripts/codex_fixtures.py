"""Makes the fixtures of Codex: rollouts that the real program wrote against the scripted model.

`make_fixtures.py` calls `make`. The machine's paths and host name are replaced, over-long texts are cut; ids
and times stay.
"""

import json
import os
import socket
import tempfile
from typing import Any

import zstandard

from preheat.model.session import Usage
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.codex import CodexHome, CodexServer, find_codex, thread_of

LONGEST_TEXT = 1_500
KEPT_TEXT = 160
GOOD_PATCH = "*** Begin Patch\n*** Add File: greeting.txt\n+hello\n*** End Patch"
BAD_PATCH = "*** Begin Patch\n*** Update File: absent.txt\n@@\n-old\n+new\n*** End Patch"

WORK = [
    Reply(
        "I look at the folder first.",
        [Call("exec_command", {"cmd": "ls missing-folder"})],
        reasoning="It may not be there.",
        usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
    ),
    Reply(
        calls=[Call("exec_command", {"cmd": "echo good"}), Call("exec_command", {"cmd": "sh -c 'exit 3'"})],
        usage=Usage(input=20, cache_read=120, output=30),
    ),
    Reply("Now the file.", [Call("apply_patch", GOOD_PATCH)]),
    Reply(calls=[Call("apply_patch", BAD_PATCH)]),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
]
SHORT = [Reply(calls=[Call("exec_command", {"cmd": "date -u +%Y"})]), Reply("That is the year.")]
LEGACY = [
    Reply(
        "Looking.",
        [Call("exec_command", {"cmd": "ls missing-folder"})],
        reasoning="It may not be there.",
        usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
    ),
    Reply(calls=[Call("apply_patch", GOOD_PATCH)]),
    Reply("The file is there."),
    Reply(calls=[Call("exec_command", {"cmd": "sleep 30"})]),
    Reply("Going on after the summary."),
]
DELEGATING = [
    Reply(
        "I have it counted.",
        [
            Call("spawn_agent", {"task_name": "count", "message": "Count the files."}),
            Call("wait_agent", {"timeout_ms": 20_000}),
        ],
    ),
    Reply("There are no files."),
    Reply("The count is zero."),
]


def make(folder: str) -> None:
    """Make every fixture below a folder: headless, resumed, forked, compressed, legacy, with a sub-agent."""
    if find_codex() is None:
        raise SystemExit("no `codex` program: run `scripts/install-agents codex`")
    with tempfile.TemporaryDirectory(prefix="fixture-") as work:
        _headless(os.path.join(work, "headless"), folder)
        _legacy(os.path.join(work, "legacy"), folder)
        _delegating(os.path.join(work, "delegating"), folder)


def _headless(work: str, folder: str) -> None:
    with ModelServer([*WORK, *SHORT, Reply("Resumed and done."), Reply("Forked and done."), *SHORT]) as server:
        home = CodexHome(work, server.url)
        first = thread_of(home.exec("Make a greeting file."))
        second = thread_of(home.exec("Print the date."))
        home.resume(second, "Is it really done?")
        fork = thread_of(home.fork(second, "Do it another way."))
        third = thread_of(home.exec("Print the date once more."))
        _write(home, home.rollout(first), os.path.join(folder, "headless.jsonl"))
        _write(home, home.rollout(second), os.path.join(folder, "resumed.jsonl"))
        _write(home, home.rollout(fork), os.path.join(folder, "forked.jsonl"))
        _write(home, home.rollout(third), os.path.join(folder, "compressed.jsonl.zst"))


def _legacy(work: str, folder: str) -> None:
    with ModelServer(LEGACY) as server:
        home = CodexHome(work, server.url)
        with CodexServer(home) as codex:
            thread = codex.start("legacy")
            codex.turn(thread, "Make a greeting file.")
            codex.interrupted_turn(thread, "Wait a while.")
            codex.compact(thread)
            codex.turn(thread, "Go on.")
            fork = codex.fork(thread)
            codex.turn(fork, "Do it another way.")
        _write(home, home.rollout(thread), os.path.join(folder, "legacy.jsonl"))
        _write(home, home.rollout(fork), os.path.join(folder, "legacy-forked.jsonl"))


def _delegating(work: str, folder: str) -> None:
    with ModelServer(DELEGATING) as server:
        home = CodexHome(work, server.url)
        parent = thread_of(home.exec("How many files are there?", "--enable", "multi_agent_v2"))
        (child,) = (path for path in home.rollouts() if parent not in os.path.basename(path))
        _write(home, home.rollout(parent), os.path.join(folder, "delegating.jsonl"))
        _write(home, child, os.path.join(folder, "subagent.jsonl"))


def _write(home: CodexHome, rollout: str, target: str) -> None:
    paths = {home.project: "/w/proj", home.home: "/w/home", home.folder: "/w"}
    with open(rollout, encoding="utf-8") as file:
        text = "".join(scrub_line(line, paths) + "\n" for line in file)
    data = text.encode()
    with open(target, "wb") as file:
        file.write(zstandard.ZstdCompressor().compress(data) if target.endswith(".zst") else data)


def scrub_line(line: str, paths: dict[str, str]) -> str:
    """One JSON record with paths and host name replaced and over-long texts cut."""
    return json.dumps(scrub(json.loads(line), replacements(paths)), ensure_ascii=False, separators=(",", ":"))


def replacements(paths: dict[str, str]) -> list[tuple[str, str]]:
    """What is replaced by what, the longest first so that a folder inside another keeps its own name."""
    pairs = dict(paths)
    host = socket.gethostname()
    if len(host) > 3 and host != "localhost":
        pairs[host] = "host"
    return sorted(pairs.items(), key=lambda pair: -len(pair[0]))


def scrub(value: Any, pairs: list[tuple[str, str]]) -> Any:
    """A value with the replacements made in every text and key of it."""
    if isinstance(value, str):
        for old, new in pairs:
            value = value.replace(old, new)
        return value if len(value) <= LONGEST_TEXT else f"{value[:KEPT_TEXT]}… (cut for the fixture)"
    if isinstance(value, dict):
        return {scrub(key, pairs): scrub(item, pairs) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub(item, pairs) for item in value]
    return value
