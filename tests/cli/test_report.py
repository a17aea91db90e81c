"""`preheat report --week` as text, Markdown, HTML and JSON, and sessions as documents to share."""

import json
import os
from pathlib import Path

import pytest

import preheat
from preheat.app.live.running import RunningSession, encode_session, session_file
from preheat.daemon_client import live_folder
from preheat.model.lesson import Lesson, Scope, WrittenLesson
from preheat.model.receipt import Receipt, SentText, TextKind, TextOutcome
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.test_learning import worked
from tests.screens import check_screen

from .conftest import FIRST, NOW, Person

DAY = 86400.0
HOSTILE = "</pre><script>alert(1)</script> ```\n# heading [x](javascript:1) \x1b[31m"


@pytest.fixture
def worker(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steady: None) -> Person:
    """The same mistake in four sessions, one of them in the last week, and in two more than before."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for number in (1, 2, 7, 8, 9):
        person.write(worked(number, str(folder)))
    assert person.run().code == 0
    return person


def test_the_digest_compares_two_weeks(worker: Person) -> None:
    found = json.loads(worker.run("report", "--week", "--json").out)
    assert (found["week"]["sessions"], found["before"]["sessions"]) == (3, 2)
    assert found["until"] - found["since"] == 7 * DAY
    assert found["until"] == NOW
    assert (found["new"], found["better"], found["worse"]) == ([], [], [])
    assert found["prevented"] == []
    assert found["not_shown"].startswith("Too little data")


def test_a_mistake_of_this_week_is_new_and_one_that_grew_is_worse(worker: Person) -> None:
    for number in range(2):
        session = ClaudeTranscript(
            session=f"{number:08x}-2222-4000-8000-000000000000", project=os.getcwd(), started=NOW - (2 + number) * DAY
        )
        session = session.prompt("build").run("npm build", "Unknown command: build", 1).run("npm run build", "ok")
        worker.write(session.run("pytest tests", "bash: pytest: command not found", 127).answer("Done."))
    assert worker.run("sync").code == 0
    found = json.loads(worker.run("report", "--json").out)
    assert [(each["calls"], each["calls_before"]) for each in found["new"]] == [(2, 0)]
    assert [(each["calls"], each["calls_before"]) for each in found["worse"]] == [(5, 2)]


def record_receipt(person: Person, session: str, cwd: str, at: float, *texts: SentText) -> None:
    """A session that the daemon knows, with what it was told."""
    running = RunningSession(
        agent="claude_code", session=session, cwd=cwd, began_at=at, last_at=at, receipt=Receipt(texts=texts)
    )
    path = session_file(f"{live_folder(person.folder)}/sessions", (running.agent, session))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(encode_session(running))


def sent(kind: TextKind, outcome: TextOutcome) -> SentText:
    return SentText(kind=kind, about="missing path", at=NOW - DAY, turn=1, outcome=outcome)


def test_what_receipts_saw_this_week_is_seen_and_not_called_prevented(worker: Person, tmp_path: Path) -> None:
    held = [sent("hold", outcome) for outcome in ("followed", "", "worked")]
    record_receipt(worker, "s1", os.getcwd(), NOW - DAY, *held, sent("answer", "followed"), sent("answer", ""))
    record_receipt(worker, "s2", str(tmp_path / "other"), NOW - DAY, sent("warning", "failed"))
    record_receipt(worker, "s3", os.getcwd(), NOW - 9 * DAY, sent("answer", "followed"))
    here = json.loads(worker.run("report", "--project", ".", "--json").out)
    assert here["prevented"] == []
    assert here["seen"] == [
        "3 calls held once, 2 of them not seen again (made all the same: 0 failed, 1 worked)",
        "2 failures answered, after 1 of them a call with what was named worked",
    ]
    everywhere = json.loads(worker.run("report", "--json").out)["seen"]
    assert "1 call warned of, 0 of them not seen again (made all the same: 1 failed, 0 worked)" in everywhere
    assert "Seen to happen, not proved" in worker.run("report").out


def test_lessons_that_a_person_has_not_decided_on_wait(worker: Person) -> None:
    """One that the person's own agent proposed, and what two sessions of this week taught."""
    for number in range(2):
        session = ClaudeTranscript(
            session=f"{number:08x}-3333-4000-8000-000000000000", project=os.getcwd(), started=NOW - (2 + number) * DAY
        )
        session = session.prompt("build").run("npm run bundle", "npm error Missing script: bundle", 1)
        worker.write(session.run("make bundle", "ok").answer("Done."))
    assert worker.run().code == 0
    distilled = Lesson(
        id="c0000001", kind="convention", scope=Scope(), text="Prices are in cents.", status="waiting", author="agent"
    )
    home = preheat.open(worker.folder)
    assert home.knowledge.propose([WrittenLesson(distilled, "", "", NOW)]) == 1
    waiting = json.loads(worker.run("report", "--json").out)["waiting"]
    assert waiting[0] == "1 lesson of your own agent, given to nobody before you say so: `preheat lessons review`"
    new = sum((each.lesson.first_seen or 0.0) >= NOW - 7 * DAY for each in home.knowledge.review())
    assert new >= 1
    assert waiting[1] == f"{new} new lesson{'' if new == 1 else 's'} to keep, edit or drop: `preheat lessons review`"
    home.knowledge.keep(distilled.id)
    assert not any("own agent" in line for line in json.loads(worker.run("report", "--json").out)["waiting"])


