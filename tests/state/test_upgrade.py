"""A folder of version 0.1.0 is used with this version: every result stays the same, and no mark is lost."""

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from preheat.app import Preheat
from preheat.app.sessions.archive import forget_sessions
from preheat.archive.connect import HEAD, connect
from preheat.archive.lessons import load_lessons
from preheat.cli.experiment_screen import with_all_fields
from preheat.model.experiment import EARLIER_METRICS, HOLDOUT, STORED_HOLDOUT
from preheat.state import marks
from preheat.state.connect import reading, writing
from tests.state.home_0_1_0 import EXPECTED, home

REPORTED: dict[str, Any] = EXPECTED["said"]
NOW: float = EXPECTED["now"]
MIRRORED = {"marks", "exposures", "assignments", "deliveries", "advice_lots", "ratings", "intake"}
RENAMED = {
    "drawn": "assigned", "guarded": "guardrail_estimates", "given": "deliveries", "named": "remarks", "standing": "state",
}  # fmt: skip
"""Fields of reports by the names that version 0.1.0 had for them."""
ADDED = {"unfinished"}
"""Fields of reports that version 0.1.0 did not have."""
VALUES = re.compile(r"`[^`]*`|\d[\d.,]*")


def as_json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(with_all_fields(value)))


def assert_equal(found: Any, recorded: Any, where: str = "") -> None:
    """Compare a value with what version 0.1.0 reported. A formula may round otherwise by now, and a sentence may have other words
    but must name the same things and numbers."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        recorded = {RENAMED.get(name, name): value for name, value in recorded.items()}
        assert found.keys() - ADDED == recorded.keys(), where
        for name in recorded:
            assert_equal(found[name], recorded[name], f"{where} {name}")
    elif isinstance(recorded, list) and isinstance(found, list):
        assert len(found) == len(recorded), where
        for number, (one, other) in enumerate(zip(found, recorded, strict=True)):
            assert_equal(one, other, f"{where} {number}")
    elif isinstance(recorded, float):
        assert found == pytest.approx(recorded, rel=1e-9, abs=1e-12), where
    elif isinstance(recorded, str) and " " in recorded:
        assert VALUES.findall(found) == VALUES.findall(recorded), where
    elif recorded == STORED_HOLDOUT:
        assert found == HOLDOUT, where
    elif recorded in EARLIER_METRICS:
        assert found in (recorded, EARLIER_METRICS[recorded]), where
    else:
        assert found == recorded, where


def tables(folder: str) -> set[str]:
    with closing(sqlite3.connect(os.path.join(folder, "archive.db"))) as connection:
        return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def marked(folder: str) -> list[list[Any]]:
    with reading(folder) as state:
        return [[lesson, *each] for lesson, each in marks.marks(state).items()]


def test_every_result_has_the_values_that_version_0_1_0_reported(tmp_path: Path) -> None:
    """Reports with all their numbers, the plans, the ledger, the effects of lessons and of advice."""
    experiments = Preheat(home(tmp_path / "home")).experiments
    for name in (STORED_HOLDOUT, "notes", "site"):
        assert_equal(as_json(experiments.report(name, NOW)), REPORTED[f"experiment report {name}"])
    assert_equal(as_json(experiments.plans()), REPORTED["experiment list"])
    assert_equal(as_json(experiments.ledger()), REPORTED["ledger"])
    assert_equal(as_json(experiments.explain_advice()), REPORTED["experiment explain advice"])
    items = {each["item"]: each for each in REPORTED["experiment explain"]}
    for each in experiments.explain_items():
        recorded = items.pop(each.utility.item)
        fields = {name: recorded[name] for name in recorded if name not in ("text", "ledger")}
        assert_equal(as_json(each.utility), fields)
        assert each.text == recorded["text"]
    assert items == {}


def test_marks_move_from_the_archive_to_the_state_before_they_are_dropped(tmp_path: Path) -> None:
    """Whether the archive or the state is opened first."""
    for number, first in enumerate((lambda folder: connect(folder).close(), marked)):
        folder = home(tmp_path / f"home{number}")
        assert tables(folder) >= MIRRORED
        first(folder)
        assert marked(folder) == EXPECTED["marks"]
        connection = connect(folder)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
        by_id = {each.id: each for each in load_lessons(connection)}
        connection.close()
        assert not tables(folder) & MIRRORED
        for lesson, mark, _, _ in EXPECTED["marks"]:
            assert by_id[lesson].pinned if mark == "pinned" else by_id[lesson].status == "retired"


def test_an_upgrade_killed_after_the_marks_were_copied_does_not_undo_a_later_change(tmp_path: Path) -> None:
    """The marks are in both places then; one that a person removed since stays removed."""
    folder = home(tmp_path / "home")
    before = Path(folder, "archive.db").read_bytes()
    connect(folder).close()
    lesson = EXPECTED["marks"][0][0]
    with writing(folder) as state:
        marks.set_mark(state, lesson, None, "", 1.0)
    for name in os.listdir(folder):
        if name.startswith("archive.db"):
            os.unlink(os.path.join(folder, name))
    Path(folder, "archive.db").write_bytes(before)  # as it was when the state was done and the archive was not
    connect(folder).close()
    assert marked(folder) == EXPECTED["marks"][1:]
    assert not tables(folder) & MIRRORED


def test_marks_that_cannot_be_copied_are_not_dropped(tmp_path: Path) -> None:
    """The state is of a newer version: the archive is not upgraded, and the error says why."""
    folder = home(tmp_path / "home")
    with closing(sqlite3.connect(os.path.join(folder, "state.db"))) as connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(Exception, match="newer Preheat"):
        connect(folder)
    assert tables(folder) >= MIRRORED


def test_a_forgotten_session_is_gone_from_the_state_and_from_imported_files(tmp_path: Path) -> None:
    """Also from the log beside the state and from the files that version 0.1.0 left; other sessions stay."""
    folder = home(tmp_path / "home")
    gone, note = next((session, each["note"]) for session, each in EXPECTED["ratings"].items() if "note" in each)
    before = Preheat(folder).experiments.report("holdout", NOW)
    assert forget_sessions(folder, [gone]) == 1
    everything = b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
    assert note.encode() not in everything
    assert gone.encode() not in b"".join(path.read_bytes() for path in Path(folder).rglob("state.db*"))
    assert gone.encode() not in b"".join(path.read_bytes() for path in Path(folder, "experiments").iterdir())
    after = Preheat(folder).experiments.report("holdout", NOW)
    assert sum(after.assigned.values()) == sum(before.assigned.values()) - 1
