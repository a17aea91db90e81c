"""The journal: what was appended is there again, whatever happened to the files."""

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.daemon.journal import Journal, JournalError
from preheat.model.live import JournalEntry, PromptEvent, StartEvent


def entry(number: int = 0) -> JournalEntry:
    return JournalEntry(
        at=float(number),
        agent="a",
        session=f"s{number % 3}",
        events=(StartEvent(), PromptEvent(words=("auth", "login"))),
    )


def numbers(journal: Journal, after: int = 0) -> list[int]:
    return [each.seq for each in journal.replay(after)]


def test_appended_entries_are_replayed(tmp_path: Path) -> None:
    first = Journal(str(tmp_path))
    written = [first.append(entry(number)) for number in range(5)]
    second = Journal(str(tmp_path))
    assert list(second.replay(0)) == written
    assert second.append(entry()).seq == 6
    assert numbers(second, after=4) == [5, 6]


def test_entries_are_on_disk_without_closing_the_journal(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    for number in range(3):
        journal.append(entry(number))
        assert numbers(Journal(str(tmp_path)))[-1] == number + 1


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 2000), junk=st.binary(max_size=30))
def test_a_damaged_line_loses_only_its_entry(tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes) -> None:
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


def test_the_journal_is_bounded(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path), segment=2_000, kept=3)
    for number in range(200):
        journal.append(entry(number))
    files = [each for each in tmp_path.iterdir() if each.suffix == ".jsonl"]
    assert len(files) <= 3
    assert sum(each.stat().st_size for each in files) <= 3 * 2_000
    kept = numbers(journal)
    assert kept == list(range(kept[0], 201))


def test_only_the_owner_can_read_the_journal(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        Journal(str(tmp_path)).append(entry())
    finally:
        os.umask(before)
    assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())


def test_a_full_disk_raises_an_error_and_leaves_no_partial_entry(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.append(entry())
    size = sum(each.stat().st_size for each in tmp_path.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        with pytest.raises(JournalError):
            journal.append(entry(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert numbers(Journal(str(tmp_path))) == [1]
    journal.append(entry(2))
    assert numbers(Journal(str(tmp_path))) == [1, 2]


def test_the_flushed_number_is_remembered(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.append(entry())
    journal.mark_flushed(1)
    assert Journal(str(tmp_path)).flushed == 1
    (tmp_path / "flushed").write_text("what?")
    assert Journal(str(tmp_path)).flushed == 0
