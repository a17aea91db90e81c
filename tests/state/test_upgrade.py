"""A folder of version 0.1.0 as its person uses it from now on: every result is what it was, and no mark gets lost."""

import json
import os
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
from preheat.model.experiment import EARLIER_METRICS
from preheat.state import marks
from preheat.state.connect import reading, writing
from tests.state.home_0_1_0 import EXPECTED, home

SAID: dict[str, Any] = EXPECTED["said"]
NOW: float = EXPECTED["now"]
MIRRORED = {"marks", "exposures", "assignments", "deliveries", "advice_lots", "ratings", "intake"}


def as_json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(with_all_fields(value)))


def assert_alike(found: Any, said: Any, where: str = "") -> None:
    """Equal, but for the rounding of a formula that is written otherwise by now."""
    if isinstance(said, dict) and isinstance(found, dict):
        assert found.keys() == said.keys(), where
        for name in said:
            assert_alike(found[name], said[name], f"{where} {name}")
    elif isinstance(said, list) and isinstance(found, list):
        assert len(found) == len(said), where
        for number, (one, other) in enumerate(zip(found, said, strict=True)):
            assert_alike(one, other, f"{where} {number}")
    elif isinstance(said, float):
        assert found == pytest.approx(said, rel=1e-9, abs=1e-12), where
    elif said in EARLIER_METRICS:
        assert found in (said, EARLIER_METRICS[said]), where
    elif isinstance(said, str):
        assert found == said.replace("no lot is known", "no assignment is known"), where  # the present word
    else:
        assert found == said, where


def tables(folder: str) -> set[str]:
    with closing(sqlite3.connect(os.path.join(folder, "archive.db"))) as connection:
        return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def marked(folder: str) -> list[list[Any]]:
    with reading(folder) as state:
        return [[lesson, *each] for lesson, each in marks.marks(state).items()]


def test_every_result_is_what_the_old_version_said(tmp_path: Path) -> None:
    """Reports with all their numbers, the plans, the ledger, what items and advice did."""
    experiments = Preheat(home(tmp_path / "home")).experiments
    for name in ("standing", "notes", "site"):
        assert_alike(as_json(experiments.report(name, NOW)), SAID[f"experiment report {name}"])
    assert_alike(as_json(experiments.plans()), SAID["experiment list"])
    assert_alike(as_json(experiments.ledger()), SAID["ledger"])
    assert_alike(as_json(experiments.explain_advice()), SAID["experiment explain advice"])
    items = {each["item"]: each for each in SAID["experiment explain"]}
    for each in experiments.explain_items():
        said = items.pop(each.utility.item)
        assert_alike(as_json(each.utility), {name: said[name] for name in said if name not in ("text", "ledger")})
        assert each.text == said["text"]
    assert items == {}


def test_the_archive_hands_its_marks_over_before_it_drops_them(tmp_path: Path) -> None:
    """Whoever opens the archive first, or the state."""
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


def test_an_archive_whose_change_was_cut_off_after_the_marks_were_handed_over(tmp_path: Path) -> None:
    """They are in both places; what a person said since stands."""
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


def test_marks_that_cannot_be_handed_over_are_not_dropped(tmp_path: Path) -> None:
    """The state is of a newer version: the archive stays as it is, and says why."""
    folder = home(tmp_path / "home")
    with closing(sqlite3.connect(os.path.join(folder, "state.db"))) as connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(Exception, match="newer Preheat"):
        connect(folder)
    assert tables(folder) >= MIRRORED


def test_a_session_that_is_forgotten_is_gone_everywhere(tmp_path: Path) -> None:
    """From the state, from what stands beside it, and from the files that version 0.1.0 left; the others are as they were."""
    folder = home(tmp_path / "home")
    gone, note = next((session, each["note"]) for session, each in EXPECTED["ratings"].items() if "note" in each)
    before = Preheat(folder).experiments.report("standing", NOW)
    assert forget_sessions(folder, [gone]) == 1
    everything = b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
    assert note.encode() not in everything
    assert gone.encode() not in b"".join(path.read_bytes() for path in Path(folder).rglob("state.db*"))
    assert gone.encode() not in b"".join(path.read_bytes() for path in Path(folder, "experiments").iterdir())
    after = Preheat(folder).experiments.report("standing", NOW)
    assert sum(after.assigned.values()) == sum(before.assigned.values()) - 1
