"""Writing a file: it is whole or as it was, nothing is left beside it, and others cannot read it unless told."""

import ast
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from preheat.files import AS_USUAL, private_folder, stream_whole, write_whole


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_alone_unless_told(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole(str(tmp_path / "own"), b"x")
        write_whole(str(tmp_path / "usual"), b"x", mode=AS_USUAL)
        (tmp_path / "open").write_bytes(b"")
        (tmp_path / "open").chmod(0o664)
        write_whole(str(tmp_path / "same"), b"x", like=str(tmp_path / "open"))
        write_whole(str(tmp_path / "alone"), b"x", like=str(tmp_path / "missing"))
    finally:
        os.umask(before)
    assert [rights(tmp_path / name) for name in ("own", "usual", "same", "alone")] == [0o600, 0o644, 0o664, 0o600]


@pytest.mark.parametrize("durable", [False, True])
def test_what_fails_half_way_leaves_what_was_there(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"before")

    def write(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream_whole(str(path), write, durable=durable)
    assert os.listdir(tmp_path) == ["settings.json"]
    assert path.read_bytes() == b"before"
    write_whole(str(path), b"after", durable=durable)
    assert (os.listdir(tmp_path), path.read_bytes()) == (["settings.json"], b"after")


def test_an_error_names_the_file_and_not_what_lay_beside_it(tmp_path: Path) -> None:
    missing, folder = tmp_path / "nowhere" / "file", tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    for path, kind in ((missing, FileNotFoundError), (folder, IsADirectoryError)):
        with pytest.raises(kind) as raised:
            write_whole(str(path), b"x")
        assert str(raised.value).endswith(f"'{path}'")
    assert os.listdir(tmp_path) == ["folder"]


def test_folders_that_are_made_are_the_owners_alone(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "one" / "two" / "file"), b"x", make_folders=True)
    assert [rights(tmp_path / "one"), rights(tmp_path / "one" / "two")] == [0o700, 0o700]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        private_folder(str(tmp_path / "file"))


def test_threads_that_write_the_same_file_leave_one_of_theirs(tmp_path: Path) -> None:
    path = tmp_path / "state"
    texts = [bytes([65 + number]) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=lambda text=text: write_whole(str(path), text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in texts
    assert os.listdir(tmp_path) == ["state"]


def test_it_loads_next_to_nothing() -> None:
    """The quick sync writes with it."""
    code = "import os, sys; before = set(sys.modules); import preheat.files; print(sorted(set(sys.modules) - before))"
    told = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": os.path.join(os.path.dirname(os.path.dirname(__file__)), "src")}).stdout  # fmt: skip
    assert ast.literal_eval(told) == ["__future__", "preheat", "preheat.files"]
