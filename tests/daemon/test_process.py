"""The daemon as a process: killed, stopped, started twice, replaced, overwhelmed; what was answered is never lost."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from preheat import __version__, daemon_client
from preheat.app.health import daemon_faults as report
from preheat.app.live.running import load_running_sessions as running
from preheat.daemon.journal import Journal
from preheat.daemon.process import SETTLE_SECONDS, ReplacementWatch
from preheat.files import write_atomically
from tests.daemon.builders import (
    AGENT,
    BRIEF,
    NEVER,
    Daemon,
    daemon,
    edited,
    end_started,
    environment,
    install_client,
    prompted,
    ran,
    run_client,
    spooled_files,
    started,
)
from tests.waiting import HUNG, until


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def journaled_calls(folder: str) -> list[str]:
    """The ids of the calls in the journal, in their order."""
    found = Journal(os.path.join(folder, "live", "journal")).replay(0)
    return [entry.call_id for entry in found if entry.call_id]


def test_a_killed_daemon_continues_its_sessions(folder: str) -> None:
    """Events come without a pause while the daemon is killed and started again, three times: whatever was answered is in the
    journal once, and the state of the last one is as if there had been one daemon."""
    answered: list[str] = []
    spoken = 0
    number = 0
    for _ in range(3):
        one = Daemon(folder)
        killer = threading.Timer(0.3, one.process.kill)
        killer.start()
        while True:
            try:
                spoken += bool(one.ask(edited(number, f"src/part{number % 9}.py")))
            except daemon_client.DaemonError:
                break
            answered.append(f"call-{number}")
            number += 1
        killer.join()
        one.process.wait()
        number += 1  # the one that was not answered is not told again
    kept = journaled_calls(folder)
    assert len(kept) == len(set(kept))
    assert set(answered) <= set(kept)
    assert len(kept) - len(answered) <= 3
    with daemon(folder) as last:
        last.ask(edited(number, "src/last.py"))
        last.stop()
    (found,) = running(folder)
    assert found.state.calls == len(kept) + 1
    assert spoken <= 2, "said again after a crash"


def test_a_stopping_daemon_answers_open_requests(folder: str) -> None:
    one = Daemon(folder)
    outcomes: list[tuple[int, bool]] = []

    def ask(first: int) -> None:
        for number in range(first, first + 400):
            try:
                one.ask(edited(number, "src/a.py", f"s{first}"))
                outcomes.append((number, True))
            except daemon_client.DaemonError:
                outcomes.append((number, False))
                return

    threads = [threading.Thread(target=ask, args=(10_000 * each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: len(outcomes) > 20, "the first answers")
    assert one.stop() == 0
    for thread in threads:
        thread.join()
    kept = set(journaled_calls(folder))
    assert {f"call-{number}" for number, good in outcomes if good} == kept
    assert not os.path.exists(os.path.join(folder, "live", "socket"))


def test_many_starts_give_one_daemon(folder: str) -> None:
    """Eight at once: one runs, the others end quietly."""
    command = [sys.executable, "-m", "preheat", "serve", "--foreground"]
    all_of_them = [
        subprocess.Popen(command, env=environment(folder), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for _ in range(8)
    ]
    try:
        assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
        until(lambda: sum(each.poll() is None for each in all_of_them) == 1, "one daemon that is left")
        ended = [each for each in all_of_them if each.poll() is not None]
        assert [each.returncode for each in ended] == [0] * 7
        assert all(each.stderr and each.stderr.read() == b"" for each in ended)
    finally:
        for each in all_of_them:
            each.kill()
            each.wait()
            if each.stderr:
                each.stderr.close()


def test_only_the_owner_can_read_the_files_of_the_daemon(folder: str) -> None:
    with daemon(folder) as one:
        one.ask(edited(1, "src/a.py"))
        until(lambda: running(folder), "the file of the session")
        live = os.path.join(folder, "live")
        for parent, folders, names in os.walk(live):
            for name in (parent, *(os.path.join(parent, each) for each in (*folders, *names))):
                assert os.stat(name).st_mode & 0o077 == 0, name


def test_http_hooks_keep_their_address(folder: str) -> None:
    """Port and token are in agents' settings: a new daemon has the same ones."""

    def posted(known: daemon_client.Address) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", known.port, timeout=HUNG)
        connection.request("POST", f"/hook/{AGENT}", edited(1, "src/a.py"), {"Authorization": f"Bearer {known.token}"})
        status = connection.getresponse().status
        connection.close()
        return status

    known = daemon_client.ensure_address(folder)
    for _ in range(2):
        with daemon(folder) as one:
            assert posted(known) == 204
            assert one.status()["port"] == known.port


