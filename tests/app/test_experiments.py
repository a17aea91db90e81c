"""What is kept of a comparison shows when somebody changed it: the ledger's lines to the last, the plans, the key."""

import sqlite3
from pathlib import Path

import pytest

from preheat.app import Preheat
from preheat.errors import UserError
from preheat.experiments.plan import make_plan
from preheat.model.experiment import LedgerEntry
from preheat.state import experiments as plans
from preheat.state import ledger
from preheat.state.connect import reading, writing


def enter(folder: str, *sentences: str) -> None:
    for number, sentence in enumerate(sentences):
        with writing(folder) as state:
            ledger.add_entry(
                state, LedgerEntry(kind="experiment", at=float(number), name=f"n{number}", sentence=sentence)
            )


def changed(folder: str, *statements: str) -> list[int]:
    """The lines that show after somebody changed the file, which is then as it was."""
    with sqlite3.connect(Path(folder, "state.db"), isolation_level=None) as connection:
        connection.execute("BEGIN")
        for statement in statements:
            connection.execute(statement)
        found = ledger.changed_lines(connection)
        connection.execute("ROLLBACK")
    connection.close()
    return found


def test_every_line_of_the_ledger_is_guarded(tmp_path: Path) -> None:
    """One that is changed or taken out shows wherever it stands, the last one too; an untouched ledger is whole."""
    folder = str(tmp_path)
    enter(folder, "first", "second", "third")
    assert changed(folder) == []
    for number in (1, 2, 3):
        assert changed(folder, f"DELETE FROM ledger WHERE number = {number}") == [min(number, 2)]
        edit = f"""UPDATE ledger SET line = CAST(replace(CAST(line AS TEXT), '"n{number - 1}"', '"xx"') AS BLOB)"""
        assert changed(folder, f"{edit} WHERE number = {number}") == [min(number + 1, 3)]
        assert changed(folder, f"UPDATE ledger SET line = x'7b' WHERE number = {number}")[0] == number
    assert changed(folder, "DELETE FROM ledger") == [1]
    assert changed(folder, "DELETE FROM ledger_head") == [3]
    assert changed(folder) == []


def test_a_last_line_that_was_changed_shows_also_after_the_next_one(tmp_path: Path) -> None:
    """The next line has the digest of what was written, not of what stands there."""
    folder = str(tmp_path)
    enter(folder, "first", "second")
    with writing(folder) as state:
        state.execute("UPDATE ledger SET line = CAST(replace(CAST(line AS TEXT), 'second', 'better') AS BLOB)")
    enter(folder, "third")
    with reading(folder) as state:
        assert ledger.changed_lines(state) == [3]


def test_a_plan_that_was_changed_is_named(tmp_path: Path) -> None:
    """Its name holds its digest; one that cannot be read is named too."""
    folder = str(tmp_path)
    experiments = Preheat(folder).experiments
    started = experiments.start("mine", now=1.0)
    assert experiments.plan_problems() == []
    with writing(folder) as state:
        state.execute("UPDATE plans SET plan = CAST(replace(CAST(plan AS TEXT), '0.5,0.5', '0.9,0.1') AS BLOB)")
        plans.keep_plan(state, "his@0", b'{"name":')
    shares, unreadable = experiments.plan_problems()
    assert "`mine` was changed" in shares
    assert "`his@0` cannot be read" in unreadable
    assert [each.experiment for each in experiments.plans()] == [started.experiment]


def test_a_damaged_key_is_refused_and_named(tmp_path: Path) -> None:
    """Nothing pretends to run without lots."""
    experiments = Preheat(str(tmp_path)).experiments
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "key").write_text("short")
    with pytest.raises(UserError, match="is damaged"):
        experiments.start("mine")
    assert experiments.plans() == []


def test_a_margin_that_nothing_can_exceed_is_refused() -> None:
    """Of what lies between 0 and 1."""
    with pytest.raises(UserError, match="from 0 to 1"):
        make_plan("mine", ["warm", "cold"], [], "mistakes", (), 5.0, "anytime", 1.0)
    assert make_plan("mine", ["warm", "cold"], [], "seconds", (), 5.0, "anytime", 1.0).margin == 5.0
