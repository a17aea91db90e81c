"""What a screen shows at once: pages of sessions, one session from its rows, its transcript in parts, a prompt tried out."""

import os
from pathlib import Path

import pytest

import preheat
from preheat.errors import NotFound, UserError
from preheat.model.listing import SessionFilter
from preheat.model.views import TranscriptEntry
from preheat.testing.builders import ClaudeTranscript
from tests.web.builders import MARK, SLASHED, fill_home

WORK = "claude_code:00000003-7777-4000-8000-000000000000"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, each_database_of_module: str) -> preheat.Preheat:
    return preheat.open(fill_home(str(tmp_path_factory.mktemp("views"))))


# Lists.
def test_pages_of_a_list_are_whole_and_do_not_overlap(home: preheat.Preheat) -> None:
    whole = [each.key for each in home.archive.sessions(SessionFilter())]
    pages = [home.views.sessions(SessionFilter(), start=start, limit=3) for start in (0, 3, 6, 9)]
    assert [each.key for page in pages for each in page.sessions] == whole
    assert [page.next_start for page in pages] == [3, 6, None, None]
    assert {page.total for page in pages} == {8}


def test_a_list_is_ordered_by_the_share_of_failed_calls(home: preheat.Preheat) -> None:
    found = home.views.sessions(SessionFilter(), order="failed").sessions
    shares = [each.errors / each.calls for each in found]
    assert shares == sorted(shares, reverse=True)
    assert found[0].errors == 2


def test_a_search_takes_the_last_word_as_the_beginning_of_one_and_shows_where_it_is(home: preheat.Preheat) -> None:
    found = home.views.sessions(SessionFilter(), "step 3 of the sho")
    assert [each.key for each in found.sessions] == [WORK]
    assert found.found[WORK].text == "Make step 3 of the shop work"
    assert home.views.sessions(SessionFilter(), "shop nowhere").sessions == ()
    assert home.views.sessions(SessionFilter(agent="codex"), "shop").total == 0


def test_a_search_counts_a_session_once_however_often_it_has_the_words(home: preheat.Preheat) -> None:
    found = home.views.sessions(SessionFilter(), "uv run pytest")
    assert (found.total, len({each.key for each in found.sessions})) == (6, 6)


# One session.
def test_a_session_is_shown_from_its_rows_as_its_transcript_says(home: preheat.Preheat) -> None:
    view, transcript = home.views.session(WORK), home.archive.transcript(WORK)
    assert [(each.tool, each.status, each.cause) for each in view.calls] == [
        (each.tool, each.status, each.cause) for each in transcript.calls
    ]
    assert view.judged
    assert [each.seq for each in view.calls if each.is_failure] == [0, 3]
    assert view.usage == sum(
        (each.usage for each in home.costs(by="session").costs if each.name == WORK), type(view.usage)()
    )
    assert view.money == next(each.money for each in home.costs(by="session").costs if each.name == WORK)
    assert [each.path for each in view.files] == ["src/shop.py"]
    assert [each.prompt for each in view.episodes] == ["Make step 3 of the shop work", "And test it"]


def test_parts_of_a_transcript_make_the_whole_and_an_edit_is_a_difference(home: preheat.Preheat) -> None:
    whole = home.views.transcript(WORK, limit=1000)
    parts: list[TranscriptEntry] = []
    start = 0
    while True:
        part = home.views.transcript(WORK, start, 4)
        parts += part.entries
        if part.next_start is None:
            break
        start = part.next_start
    assert tuple(parts) == whole.entries
    assert whole.total == len(whole.entries)
    change = next(each.change for each in whole.entries if each.call is not None and each.call.seq == 4)
    assert [(each.mark, each.text) for each in change if each.mark in "+-"] == [
        ("-", "def pay():"), ("-", "    pass"), ("+", "def pay(sum):"), ("+", "    return sum"),
    ]  # fmt: skip


def test_only_errors_are_the_calls_that_failed(home: preheat.Preheat) -> None:
    part = home.views.transcript(WORK, errors_only=True)
    assert [each.call.seq for each in part.entries if each.call is not None] == [0, 3]


def test_a_long_text_is_cut_and_given_whole_when_asked_for(home: preheat.Preheat) -> None:
    part = home.views.transcript("99999999", limit=1000)
    long = next(each for each in part.entries if each.size > 200_000)
    assert len(long.text) < 5_000
    assert home.views.entry_text("99999999", long.number).endswith("x" * 1000)
    with pytest.raises(UserError, match="there is no entry"):
        home.views.entry_text("99999999", 99_999)


def test_a_line_of_ten_megabytes_is_shown_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_bytes(
        ClaudeTranscript().prompt("go").answer("so").run("cat big", "y" * 10_000_000).answer("done").data()
    )
    own = tmp_path / "home"
    own.mkdir(mode=0o700)
    large = preheat.open(str(own))
    large.sync([("claude_code", str(path))])
    part = large.views.transcript("latest")
    assert [each.size for each in part.entries if each.kind == "call"] == [10_000_000]
    assert sum(len(each.text) for each in part.entries) < 5_000


def test_an_id_with_slashes_is_found_whole(home: preheat.Preheat) -> None:
    assert home.views.session(f"claude_code:{SLASHED}").summary.session == SLASHED
    with pytest.raises(NotFound):
        home.views.session("claude_code:a/b/../x")


def test_activity_adds_up_to_the_calls_of_the_chosen_sessions(home: preheat.Preheat) -> None:
    found = home.views.activity(SessionFilter())
    calls = sum(each.calls for each in home.archive.sessions(SessionFilter()))
    assert sum(map(sum, found.calls)) == sum(day[2] for day in found.days) == calls
    assert sum(day[1] for day in found.days) == 8
    assert home.views.activity(SessionFilter(agent="codex")).days == ()


# Before something is done.
def test_a_prompt_tried_out_says_what_a_session_would_be_given_and_records_nothing(home: preheat.Preheat) -> None:
    project = os.path.join(os.path.dirname(home.folder), "work", "shop")
    before = home.experiments.ledger()
    tried = home.views.try_prompt("make the tests pass", project, "pytest tests", "bash: pytest: command not found")
    start = tried.moments[0]
    expected = home.provision("make the tests pass", project=project, record=False)
    assert [each.lesson for each in start.items] == [each.lesson for each in expected.items]
    assert start.left_out == expected.left_out
    assert [each.moment for each in tried.moments] == [
        "at the start, with the prompt", "with the prompt: where the work lies", "before a call", "after a failure",
        "after a compaction and at a stop",
    ]  # fmt: skip
    assert "uv run pytest" in tried.moments[2].text
    assert home.experiments.ledger() == before
    with pytest.raises(UserError, match="there is no folder"):
        home.views.try_prompt("x", "relative/folder")


def test_a_text_for_others_has_no_secret_home_folder_or_address(home: preheat.Preheat) -> None:
    clean = home.views.redact_for_sharing(f"/Users/anna/x {MARK} anna@example.org /root/y")
    assert clean == f"~/x {MARK} [address] ~/y"
