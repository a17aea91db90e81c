"""Makes the fixtures of mini-swe-agent: trajectories that the real program wrote against the scripted model.

`make_fixtures.py` calls `make`. The one of version 1, which no longer runs, is written by hand and only copied.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

from preheat.model.session import Usage
from preheat.testing.model_server import ModelServer
from preheat.testing.script import Call, Reply
from tests.programs import program as programs

HOME = "/home/person"
_FINISH = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat answer.txt"
_BY_HAND = "version-1.traj.json"


def _bash(command: str) -> Call:
    return Call("bash", {"command": command})


TOOL_CALLS = (
    Reply(
        "I look around.",
        calls=[_bash("echo hello > answer.txt; ls"), _bash("cat missing.txt")],
        usage=Usage(input=200, output=20, cache_read=50, reasoning=5),
        reasoning="First see what is there.",
    ),
    Reply("I forgot to call anything."),
    Reply(calls=[Call("no_such_tool", {"x": 1})]),
    Reply(calls=[_bash("sleep 5")]),
    Reply("Done.", calls=[_bash(_FINISH)]),
)
_FENCED = "THOUGHT: go on.\n\n```mswea_bash_command\n{}\n```"
TEXT = (
    Reply(_FENCED.format("echo hello > answer.txt; exit 3")),
    Reply("THOUGHT: no command at all."),
    Reply(_FENCED.format(_FINISH)),
)
_DECLARED = 'model.model_kwargs.tools=[{"type": "function", "function": {"name": "unused"}}]'
"""The scripted model takes a question without tools for a side question; the text form asks none by itself."""


def make(folder: str) -> None:
    """Make every fixture."""
    kept = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "fixtures")
    shutil.copy(os.path.join(kept, "mini_swe_agent", _BY_HAND), folder)
    _run(os.path.join(folder, "tool-calls.traj.json"), TOOL_CALLS, "mini.yaml", "litellm", [])
    _run(os.path.join(folder, "text.traj.json"), TEXT, "mini_textbased.yaml", "litellm_textbased", [_DECLARED])


def _run(target: str, script: Sequence[Reply], config: str, model_class: str, more: list[str]) -> None:
    program = programs.find_program("mini", "mini-swe-agent", "bin", "mini")
    if program is None:
        raise SystemExit("no `mini` program: run scripts/install-agents")
    with tempfile.TemporaryDirectory(prefix="fixture-") as home, ModelServer(script) as server:
        made = os.path.join(home, "made.traj.json")
        project = os.path.join(home, "project")
        os.makedirs(project)
        environment = programs.clean_environment(
            home,
            {
                "MSWEA_CONFIGURED": "true",
                "MSWEA_GLOBAL_CONFIG_DIR": os.path.join(home, "config"),
                "OPENAI_API_KEY": "none",
                "LITELLM_LOCAL_MODEL_COST_MAP": "true",
            },
        )
        programs.run_program(
            [
                program, "--yolo", "--exit-immediately", "--task", "Write an answer.", "--output", made,
                "--model", "openai/scripted", "--model-class", model_class, "--config", config,
                "--config", f"model.model_kwargs.api_base={server.url}",
                "--config", "model.cost_tracking=ignore_errors",
                "--config", f"environment.cwd={project}",
                "--config", "environment.timeout=2", *(part for setting in more for part in ("--config", setting)),
            ],
            project,
            environment,
            limit=120,
        )  # fmt: skip
        with open(made, encoding="utf-8") as file:
            document = json.loads(file.read().replace(home, HOME).replace(server.url, "http://localhost/v1"))
    with open(target, "w", encoding="utf-8") as file:
        json.dump(_shortened(document), file, indent=1)
        file.write("\n")


def _shortened(document: dict[str, Any]) -> dict[str, Any]:
    """Without the program's long templates, and the prompts made of them."""
    config = document["info"]["config"]
    for part in ("agent", "model"):
        config[part] = {name: value for name, value in config[part].items() if "template" not in name}
    for message in document["messages"][:2]:
        message["content"] = "You are a helpful assistant." if message["role"] == "system" else "Write an answer."
    for message in document["messages"]:
        if message.get("extra", {}).get("interrupt_type") == "FormatError":
            message["content"] = message["content"][:120]
    return document
