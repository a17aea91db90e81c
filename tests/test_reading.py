"""Files are opened in one place, which reads plain files only, as far as they went when they were opened."""

import ast
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from preheat.files import FileTooLarge, NotAFile, open_file, read_file, read_text
from tests.shared import TESTS
from tests.special_files import link_endless_device, link_system_file, link_to_itself, make_pipe, make_socket

PACKAGE = os.path.join(os.path.dirname(TESTS), "src", "preheat")
posix = pytest.mark.skipif(os.name != "posix", reason="there are no such files on this system")

ALLOWED = {
    "files.py": "the one place",
    "__main__.py": "the null device, for standard streams that are closed",
    "sqlite_files/opening.py": "writes a copy into a folder that it made",
    "app/__init__.py": "`open` is its own function there",
    "daemon_client.py": "the daemon's lock file, opened for writing",
    "agents/hermes/plugin/daemon.py": "runs inside Hermes, without this package",
    "ownership.py": "the hook client reads and runs it, without the rest of the package",
    "plugins/hook.py": "the hook client has nothing but the interpreter",
    "plugins/hook_away.py": "the hook client has nothing but the interpreter",
    "daemon/server.py": "/proc/self/statm has no size",
    "app/live/ports.py": "files of /proc have no size",
    "daemon/process.py": "appends to the daemon's log",
    "app/lab/dataset.py": "writes a dataset into a folder that it made",
    "cli/exit_codes.py": "the null device",
    "fleet/memory.py": "what the system says of this process, in `/proc`",
    "installing/packages.py": "writes into a folder that it made; reads the package's own metadata",
    "lab/state.py": "appends to the results of a lab",
    "reports/documents.py": "the style sheet of the package",
    "reports/page.py": "a file of the package",
}
"""Modules that open files otherwise, and why they may."""
ALLOWED_FOLDERS = {
    "lab/study/": "a program of its own, run by hand on its own files",
    "testing/": "for tests",
    "answers/": "its `files` are `ProjectFiles`, which opens nothing but by `preheat.files`",
}


def openings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every call that opens a file by its name, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            last = called.rpartition(".")[2]
            by_method = last in ("read_text", "read_bytes") and called != last  # else they are our own functions
            if called in ("open", "io.open", "os.open", "posix.open") or by_method:
                yield node.lineno, called


def modules() -> list[str]:
    return sorted(str(path.relative_to(PACKAGE)).replace(os.sep, "/") for path in Path(PACKAGE).rglob("*.py"))


def opens_files(name: str) -> list[tuple[int, str]]:
    return list(openings(ast.parse(Path(PACKAGE, name).read_text(encoding="utf-8"))))


def test_no_other_module_opens_files_by_name() -> None:
    found = {
        f"{name}:{line}: {called}"
        for name in modules()
        if name not in ALLOWED and not name.startswith(tuple(ALLOWED_FOLDERS))
        for line, called in opens_files(name)
    }
    assert found == set(), "use preheat.files: open_file, read_file or read_text"


def test_every_exception_from_that_is_still_needed() -> None:
    assert [name for name in ALLOWED if not opens_files(name)] == []


def test_the_check_sees_every_way_to_open_a_file() -> None:
    code = "open(a)\nos.open(a, 0)\nPath(a).read_text()\npath.read_bytes()\nread_text(a)\nio.open(a)"
    assert [line for line, _ in openings(ast.parse(code))] == [1, 2, 3, 4, 6]


# Behaviour.
@posix
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (make_pipe, "it is a named pipe, not a file"),
        (make_socket, "it is a socket, not a file"),
        (link_endless_device, "it is a device, not a file"),
    ],
)
def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path, make: Callable[[str], None], why: str) -> None:
    path = str(tmp_path / "special")
    make(path)
    with pytest.raises(NotAFile) as caught:
        open_file(path)
    assert (caught.value.strerror, caught.value.filename) == (why, path)


@posix
def test_a_link_loop_a_folder_and_a_name_that_cannot_be_are_errors_of_the_system(tmp_path: Path) -> None:
    link_to_itself(str(tmp_path / "loop"))
    for name in ("loop", "", "missing", "a\0b", "x" * 300):
        with pytest.raises(OSError):  # noqa: PT011 - each system has its own words
            open_file(str(tmp_path / name))


@posix
def test_nobody_who_waits_at_a_pipe_is_woken(tmp_path: Path) -> None:
    """A writer that was let in would be killed by its next write."""
    path = str(tmp_path / "pipe")
    make_pipe(path)
    woken = threading.Event()

    def write() -> None:
        descriptor = os.open(path, os.O_WRONLY)
        woken.set()
        os.close(descriptor)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    for _ in range(50):
        with pytest.raises(NotAFile):
            open_file(path)
    assert not woken.wait(0.2)
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    writer.join(30)


@posix
def test_a_file_that_the_system_makes_up_is_empty(tmp_path: Path) -> None:
    link_system_file(str(tmp_path / "maps"))
    assert read_file(str(tmp_path / "maps")) == b""


def test_a_file_ends_where_it_ended_when_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "grows"
    path.write_bytes(b"before")
    with open_file(str(path)) as file:
        with path.open("ab") as more:
            more.write(b"after" * 1000)
        assert file.read(3) == b"bef"
        assert file.read() == b"ore"
        assert file.read(10) == b""
        file.seek(2)
        assert file.read(100) == b"fore"


def test_a_file_that_is_cut_while_it_is_read_ends_early(tmp_path: Path) -> None:
    path = tmp_path / "shrinks"
    path.write_bytes(b"x" * 1000)
    with open_file(str(path)) as file:
        os.truncate(path, 10)
        assert file.read() == b"x" * 10


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)  # takes no room on the disk
    with pytest.raises(FileTooLarge, match="it is larger than 64 MB"):
        read_file(str(path))
    with pytest.raises(FileTooLarge, match="it is larger than 5 bytes; so it is"):
        read_file(str(path), 5, "; so it is")


def test_text_is_strict_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(UnicodeDecodeError):
        read_text(str(tmp_path / "latin"))
    assert read_text(str(tmp_path / "latin"), errors="replace") == "caf\ufffd"
