"""Secrets planted wherever a session, a hook, a repository or a template can carry one: none is stored, and none is shown."""

import json
import os
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.archive.packing import decompress
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import Person
from tests.daemon.builders import (
    BRIEF,
    Daemon,
    daemon,
    install_client,
    no_start,
    prompted,
    ran,
    run_client,
    spooled_files,
    started,
    stopped,
)

BODY = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzC4bV"
"""Put together here, so that no scanner takes this file for a leak."""
CANARIES = {
    "anthropic": "sk-" + f"ant-api03-{BODY}{BODY}-AA",
    "openai": "sk-" + f"proj-{BODY}{BODY}",
    "github": "gh" + f"p_{BODY[:36]}",
    "gitlab": "gl" + f"pat-{BODY[:20]}",
    "aws": "AK" + "IA2X3Y4Z5A6B7C2D3E",
    "slack": "xo" + f"xb-123456789012-123456789012-{BODY[:24]}",
    "stripe": "sk" + f"_live_{BODY[:24]}",
    "npm": "np" + f"m_{BODY[1:37]}",
    "google": "AI" + f"za{BODY[:35]}",
    "hugging face": "h" + f"f_{BODY[:34]}",
    "random": BODY[::-1],
    "jwt": "ey" + f"JhbGciOiJIUzI1NiJ9.ey{'J'}{BODY}.{BODY[5:]}x2",
    "password": "qT7" + "vRb2Lx9Wz",
}
"""By kind; what is searched for is the part that only chance could make."""
GIT = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)


def session(number: int, project: str, canary: str) -> ClaudeTranscript:
    """A session with one secret in every place that a transcript has."""
    password = CANARIES["password"]
    found = ClaudeTranscript(
        session=f"{number:08x}-1111-4000-8000-000000000000",
        project=project,
        branch=f"feature/{canary}",
        started=time.time() - (20 - number) * 86400,
    )
    found = found.prompt(f"Use {canary} for step {number}").title(f"Deploy with {canary}")
    found = found.reasoning(f"The key is {canary}.").answer(f"I use {canary}.")
    found = found.run(f"pytest tests --token {canary}", f"bash: pytest: {canary}: command not found", 127)
    found = found.answer("Another way.").run(f"TOKEN={canary} uv run pytest tests", f"{number} passed, token {canary}")
    found = found.run(f"mysql -u root -p{password} shop", f"ERROR 1045: denied for {canary}", 1)
    change = {"file_path": f"{project}/src/{canary}.py", "old_string": canary, "new_string": f"KEY = '{canary}'"}
    found = found.call("Edit", change).result(f"The file {canary}.py has been updated.")
    found = found.compaction(f"They gave me {canary}.").prompt("again").answer("Once more.")
    return found.run("uv run pytest tests", f"{number} passed").answer(f"Done with {canary}.")


def repository(path: str) -> None:
    """A repository whose remote has a token in its address, and whose branch is named after another."""
    os.makedirs(path)
    for command in (
        ["init", "-q", "-b", f"feature/{CANARIES['github']}"],
        ["remote", "add", "origin", f"https://{CANARIES['gitlab']}@git.internal/team/app.git"],
        ["remote", "add", "other", f"https://deploy:{CANARIES['password']}@git.internal/team/app.git"],
    ):
        subprocess.run(["git", "-C", path, *command], check=True, env={**os.environ, **GIT}, capture_output=True)