def test_a_daemon_hands_over_to_another_version(folder: str) -> None:
    one = Daemon(folder)
    try:
        one.ask(edited(1, "src/a.py"))
        first = one.status()["pid"]
        log = os.path.join(folder, "live", "daemon.log")
        command = ["/usr/bin/env", "TAKEN=over", sys.executable, "-m", "preheat", "serve", "--foreground"]
        write_atomically(os.path.join(folder, "live", "start"), "\n".join(("9.9", *command)).encode())
        answers = 0

        def taken_over() -> bool:
            nonlocal answers
            one.ask(edited(2 + answers, "src/a.py"))
            answers += 1
            return Path(log).read_text().count(" serves, ") == 2

        until(taken_over, "another daemon that serves")
        assert "handing over to preheat 9.9" in Path(log).read_text()
        assert one.status()["pid"] == first
        one.ask(edited(9_000, "src/a.py"))
        assert len(journaled_calls(folder)) == answers + 2
    finally:
        one.stop()


def test_an_idle_daemon_ends_and_flushes_its_sessions(folder: str) -> None:
    one = Daemon(folder, "--exit-after", "0.03")
    one.ask(edited(1, "src/a.py"))
    assert one.process.wait(HUNG) == 0
    assert running(folder)[0].state.calls == 1
    journal = Journal(os.path.join(folder, "live", "journal"))
    assert not list(journal.replay(journal.flushed))


def test_spooled_events_are_taken_before_new_ones(folder: str) -> None:
    client = install_client(folder, ["/bin/true"])
    for number in range(3):
        run_client(client, edited(number, f"src/{number}.py"))
    Path(folder, "live", "spool", "00000000000000000001-1.event").write_bytes(b"\xff\xfe")
    with daemon(folder) as one:
        until(lambda: not spooled_files(folder), "no event that waits")
        one.ask(edited(3, "src/3.py"))
        assert journaled_calls(folder) == [f"call-{number}" for number in range(4)]
        assert one.status()["lost"] == 1


def test_events_for_a_frozen_daemon_are_spooled(folder: str) -> None:
    with daemon(folder) as one:
        client = install_client(folder)
        run_client(client, edited(0, "src/0.py"))
        one.process.send_signal(signal.SIGSTOP)
        try:
            run_client(client, edited(1, "src/1.py"), limit=BRIEF)
            run_client(client, edited(2, "src/2.py"), limit=NEVER)
        finally:
            one.process.send_signal(signal.SIGCONT)
        until(lambda: {*journaled_calls(folder)} == {"call-0", "call-1", "call-2"}, "all three calls in the journal")
        assert len(journaled_calls(folder)) == 3


def test_invalid_and_huge_payloads_are_harmless(folder: str) -> None:
    with daemon(folder) as one:
        huge = b'{"session_id":"s1","hook_event_name":"PostToolUse","x":"' + b"y" * 49_000_000 + b'"}'
        large = ran(1, "cat big", "line of text\n" * 200_000)
        for payload in (b"", b"{", b"[" * 100_000, b'"\\ud800"', b"\xff" * 1000, huge, large):
            assert one.ask(payload) == b""
        one.ask(edited(2, "src/a.py"))
        assert "call-2" in journaled_calls(folder)
        assert one.status()["memory"] < 400_000_000


