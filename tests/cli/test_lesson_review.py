"""`preheat lessons review`, `add`, `edit`, `approve` and `undo`: a person's words, and what sessions are told then."""

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.ingest.test_learning import worked
from tests.screens import check_screen
from tests.waiting import HUNG, until

from .builders import SHOP, teach
from .conftest import Person

TASK = "make the checkout work and test it"


def learned(person: Person) -> Person:
    assert teach(person).run("learn", "--quiet").code == 0
    return person


def to_review(person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(person.run("lessons", "review", "--json").out)
    return found


def told(person: Person, task: str = TASK) -> str:
    """What a session of the project is told."""
    done = person.run("warm", "start", "--project", "shop", "--task", task)
    assert done.code == 0
    return done.out


def status_of(person: Person, lesson: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(person.run("lessons", "show", lesson, "--json").out)
    return found


def answer_keys(keys: str, *arguments: str, **environment: str) -> str:
    """Run a command on a terminal, press these keys when it asks, and return what it showed."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "preheat", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "COLUMNS": "110", "TERM": "dumb", **environment},
        start_new_session=True,
    )
    os.close(terminal)
    shown, waiting = b"", list(keys)
    while True:
        ready, _, _ = select.select([master], [], [], HUNG)
        assert ready, shown.decode(errors="replace")
        try:
            block = os.read(master, 65536)
        except OSError:  # the process ended
            break
        if not block:
            break
        shown += block
        if shown.rstrip(b" ").endswith(b"[q]uit") and waiting:
            # What is typed before the terminal gives single keys is thrown away.
            until(lambda: not termios.tcgetattr(master)[3] & termios.ICANON, "the terminal gives single keys")
            os.write(master, waiting.pop(0).encode())
    os.close(master)
    assert process.wait(HUNG) == 0, shown.decode(errors="replace")
    return shown.decode(errors="replace").replace("\r\n", "\n")


def test_a_review_shows_each_new_lesson_once_exactly_as_a_session_is_told_it(person: Person) -> None:
    learned(person)
    first = to_review(person)
    assert first
    context = told(person)
    lines = [each["said"] for each in first if not each["needs_approval"]]
    assert any(line in context for line in lines)
    answer_keys("k" * len(first), "lessons", "review")
    assert to_review(person) == []
    assert "Nothing new to review" in person.run("lessons", "review").err


def test_in_the_review_of_a_project_its_own_lessons_come_before_those_of_any_project(person: Person) -> None:
    for place in ("/home/dev/till", "/home/dev/bank"):
        for number in range(1, 5):
            person.write(worked(number + 10 * len(place) + ord(place[-1]), place))
    learned(person)
    found = json.loads(person.run("lessons", "review", "--project", "shop", "--json").out)
    projects = [each["lesson"]["scope"].get("project", "") for each in found]
    assert projects == sorted(projects, reverse=True)
    assert set(projects) == {"shop", ""}


def test_the_keys_keep_drop_later_undo_and_quit_do_what_they_say(person: Person) -> None:
    learned(person)
    first = to_review(person)
    assert len(first) >= 3
    shown = answer_keys("kdulq", "lessons", "review")  # keep, drop, undo the drop, later, quit
    assert "1 kept, 1 later" in shown
    assert [each["lesson"]["id"] for each in to_review(person)] == [each["lesson"]["id"] for each in first[1:]]
    dropped = first[1]["lesson"]["id"]
    answer_keys("dq", "lessons", "review")
    assert status_of(person, dropped)["status"] == "retired"
    assert status_of(person, dropped)["why"] == "dropped in a review"
    assert person.run("lessons", "undo").code == 0
    assert status_of(person, dropped).get("status", "active") == "active"
    assert [each["lesson"]["id"] for each in to_review(person)] == [each["lesson"]["id"] for each in first[1:]]


def test_edit_in_a_review_gives_a_lesson_the_words_of_the_editor(person: Person, tmp_path: Any) -> None:
    learned(person)
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\necho 'Run the checks as we do: uv run pytest, nothing else' > \"$1\"\n")
    editor.chmod(0o700)
    shown = answer_keys("eq", "lessons", "review", EDITOR=str(editor), VISUAL=str(editor))
    assert "Sessions are told: Run the checks as we do: uv run pytest, nothing else" in shown
    assert "Run the checks as we do: uv run pytest, nothing else" in told(person)


def test_new_lessons_come_into_the_next_review_and_decided_ones_do_not(person: Person) -> None:
    learned(person)
    answer_keys("k" * len(to_review(person)), "lessons", "review")
    for number in range(11, 15):
        transcript = worked(number).answer("migrate").run("just migrate", "just: recipe not found", 1)
        person.write(transcript.answer("so").run("just db-migrate", "done").answer("done"))
    assert person.run("sync").code == 0
    assert person.run("learn", "--quiet").code == 0
    new = to_review(person)
    assert new
    assert all("just" in json.dumps(each) for each in new)


@pytest.mark.parametrize("width", [60, 110])
def test_the_review_in_a_pipe_is_a_list(
    person: Person, steady: None, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    learned(person)
    done = person.run("lessons", "review")
    assert done.code == 0
    assert all(len(line) <= width or " " not in line.strip() for line in done.out.splitlines())
    check_screen(f"lessons-review-{width}", done.out)


def test_a_persons_own_lesson_is_told_first_and_in_these_very_words(person: Person) -> None:
    learned(person)
    text = "After editing schema.sql run `make gen`; never edit src/gen by hand"
    done = person.run("lessons", "add", text, "--project", "shop")
    assert done.code == 0
    assert f"Sessions are told: {text}" in done.out
    context = told(person)
    assert text in context
    assert text in told(person, "something that has nothing to do with it")
    small = person.run("warm", "start", "--project", "shop", "--task", TASK, "--budget", "120").out
    assert text in small  # where there is room for little, the person's own comes before what was learned
    assert person.run("lessons", "undo").code == 0
    assert text not in told(person)


def test_a_learned_lesson_that_says_the_opposite_of_a_persons_is_retired(person: Person) -> None:
    learned(person)
    assert "uv run pytest" in told(person)
    done = person.run(
        "lessons",
        "add",
        "--command",
        "make test",
        "--instead-of",
        "uv run pytest",
        "--for",
        "test",
        "--project",
        "shop",
    )
    assert "Sessions are told: test: use `make test`, not `uv run pytest`" in done.out
    identity = json.loads(person.run("lessons", "list", "--all", "--json").out)[0]["id"]
    against = [each for each in json.loads(person.run("lessons", "list", "--all", "--json").out) if each.get("why")]
    assert any(each["why"].startswith("you wrote otherwise") for each in against), identity
    assert not any(
        "uv run pytest" in line and "make test" not in line
        for line in told(person).splitlines()
        if "worked" not in line
    )


def test_an_edited_lesson_replaces_the_learned_one_until_it_is_undone(person: Person) -> None:
    learned(person)
    before = next(each for each in to_review(person) if "uv run pytest" in each["said"])["lesson"]
    done = person.run("lessons", "edit", before["id"], "Tests: uv run pytest, and only what you changed", "--json")
    edited = json.loads(done.out)
    assert edited["said"] == "Tests: uv run pytest, and only what you changed"
    assert status_of(person, before["id"])["why"] == f"you rewrote it: `{edited['lesson']['id']}`"
    assert person.run("learn", "--quiet").code == 0
    assert edited["said"] in told(person)
    again = json.loads(person.run("lessons", "edit", edited["lesson"]["id"], "Tests: uv run pytest -x", "--json").out)
    assert again["lesson"]["id"] == edited["lesson"]["id"]
    assert person.run("lessons", "undo", edited["lesson"]["id"]).code == 0
    assert edited["said"] in told(person)
    assert person.run("lessons", "undo", before["id"]).code == 0
    assert edited["said"] not in told(person)
    assert status_of(person, before["id"]).get("status", "active") == "active"


def test_approve_hands_on_the_very_words_of_a_correction_and_undo_takes_it_back(person: Person) -> None:
    for number in range(1, 4):
        person.write(worked(number).prompt("never open pull requests against the release branch").answer("I see."))
    person.run("sync")
    person.run("learn", "--quiet")
    found = next(each for each in to_review(person) if each["lesson"].get("topic") == "correction")
    assert found["needs_approval"] is True
    task = "open a pull request"
    assert "never open pull requests" not in told(person, task)
    assert "never open pull requests" in person.run("lessons", "approve", found["lesson"]["id"]).out
    assert "never open pull requests" in told(person, task)
    assert "undone: approve" in person.run("lessons", "undo").out
    assert "never open pull requests" not in told(person, task)


def test_a_secret_in_a_persons_words_is_taken_out_and_never_stored(person: Person) -> None:
    learned(person)
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    done = person.run("lessons", "add", f"the token is {secret} for the registry", "--project", "shop")
    assert done.code == 0
    assert "1 secret taken out of your words" in done.err
    assert secret not in done.out + told(person)
    for folder, _, names in os.walk(person.folder):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                assert secret.encode() not in file.read()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["add"], "a lesson needs words or a command"),
        (["add", "   "], "a lesson needs words or a command"),
        (["add", "x" * 301], "a lesson is one line of at most 300 characters, this has 301"),
        (["add", "words", "--command", "make"], "give words or `--command`, not both"),
        (["add", "words", "--project", "nosuch"], "no project `nosuch` is known"),
        (["edit", "nosuch", "words"], "no lesson `nosuch`"),
        (["approve", "nosuch"], "no lesson `nosuch`"),
        (["undo"], "you have done nothing with lessons that can be undone"),
        (["review", "--project", "nosuch"], "no project `nosuch` is known"),
    ],
)
def test_bad_input_gets_one_clear_line(person: Person, arguments: list[str], error: str) -> None:
    learned(person)
    done = person.run("lessons", *arguments)
    assert (done.code, done.out) == (2, "")
    assert error in done.err
    assert done.err.count("\n") == 1


def test_an_editor_without_a_terminal_is_refused_with_what_to_do(person: Person) -> None:
    learned(person)
    lesson = to_review(person)[0]["lesson"]["id"]
    done = person.run("lessons", "edit", lesson)
    assert (done.code, done.err.strip()) == (
        2, "preheat: without a terminal give the new words: `preheat lessons edit ID 'new words'`",
    )  # fmt: skip


def test_a_persons_lesson_survives_that_everything_is_learned_anew(person: Person) -> None:
    learned(person)
    person.run("lessons", "add", "the staging database is read-only", "--project", "shop")
    started = time.time()
    person.write(
        ClaudeTranscript(session=f"{99:08x}-1111-4000-8000-000000000000", project=SHOP, started=started).prompt("x")
    )
    person.run("sync")
    person.run("learn", "--quiet")
    assert "the staging database is read-only" in told(person)
