"""Makes Preheat's folder as every earlier revision of the archive left it, with the code of that time: `tests/fixtures/homes`.

Run it from the checkout: `.venv/bin/python scripts/make_old_homes.py [REVISION...]`. Each revision gets `home.tar.xz` (the
folder) and `printed.json` (what the code of that time printed, which newer code must reproduce). The sessions are the project's
own: recorded ones out of `tests/fixtures`, and the samples of the demo.
"""

import contextlib
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from typing import Any

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(CHECKOUT, "tests", "fixtures")
HOMES = os.path.join(FIXTURES, "homes")
COMMITS = {"0001": "7ee7c1a", "0002": "6cb920c", "0003": "922026d", "0004": "857cd21"}
"""The last commit at which a revision was the newest; the one of `0004` is version 0.1.0."""
SESSIONS = (
    "claude_code", "codex/headless.jsonl", "codex/compressed.jsonl.zst", "gemini/work", "hermes/ordinary", "opencode/ordinary",
)  # fmt: skip
WORDS = ("missing", "file", "pytest", "greeting")
"""What is searched for."""
MACHINE = os.path.join(tempfile.gettempdir(), "preheat-machine")
"""The same each time: the archive names the files that it read."""
SETTINGS = '[live]\nblock = "critical"\nshorten_output = true\n'
LEFT_OUT = ("live/start", "live/daemon.log", "live/socket", "hook.py", "hook_away.py")
"""Files that name the machine on which they were made; each start makes them anew."""


class Old:
    """Preheat as it was, with a folder of its own."""

    def __init__(self, source: str) -> None:
        self.home = os.path.join(MACHINE, "preheat")
        self._environment = {
            "PATH": os.environ["PATH"], "HOME": os.path.join(MACHINE, "person"), "PREHEAT_HOME": self.home,
            "PYTHONPATH": os.path.join(source, "src"), "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip

    def run(self, *words: str) -> bytes:
        command = [sys.executable, "-m", "preheat", *words]
        done = subprocess.run(command, env=self._environment, cwd=MACHINE, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"make_old_homes: `preheat {' '.join(words)}` said: {done.stderr.decode()}")
        return done.stdout

    def ask(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def tell(self, agent: str, payload: bytes) -> None:
        """A hook, as an agent's program would have it expected to the daemon."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(300)
            connection.connect(os.path.join(self.home, "live", "socket"))
            connection.sendall(f"{agent} {len(payload)}\n".encode() + payload)
            while connection.recv(1 << 16):
                pass


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[str]:
    """The code of a commit, in a folder for this time."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", source, commit], cwd=CHECKOUT, check=True)
        try:
            yield source
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", source], cwd=CHECKOUT, check=True)


def make(revision: str) -> None:
    shutil.rmtree(MACHINE, ignore_errors=True)
    places = lay_out()
    with checked_out(COMMITS[revision]) as source:
        old = Old(source)
        old.run("sync", "--quiet", *places)
        expected: dict[str, Any] = {"revision": revision, "commit": COMMITS[revision]}
        if revision >= "0002":
            old.run("mistakes", "--json")  # which judges everything
        if revision >= "0003":
            expected |= learn(old)
            expected |= make_templates(old)
            expected |= watch(old, revision)
        if revision >= "0004":
            expected |= experiment(old)
        expected |= describe(old)
    target = os.path.join(HOMES, revision)
    os.makedirs(target, exist_ok=True)
    pack(old.home, os.path.join(target, "home.tar.xz"))
    with open(os.path.join(target, "printed.json"), "w", encoding="utf-8") as stream:
        json.dump(expected, stream, indent=1, sort_keys=True, ensure_ascii=False)
        stream.write("\n")
    print(
        f"{revision} by {COMMITS[revision]}: {len(expected['sessions'])} sessions, {len(expected.get('lessons', ()))} lessons"
    )