def test_two_hundred_sessions_at_once(folder: str) -> None:
    """Interleaved from eight threads: each session has exactly its own events, in bounded memory."""
    with daemon(folder) as one:

        def tell(thread: int) -> None:
            for number in range(5):
                for session in range(thread, 200, 8):
                    one.ask(edited(session * 100 + number, f"src/{number}.py", f"s{session}"))

        threads = [threading.Thread(target=tell, args=(each,)) for each in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = one.status()
        assert found["sessions"] == 200
        assert found["events"] == 1000
        assert found["memory"] < 150_000_000
    assert sorted(each.state.calls for each in running(folder)) == [5] * 200


def test_with_a_full_disk_answers_are_empty_and_doctor_reports_it(folder: str) -> None:
    os.makedirs(folder)
    limited = ["/bin/sh", "-c", 'ulimit -f 1; exec "$0" -m preheat admin serve --foreground', sys.executable]
    process = subprocess.Popen(limited, env=environment(folder), stdin=subprocess.DEVNULL)
    try:
        assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
        for number in range(12):
            daemon_client.ask(AGENT, edited(number, f"src/part{number}.py"), folder, HUNG)
        assert any("cannot be journaled" in each for each in report(folder))
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_doctor_reports_a_hanging_daemon(folder: str) -> None:
    assert report(folder) == []
    with daemon(folder) as one:
        assert report(folder) == []
        one.process.send_signal(signal.SIGSTOP)
        try:
            assert any("does not answer" in each for each in report(folder))
        finally:
            one.process.send_signal(signal.SIGCONT)


def test_serve_starts_shows_and_stops_a_daemon(folder: str) -> None:

    def serve(*options: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "preheat", "serve", *options]
        done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=HUNG)
        return done.returncode, done.stdout + done.stderr

    try:
        assert serve("--status")[0] == 0
        assert daemon_client.find_daemon(folder) is None
        assert serve()[0] == 0
        started_daemon = daemon_client.find_daemon(folder)
        assert started_daemon is not None
        code, text = serve()
        assert (code, daemon_client.find_daemon(folder)) == (0, started_daemon)
        assert str(started_daemon.pid) in text
        status = json.loads(serve("--status", "--json")[1])
        assert (status["version"], status["pid"]) == (__version__, started_daemon.pid)
        assert serve("--stop")[0] == 0
        assert daemon_client.find_daemon(folder) is None
        assert serve("--stop")[0] == 0
        assert serve("--stop", "--status")[0] == 2
    finally:
        end_started(folder)


def test_the_first_and_the_last_hook_of_a_session_are_answered(folder: str) -> None:
    client = install_client(folder)
    try:
        run_client(client, started())
        assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
        assert run_client(client, prompted("mend the login")) == b""
        assert run_client(client, edited(1, "src/a.py")) == b""
        until(lambda: journaled_calls(folder) == ["call-1"], "the call in the journal")
        seen = Path(folder, "live", "last-seen.json")
        until(seen.exists, "the file of the last events")
        assert json.loads(seen.read_text())[AGENT]["session"] == "s1"
    finally:
        end_started(folder)


def test_a_daemon_hands_over_when_an_installation_is_complete(tmp_path: Path) -> None:
    live = daemon_client.prepare_folder(str(tmp_path))
    daemon_client.write_start(live)
    lock = daemon_client.take_lock(live)
    assert lock is not None
    changes = ReplacementWatch(str(tmp_path), lock)
    changes._package = str(tmp_path / "package.py")
    (tmp_path / "package.py").write_text("1")
    changes._stamps = changes._now()
    assert changes.reason() == ""
    (tmp_path / "package.py").write_text("22")
    assert changes.reason() == ""
    changes._since -= SETTLE_SECONDS
    assert changes.reason() == "handing over to what was installed"


def test_an_event_that_killed_a_daemon_is_given_up(folder: str) -> None:
    daemon_client.prepare_folder(folder)
    slow = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "x"}
    for number in range(3):
        path = Path(folder, "live", "spool", f"{number:020}-1.event")
        path.write_bytes(f"{AGENT} {float(number)}\n".encode() + json.dumps({**slow, "prompt": f"x{number}"}).encode())
    Path(folder, "live", "spool", "00000000000000000009-1.event.trying").write_bytes(b"killed the last one")
    with daemon(folder) as one:
        until(lambda: not spooled_files(folder), "no event that waits")
        assert one.status()["lost"] == 1
        assert one.status()["events"] == 3
