"""The application's experiments: the holdout by its name, and changes of the ledger, of plans and of the key are noticed."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from preheat.app import Preheat
from preheat.archive.connect import connect
from preheat.cli.experiment_screen import with_all_fields
from preheat.errors import UserError
from preheat.experiments.plan import make_plan, plan_name
from preheat.model.experiment import Assignment, ExperimentPlan, LedgerEntry
from preheat.state import experiments as plans
from preheat.state import ledger
from preheat.state.connect import reading, writing


def add_entries(folder: str, *sentences: str) -> None:
    for number, sentence in enumerate(sentences):
        with writing(folder) as state:
            ledger.add_entry(
                state, LedgerEntry(kind="experiment", at=float(number), name=f"n{number}", sentence=sentence)
            )


def changed(folder: str, *statements: str) -> list[int]:
    """The lines that are found to be changed after these statements, which are then undone."""
    with sqlite3.connect(Path(folder, "state.db"), isolation_level=None) as connection:
        connection.execute("BEGIN")
        for statement in statements:
            connection.execute(statement)
        found = ledger.changed_lines(connection)
        connection.execute("ROLLBACK")
    connection.close()
    return found


def test_a_changed_or_removed_line_of_the_ledger_is_noticed(tmp_path: Path) -> None:
    """Every line, the last one too."""
    folder = str(tmp_path)
    add_entries(folder, "first", "second", "third")
    assert changed(folder) == []
    for number in (1, 2, 3):
        assert changed(folder, f"DELETE FROM ledger WHERE number = {number}") == [min(number, 2)]
        edit = f"""UPDATE ledger SET line = CAST(replace(CAST(line AS TEXT), '"n{number - 1}"', '"xx"') AS BLOB)"""
        assert changed(folder, f"{edit} WHERE number = {number}") == [min(number + 1, 3)]
        assert changed(folder, f"UPDATE ledger SET line = x'7b' WHERE number = {number}")[0] == number
    assert changed(folder, "DELETE FROM ledger") == [1]
    assert changed(folder, "DELETE FROM ledger_head") == [3]
    assert changed(folder) == []


def test_a_changed_line_is_noticed_after_further_entries(tmp_path: Path) -> None:
    """The next line has the digest of the original line."""
    folder = str(tmp_path)
    add_entries(folder, "first", "second")
    with writing(folder) as state:
        state.execute("UPDATE ledger SET line = CAST(replace(CAST(line AS TEXT), 'second', 'better') AS BLOB)")
    add_entries(folder, "third")
    with reading(folder) as state:
        assert ledger.changed_lines(state) == [3]


def test_a_changed_or_unreadable_plan_is_reported(tmp_path: Path) -> None:
    """The name of an experiment contains the digest of its plan."""
    folder = str(tmp_path)
    experiments = Preheat(folder).experiments
    started = experiments.start("mine", now=1.0)
    assert experiments.plan_problems() == []
    with writing(folder) as state:
        state.execute("UPDATE plans SET plan = CAST(replace(CAST(plan AS TEXT), '0.5,0.5', '0.9,0.1') AS BLOB)")
        plans.keep_plan(state, "his@0", b'{"name":')
    shares, unreadable = experiments.plan_problems()
    assert "`mine`" in shares
    assert "`his@0`" in unreadable
    assert [each.experiment for each in experiments.plans()] == [started.experiment]


def test_no_experiment_starts_with_a_damaged_key(tmp_path: Path) -> None:
    """Without a key nothing could be assigned."""
    experiments = Preheat(str(tmp_path)).experiments
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "key").write_text("short")
    with pytest.raises(UserError, match="is damaged"):
        experiments.start("mine")
    assert experiments.plans() == []


def test_a_margin_above_1_is_refused_for_a_share() -> None:
    """Rates of mistakes are from 0 to 1; seconds are not."""
    with pytest.raises(UserError, match="from 0 to 1"):
        make_plan("mine", ["warm", "cold"], [], "mistakes", (), 5.0, "anytime", 1.0)
    assert make_plan("mine", ["warm", "cold"], [], "seconds", (), 5.0, "anytime", 1.0).margin == 5.0


# The holdout.
def test_the_holdout_is_found_and_shown_by_its_name(tmp_path: Path) -> None:
    """Its stored name is that of version 0.1.0, which is accepted, too."""
    connect(str(tmp_path)).close()
    experiments = Preheat(str(tmp_path)).experiments
    report = experiments.report("holdout", 5.0)
    assert (report.name, report.experiment, report.state, report.plan.name) == ("holdout",) * 4
    assert b"standing" not in msgspec.json.encode(with_all_fields(report))
    assert experiments.report("standing", 5.0) == experiments.report("", 5.0) == report
    for name in ("holdout", "standing"):
        with pytest.raises(UserError, match="`holdout = 0`"):
            experiments.stop(name)
        with pytest.raises(UserError, match=f"`{name}` is no name"):
            experiments.start(name)


def test_the_holdout_counts_the_assignments_that_have_its_stored_name(tmp_path: Path) -> None:
    connect(str(tmp_path)).close()
    with writing(str(tmp_path)) as state:
        shares = {"cold": 0.2, "warm": 0.8}
        cold = Assignment(session="a:1", root="a:1", experiment="standing", arm="cold", shares=shares, at=1.0)
        plans.keep_assignments(state, [cold])
    assert Preheat(str(tmp_path)).experiments.report("holdout", 5.0).assigned == {"warm": 0, "cold": 1}


def test_an_experiment_of_version_0_1_0_named_holdout_is_still_an_experiment(tmp_path: Path) -> None:
    """That version did not reserve the name; the holdout itself is then found by its earlier name."""
    connect(str(tmp_path)).close()
    plan = ExperimentPlan(name="holdout", at=5.0)
    with writing(str(tmp_path)) as state:
        plans.start_plan(state, plan_name(plan), plan)
    experiments = Preheat(str(tmp_path)).experiments
    assert experiments.report("holdout", 6.0).state == "running"
    assert experiments.report("standing", 6.0).state == "holdout"
    assert experiments.plan_problems() == []
