"""A folder of version 0.1.0, and the values that version 0.1.0 itself read from it (`tests/fixtures/home-0.1.0`)."""

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from preheat.state import experiments, ledger, marks, templates

FIXTURE = Path(__file__).parent.parent / "fixtures" / "home-0.1.0"
_ARCHIVE = gzip.decompress((FIXTURE / "archive.db.gz").read_bytes())
EXPECTED: dict[str, Any] = json.loads((FIXTURE / "expected.json").read_text())
FILES = (
    "experiments/key", "experiments/plans.jsonl", "experiments/lots.jsonl", "experiments/ratings.jsonl",
    "experiments/ledger.jsonl", "experiments/ledger.head", "templates/loaded.json", "templates/uses.jsonl",
)  # fmt: skip


def home(folder: Path) -> str:
    """Copy the folder with its archive, and return its path."""
    shutil.copytree(FIXTURE, folder, ignore=shutil.ignore_patterns("expected.json", "*.gz", "README.md"))
    archive = folder / "archive.db"
    archive.write_bytes(_ARCHIVE)
    os.chmod(archive, 0o600)
    return str(folder)


def content(connection: sqlite3.Connection) -> dict[str, Any]:
    """Everything in the state, in the form of `expected.json`."""
    secret = experiments.find_secret(connection)
    found = {
        "key": secret.hex() if secret else None,
        "plans": [[each.experiment, each.plan, each.stopped] for each in experiments.plans(connection)],
        "assignments": experiments.assignments(connection),
        "deliveries": experiments.deliveries(connection),
        "advice": experiments.advice_assignments(connection),
        "exposures": experiments.exposures(connection),
        "ratings": experiments.ratings(connection),
        "ledger": ledger.load_entries(connection),
        "ledger_damage": ledger.changed_lines(connection),
        "marks": [[lesson, *each] for lesson, each in marks.marks(connection).items()],
        "loaded": templates.loads(connection),
        "uses": templates.uses(connection),
    }
    return dict(json.loads(msgspec.json.encode(found)))


def expected() -> dict[str, Any]:
    """What version 0.1.0 read from the folder; all deliveries, since its archive had only the first of each session."""
    found = {name: EXPECTED[name] for name in EXPECTED if name not in ("said", "now", "lots", "plans_damage")}
    return {**found, "deliveries": [each for each in EXPECTED["lots"] if each["lot"] == "given"]}
