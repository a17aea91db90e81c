"""The native hook client: how it is built, what happens where it cannot be, and that no input, stream or environment breaks it.

What both clients promise is in `test_client.py`, which runs each of its tests over both. Here it is run as it is installed, or as
a build that ends with an error if it touches memory that is not its own.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from preheat import native_client
from preheat.app import Preheat
from preheat.app.installation import Installation
from preheat.daemon_client import CLIENT_FILES
from preheat.installing.plans import find_missing_file, make_client
from tests.daemon.builders import AGENT, NEVER, TestedClient, build_native_client, install_client, no_start, run_client
from tests.daemon.builders import spooled_files as spooled
from tests.daemon.test_client import listening, request
from tests.waiting import HUNG

needs_compiler = pytest.mark.skipif(not build_native_client(NEVER), reason="no compiler: agents run the Python client")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(TestedClient, "is_native", True)
    data = str(tmp_path / "da ta")
    install_client(data, no_start())
    return data


def answer_ok(connection: socket.socket) -> None:
    request(connection)
    connection.sendall(b"preheat 1 2\nok")


def run_installed(folder: str, payload: bytes = b"{}", shell: str = "/bin/sh") -> "subprocess.CompletedProcess[bytes]":
    """The command that stands in the settings of agents."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREHEAT")}
    command = make_client(AGENT, folder).command
    return subprocess.run([shell, "-c", command], input=payload, capture_output=True, env=kept, timeout=HUNG)


# Building.
@needs_compiler
def test_it_is_built_once_private_and_removed_with_the_last_agent(tmp_path: Path) -> None:
    data, home = tmp_path / "data", tmp_path / "home"
    home.mkdir()
    installation = Installation(str(data), {"HOME": str(home)})
    installation.install("codex")
    installation.install("gemini")
    built = data / "hook"
    assert built.stat().st_mode & 0o777 == 0o700
    number = built.stat().st_ino
    assert native_client.build(str(data), retry=True)
    assert built.stat().st_ino == number, "the same version is not built again"
    assert not list((data / "live").glob("build-*"))
    installation.uninstall("codex")
    assert built.exists(), "another agent still calls it"
    installation.uninstall("gemini")
    assert [name for name in ("hook", *CLIENT_FILES, "live/hook-built") if (data / name).exists()] == []


