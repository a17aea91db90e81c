"""What is kept of a trial shows when somebody changed it: the ledger's lines to the last, the plans, the key."""

import os
from pathlib import Path

import pytest

from preheat.app import trial_store as store
from preheat.app.experiments import begin
from preheat.errors import UserError
from preheat.experiments.plan import planned
from preheat.model.experiment import LedgerEntry


def entered(folder: str, *sentences: str) -> Path:
    for number, sentence in enumerate(sentences):
        store.enter(folder, LedgerEntry(kind="experiment", at=float(number), name=f"n{number}", sentence=sentence))
    return Path(store.path_of(folder, "ledger.jsonl"))


def test_every_line_of_the_ledger_is_guarded(tmp_path: Path) -> None:
    """One that is changed or taken out shows wherever it stands, the last one too; an untouched ledger is whole."""
    folder = str(tmp_path)
    path = entered(folder, "first", "second", "third")
    whole = path.read_bytes().splitlines(keepends=True)
    assert store.ledger_damage(folder) == []
    for place in range(3):
        path.write_bytes(b"".join(whole[:place] + whole[place + 1 :]))
        assert store.ledger_damage(folder), place
        changed = [line.replace(b'"n%d"' % place, b'"xx"') for line in whole]
        path.write_bytes(b"".join(changed))
        assert store.ledger_damage(folder), place
    path.write_bytes(b"".join(whole))
    assert store.ledger_damage(folder) == []


def test_a_crash_between_a_line_and_its_digest_is_no_damage(tmp_path: Path) -> None:
    """The line is there and fits the one before."""
    folder = str(tmp_path)
    entered(folder, "first")
    before = Path(store.path_of(folder, "ledger.head")).read_bytes()
    entered(folder, "second")
    Path(store.path_of(folder, "ledger.head")).write_bytes(before)
    assert store.ledger_damage(folder) == []


def test_a_plan_that_was_changed_is_named(tmp_path: Path) -> None:
    """Its name holds its digest; a line that cannot be read is named too."""
    folder = str(tmp_path)
    begin(folder, planned("mine", ["warm", "cold"], [], "misuse", (), None, "anytime", 1.0))
    assert store.plans_damage(folder) == []
    path = Path(store.path_of(folder, "plans.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"0.5,0.5", b"0.9,0.1") + b'{"kind":"st\n')
    changed, unreadable = store.plans_damage(folder)
    assert "`mine` was changed" in changed
    assert "line 2" in unreadable


def test_a_damaged_key_is_refused_and_named(tmp_path: Path) -> None:
    """Nothing pretends to run without lots."""
    folder = str(tmp_path)
    os.makedirs(os.path.join(folder, store.FOLDER))
    Path(store.path_of(folder, "key")).write_text("short")
    with pytest.raises(UserError, match="is damaged"):
        begin(folder, planned("mine", ["warm", "cold"], [], "misuse", (), None, "anytime", 1.0))
    assert store.plans(folder) == []


def test_a_margin_that_nothing_can_exceed_is_refused() -> None:
    """Of what lies between 0 and 1."""
    with pytest.raises(UserError, match="from 0 to 1"):
        planned("mine", ["warm", "cold"], [], "misuse", (), 5.0, "anytime", 1.0)
    assert planned("mine", ["warm", "cold"], [], "seconds", (), 5.0, "anytime", 1.0).margin == 5.0
