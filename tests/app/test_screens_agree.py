"""Numbers that several screens show are the same on all of them: sync, home, `sessions list`, `sessions show`, `profile` of one
and of all and `replay`. Over the sample sessions, and over a source of real ones."""

import os
from collections import Counter
from pathlib import Path

import pytest

import preheat.samples
from preheat.app import Preheat
from preheat.app import open as open_home
from preheat.app.sessions.archive import SyncReport
from preheat.model.listing import SessionSummary
from preheat.model.live import CallEvent
from preheat.model.outcome import FAILURES
from preheat.model.population import Population
from preheat.model.profile import SessionProfile
from tests.shared import SHARED, needs_corpus

SAMPLES = next(iter(preheat.samples.__path__))
SOURCES = [
    pytest.param(SAMPLES, id="samples"),
    *(
        pytest.param(os.path.join(SHARED, "corpus", name), id=name, marks=needs_corpus)
        for name in ("entire__entireio+git-sync", "claude_code__M-Claude")
    ),
]
each_source = pytest.mark.parametrize("source", SOURCES)


def read_source(folder: Path, source: str) -> tuple[Preheat, SyncReport]:
    home = open_home(str(folder))
    report = home.sync(files=home.find_files([source]).files)
    home.analyse()
    return home, report


def profile_of(home: Preheat, session: SessionSummary) -> SessionProfile:
    found = home.profile(session.key)
    assert isinstance(found, SessionProfile)
    return found


@each_source
def test_sync_home_and_list_count_the_same_sessions_and_calls(tmp_path: Path, source: str) -> None:
    home, report = read_source(tmp_path, source)
    listed = home.sessions()
    held = home.overview().archive
    assert held is not None
    assert listed
    assert sum(row.sessions for row in report.agents.values()) == held.sessions == len(listed)
    assert sum(row.calls for row in report.agents.values()) == held.calls == sum(each.calls for each in listed)
    assert sum(row.messages for row in report.agents.values()) == sum(each.messages for each in listed)


@each_source
def test_list_show_profile_and_replay_count_the_same_calls_and_failures(tmp_path: Path, source: str) -> None:
    home, _ = read_source(tmp_path, source)
    for session in home.sessions():
        profile, transcript = profile_of(home, session), home.archive.transcript(session.key)
        assert session.calls == len(transcript.calls) - transcript.copied_calls
        assert session.calls == profile.calls + profile.bookkeeping_calls, "what a profile leaves out, it names"
        assert session.errors == profile.errors.count == transcript.failed_calls


@each_source
def test_a_call_has_the_same_outcome_in_show_and_in_replay(tmp_path: Path, source: str) -> None:
    home, _ = read_source(tmp_path, source)
    for session in home.sessions():
        shown = Counter(line.status for line in home.archive.transcript(session.key).calls if line.status in FAILURES)
        moments = home.live.replay(session.key).timeline.moments
        calls = {each.event.call_id: each.event for each in moments if isinstance(each.event, CallEvent)}
        replayed = Counter(event.status for event in calls.values() if event.status in FAILURES)
        assert replayed == shown, session.key


@each_source
def test_the_profile_of_all_sessions_is_the_sum_of_their_profiles(tmp_path: Path, source: str) -> None:
    home, _ = read_source(tmp_path, source)
    everything = home.profile()
    assert isinstance(everything, Population)
    single = [profile_of(home, each) for each in home.sessions()]
    assert everything.sessions == len(single)
    assert everything.calls == sum(each.calls for each in single)
    assert everything.overall.errors.count == sum(each.errors.count for each in single)
    assert everything.overall.mistakes.count == sum(each.mistakes.count for each in single)
