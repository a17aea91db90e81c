"""Disks and clocks that misbehave: full, read-only, deleted under a running program, odd names and times, 100,000 tiny files.

Each command ends with one of its exit codes and a line that says what is wrong, the hook client ends with 0 and says nothing,
and when the disk is well again everything is there.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from preheat import daemon_client
from preheat.testing.builders import ClaudeTranscript
from tests.attacks.attack import AttackResult, Progress, Size, guard
from tests.attacks.processes import Home, RunningDaemon, processes_of, running_daemon
from tests.waiting import HUNG

TINY_FILES: dict[Size, int] = {"small": 300, "full": 100_000}
SESSIONS: dict[Size, int] = {"small": 8, "full": 300}
FULL_DISKS: dict[Size, int] = {"small": 2, "full": 40}
ODD_NAMES = (
    b"line\nbreak.jsonl", b"tab\there.jsonl", b"escape\x1b[31m.jsonl", b"-rf.jsonl", b"no utf8 \xff\xfe.jsonl",
    b"q" * 240 + b".jsonl",
    b"quote\"'`$(id).jsonl", b" .jsonl", "richtung\u202egnp.jsonl".encode(), b"%s%n.jsonl", b"*.jsonl", b"a\rb.jsonl",
)  # fmt: skip
EVENT = json.dumps(
    {
        "session_id": "disk", "cwd": "/w", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "1",
        "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a", "stderr": "", "interrupted": False},
    }
).encode()  # fmt: skip


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """One part after the other, each in a home of its own."""
    result = AttackResult()
    progress = Progress("disks")
    for name, part in PARTS:
        progress(name)
        found = AttackResult()
        with guard(found, f"seed {seed}"):
            part(found, Home(os.path.join(folder, name.replace(" ", "-"))), size, random.Random(seed))
        result.add(found, name)
    progress.clear()
    return result


def _write_sessions(home: Home, count: int, place: str = ".claude/projects") -> None:
    for number in range(count):
        found = ClaudeTranscript(
            session=f"{number:08x}-3333-4000-8000-000000000000", project="/work/shop", started=1.7e9 + number
        )
        found = (
            found.prompt(f"Make step {number} work").answer("I run it.").run("make test", "ok\n" * 200).answer("Done.")
        )
        found.write(os.path.join(home.home, place))


def _check_end(result: AttackResult, done: "subprocess.CompletedProcess[bytes]", reproduction: str) -> None:
    words = done.stderr.decode("utf-8", "replace")
    result.tried += 1
    result.check(
        done.returncode in (0, 1, 2) and "Traceback" not in words, f"{reproduction}: {done.returncode}: {words[-400:]}"
    )


def _count_sessions(home: Home) -> int:
    listed = home.run("sessions", "list", "--all", "--json")
    return len(json.loads(listed.stdout)) if listed.returncode == 0 else -1


def _run_client(result: AttackResult, home: Home, client: str, reproduction: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", client, "claude_code"],
        input=EVENT, capture_output=True, env=home.variables, timeout=HUNG,
    )  # fmt: skip
    result.tried += 1
    result.check(
        (done.returncode, done.stderr) == (0, b""),
        f"{reproduction}: the client: {done.returncode} {done.stderr[-300:]!r}",
    )


# Full disks.
def _fill_disk(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """Files cannot grow beyond a size, as on a full disk; afterwards they can, and everything is read."""
    _write_sessions(home, SESSIONS[size])
    for _ in range(FULL_DISKS[size]):
        most = chance.randint(0, 400_000)
        words = chance.choice((("sync", "--quiet"), ("learn", "--quiet"), ("doctor",), ("warm", "auto")))
        done = home.run(*words, preexec_fn=_limit_files(most))
        _check_end(result, done, f"preheat {' '.join(words)}, files of at most {most:,} bytes")
    _check_end(result, after := home.run("sync", "--quiet"), "sync, when there is room again")
    result.check(after.returncode == 0, f"sync, when there is room again: {after.stderr[-300:]!r}")
    found = _count_sessions(home)
    result.check(found == SESSIONS[size], f"{found} of {SESSIONS[size]} sessions are there after the disk was full")


def _limit_files(most: int) -> Callable[[], None]:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return limit


def _fill_tmpfs(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """A really full disk, where the system lets us make one."""
    if not _may_mount():
        result.figures["note"] = "not permitted here"
        return
    _write_sessions(home, SESSIONS[size])
    for megabytes in (1,) if size == "small" else (1, 2, 3, 4, 6, 8):
        mount = f'mount -t tmpfs -o size={megabytes}m,mode=700 tmpfs "$0" && exec "$@"'
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", mount, home.folder, *home.command("sync", "--quiet")],
            env=home.variables, capture_output=True, stdin=subprocess.DEVNULL, timeout=HUNG,
        )  # fmt: skip
        _check_end(result, done, f"sync to a disk of {megabytes} MB")


def _fill_daemon(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """The disk is full for the daemon: it answers nothing, says so, and goes on."""
    process = subprocess.Popen(
        home.command("serve", "--foreground"), env=home.variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, preexec_fn=_limit_files(20_000),
    )  # fmt: skip
    try:
        if daemon_client.wait_for_daemon(True, home.folder, 60.0) is None:
            result.broken.append("the daemon does not start where files cannot grow")
            return
        for number in range(100):
            payload = EVENT.replace(b'"1"', b'"%d"' % number)
            result.tried += 1
            daemon_client.ask("claude_code", payload, home.folder, HUNG)
        status = daemon_client.status(home.folder, HUNG)
        result.check(bool(status["troubles"]), "the daemon does not say that its disk is full")
        result.check(process.poll() is None, "the daemon ended because its disk is full")
    finally:
        process.terminate()
        process.communicate(timeout=HUNG)


# Permissions and deleted folders.
def _forbid_writing(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """Preheat's folder is read-only: what only reads works, what writes says why it cannot, and hooks are silent."""
    as_read_only = _read_only(home)
    if as_read_only is None:
        result.figures["note"] = "not permitted here"
        return
    _write_sessions(home, 3)
    client = daemon_client.write_client(home.folder)
    home.run("sync", "--quiet")
    _write_sessions(home, 5)
    commands = (("sync", "--quiet"), ("learn", "--quiet"), ("doctor",), ("warm", "start", "--task", "x"), ("status",))
    hook = [sys.executable, "-I", "-S", "-E", client, "claude_code"]
    for command in (hook, *(home.command(*words) for words in commands[:: 2 if size == "small" else 1])):
        done = subprocess.run(
            [*as_read_only, *command], env=home.variables, input=EVENT, capture_output=True, timeout=HUNG
        )
        _check_end(result, done, f"{' '.join(command[1:])} in a read-only folder")
        if command is hook:
            result.check(
                (done.returncode, done.stderr) == (0, b""), f"the client in a read-only folder: {done.stderr!r}"
            )


