"""A home folder in which every agent's place holds pipes, sockets, devices and link loops beside a session."""

import os
import socket
from collections.abc import Mapping

from preheat.agents import LIVE, places_of
from preheat.testing.builders import ClaudeTranscript

SESSION = "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607"
NAMES = {
    "claude_code": ("p/{}.jsonl",),
    "codex": ("2026/01/15/rollout-2026-01-15T10-00-00-{}.jsonl", "2026/01/15/rollout-2026-01-15T10-00-00-{}.jsonl.zst"),
    "hermes": ("state.db",),
    "opencode": ("opencode.db", "storage/session/p/ses_{}.json"),
    "gemini": ("p/chats/session-{}.jsonl", "p/chats/session-{}.json"),
    "copilot": ("{}/events.jsonl", "{}.jsonl"),
    "cline": ("{}/{}.messages.json",),
    "cursor": ("p/agent-transcripts/{}.jsonl", "state.vscdb"),
    "pi": ("p/{}.jsonl",),
    "openhands": ("{}/base_state.json",),
}
"""The names of session files below each agent's root; the braces take any text."""


def make_pipe(path: str) -> None:
    os.mkfifo(path)


def make_socket(path: str) -> None:
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.basename(path))
    finally:
        os.chdir(here)


def link_endless_device(path: str) -> None:
    os.symlink("/dev/zero", path)


def link_system_file(path: str) -> None:
    os.symlink("/proc/self/maps", path)


def link_to_itself(path: str) -> None:
    os.symlink(os.path.basename(path), path)


def make_folder(path: str) -> None:
    os.makedirs(path)


MAKERS = (make_pipe, make_socket, link_endless_device, link_system_file, link_to_itself, make_folder)


def fill_home(home: str) -> Mapping[str, str]:
    """One session of Claude Code, and every special file under every name that an agent's session may have; the environment."""
    environment = {**os.environ, "HOME": home, "PREHEAT_HOME": os.path.join(home, "preheat")}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME"):
        environment.pop(name, None)
    for agent in LIVE:
        for root in places_of(agent).roots({"HOME": home}):
            for number, make in enumerate(MAKERS):
                for name in NAMES[agent]:
                    path = os.path.join(root, name.format(f"special-{number}", f"special-{number}"))
                    if "{" not in name:  # one name only: each in a folder or channel of its own is not looked at
                        make = make_pipe
                    if not os.path.lexists(path):
                        os.makedirs(os.path.dirname(path), exist_ok=True)
                        make(path)
    project = os.path.join(home, ".claude", "projects", "-work")
    os.makedirs(project)
    write_session(os.path.join(project, f"{SESSION}.jsonl"))
    return environment


def write_session(path: str) -> None:
    """One short session of Claude Code."""
    made = (
        ClaudeTranscript(session=SESSION).prompt("please run the tests").run("pytest", "1 passed").answer("They pass.")
    )
    with open(path, "wb") as stream:
        stream.write(made.data())
