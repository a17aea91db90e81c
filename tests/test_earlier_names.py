"""What version 0.1.0 stored, and what people wrote in settings and on command lines, under names that have changed since."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import preheat
from preheat.app import EARLIER_METHODS
from preheat.app.live.settings import load_thresholds
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_conclusions
from preheat.archive.notes import load_notes
from preheat.archive.sqlite import open_sqlite
from preheat.archive.upgrade import upgrade
from preheat.cli import main
from preheat.daemon.journal import Journal
from preheat.experiments.plan import digest_of, make_plan
from preheat.lab.state import Lab
from preheat.lessons.command_use import CommandNotes, CommandUse, Missing
from preheat.lessons.conventions import ConventionNotes
from preheat.lessons.corrections import Rule
from preheat.lessons.examples import Candidate, FormUse
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.learners import LEARNERS
from preheat.model.experiment import ExperimentPlan, LedgerEntry
from preheat.model.template import TemplateOrigin
from preheat.settings import archive_path
from tests.packed import unpack
from tests.shared import FIXTURES

PLAN = b'{"name":"mine","metric":"tokens","guardrails":["misuse"],"margin":10000.0,"at":5.0}'


def test_a_plan_with_the_metric_misuse_is_read_and_keeps_its_digest() -> None:
    plan = msgspec.json.decode(PLAN, type=ExperimentPlan)
    assert plan.guardrails == ("mistakes",)
    assert digest_of(plan) == "97224f0945ee"
    assert digest_of(ExperimentPlan(name="mine", at=5.0)) == "d0c6d8954d86"
    line = b'{"kind":"experiment","at":1.0,"name":"mine","sentence":"","plan":' + PLAN + b"}"
    assert msgspec.json.decode(line, type=LedgerEntry).plan == plan


def test_a_plan_can_be_asked_for_with_the_metric_misuse() -> None:
    plan = make_plan("mine", ["warm", "cold"], [], "misuse", ["tokens", "misuse"], None, "anytime", 5.0)
    assert (plan.metric, plan.guardrails) == ("mistakes", ("tokens",))


def test_profiles_are_renamed_when_an_archive_is_upgraded(tmp_path: Path) -> None:
    connect(str(tmp_path)).close()
    path = archive_path(str(tmp_path))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0006'")
        connection.executescript(
            "ALTER TABLE responses DROP COLUMN cache_write_hour_tokens;"
            "DROP TABLE places; DROP TABLE project_lookup; DROP TABLE projects;"
            "CREATE TABLE projects (folder TEXT PRIMARY KEY, root TEXT NOT NULL, name TEXT NOT NULL);"
            "CREATE INDEX ix_projects_name ON projects (name);"
        )
        connection.execute("PRAGMA foreign_keys = OFF")
        data = b'{"causes":{"misuse":2},"errors":{"count":2},"misuse":{"count":2},"model":"\xc3\xa9"}'
        connection.execute("INSERT INTO profiles (session_id, data) VALUES (1, ?)", (data,))
    upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT data FROM profiles").fetchone()[0]
    assert found == b'{"causes":{"mistake":2},"errors":{"count":2},"mistakes":{"count":2},"model":"\xc3\xa9"}'


def test_a_lab_run_with_misuse_is_read(tmp_path: Path) -> None:
    line = b'{"task":"t","arm":"warm","repeat":1,"status":"passed","misuse":3,"note":"said \\"misuse\\": no"}\n'
    (tmp_path / "runs.jsonl").write_bytes(line)
    (run,) = Lab(str(tmp_path)).results()
    assert (run.mistakes, run.note) == (3, 'said "misuse": no')


def test_a_journal_entry_with_the_cause_misuse_is_read(tmp_path: Path) -> None:
    event = b'{"type":"called","tool":"Bash","kind":"shell","activity":"shell:run","status":"failed","cause":"misuse"}'
    entry = b'{"seq":1,"at":1.0,"agent":"a","session":"s","events":[' + event + b"]}\n"
    (tmp_path / "00000001.jsonl").write_bytes(entry)
    (found,) = Journal(str(tmp_path)).replay(0)
    assert getattr(found.events[0], "cause", None) == "mistake"


def test_the_setting_trust_misuse_is_read(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[live]\ntrust_misuse = 9\n", encoding="utf-8")
    assert load_thresholds(str(tmp_path)).trust_mistake == 9


def test_a_template_keeps_the_name_in_its_file() -> None:
    """Another name would change the digest of every template."""
    assert msgspec.json.decode(b'{"misuse_rate":0.5}', type=TemplateOrigin).mistake_rate == 0.5
    assert b'"misuse_rate":0.5' in msgspec.json.encode(TemplateOrigin(mistake_rate=0.5))


@pytest.mark.parametrize(
    "words", [("mistakes", "--cause", "misuse"), ("warm", "auto", "--max-misuse", "0.2", "--dry-run")]
)
def test_options_take_the_earlier_names(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("PREHEAT_HOME", os.path.join(tmp_path, "preheat"))
    connect(os.path.join(tmp_path, "preheat")).close()
    assert main([*words, "--json"]) == 0
    assert capfd.readouterr().err == ""


def test_methods_of_the_python_object_keep_their_earlier_names(tmp_path: Path) -> None:
    home = preheat.open(str(tmp_path))
    for old, new in EARLIER_METHODS.items():
        assert getattr(home, old) == getattr(home, new)
    with pytest.raises(AttributeError, match="no_such_method"):
        getattr(home, "no_such_method")  # noqa: B009 - mypy must not see it


# What the learners of version 0.1.0 left in an archive.
@pytest.fixture
def archive(tmp_path: Path) -> Iterator[ArchiveConnection]:
    """The archive that version 0.1.0 made, as it is: not upgraded."""
    unpack(os.path.join(FIXTURES, "homes", "0004", "home.tar.xz"), tmp_path)
    with closing(open_sqlite(str(tmp_path / "archive.db"), 5.0)) as connection:
        # What reads notes looks for projects where they are now.
        connection.execute("CREATE TEMP TABLE projects AS SELECT DISTINCT name AS key, name FROM main.projects")
        connection.execute(
            "CREATE TEMP TABLE places AS SELECT sessions.id AS session_id, name AS project FROM main.sessions "
            "JOIN main.projects ON main.projects.folder = sessions.project"
        )
        yield connection


def stored_notes(connection: ArchiveConnection, learner: Learner) -> Iterator[tuple[SessionNotes[object], bytes]]:
    """The notes of a learner as they are read now, each with the bytes that were stored."""
    sessions = [number for (number,) in connection.execute("SELECT id FROM sessions")]
    for session, agent, project, started_at, ended_at, data in load_notes(connection, learner.name, sessions):
        notes = msgspec.msgpack.decode(data, type=learner.notes_type)
        yield SessionNotes(session, agent, project, started_at, ended_at, notes), data


NOTING = [learner for learner in LEARNERS if learner.take_notes is not None]


@pytest.mark.parametrize("learner", NOTING, ids=lambda learner: learner.name)
def test_nothing_that_a_learner_noted_is_lost_in_reading(learner: Learner, archive: ArchiveConnection) -> None:
    """A field under another name would be read as empty: what is written again has everything that was read."""
    found = list(stored_notes(archive, learner))
    assert found
    for noted, data in found:
        again = msgspec.msgpack.encode(noted.notes)
        assert holds(msgspec.msgpack.decode(again), msgspec.msgpack.decode(data))


def holds(new: object, old: object) -> bool:
    """Whether a value has all of another one; fields may have been added at the end."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() <= new.keys() and all(holds(new[name], value) for name, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) <= len(new) and all(map(holds, new, old))
    return new == old