def _read_only(home: Home) -> list[str] | None:
    """The words before a command for which Preheat's folder is read-only; root may write wherever it is only not permitted."""
    if not _may_mount():
        return None
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    return ["unshare", "-m", "sh", "-c", mount, home.folder]


def _may_mount() -> bool:
    if os.geteuid() or not shutil.which("unshare"):
        return False
    mount = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(mount, capture_output=True).returncode == 0


def _delete_folders(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """The sessions of an agent are deleted during a sync, and Preheat's folder under a running daemon."""
    _write_sessions(home, SESSIONS[size])
    process = home.start("sync", "--quiet")
    time.sleep(chance.uniform(0.2, 0.8))
    shutil.rmtree(os.path.join(home.home, ".claude"), ignore_errors=True)
    words = process.communicate(timeout=HUNG)[1].decode("utf-8", "replace")
    result.tried += 1
    result.check(
        process.returncode in (0, 1) and "Traceback" not in words, f"sessions deleted during a sync: {words[-300:]}"
    )
    client = daemon_client.write_client(home.folder)
    daemon = RunningDaemon(home)
    try:
        daemon.ask("claude_code", EVENT)
        shutil.rmtree(os.path.join(home.folder, "live"))
        _run_client(result, home, client, "`live` deleted under a daemon")
        _run_client(result, home, client, "`live` deleted under a daemon, once more")
    finally:
        daemon.stop()
        _end_started(home)


def _end_started(home: Home) -> None:
    """End the daemons that clients started; one may not have its lock yet, so they are found by their environment."""
    end = time.monotonic() + 2.0
    while (found := processes_of(home.folder)) or time.monotonic() < end:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


# Names, numbers and times.
def _name_oddly(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """Names with line ends, escapes, bytes that are no text, and what shells read as options."""
    _write_sessions(home, len(ODD_NAMES), "made")
    place = os.fsencode(os.path.join(home.home, ".claude", "projects", "-work-shop"))
    os.makedirs(place)
    made = [
        os.path.join(above, name)
        for above, _, names in os.walk(os.path.join(home.home, "made"))
        for name in sorted(names)
    ]
    for name, path in zip(ODD_NAMES, made, strict=True):
        shutil.copy(os.fsencode(path), os.path.join(place, name))
    with open(os.path.join(place, b"broken\n\x1b[2J.jsonl"), "wb") as stream:
        stream.write(b'{"type":"user","sessionId":"x"\nnot json\n')
    commands = (("sync", "--json"), ("doctor",), ("sync",), ("doctor", "--json"), ("sessions", "list", "--all"))
    for words in commands[: 2 if size == "small" else None]:
        done = home.run(*words)
        _check_end(result, done, f"preheat {' '.join(words)} over odd names")
        result.check(
            b"\x1b[2J" not in done.stdout + done.stderr, f"preheat {' '.join(words)} prints an escape of a file's name"
        )
    found = _count_sessions(home)
    result.check(found >= len(ODD_NAMES), f"{found} sessions of {len(ODD_NAMES)} files with odd names")


def _scatter_files(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """Very many tiny files that are no sessions, among a few that are."""
    place = os.path.join(home.home, ".claude", "projects")
    for number in range(TINY_FILES[size]):
        folder = os.path.join(place, f"-work-{number % 200}")
        if number < 200:
            os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{number}.jsonl"), "wb") as stream:
            stream.write(chance.choice((b"", b"\n", b"{}\n", b"[", b"x", b'{"type":"summary"}\n')))
    _write_sessions(home, 5)
    for turn in ("first", "second")[: 1 if size == "small" else None]:
        began = time.monotonic()
        done = home.run("sync", "--quiet", seconds=6 * HUNG)
        _check_end(result, done, f"the {turn} sync of {TINY_FILES[size]:,} tiny files")
        result.figures[f"{turn} sync s"] = round(time.monotonic() - began, 1)
    found = _count_sessions(home)
    result.check(found >= 5, f"{found} sessions among {TINY_FILES[size]:,} tiny files")
    result.figures["files"] = TINY_FILES[size]


def _turn_back_time(result: AttackResult, home: Home, size: Size, chance: random.Random) -> None:
    """Files from before 1970 and after 2100, and markers of the client that say it is later than it is."""
    _write_sessions(home, 6)
    client = daemon_client.write_client(home.folder)
    live = os.path.join(home.folder, "live")
    for at in (-1e9, 0.0, 5e9, 2.0**40):
        for above, _, names in os.walk(home.root):
            for name in names:
                os.utime(os.path.join(above, name), (at, at))
        for name in ("slow", "starting"):
            with open(os.path.join(live, name), "wb"):
                pass
            os.utime(os.path.join(live, name), (at, at))
        for words in (("sync", "--quiet"), ("learn", "--quiet"), ("doctor",))[: 1 if size == "small" else None]:
            _check_end(result, home.run(*words), f"preheat {' '.join(words)} with files of {at:g}")
        with running_daemon(home) as daemon:
            _run_client(result, home, client, f"files of {at:g}")
            result.check(
                daemon.status()["failures"] == 0, f"the daemon with files of {at:g}: {daemon.status()['troubles']}"
            )
        if size == "small":
            break
    found = _count_sessions(home)
    result.check(found == 6, f"{found} of 6 sessions are there with odd times")


Part = Callable[[AttackResult, Home, Size, random.Random], None]
PARTS: tuple[tuple[str, Part], ...] = (
    ("full disk", _fill_disk),
    ("tmpfs", _fill_tmpfs),
    ("full disk of the daemon", _fill_daemon),
    ("read-only", _forbid_writing),
    ("deleted", _delete_folders),
    ("odd names", _name_oddly),
    ("tiny files", _scatter_files),
    ("odd times", _turn_back_time),
)
