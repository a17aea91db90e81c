"""Makes the fixtures of Pi: sessions that the real program wrote against the scripted model.

`make_fixtures.py` calls `make`. The machine's paths are replaced; ids and times stay. The session of version 1, which
no program writes any more, is kept as it is.
"""

import json
import os
import shutil
import tempfile

from preheat.model.session import Usage
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.pi import PiDriver, PiHome, find_pi

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(CHECKOUT, "tests", "fixtures", "pi", "version-1.jsonl")

WORK = [
    Reply(
        "I look at the folder first.",
        [Call("bash", {"command": "ls missing-folder"})],
        reasoning="It may not be there.",
        usage=Usage(input=70, cache_read=30, output=25),
    ),
    Reply(calls=[Call("read", {"path": "absent.txt"}), Call("bash", {"command": "echo good"})]),
    Reply("Now the file.", [Call("write", {"path": "greeting.txt", "content": "hello\n"})]),
    Reply(calls=[Call("edit", {"path": "greeting.txt", "edits": [{"oldText": "hello", "newText": "hi"}]})]),
    Reply(calls=[Call("edit", {"path": "greeting.txt", "edits": [{"oldText": "absent", "newText": "x"}]})]),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
]
BRANCHING = [
    Reply("The first way.", [Call("bash", {"command": "echo first"})]),
    Reply("It was the first way."),
    Reply("The second way.", [Call("bash", {"command": "sleep 9", "timeout": 1})]),
    Reply("It was the second way."),
    Reply("After the summary."),
    Reply("Forked and done."),
]


def make(folder: str) -> None:
    """Make every fixture below a folder: headless, with branches and a compaction, forked."""
    if find_pi() is None:
        raise SystemExit("no `pi` program: run `scripts/install-agents pi`")
    shutil.copy(KEPT, folder)
    with tempfile.TemporaryDirectory(prefix="fixture-") as work:
        _headless(os.path.join(work, "headless"), folder)
        _branching(os.path.join(work, "branching"), folder)


def _headless(work: str, folder: str) -> None:
    with ModelServer(WORK) as server:
        home = PiHome(work, server.url)
        home.prompt("Make a greeting file.")
        (session,) = home.sessions()
        _write(home, session, os.path.join(folder, "headless.jsonl"))


def _branching(work: str, folder: str) -> None:
    with ModelServer(BRANCHING) as server:
        home = PiHome(work, server.url)
        with PiDriver(home) as driver:
            driver.prompt("Go the first way.")
            driver.ask("set_session_name", name="Two ways")
            (session,) = home.sessions()
            driver.ask("bash", command="exit 3")
            driver.ask("prompt", message=f"/back {_first_answer(session)} summarize")
            driver.ask("prompt", message="/inject Mind the clock.")
            driver.prompt("Go the second way.")
            driver.ask("compact")
            driver.prompt("And now?")
            driver.ask("clone")
            driver.prompt("Go on elsewhere.")
        branched, forked = home.sessions()
        _write(home, branched, os.path.join(folder, "branching.jsonl"))
        _write(home, forked, os.path.join(folder, "forked.jsonl"))


def _first_answer(session: str) -> str:
    with open(session, encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    return next(str(entry["id"]) for entry in entries if entry.get("message", {}).get("role") == "assistant")


def _write(home: PiHome, session: str, target: str) -> None:
    with open(session, encoding="utf-8") as file:
        text = file.read()
    slug = home.project.strip("/").replace("/", "-")
    for machine, neutral in ((home.project, "/w/proj"), (slug, "w-proj"), (home.home, "/home/me")):
        text = text.replace(machine, neutral)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
