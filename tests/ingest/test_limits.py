"""How much of one file is read has limits: memory stays bounded, what is over a limit is named, and the rest is read."""

import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import zstandard

from preheat.agents.documents import read_whole
from preheat.agents.parsing import is_nested_deeper
from preheat.agents.sources import read
from preheat.app.sessions.archive import SyncReport, sync
from preheat.app.sessions.sources import find_files
from preheat.errors import UserError
from preheat.files import FileTooLarge
from preheat.limits import DEFAULTS, Limits, current_limits, load_limits
from preheat.model.session import Other, ToolCall
from preheat.testing.builders import ClaudeTranscript
from tests.shared import TESTS
from tests.waiting import HUNG

MB = 1 << 20
PAGE = os.path.join(os.path.dirname(TESTS), "docs", "reference", "settings.md")
META = (
    b'{"timestamp":"2026-01-15T10:00:00.000Z","type":"session_meta","payload":{"id":"0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607",'
    b'"timestamp":"2026-01-15T10:00:00.000Z","cwd":"/w","originator":"x","cli_version":"0.50.0","instructions":null}}\n'
)
PROMPT = (
    b'{"timestamp":"2026-01-15T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user",'
    b'"content":[{"type":"input_text","text":"hello"}]}}\n'
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with Preheat's folder, and none of the person's settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "preheat"))
    (tmp_path / "preheat").mkdir()
    return tmp_path


def set_limits(home: Path, **limits: int) -> None:
    lines = "".join(f"{name} = {value}\n" for name, value in limits.items())
    (home / "preheat" / "settings.toml").write_text(f"[limits]\n{lines}")


def sync_file(home: Path, agent: str, *paths: Path) -> SyncReport:
    return sync(str(home / "preheat"), files=[(agent, str(path)) for path in paths])


