"""Makes the fixtures of Cline: sessions that the real CLI wrote against the scripted model.

`make_fixtures.py` calls `make`; the machine's own paths do not stay in what is kept. The task folders of the extensions,
which run inside an editor only, are written by hand and only copied.
"""

import glob
import json
import os
import shutil
import tempfile

from preheat.model.session import Usage
from preheat.testing.model_server import ModelServer
from preheat.testing.script import Call, Reply
from scripts.codex_fixtures import replacements, scrub
from tests.programs.cline import ClineHome, find_cline

_BY_HAND = ("tagged", "native")

ORDINARY = (
    Reply(
        "I look first.",
        [Call("run_commands", {"commands": ["ls missing-folder", "echo good"]})],
        reasoning="It may not be there.",
        usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
    ),
    Reply(
        calls=[
            Call("read_files", {"files": [{"path": "missing.txt"}]}),
            Call("run_commands", {"commands": ["echo fine"]}),
        ]
    ),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply("Now the file.", [Call("editor", {"path": "greeting.txt", "new_text": "hello\n"})]),
    Reply(calls=[Call("editor", {"path": "greeting.txt", "old_text": "absent", "new_text": "x"})]),
    Reply(calls=[Call("run_commands", "no JSON at all")]),
    Reply("All done."),
)
DELEGATING = (
    Reply("I hand this over.", [Call("spawn_agent", {"systemPrompt": "You count.", "task": "Count the files."})]),
    Reply(calls=[Call("run_commands", {"commands": ["ls | wc -l"]})]),
    Reply("None."),
    Reply("Zero files."),
)


def make(folder: str) -> None:
    """Make every fixture."""
    kept = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "fixtures", "cline")
    for name in _BY_HAND:
        shutil.copytree(os.path.join(kept, name), os.path.join(folder, name))
    if find_cline() is None:
        raise SystemExit("no `cline` program: run scripts/install-agents cline")
    with tempfile.TemporaryDirectory(prefix="fixture-") as work:
        _run(os.path.join(work, "ordinary"), "Make a greeting file.", ORDINARY, "", folder)
        _run(os.path.join(work, "delegating"), "How many files are there?", DELEGATING, "A note.", folder)


def _run(work: str, prompt: str, script: tuple[Reply, ...], note: str, folder: str) -> None:
    with ModelServer(script) as server:
        home = ClineHome(work, server.url)
        if note:
            home.hook("PostToolUse", note)
        home.prompt(prompt)
    pairs = replacements({home.project: "/w/proj", home.home: "/w/home", home.folder: "/w"})
    for path in glob.glob(os.path.join(glob.escape(home.data), "sessions", "*", "*.json")):
        with open(path, encoding="utf-8") as file:
            document = scrub(json.load(file), pairs)
        target = os.path.join(
            folder, os.path.basename(work), os.path.relpath(path, os.path.join(home.data, "sessions"))
        )
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, indent=1)
            file.write("\n")