def test_notes_of_0_1_0_give_lessons_with_the_same_ids(archive: ArchiveConnection) -> None:
    """What a person pinned or retired is found by its id."""
    sessions = {learner.name: [noted for noted, _ in stored_notes(archive, learner)] for learner in NOTING}
    known: set[str] = set()
    for project in ("", *(name for (name,) in archive.execute("SELECT name FROM temp.projects"))):
        stored = load_conclusions(archive, project)
        for learner in NOTING:
            if learner.learn is None or learner.name not in stored:
                continue
            some = [noted for noted in sessions[learner.name] if project in ("", noted.project)]
            some.sort(key=lambda noted: (noted.started_at or 0.0, noted.session))
            ids = {lesson.id for lesson in stored[learner.name]}
            assert {lesson.id for lesson in learner.learn(project, some)} == ids, (project, learner.name)
            known |= ids
    assert len(known) >= 10


@pytest.mark.parametrize(
    ("notes", "names"),
    [
        (ConventionNotes, "commands made rules written committed servers variables generated"),
        (CommandNotes, "used missing stayed astray unmatched moved programs shell"),
        (
            CommandUse,
            "purpose way core form folder ok finding misuse environment texts failing signatures seqs bad_seqs last "
            "seconds limits",
        ),
        (Missing, "name seq signature at text folder instead"),
        (Rule, "sentence standing use avoid named forms corrected seq at"),
        (Candidate, "form tool kind purpose arguments result seq at same plain"),
        (FormUse, "tool form worked misuse first"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_fields_of_notes_are_stored_under_their_first_names(notes: type[msgspec.Struct], names: str) -> None:
    assert " ".join(notes.__struct_encode_fields__) == names