@pytest.mark.parametrize("compiler", ["none", "fails", "makes rubbish", "makes a program that does not work"])
def test_without_a_working_compiler_agents_run_the_python_client(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    made = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n'
    texts = {
        "fails": "#!/bin/sh\nexit 1\n",
        "makes rubbish": made + 'printf "\\177ELFrubbish" >"$2"; chmod +x "$2"\n',
        "makes a program that does not work": made + 'printf "#!/bin/sh\\nexit 0\\n" >"$2"; chmod +x "$2"\n',
    }
    programs = tmp_path / "programs"
    programs.mkdir()
    if compiler in texts:
        (programs / "cc").write_text(texts[compiler])
        (programs / "cc").chmod(0o755)
        for name in ("sh", "chmod"):
            os.symlink(shutil.which(name) or f"/bin/{name}", programs / name)
    monkeypatch.setenv("PATH", str(programs))
    assert not native_client.build(folder, retry=True)
    assert not os.path.exists(native_client.native_path(folder))
    with listening(folder, answer_ok):
        done = run_installed(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ok", b"")


@needs_compiler
def test_one_of_another_version_is_removed_when_the_client_is_written(folder: str) -> None:
    assert native_client.build(folder)
    Path(folder, "live", "hook-built").write_text("another")
    install_client(folder, no_start())
    assert not os.path.exists(native_client.native_path(folder))


@needs_compiler
def test_looking_for_stored_secrets_leaves_it_alone(folder: str) -> None:
    """A program is full of bytes that look random."""
    assert native_client.build(folder)
    path = Path(native_client.native_path(folder))
    with path.open("ab") as stream:
        stream.write(b"\npassword = hunter2hunter2XyZ9kQ\n")
    before = path.read_bytes()
    Preheat(folder).health.remove_secrets()
    assert path.read_bytes() == before


# The installed command.
@needs_compiler
@pytest.mark.parametrize("shell", [each for name in ("sh", "dash", "bash", "zsh") if (each := shutil.which(name))])
def test_the_installed_command_runs_the_native_client(folder: str, shell: str) -> None:
    """Nothing else could answer: the Python client is broken."""
    assert native_client.build(folder)
    Path(folder, CLIENT_FILES[0]).write_text("raise SystemExit(3)")
    with listening(folder, answer_ok):
        done = run_installed(folder, shell=shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ok", b"")


@pytest.mark.parametrize("how", ["absent", "not executable", "a folder", "of another machine", "killed"])
def test_the_installed_command_falls_back_to_python(folder: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(native_client.native_path(folder))
    if how == "not executable":
        path.write_bytes(b"\x7fELF")
    elif how == "a folder":
        path.mkdir()
    elif how == "of another machine":
        path.write_bytes(b"\x7fELF\ntouch was-run\n")
        path.chmod(0o700)
        monkeypatch.setattr(native_client, "find_loader", lambda: "/lib/ld-linux-another.so.1")
    elif how == "killed":
        path.write_text("#!/bin/sh\nkill -9 $$\n")
        path.chmod(0o700)
    with listening(folder, answer_ok):
        done = run_installed(folder)
    assert (done.returncode, done.stdout) == (0, b"ok")
    assert find_missing_file(make_client(AGENT, folder).command) == "", "it is not needed"
    assert not os.path.exists("was-run")


# What it is given.
@needs_compiler
def test_events_of_any_size_and_content_arrive_whole(folder: str) -> None:
    chance = random.Random(3)
    sent = [chance.randbytes(size) for size in (0, 1, 255, 256, 65_279, 65_280, 65_281, 65_536, 131_072, 3_000_001)]
    heard: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        heard.append(request(connection).partition(b"\n")[2])
        connection.sendall(b"preheat 1 %d\n%b" % (len(heard[-1]), heard[-1]))

    with listening(folder, answer):
        printed = [run_client(os.path.join(folder, "hook.py"), each) for each in sent]
    assert heard == sent
    assert printed == sent


@needs_compiler
@pytest.mark.parametrize(
    "said",
    [b"preheat 1 \n", b"preheat 1 -1\n", b"preheat 1 99999999999999999999\n", b"preheat 1 2 \nok", b"\n", b"preheat 1 02\nok",
     b"preheat 1 2\nok" * 70_000, b"x" * 3_000_000, b"preheat 1 3\nok"],
)  # fmt: skip
def test_wrong_answers_are_not_printed_and_the_event_is_kept(folder: str, said: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(said)

    with listening(folder, answer):
        assert run_client(os.path.join(folder, "hook.py"), b"{}") == b""
    assert len(spooled(folder)) == 1


@needs_compiler
@pytest.mark.parametrize("words", [[], ["python"], ["python", "a" * 300], ["", ""], ["/gone/python", "x.py", AGENT]])
def test_it_ends_with_0_whatever_it_is_called_with(folder: str, words: list[str]) -> None:
    for own in (os.path.join(folder, "hook"), "hook", "/hook", ""):
        done = subprocess.run(
            [own, *words], executable=build_native_client(NEVER), input=b"{}", capture_output=True, timeout=HUNG
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@needs_compiler
@pytest.mark.parametrize(
    "closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-", "1>&- 2>&-", "</dev/null", ">/dev/full", "<."]
)
def test_it_ends_with_0_with_any_standard_stream_closed(folder: str, closed: str) -> None:
    assert native_client.build(folder)
    with listening(folder, answer_ok):
        command = f"'{folder}/hook' '{sys.executable}' -I -S -E '{folder}/hook.py' {AGENT} {closed}"
        done = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, timeout=HUNG)
    assert (done.returncode, done.stderr) == (0, b"")


def _block_alarms() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])


@pytest.mark.parametrize("is_native", [pytest.param(True, marks=needs_compiler), False])
def test_it_ends_in_time_if_nobody_reads_its_answer_and_alarms_are_blocked(folder: str, is_native: bool) -> None:
    """A pipe that is full; and the daemon did answer, so no later client may take it for hung."""

    def answer(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(b"preheat 1 1000000\n" + b"x" * 1_000_000)

    words = [sys.executable, "-I", "-S", "-E", os.path.join(folder, "hook.py"), AGENT]
    if is_native:
        assert native_client.build(folder)
        words.insert(0, native_client.native_path(folder))
    with listening(folder, answer):
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_block_alarms
        )
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(HUNG) == 0
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    assert not os.path.exists(os.path.join(folder, "live", "slow"))
    assert spooled(folder) == []
