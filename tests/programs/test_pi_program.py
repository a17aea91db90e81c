"""The real Pi program, run now against the scripted model: what it writes is what the reader gives.

CI does not install it (`scripts/install-agents pi` does): what it writes is recorded in the fixtures.
"""

from pathlib import Path

import pytest

from preheat.agents.pi import PLACES
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Rewind,
    Session,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
    surviving_events,
)
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.pi import PiDriver, PiHome, find_pi

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(find_pi() is None, reason="the `pi` program is not installed: run `scripts/install-agents pi`"),
]


def read_sessions(home: PiHome) -> list[Session]:
    """Every session, found where the reader looks for them."""
    roots = PLACES.roots(home.environment)
    paths = sorted(place.path for root in roots for place in PLACES.discover(root))
    assert paths == sorted(home.sessions())
    sessions = [session for path in paths for session in read(path)]
    assert not [problem for session in sessions for problem in session.problems]
    return sessions


def test_a_headless_session_is_read_as_it_was_scripted(tmp_path: Path) -> None:
    script = [
        Reply("I look.", [Call("bash", {"command": "exit 7"})], usage=Usage(input=60, cache_read=40, output=5)),
        Reply(calls=[Call("read", {"path": "absent"}), Call("bash", {"command": "echo good"})]),
        Reply("Done."),
    ]
    with ModelServer(script) as server:
        home = PiHome(str(tmp_path), server.url)
        home.prompt("Look.")
    (session,) = read_sessions(home)
    ends = [(result and result.is_error, result and result.exit_code) for _, result in pair_calls_with_results(session)]
    assert ends == [(True, 7), (True, None), (False, None)]
    assert sum_usage(session) == Usage(input=260, output=25, cache_read=40)
    assert session.project == home.project
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["Look."]


def test_going_back_is_a_rewind_and_a_fork_counts_only_its_own(tmp_path: Path) -> None:
    """In place it is a rewind; in a session of its own only what is new counts."""
    with ModelServer([Reply("One."), Reply("Two."), Reply("Three.")]) as server:
        home = PiHome(str(tmp_path), server.url)
        with PiDriver(home) as driver:
            driver.prompt("First.")
            entry = driver.ask("get_fork_messages")["messages"][0]["entryId"]
            driver.ask("prompt", message=f"/back {entry}")
            driver.prompt("Second.")
            driver.ask("clone")
            driver.prompt("Third.")
    first, fork = read_sessions(home)
    assert len([event for event in first.events if isinstance(event, Rewind)]) == 1
    assert [event.text for event in surviving_events(first) if isinstance(event, AssistantMessage)] == ["Two."]
    assert [event.text for event in fork.events if isinstance(event, AssistantMessage)] == ["Three."]
    assert (fork.parent, fork.relation) == (first.id, "fork")
