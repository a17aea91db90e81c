"""`preheat demo`: the story of nine recorded sessions, computed from the recordings."""

import json
import os
import re
from typing import Any

from scripts.shop_sessions import EARLIER, GUESSED_TEST, NINTH, RIGHT_TEST, read_files, read_test

from .conftest import Person

SAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "src", "preheat", "samples")


def tell(person: Person) -> dict[str, Any]:
    done = person.spawn("demo", "--json", TMPDIR=person.home)
    assert done.code == 0, done.err
    story: dict[str, Any] = json.loads(done.out)
    return story


def recorded(name: str) -> str:
    with open(os.path.join(SAMPLES, name), encoding="utf-8") as stream:
        return stream.read()


def test_demo_tells_its_story_in_twenty_lines_and_deletes_its_archive(person: Person) -> None:
    done = person.spawn("demo", TMPDIR=person.home, COLUMNS="110")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) <= 20
    assert "a script stood in for its model" in done.out
    assert max(map(len, done.out.splitlines())) <= 120
    assert not [name for name in os.listdir(person.home) if name.startswith("preheat-demo-")]
    assert not os.path.exists(person.folder)


def test_the_ninth_session_fails_cold_and_is_told_what_would_have_spared_it(person: Person) -> None:
    """Computed by the application from the eight recordings: a change that unlearns it fails here."""
    story = tell(person)
    assert (story["sessions"], story["mistake"], story["mistake_calls"], story["mistake_sessions"]) == (
        8,
        GUESSED_TEST,
        8,
        8,
    )
    assert story["task"] == NINTH.prompt
    assert [call["text"] for call in story["cold"] if call["failed"]] == [GUESSED_TEST]
    assert [call for call in story["warm"] if call["failed"]] == []
    assert read_test("\n".join(story["said_at_start"])) == RIGHT_TEST
    assert story["said_with_prompt"][0]["path"] == NINTH.path
    assert "calls like this failed all 8 times" in story["said_before_call"]
    assert f"`{RIGHT_TEST}`" in story["said_before_call"]


def test_the_warm_session_was_told_by_preheat_and_the_cold_one_was_not() -> None:
    """In the recordings of the real program: the scripted model went by what stood before it."""
    cold, warm = recorded("ninth/cold.jsonl"), recorded("ninth/warm.jsonl")
    assert "<preheat-" not in cold
    told = warm.replace("\\n", "\n")
    assert (read_test(told), read_files(told)[0]) == (RIGHT_TEST, NINTH.path)
    opened = [re.findall(r'\\"cmd\\":\\"cat (src/[\w/.]+)', text)[0] for text in (cold, warm)]
    assert opened == ["src/orders.js", NINTH.path]


def test_the_recordings_are_of_the_sessions_that_are_written_down() -> None:
    for number, work in enumerate(EARLIER, 1):
        text = recorded(f"sessions/{number}.jsonl")
        assert work.prompt in text
        assert 'Missing script: \\"test\\"' in text
        assert "/tmp/" not in text


def test_demo_keeps_its_archive_when_asked(person: Person) -> None:
    done = person.spawn("demo", "--keep", TMPDIR=person.home)
    folder = done.out.strip().rpartition("PREHEAT_HOME=")[2]
    assert os.path.exists(os.path.join(folder, "archive.db"))
