"""A stand-in for the hook client: records what an agent's program sends, and answers with fixed texts in that program's form.

Knows no agent. It is called exactly as the real one is, from settings that `preheat install` has written.

    hooked = Hooked(folder, agent, home.environment)     # installs; then run the program
    assert [event.name for event in hooked.events] == ["session_start", ...]
"""

import os
import stat
import sys
import time
from collections.abc import Mapping
from typing import Literal

import msgspec

from preheat.agents import hooks_of
from preheat.agents.hooking import Hooks
from preheat.installing.plans import FilePlan, apply_file_plan, plan_install
from preheat.model.live import HookAnswer, HookEvent, HookName
from preheat.running.place import CLIENT_FILES

Mode = Literal["answer", "crash", "garbage", "hang", "replace", "block"]
ANSWER_TEXTS: Mapping[HookName, str] = {
    "session_start": "Marked at the start.", "prompt": "Marked at the prompt.", "before_tool": "Marked before a call.",
    "after_tool": "Marked after a call.", "tool_failed": "Marked after a failure.", "before_compaction": "Marked at compaction.",
}  # fmt: skip
REPLACED_OUTPUT = "The output in short."
REFUSAL_REASON = "Refused by a test."

_SHIM = """\
import os, sys
os.environ["PYTHONPATH"] = {source!r}
os.execv({python!r}, [{python!r}, {here!r}, sys.argv[1], {folder!r}, {mode!r}])
"""


def require_hooks(agent: str) -> Hooks:
    found = hooks_of(agent)
    if found is None:
        raise LookupError(f"`{agent}` has no hooks")
    return found


class HookRecorder:
    """An agent that has our hooks installed."""

    def __init__(
        self, folder: str, agent: str, environment: Mapping[str, str], mode: Mode = "answer", project: str = ""
    ) -> None:
        self.folder = folder
        self.agent = agent
        self._hooks = require_hooks(agent)
        self.plan: FilePlan = plan_install(agent, folder, environment, project)
        apply_file_plan(self.plan, folder, time.time())
        here = os.path.abspath(__file__)
        source = os.path.dirname(os.path.dirname(os.path.dirname(here)))
        values = {"source": source, "python": sys.executable, "here": here, "folder": folder, "mode": mode}
        with open(os.path.join(folder, CLIENT_FILES[0]), "w", encoding="utf-8") as stream:
            stream.write(_SHIM.format(**values))

    @property
    def payloads(self) -> list[bytes]:
        """The bytes that the program sent, in order."""
        names = sorted(name for name in os.listdir(self.folder) if name.endswith(".payload"))
        found = []
        for name in names:
            with open(os.path.join(self.folder, name), "rb") as stream:
                found.append(stream.read())
        return found

    @property
    def events(self) -> list[HookEvent]:
        """The events that the program sent, in order."""
        found = [self._hooks.read(payload, None) for payload in self.payloads]
        return [event for event in found if event is not None]

    @property
    def settings(self) -> dict[str, object]:
        """The installed settings, where they are JSON."""
        with open(self.plan.path, "rb") as stream:
            found: dict[str, object] = msgspec.json.decode(stream.read())
        return found


def make_answer(event: HookEvent, mode: Mode) -> HookAnswer:
    """The fixed answer to an event."""
    if mode == "replace" and event.name == "after_tool":
        return HookAnswer(output=REPLACED_OUTPUT)
    if mode == "block" and event.name in ("before_tool", "stop"):
        return HookAnswer(block=REFUSAL_REASON)
    return HookAnswer(context=ANSWER_TEXTS.get(event.name, ""))


def main(agent: str, folder: str, mode: Mode) -> None:
    """Run the client once."""
    payload = sys.stdin.buffer.read()
    path = os.path.join(folder, f"{time.time_ns():020}-{os.getpid()}.payload")
    with open(path, "wb") as stream:
        stream.write(payload)
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    event = require_hooks(agent).read(payload, None)
    if mode == "crash":
        raise RuntimeError("the hook of a test breaks")
    if mode == "garbage":
        print("{ this is no JSON")
        return
    if event is None:
        return
    if mode == "hang" and event.name == "after_tool":
        time.sleep(3600)
    answer = require_hooks(agent).write(event, make_answer(event, mode))
    if answer:
        sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])  # type: ignore[arg-type]