def write_packed(path: Path, head: bytes, unit: bytes, total: int) -> None:
    """A file that unpacks to the head and many units."""
    many = unit * max(1, MB // len(unit))
    with path.open("wb") as stream, zstandard.ZstdCompressor().stream_writer(stream) as packed:
        packed.write(head)
        for _ in range(total // len(many)):
            packed.write(many)


def whole_session(home: Path) -> Path:
    return Path(ClaudeTranscript().prompt("the tests").run("pytest", "1 passed").write(str(home / "projects")))


# The settings.
def test_the_defaults_hold_without_a_file_and_with_one_that_cannot_be_read(home: Path) -> None:
    assert current_limits() == DEFAULTS
    (home / "preheat" / "settings.toml").write_text("[limits]\nsource_mb = 'much'\n")
    assert current_limits() == DEFAULTS
    with pytest.raises(UserError, match=r"settings.toml`, below `\[limits\]`: .*source_mb"):
        load_limits(str(home / "preheat"))


def test_a_change_of_the_settings_applies_at_once(home: Path) -> None:
    set_limits(home, source_mb=7)
    assert current_limits().source_mb == 7
    set_limits(home, source_mb=77)
    assert current_limits() == Limits(source_mb=77)


def test_the_settings_page_states_every_limit_as_the_code_has_it() -> None:
    with open(PAGE, encoding="utf-8") as stream:
        table = stream.read().partition("<!-- limits")[2].partition("<!-- /limits -->")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", table, re.MULTILINE))
    stated = {name: int(value.replace(",", "")) for name, value in rows.items()}
    assert stated == msgspec.to_builtins(DEFAULTS)


# Files of lines.
@pytest.mark.parametrize(
    ("unit", "limit", "named"),
    [
        (b"\0", {"source_mb": 40, "line_mb": 8}, ["source_mb", "line_mb"]),
        (PROMPT, {"source_mb": 3}, ["source_mb"]),
        (PROMPT, {"records": 2_000}, ["records"]),
        (b"{}\n", {"records": 2_000}, ["records"]),
        (b'{"type":"x"' + b" " * 9 * MB + b"}\n", {"line_mb": 8}, ["line_mb"]),
    ],
    ids=["zeros", "many bytes", "many records", "tiny records", "long lines"],
)
@pytest.mark.parametrize("packed", [True, False])
def test_what_is_over_a_limit_is_named_and_the_rest_is_read(
    home: Path, unit: bytes, limit: dict[str, int], named: list[str], packed: bool
) -> None:
    path = home / f"rollout-2026-01-15T10-00-00-x.jsonl{'.zst' if packed else ''}"
    write_packed(path, META, unit, 60 * MB)
    if not packed:
        with path.open("rb") as stream:
            data = zstandard.ZstdDecompressor().stream_reader(stream).read()
        path.write_bytes(data)
    set_limits(home, **limit)
    report = sync_file(home, "codex", path)
    messages = [message for _, _, message in report.problems]
    for name in named:
        assert any(f"`{name}` below `[limits]` in `settings.toml` sets this limit" in each for each in messages)
    assert report.failures == []
    [session] = [each for each in read(str(path)) if each.id]
    assert session.id == "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607"
    shown = [str(problem) for problem in session.problems]
    assert all(any(f"`{name}`" in each for each in shown) for name in named)


def test_a_file_over_the_limit_costs_no_other_file_and_is_whole_once_the_limit_is_raised(home: Path) -> None:
    large = home / "rollout-2026-01-15T10-00-00-x.jsonl"
    large.write_bytes(META + PROMPT * 20_000)
    set_limits(home, source_mb=1)
    sync_file(home, "codex", large)
    report = sync_file(home, "claude_code", whole_session(home))
    assert report.agents["claude_code"].sessions == 1
    [cut] = read(str(large))
    set_limits(home, source_mb=100)
    [whole] = read(str(large))
    assert len(cut.events) < len(whole.events) == 20_000


def test_a_window_that_takes_gigabytes_is_refused(home: Path) -> None:
    path = home / "rollout-x.jsonl.zst"
    parameters = zstandard.ZstdCompressionParameters(window_log=30, compression_level=1, write_content_size=False)
    with (
        path.open("wb") as stream,
        zstandard.ZstdCompressor(compression_params=parameters).stream_writer(stream) as out,
    ):
        out.write(META)
        out.flush()
    with pytest.raises(UserError, match="cannot be read"):
        read(str(path))


# Documents.
def chat(messages: int) -> bytes:
    return json.dumps(
        [{"role": "user", "content": "x" * 40}, {"role": "assistant", "content": "y"}] * messages
    ).encode()


def test_a_document_over_a_limit_is_refused_with_the_limit(home: Path) -> None:
    path = home / "chat.json"
    path.write_bytes(chat(200_000))
    assert path.stat().st_size > 17 * MB
    for limits in ({"document_mb": 10}, {"source_mb": 10}, {"values": 100_000}):
        set_limits(home, **limits)
        [name] = limits
        with pytest.raises(UserError, match=f"`{name}` below"):
            read(str(path))
        [failure] = sync_file(home, "openai_chat", path).failures
        assert f"`{name}` below `[limits]`" in failure.why
    set_limits(home)
    assert len(read(str(path))[0].events) == 400_000


def test_a_document_beside_a_session_has_the_same_limits(home: Path) -> None:
    path = home / "event.json"
    path.write_bytes(chat(200_000))
    set_limits(home, document_mb=10)
    with pytest.raises(FileTooLarge, match="larger than 10 MB; `document_mb`"):
        read_whole(str(path))
    set_limits(home, values=1000)
    with pytest.raises(FileTooLarge, match="more than 1,000 JSON values; `values`"):
        read_whole(str(path))


# Nesting.
def nested(levels: int) -> object:
    value: object = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def test_nesting_is_counted_by_objects_and_lists() -> None:
    assert [is_nested_deeper(nested(levels), 5) for levels in (0, 1, 5, 6, 100_000)] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_a_value_that_is_nested_too_deeply_is_left_out_and_named(home: Path) -> None:
    path = Path(
        ClaudeTranscript()
        .prompt("go")
        .call("Bash", {"command": "ls", "deep": nested(300)})
        .answer("done")
        .write(str(home / "projects"))
    )
    [session] = read(str(path))
    [call] = [event for event in session.events if isinstance(event, ToolCall)]
    assert call.input == {}
    assert "nested more than 200 levels deep" in str(session.problems[0])
    assert "`nesting` below `[limits]`" in str(session.problems[0])
    assert not any(is_nested_deeper(event.raw, 200) for event in session.events if isinstance(event, Other))
    set_limits(home, nesting=400)
    [session] = read(str(path))
    assert session.problems == ()


# Databases.
def make_opencode_database(path: Path, rows: int, text: str) -> None:
    with sqlite3.connect(path) as made:
        made.executescript(
            "CREATE TABLE session (id, project_id, directory, slug, title); CREATE TABLE message (id, session_id, data);"
            "CREATE TABLE part (id, message_id, session_id, data);"
            "INSERT INTO session VALUES ('ses_1', 'p', '/w', 's', 't')"
        )
        made.executemany(
            "INSERT INTO message VALUES (?, 'ses_1', ?)",
            ((f"msg_{number:08}", json.dumps({"role": "user", "text": text})) for number in range(rows)),
        )
    made.close()


@pytest.mark.parametrize("limit", [{"records": 100}, {"source_mb": 1}])
def test_a_session_in_a_database_is_read_up_to_the_limit(home: Path, limit: dict[str, int]) -> None:
    path = home / "opencode.db"
    make_opencode_database(path, 3000, "x" * 1000)
    set_limits(home, **limit)
    [name] = limit
    report = sync_file(home, "opencode", path)
    assert any(f"`{name}` below `[limits]`" in message for _, _, message in report.problems)
    assert any(f"`{name}` below" in str(problem) for session in read(str(path)) for problem in session.problems)


def test_a_value_in_a_database_over_the_limit_costs_that_session(home: Path) -> None:
    path = home / "opencode.db"
    make_opencode_database(path, 1, "x" * 3 * MB)
    set_limits(home, document_mb=1)
    [failure] = sync_file(home, "opencode", path).failures
    assert "a value in it is larger than 1 MB; `document_mb` below `[limits]`" in failure.why


# Folders.
def test_more_files_than_the_limit_are_reported_and_the_first_are_read(home: Path) -> None:
    for number in range(12):
        ClaudeTranscript(session=f"0f3c1a2b-5d6e-4f70-8a91-{number:012}").prompt("go").write(str(home / "projects"))
    set_limits(home, files=10)
    found = find_files((str(home / "projects"),))
    assert len(found.files) == 10
    [why] = found.unreadable
    assert "more than 10 files in it: the others are not read; `files` below `[limits]`" in why


def test_more_files_in_an_agents_folder_than_the_limit_are_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preheat.ingest.changes.MANY_FILES", 5)
    for number in range(12):
        ClaudeTranscript(session=f"0f3c1a2b-5d6e-4f70-8a91-{number:012}").prompt("go").write(
            str(home / ".claude" / "projects")
        )
    set_limits(home, files=10)
    report = sync(str(home / "preheat"), {"HOME": str(home)})
    assert report.agents["claude_code"].sessions == 10
    assert [(os.path.basename(each.path), "`files` below `[limits]`" in each.why) for each in report.failures] == [
        ("projects", True)
    ]


# Memory.
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to a limit of memory")
@pytest.mark.parametrize(
    ("command", "unit", "limit"),
    [("read", b"\0", "source_mb"), ("sync", b"\0", "source_mb"), ("read", b"{}\n", "records")],
)
def test_a_small_file_that_unpacks_to_gigabytes_is_read_with_bounded_memory(
    home: Path, command: str, unit: bytes, limit: str
) -> None:
    path = home / "rollout-x.jsonl.zst"
    write_packed(path, META, unit, 2048 * MB)
    assert path.stat().st_size < MB
    most = 1536 * MB

    def bound_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    ran = subprocess.run(
        [sys.executable, "-m", "preheat", command, str(path)],
        capture_output=True,
        text=True,
        preexec_fn=bound_memory,
        timeout=HUNG,
    )
    assert ran.returncode == 1, ran.stderr
    assert f"`{limit}` below `[limits]`" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