@pytest.mark.parametrize("width", [60, 110])
def test_the_screen(width: int, worker: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = worker.run("report", "--week", "--project", ".").out
    assert max(map(len, shown.splitlines())) <= width
    check_screen(f"report-week-{width}", shown)


def test_markdown_and_html_have_every_section(worker: Person, tmp_path: Path) -> None:
    markdown = worker.run("report", "--format", "markdown").out
    titles = [line[3:] for line in markdown.splitlines() if line.startswith("## ")]
    assert titles[1:4] == ["New mistakes", "Worse than the week before", "Better than the week before"]
    page = str(tmp_path / "week.html")
    assert worker.run("report", "--format", "html", "-o", page).code == 0
    with open(page, encoding="utf-8") as stream:
        text = stream.read()
    assert all(f"<h2>{title}</h2>" in text for title in titles)
    assert worker.run("report", "--format", "html", "-o", page).code == 2, "a file is not overwritten"


def test_an_unknown_project_is_an_error_with_names_that_are_like_it(worker: Person) -> None:
    done = worker.run("report", "--project", "shp")
    assert done.code == 2
    assert "no project `shp` is known; did you mean" in done.err
    for command in (["mistakes"], ["report", "cost"], ["sessions", "list"], ["report", "profile"]):
        assert worker.run(*command, "--project", "nosuch").code == 2
        assert worker.run(*command, "--project", ".").code == 0


# Sessions as documents.
def test_a_session_as_markdown_has_messages_and_judged_calls(archived: Person) -> None:
    text = archived.run("sessions", "export", FIRST, "--format", "markdown").out
    assert text.startswith("# the migration test fails, fix it\n")
    assert "pytest tests/test\\_migration.py (failed, exit 1)" in text
    assert "E   no such table: users" in text
    assert "use sqlite" not in text, "what was taken back is left out"


def test_a_page_of_a_session_runs_and_marks_up_nothing_of_it(person: Person) -> None:
    session = ClaudeTranscript(session=FIRST).prompt(HOSTILE).answer(HOSTILE).run("echo x", HOSTILE)
    person.write(session)
    assert person.run("sync").code == 0
    page = person.run("sessions", "export", FIRST, "--format", "html").out
    assert "<script" not in page
    assert "\x1b" not in page
    assert page.count("<pre>") == page.count("</pre>") == 4
    markdown = person.run("sessions", "export", FIRST, "--format", "markdown").out
    fences = [line for line in markdown.splitlines() if line in ("````", "````text")]
    assert len(fences) >= 4, "a fence is longer than any in the text"


def test_documents_have_no_home_folder_and_no_secret(person: Person) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session = ClaudeTranscript(session=FIRST, project=f"{person.home}/work").prompt(f"use {token}")
    person.write(session.run(f"cat {person.home}/work/x", "fine"))
    assert person.run("sync").code == 0
    for form in ("markdown", "html"):
        text = person.run("sessions", "export", FIRST, "--format", form).out
        assert token not in text
        assert person.home not in text
        assert "~/work/x" in text


def test_a_dry_run_shows_what_would_be_deleted_and_deletes_nothing(archived: Person) -> None:
    done = archived.run("sessions", "delete", FIRST, "--dry-run")
    assert done.code == 0
    assert FIRST in done.out
    assert done.out.endswith("Nothing was deleted.\n")
    planned = json.loads(archived.run("sessions", "delete", FIRST, "--dry-run", "--json").out)
    assert f"claude_code:{FIRST}" in planned["would_delete"]
    assert archived.run("sessions", "show", FIRST).code == 0
