"""What version 0.1.0 stored, and what people wrote in settings and on command lines, under names that have changed since."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import preheat
from preheat.app import EARLIER_METHODS
from preheat.app.live.settings import load_thresholds
from preheat.archive.connect import connect
from preheat.archive.upgrade import upgrade
from preheat.cli import main
from preheat.daemon.journal import Journal
from preheat.experiments.plan import digest_of, make_plan
from preheat.lab.state import Lab
from preheat.model.experiment import ExperimentPlan, LedgerEntry
from preheat.model.template import TemplateOrigin
from preheat.settings import archive_path

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
