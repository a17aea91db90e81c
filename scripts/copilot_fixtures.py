"""Makes the fixtures of Copilot CLI: events that the real program wrote against the scripted model.

`make_fixtures.py` calls `make`; the machine's own paths do not stay in what is kept.
"""

import os
import tempfile

from preheat.model.session import Usage
from preheat.testing.model_server import ModelServer
from preheat.testing.script import Call, Reply
from scripts.codex_fixtures import scrub_line
from tests.programs.copilot import CopilotHome, find_copilot


def _bash(command: str, **more: object) -> Call:
    return Call("bash", {"command": command, "description": "Run it", **more})


ORDINARY = (
    Reply(
        "I look first.",
        [_bash("ls missing-folder")],
        reasoning="It may not be there.",
        usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
    ),
    Reply(calls=[Call("view", {"path": "{project}/missing.txt"}), _bash("echo good")]),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply("Now the file.", [Call("create", {"path": "{project}/greeting.txt", "file_text": "hello\n"})]),
    Reply(calls=[Call("edit", {"path": "{project}/greeting.txt", "old_str": "absent", "new_str": "x"})]),
    Reply(
        calls=[
            Call("task", {"agent_type": "explore", "name": "count", "description": "Count", "prompt": "Count files."})
        ]
    ),
    Reply(calls=[_bash("ls | wc -l")]),
    Reply("One file."),
    Reply("All done."),
)
_FULL = Usage(input=110_000, output=20)
"""So many tokens that the window of 128,000 is nearly full, whatever was really said."""
HOOKED = (
    Reply("First.", [_bash("ls missing-folder")]),
    Reply(calls=[Call("view", {"path": "{project}/missing.txt"})]),
    Reply(calls=[_bash("sleep 1; exit 4", mode="async")]),
    Reply(calls=[_bash("sleep 2; echo later")]),
    Reply("First done."),
)
RESUMED = (
    Reply("Second.", [_bash("echo two")], usage=_FULL),
    # The summary is asked for beside the next question; either may get either of these.
    Reply("Either.", [_bash("sleep 3; echo three")], usage=Usage(input=90, output=9)),
    Reply("Either.", [_bash("sleep 3; echo three")], usage=Usage(input=90, output=9)),
    Reply("Second done."),
)
DENIED = (Reply("I remove it.", [_bash("rm greeting.txt")]), Reply("I may not."))


def make(folder: str) -> None:
    """Make every fixture, one folder with an `events.jsonl` each."""
    if find_copilot() is None:
        raise SystemExit("no `copilot` program: run scripts/install-agents copilot")
    with tempfile.TemporaryDirectory(prefix="fixture-") as work:
        for maker in (_ordinary, _hooked, _denied):
            home = maker(os.path.join(work, maker.__name__))
            made = os.path.join(folder, maker.__name__.strip("_"))
            os.makedirs(made)
            _keep(home, os.path.join(made, "events.jsonl"))


def _ordinary(folder: str) -> CopilotHome:
    """Calls of every outcome, and a subagent."""
    with ModelServer(_placed(ORDINARY, folder)) as server:
        home = CopilotHome(folder, server.url)
        home.prompt("Make a greeting file.")
        return home


def _hooked(folder: str) -> CopilotHome:
    """Hooks that speak, a command in the background; then the session resumed and compacted."""
    with ModelServer(_placed((*HOOKED, *RESUMED), folder)) as server:
        home = CopilotHome(folder, server.url)
        for event in ("sessionStart", "userPromptSubmitted", "postToolUse", "postToolUseFailure"):
            home.hook(event, f"A note at {event}.")
        home.prompt("Look around.")
        home.resume(os.path.basename(os.path.dirname(home.sessions()[0])), "Go on.")
        return home


def _denied(folder: str) -> CopilotHome:
    """A command that nobody is there to allow."""
    with ModelServer(_placed(DENIED, folder)) as server:
        home = CopilotHome(folder, server.url)
        home.cautious_prompt("Remove the greeting file.")
        return home


def _placed(script: tuple[Reply, ...], folder: str) -> list[Reply]:
    """The script with the project's place filled in: the program takes absolute paths only."""
    project = os.path.join(folder, "proj")
    return [
        Reply(
            reply.text,
            [Call(call.name, _filled(call.arguments, project), call.id) for call in reply.calls],
            reply.reasoning,
            reply.usage,
        )
        for reply in script
    ]


def _filled(arguments: object, project: str) -> dict[str, object]:
    assert isinstance(arguments, dict)
    return {
        name: value.replace("{project}", project) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def _keep(home: CopilotHome, target: str) -> None:
    (events,) = home.sessions()
    paths = {home.project: "/w/proj", home.home: "/w/home", home.folder: "/w"}
    with open(events, encoding="utf-8") as file, open(target, "w", encoding="utf-8") as kept:
        kept.writelines(scrub_line(line, paths) + "\n" for line in file)
