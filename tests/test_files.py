"""Atomic file writes leave the new or the old file, nothing beside it, readable by its owner only by default."""

import ast
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from preheat.files import UMASK_DEFAULT, make_private_folder, stream_atomically, write_atomically


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_readable_by_its_owner_only_by_default(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomically(str(tmp_path / "own"), b"x")
        write_atomically(str(tmp_path / "usual"), b"x", mode=UMASK_DEFAULT)
        (tmp_path / "open").write_bytes(b"")
        (tmp_path / "open").chmod(0o664)
        write_atomically(str(tmp_path / "same"), b"x", like=str(tmp_path / "open"))
        write_atomically(str(tmp_path / "alone"), b"x", like=str(tmp_path / "missing"))
    finally:
        os.umask(before)
    assert [permissions(tmp_path / name) for name in ("own", "usual", "same", "alone")] == [0o600, 0o644, 0o664, 0o600]


@pytest.mark.parametrize("durable", [False, True])
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"before")

    def write(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream_atomically(str(path), write, durable=durable)
    assert os.listdir(tmp_path) == ["settings.json"]
    assert path.read_bytes() == b"before"
    write_atomically(str(path), b"after", durable=durable)
    assert (os.listdir(tmp_path), path.read_bytes()) == (["settings.json"], b"after")


def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path: Path) -> None:
    missing, folder = tmp_path / "nowhere" / "file", tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    for path, kind in ((missing, FileNotFoundError), (folder, IsADirectoryError)):
        with pytest.raises(kind) as raised:
            write_atomically(str(path), b"x")
        assert str(raised.value).endswith(f"'{path}'")
    assert os.listdir(tmp_path) == ["folder"]


def test_made_folders_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "one" / "two" / "file"), b"x", make_folders=True)
    assert [permissions(tmp_path / "one"), permissions(tmp_path / "one" / "two")] == [0o700, 0o700]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        make_private_folder(str(tmp_path / "file"))


def test_threads_that_write_the_same_file_leave_one_whole_version(tmp_path: Path) -> None:
    path = tmp_path / "state"
    texts = [bytes([65 + number]) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=lambda text=text: write_atomically(str(path), text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in texts
    assert os.listdir(tmp_path) == ["state"]


def test_importing_files_loads_no_other_module() -> None:
    code = "import os, sys; before = set(sys.modules); import preheat.files; print(sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": os.path.join(os.path.dirname(os.path.dirname(__file__)), "src")}).stdout  # fmt: skip
    assert ast.literal_eval(printed) == ["__future__", "errno", "preheat", "preheat.files"]
