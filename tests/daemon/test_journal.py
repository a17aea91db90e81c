"""The journal: what was appended is there again, whatever happened to the files."""

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.daemon.journal import Journal, NotWritten
from preheat.model.journal import Entry
from preheat.model.live import Asked, Began


def entry(number: int = 0) -> Entry:
    return Entry(
        at=float(number), agent="a", session=f"s{number % 3}", events=(Began(), Asked(words=("auth", "login")))
    )


def numbers(journal: Journal, after: int = 0) -> list[int]:
    return [each.seq for each in journal.replay(after)]


def test_what_is_appended_is_there_again(tmp_path: Path) -> None:
    """Another process that opens the journal reads the same entries, and goes on counting where the first one was."""
    first = Journal(str(tmp_path))
    written = [first.append(entry(number)) for number in range(5)]
    second = Journal(str(tmp_path))
    assert list(second.replay(0)) == written
    assert second.append(entry()).seq == 6
    assert numbers(second, after=4) == [5, 6]


def test_nothing_has_to_be_closed(tmp_path: Path) -> None:
    """An entry can be read the moment that `append` is back: a process that is killed then has lost nothing."""
    journal = Journal(str(tmp_path))
    for number in range(3):
        journal.append(entry(number))
        assert numbers(Journal(str(tmp_path)))[-1] == number + 1


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 2000), junk=st.binary(max_size=30))
def test_a_damaged_end_costs_only_itself(tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes) -> None:
    """Cut off anywhere, with anything behind it: the whole lines before it are read, and what comes after is kept."""
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(str(folder))
    for number in range(8):
        journal.append(entry(number))
    (file,) = (each for each in folder.iterdir() if each.suffix == ".jsonl")
    data = file.read_bytes()[:cut]
    file.write_bytes(data + junk)
    whole = data.count(b"\n")
    again = Journal(str(folder))
    assert numbers(again)[:whole] == list(range(1, whole + 1))
    added = again.append(entry())
    assert numbers(Journal(str(folder)))[-1] == added.seq > whole


def test_it_does_not_grow_for_ever(tmp_path: Path) -> None:
    """Old files go; the newest entries stay, in their order."""
    journal = Journal(str(tmp_path), segment=2_000, kept=3)
    for number in range(200):
        journal.append(entry(number))
    files = [each for each in tmp_path.iterdir() if each.suffix == ".jsonl"]
    assert len(files) <= 3
    assert sum(each.stat().st_size for each in files) <= 3 * 2_000
    kept = numbers(journal)
    assert kept == list(range(kept[0], 201))


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    """The files are made for nobody else, whatever the person's own habit is."""
    before = os.umask(0o022)
    try:
        Journal(str(tmp_path)).append(entry())
    finally:
        os.umask(before)
    assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """An entry that does not fit raises, what was there stays readable, and with room it goes on."""
    journal = Journal(str(tmp_path))
    journal.append(entry())
    size = sum(each.stat().st_size for each in tmp_path.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        with pytest.raises(NotWritten):
            journal.append(entry(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert numbers(Journal(str(tmp_path))) == [1]
    journal.append(entry(2))
    assert numbers(Journal(str(tmp_path))) == [1, 2]


def test_what_is_flushed_is_remembered(tmp_path: Path) -> None:
    """The mark that says what the sessions' own files have survives, and a damaged one means: nothing."""
    journal = Journal(str(tmp_path))
    journal.append(entry())
    journal.mark_flushed(1)
    assert Journal(str(tmp_path)).flushed == 1
    (tmp_path / "flushed").write_text("what?")
    assert Journal(str(tmp_path)).flushed == 0
