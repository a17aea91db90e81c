"""Makes the fixtures of Gemini CLI: sessions that the real program wrote against the scripted model.

`make_fixtures.py` calls `make`. The machine's paths and host name are replaced, over-long texts are cut; ids and times
stay, and so does the layout of the program's own folder: a subagent's file names its parent by where it lies. The document
of versions before 0.40 is made out of a journal: the newest version of each message, without the results sent to the model.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from preheat.model.session import Usage
from preheat.testing.script import Call, Reply
from scripts.codex_fixtures import scrub_line
from tests.programs import gemini

WORK = (
    Reply(
        "I look at the folder first.",
        [Call("run_shell_command", {"command": "ls missing-folder"})],
        reasoning="**Looking around** It may not be there.",
        usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
    ),
    Reply(
        calls=[
            Call("read_file", {"file_path": "missing.txt"}),
            Call("run_shell_command", {"command": "printf 'good\\nExit Code: 7'"}),
        ],
        usage=Usage(input=20, cache_read=120, output=30),
    ),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply("Now the file.", [Call("write_file", {"file_path": "one.txt", "content": "hello\n"})]),
    Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
)
FIRST = (Reply("I count.", [Call("run_shell_command", {"command": "echo one", "description": "Count"})]), Reply("One."))
SECOND = (Reply(calls=[Call("run_shell_command", {"command": "exit 3"})]), Reply("Three."))
THIRD = (Reply("Going on after the summary."),)
SUMMARY = "<scratchpad>Short.</scratchpad><state_snapshot><goal>Counting on.</goal></state_snapshot>"
COMPACTING: dict[str, Any] = {"model": {"compressionThreshold": 0.0001}}
DELEGATING = (
    Reply("I have it counted.", [Call("invoke_agent", {"agent_name": "generalist", "prompt": "Count the files."})]),
    Reply(calls=[Call("run_shell_command", {"command": "ls | wc -l"})]),
    Reply(calls=[Call("complete_task", {"result": {"response": "There are no files."}})]),
    Reply("The count is zero."),
)


def work(home: str) -> None:
    """Calls of every outcome."""
    _run(home, "Make a file.", WORK)


def resumed(home: str) -> None:
    """Three sittings, the last of which begins with a compaction."""
    _run(home, "Count.", FIRST)
    _run(home, "Count on.", SECOND, ["--resume", "latest"])
    _run(home, "And on.", THIRD, ["--resume", "latest"], COMPACTING)


def delegating(home: str) -> None:
    """A task handed over to a subagent."""
    _run(home, "How many files are there?", DELEGATING)


def make(folder: str) -> None:
    """Make every fixture, each as the program's `tmp` folder has it."""
    for maker in (work, resumed, delegating):
        with tempfile.TemporaryDirectory(prefix="fixture-") as home:
            maker(home)
            _keep(home, os.path.join(folder, maker.__name__))
    _older(gemini.journals(os.path.join(folder, work.__name__))[0], os.path.join(folder, "older", "proj", "chats"))


def _run(
    home: str, prompt: str, script: Sequence[Reply], options: Sequence[str] = (), settings: dict[str, Any] | None = None
) -> None:
    program = gemini.find_gemini()
    if program is None:
        raise SystemExit("no `gemini` program: run `scripts/install-agents gemini`")
    job = gemini.Job(
        program=program, home=home, prompt=prompt, script=script, options=options,
        settings=settings or {}, side_text=SUMMARY,
    )  # fmt: skip
    gemini.run(job)


def _keep(home: str, target: str) -> None:
    paths = {gemini.project(home): "/w/proj", home: "/w/home"}
    for path in gemini.sessions(home):
        below = os.path.relpath(path, gemini.own_folder(home))
        kept = os.path.join(target, below)
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        with open(path, encoding="utf-8") as source, open(kept, "w", encoding="utf-8") as file:
            file.writelines(scrub_line(line, paths) + "\n" for line in source)


def _older(journal: str, target: str) -> None:
    with open(journal, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    messages: dict[str, Any] = {}
    for record in records:
        is_result = any("functionResponse" in part for part in record.get("content", ()) if isinstance(part, dict))
        if "id" in record and not is_result:
            messages[record["id"]] = record
    session = "0d0c0000-0000-4000-8000-000000000001"
    document = {**records[0], "sessionId": session, "messages": list(messages.values())}
    os.makedirs(target)
    with open(os.path.join(target, f"session-2026-01-01T10-00-{session[:8]}.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)
