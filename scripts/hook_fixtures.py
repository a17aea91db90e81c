"""Records what the real programs tell our hooks, for the contract tests: `python scripts/hook_fixtures.py [AGENT…]`.

Each program runs a short script of the model's in a clean home; paths are turned into `/w`. Claude Code and Cursor cannot be run
here: their fixtures are written by hand after their documentation.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(CHECKOUT, "tests", "fixtures", "hooks")
sys.path.insert(0, CHECKOUT)

from preheat.testing.hooks import HookRecorder, ListeningDaemon  # noqa: E402 - the checkout has to be found first
from preheat.testing.model_server import Call, ModelServer, Reply  # noqa: E402
from tests.programs import gemini, hermes, opencode  # noqa: E402
from tests.programs.codex import CodexHome  # noqa: E402
from tests.programs.copilot import CopilotHome  # noqa: E402
from tests.programs.program import clean_environment  # noqa: E402


def codex(folder: str) -> HookRecorder:
    script = [
        Reply("I look.", [Call("exec_command", {"cmd": "ls missing-folder"})]),
        Reply(calls=[Call("apply_patch", "*** Begin Patch\n*** Add File: greeting.txt\n+hello\n*** End Patch")]),
        Reply(calls=[Call("exec_command", {"cmd": "echo good"})]),
        Reply("Done."),
    ]
    with ModelServer(script) as server:
        home = CodexHome(folder, server.url)
        hooked = HookRecorder(os.path.join(folder, "data"), "codex", home.environment)
        home.exec("Make a greeting file.", "--dangerously-bypass-hook-trust")
    return hooked


def copilot(folder: str) -> HookRecorder:
    task = {"agent_type": "explore", "name": "count", "description": "Count", "prompt": "Count the files."}
    script = [
        Reply("Ask.", [Call("task", task)]),
        Reply(calls=[Call("bash", {"command": "ls | wc -l", "description": "Count"})]),
        Reply("None."),
        Reply(calls=[Call("bash", {"command": "ls missing-folder", "description": "List"})]),
        Reply(calls=[Call("view", {"path": os.path.join(folder, "proj", "missing.txt")})]),
        Reply(calls=[Call("create", {"path": os.path.join(folder, "proj", "a.txt"), "file_text": "hello\n"})]),
        Reply("Done."),
    ]
    with ModelServer(script) as server:
        home = CopilotHome(folder, server.url)
        hooked = HookRecorder(os.path.join(folder, "data"), "copilot", home.environment)
        home.prompt("Look around.")
    return hooked


def gemini_cli(folder: str) -> HookRecorder:
    script = [
        Reply("I look.", [Call("run_shell_command", {"command": "ls missing-folder"})]),
        Reply(calls=[Call("read_file", {"file_path": "missing.txt"})]),
        Reply(calls=[Call("write_file", {"file_path": "a.txt", "content": "hello\n"})]),
        Reply("Done."),
    ]
    hooked = HookRecorder(
        os.path.join(folder, "data"), "gemini", clean_environment(folder, {"GEMINI_CLI_HOME": folder})
    )
    program = gemini.find_gemini() or "gemini"
    job = gemini.Job(program=program, home=folder, prompt="Look around.", script=script, settings=hooked.settings)
    gemini.run(job)
    return hooked


def open_code(folder: str) -> HookRecorder:
    missing = os.path.join(opencode.project(folder), "missing.txt")
    script = [
        Reply("I look.", [Call("bash", {"command": "ls missing-folder", "description": "List"})]),
        Reply(calls=[Call("read", {"filePath": missing})]),
        Reply("Done."),
    ]
    hooked = HookRecorder(os.path.join(folder, "data"), "opencode", clean_environment(folder))
    program = opencode.find_opencode() or "opencode"
    opencode.run(opencode.Job(program=program, home=folder, arguments=["run", "Look around."], script=script))
    return hooked


def hermes_agent(folder: str) -> ListeningDaemon:
    script = [
        Reply(
            "I look.", [Call("terminal", {"command": "ls missing-folder"}), Call("read_file", {"path": "missing.txt"})]
        ),
        Reply(calls=[Call("search_files", {"pattern": "nothing", "path": "."})]),
        Reply("Done."),
    ]
    hermes.place_plugin(folder, os.path.join(folder, "data"))
    with ListeningDaemon(os.path.join(folder, "data"), "hermes") as listening:
        question = ["chat", "-q", "Look around.", "-Q"]
        program = hermes.find_hermes() or "hermes"
        hermes.run(hermes.Job(program=program, home=folder, arguments=question, script=script, settings=hermes.PLUGIN))
    return listening


PROGRAMS: dict[str, Callable[[str], HookRecorder | ListeningDaemon]] = {
    "codex": codex,
    "copilot": copilot,
    "gemini": gemini_cli,
    "opencode": open_code,
    "hermes": hermes_agent,
}


def main() -> None:
    for agent, run in PROGRAMS.items():
        if sys.argv[1:] and agent not in sys.argv[1:]:
            continue
        folder = tempfile.mkdtemp()
        try:
            payloads = run(folder).payloads
            with open(os.path.join(FIXTURES, f"{agent}.jsonl"), "wb") as stream:
                for payload in payloads:
                    stream.write(payload.replace(folder.encode(), b"/w").strip() + b"\n")
            print(f"{agent}: {len(payloads)} events")
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