def lay_out() -> list[str]:
    """The sessions on the machine."""
    os.makedirs(os.path.join(MACHINE, "person"))
    places = []
    for name in SESSIONS:
        place = os.path.join(MACHINE, "sessions", name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        source = os.path.join(FIXTURES, name)
        (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, place)
        places.append(place)
    samples = os.path.join(MACHINE, "samples")
    shutil.copytree(os.path.join(CHECKOUT, "src", "preheat", "samples"), samples)
    return [*places, samples]


def learn(old: Old) -> dict[str, Any]:
    """Lessons, one of them pinned and one retired."""
    old.run("learn", "--quiet")
    first, second, *_ = [each["id"] for each in old.ask("lessons", "list", "--all") if each["kind"] == "dead_end"]
    old.run("lessons", "pin", first, "--because", "it is so")
    old.run("lessons", "retire", second, "--because", "we moved on")
    lessons = old.ask("lessons", "list", "--all")
    return {"lessons": {each["id"]: each["text"] for each in lessons}, "pinned": first, "retired": second}


def make_templates(old: Old) -> dict[str, Any]:
    """One of a session, one of many in two versions, one deleted, one that came from elsewhere and waits for its review."""
    shared = os.path.join(MACHINE, "shared.json")
    old.run("warm", "extract", "latest", "--name", "one", "--addendum", "Be quick.")
    old.run("warm", "build", "many", "--min-messages", "0", "--weak")
    old.run("warm", "build", "many", "--min-messages", "0", "--weak", "--addendum", "Run the tests first.")
    old.run("warm", "build", "gone", "--min-messages", "0", "--weak")
    old.run("warm", "delete", "gone")
    old.run("warm", "export", "one", "-o", shared)
    old.run("warm", "import", shared, "--name", "theirs")
    names = sorted(each["name"] for each in old.ask("warm", "list"))
    return {
        "templates": {name: old.ask("warm", "show", name) for name in names},
        "history": old.ask("warm", "history", "many")["versions"],
        "deleted": ["gone"],
    }


def watch(old: Old, revision: str) -> dict[str, Any]:
    """A journal of a daemon: a session that went through every hook. With an experiment, some archived ones are assigned too."""
    with open(os.path.join(old.home, "settings.toml"), "w", encoding="utf-8") as stream:
        stream.write(SETTINGS)
    if revision >= "0004":
        old.run("experiment", "start", "first", "--metric", "errors")
    old.run("serve")
    try:
        with open(os.path.join(FIXTURES, "hooks", "claude_code.jsonl"), "rb") as hooks:
            for line in hooks:
                if b'"SessionEnd"' not in line:  # it goes on
                    old.tell("claude_code", line.strip())
        for session in old.ask("sessions", "list"):
            start = {"hook_event_name": "SessionStart", "session_id": session["session"], "source": "startup"}
            if session["agent"] == "claude_code":
                old.tell("claude_code", json.dumps({**start, "cwd": session["project"] or "/w"}).encode())
    finally:
        old.run("serve", "--stop")
    return {"watched": {each["session"]: each["turn"] for each in old.ask("watch")}}


def experiment(old: Old) -> dict[str, Any]:
    """Ratings, an experiment that is over, one that runs, and the ledger."""
    keys = [each["key"] for each in old.ask("sessions", "list")]
    old.run("rate", "good", keys[0], "--note", "it went well")
    old.run("rate", "bad", keys[1])
    old.run("experiment", "stop", "first")
    old.run("experiment", "start", "second", "--arms", "warm,note", "--metric", "rating")
    return {
        "experiments": old.ask("experiment", "list"),
        "ledger": old.ask("ledger"),
        "report": old.ask("experiment", "report", "first"),
        "rated": {keys[0]: "good", keys[1]: "bad"},
    }


def describe(old: Old) -> dict[str, Any]:
    """What there is: sessions, the bytes of each, and where words are found."""
    sessions = {each["key"]: each for each in old.ask("sessions", "list")}
    raw = {key: hashlib.sha256(old.run("export", key, "--format", "raw")).hexdigest() for key in sessions}
    found = {word: sorted({each["session"]["key"] for each in old.ask("sessions", "search", word)}) for word in WORDS}
    return {"sessions": sessions, "raw": raw, "found": found}


def pack(home: str, target: str) -> None:
    """The same bytes for the same folder, whoever packs it."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if entry.name.removeprefix("./") in LEFT_OUT or not (entry.isfile() or entry.isdir()):
            return None
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        return entry

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:xz", preset=9) as archive:
        archive.add(home, ".", filter=plain)
    with open(target, "wb") as stream:
        stream.write(made.getvalue())


def main() -> None:
    wanted = sys.argv[1:] or list(COMMITS)
    if unknown := set(wanted) - set(COMMITS):
        raise SystemExit(f"make_old_homes: no revision {', '.join(sorted(unknown))}; there are {', '.join(COMMITS)}")
    for revision in wanted:
        make(revision)
    shutil.rmtree(MACHINE, ignore_errors=True)


if __name__ == "__main__":
    main()