def telling(canary: str) -> bytes:
    """The part of a canary that is nowhere else."""
    return canary[len(canary) // 3 :].encode()


def leaks(text: bytes) -> list[str]:
    return [kind for kind, canary in CANARIES.items() if telling(canary) in text]


def stored(folder: str) -> dict[str, bytes]:
    """Every file in Preheat's folder, and what is packed in its databases."""
    found: dict[str, bytes] = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = Path(at, name)
            if path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
    with sqlite3.connect(f"file:{folder}/archive.db?mode=ro", uri=True) as connection:
        for table in ("packs", "passages"):
            rows = connection.execute(f"SELECT data FROM {table}").fetchall()
            assert rows, f"nothing is in {table}"
            found[table] = b"\n".join(decompress(row[0]) for row in rows)
    return found


def assert_clean(folder: str) -> None:
    assert {name: bad for name, text in stored(folder).items() if (bad := leaks(text))} == {}


@pytest.fixture
def project(person: Person) -> str:
    """A project in which many sessions with secrets took place, each written down where the agent writes."""
    path = os.path.join(person.home, "shop")
    repository(path)
    for number, canary in enumerate(CANARIES.values(), 1):
        person.write(session(number, path, canary))
    settings = Path(person.home, ".claude", "settings.json")
    settings.write_text(json.dumps({"env": {"DEPLOY_TOKEN": CANARIES["random"]}, "apiKeyHelper": CANARIES["github"]}))
    return path


def test_no_command_stores_or_shows_a_secret(person: Person, project: str) -> None:
    commands = [
        ["sync"],
        ["learn"],
        ["learn", "--json"],
        ["mistakes"],
        ["mistakes", "--json"],
        ["sessions", "list"],
        ["sessions", "list", "--json"],
        ["sessions", "show", "latest"],
        ["sessions", "search", "token"],
        ["warm", "build", "mine", "--min-messages", "0", "--weak", "--max-error-rate", "1"],
        ["warm", "show", "mine"],
        ["warm", "show", "mine", "--json"],
        ["warm", "start", "--task", "run the tests", "--project", project],
        ["warm", "export", "mine", "--with-evidence", "--output", os.path.join(person.home, "mine.json")],
        ["warm", "export", "mine"],
        ["scorecard", "latest"],
        ["replay", "latest"],
        ["compress", "latest"],
        *(["export", "latest", "--format", form] for form in ("atif", "jsonl", "openai", "raw")),
        ["export", "--all", "-o", os.path.join(person.home, "exports")],
        ["install", "claude_code"],
        ["status"],
        ["doctor"],
        ["doctor", "--json"],
    ]
    for command in commands:
        done = person.run(*command)
        assert done.code in (0, 1), (command, done)
        assert leaks(done.out.encode() + done.err.encode()) == [], command
    written = [Path(person.home, "mine.json"), *Path(person.home, "exports").rglob("*.jsonl")]
    assert len(written) == 1 + len(CANARIES)
    assert [path.name for path in written if leaks(path.read_bytes())] == []
    assert_clean(person.folder)


def test_the_search_finds_what_is_stored_as_it_is(
    person: Person, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preheat.ingest.source_rows.redact", lambda block: (block, {}))
    person.run("sync")
    assert leaks(stored(person.folder)["packs"]) == list(CANARIES)


def test_an_imported_template_brings_no_secret(person: Person, project: str) -> None:
    person.run("sync")
    person.run("learn")
    built = person.run("warm", "build", "mine", "--min-messages", "0", "--weak", "--max-error-rate", "1")
    assert built.code == 0, built
    file = Path(person.home, "theirs.json")
    assert person.run("warm", "export", "mine", "--output", str(file)).code == 0
    text = file.read_text()
    assert "uv run pytest" in text
    secret = CANARIES["github"]
    file.write_text(text.replace("uv run pytest", f"GITHUB_TOKEN={secret} uv run pytest"))
    done = person.run("warm", "import", str(file), "--name", "theirs")
    shown = person.run("warm", "review", "theirs")
    assert leaks((done.out + done.err + shown.out + shown.err).encode()) == []
    assert_clean(person.folder)


def hook_events(project: str) -> list[bytes]:
    events = []
    for number, canary in enumerate(CANARIES.values(), 1):
        name = f"live-{number}"
        more: dict[str, Any] = {"session": name, "cwd": project}
        events += [
            started(**more),
            prompted(f"use {canary}", **more),
            ran(1, f"deploy --token {canary}", f"token {canary} is wrong", failed=True, **more),
            ran(2, f"TOKEN={canary} deploy", f"ok {canary}", **more),
            stopped(last_assistant_message=f"done with {canary}", **more),
        ]
    return events


def test_hooks_store_and_say_no_secret_with_and_without_a_daemon(person: Person, project: str) -> None:
    person.run("sync")
    client = install_client(person.folder, no_start())
    for event in hook_events(project):
        if b"SessionStart" not in event and b"UserPromptSubmit" not in event:  # they wait for a daemon
            assert leaks(run_client(client, event, limit=BRIEF)) == []
    assert len(spooled_files(person.folder)) >= len(CANARIES)
    assert_clean(person.folder)
    with daemon(person.folder) as running:
        tell(running, project)
    assert_clean(person.folder)


def tell(running: Daemon, project: str) -> None:
    for event in hook_events(project):
        assert leaks(running.ask(event)) == []


def test_a_folder_named_after_a_secret_is_stored_without_it(person: Person) -> None:
    canary = CANARIES["github"]
    path = os.path.join(person.home, f"shop-{canary}")
    repository(path)
    source = Path(session(1, path, CANARIES["npm"]).write(os.path.join(person.home, "written")))
    kept = Path(person.projects, "-shop", source.name)  # where the file itself lies is stored as it is
    kept.parent.mkdir(parents=True)
    source.rename(kept)
    client = install_client(person.folder, no_start())
    run_client(client, ran(1, "make", "ok", cwd=path), limit=BRIEF)
    for command in (
        ["sync"],
        ["learn"],
        ["mistakes"],
        ["sessions", "list"],
        ["sessions", "show", "latest"],
        ["doctor"],
    ):
        done = person.run(*command)
        assert leaks(done.out.encode() + done.err.encode()) == [], command
    assert_clean(person.folder)
    with daemon(person.folder) as running:
        for event in (started(cwd=path), prompted("go", cwd=path), ran(1, "make", "ok", cwd=path), stopped(cwd=path)):
            assert leaks(running.ask(event)) == []
    assert_clean(person.folder)
