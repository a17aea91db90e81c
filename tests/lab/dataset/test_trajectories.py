"""A published session has its events and none of its names; as ATIF it is valid, and our own reader takes it."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings

from preheat.agents.atif.writer import to_trajectory
from preheat.agents.sources import read
from preheat.app.lab.dataset_survey import session_texts
from preheat.ingest.redact import redact
from preheat.lab.dataset.anonymise import Anonymiser
from preheat.lab.dataset.names import Names, names_in_heading, names_in_text
from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.trajectories import START_OF_SESSIONS, TEXTS, PublishRules, Texts, publish_session
from preheat.model.session import Other, Session, ToolCall, ToolResult, UserMessage, pair_calls_with_results
from tests.cli.test_export import checked

from .planted import Identity, found_in, identities, session_of

SALT = b"0123456789abcdef" * 2


def telling(session: Session, kept: Texts) -> PublishRules:
    found = {name for text in session_texts(session) for name in names_in_text(text)} | {
        *names_in_heading(session.project, session.branch)
    }
    anonymiser = Anonymiser(Pseudonyms(SALT), Names(found), redact)
    return PublishRules(
        kept, Pseudonyms(SALT), anonymiser, lambda folder: "project-b", lambda tool: tool if tool == "Bash" else "",
        lambda model: "other" if model else "", lambda agent, version: "1.0", lambda text: "cat …",
        frozenset((f"claude_code:{session.parent}",)),
    )  # fmt: skip


@pytest.mark.parametrize("kept", TEXTS)
@settings(max_examples=40, deadline=None)
@given(identity=identities())
def test_nobody_comes_out_of_any_field(kept: Texts, identity: Identity) -> None:
    """Planted in every field of every event and of the heading; searched for in the whole trajectory, notes included."""
    session = session_of(identity)
    document = msgspec.json.encode(to_trajectory(publish_session(session, telling(session, kept))))
    assert found_in(document.decode(), identity) == []
    assert "1770000" not in document.decode()
    checked(document)


@pytest.mark.parametrize("kept", TEXTS)
def test_our_reader_takes_it_and_finds_the_same_session(kept: Texts, tmp_path: Path) -> None:
    """Read again, it is the published session event by event."""
    session = session_of(Identity("qalbo", "qanna", "qberg", "qorpo", "qhost", "qproj"))
    published = publish_session(session, telling(session, kept))
    path = tmp_path / "session.json"
    path.write_bytes(msgspec.json.encode(to_trajectory(published)))
    [back] = read(str(path))
    assert back.events == published.events
    assert back.id == published.id


def test_what_happened_stays() -> None:
    """Calls, results, their order, spans of time, flags and codes; by default no word."""
    session = session_of(Identity("qalbo", "qanna", "qberg", "qorpo", "qhost", "qproj"))
    published = publish_session(session, telling(session, "none"))
    assert [call.tool for call, _ in pair_calls_with_results(published)] == ["other", "Bash"]
    assert [call.kind for call, _ in pair_calls_with_results(published)] == ["other", "shell"]
    (_, nothing), (call, result) = pair_calls_with_results(published)
    assert nothing is None
    assert call.input == {"form": "cat …"}
    assert isinstance(result, ToolResult)
    assert (result.is_error, result.exit_code, result.seconds, result.text) == (True, 1, 2.5, "")
    assert published.started_at == START_OF_SESSIONS
    assert published.events[0].at == START_OF_SESSIONS
    assert published.ended_at == START_OF_SESSIONS + 10
    assert [event.text for event in published.events if isinstance(event, UserMessage)] == ["", ""]
    assert [event.name for event in published.events if isinstance(event, Other)] == ["context_window", "late_ending"]
    assert published.parent is not None
    assert published.title == published.branch == ""
    assert published.problems == ()


def test_masked_texts_keep_their_shape() -> None:
    """Lengths of words and lines, and nothing else; arguments too, without the names of members."""
    session = session_of(Identity("qalbo", "qanna", "qberg", "qorpo", "qhost", "qproj"))
    published = publish_session(session, telling(session, "masked"))
    before, after = session.events[0], published.events[0]
    assert isinstance(before, UserMessage)
    assert isinstance(after, UserMessage)
    assert [len(line) for line in after.text.split("\n")] == [len(line) for line in before.text.split("\n")]
    assert set(after.text) <= {"x", " ", "\n"}
    call = next(event for event in published.events if isinstance(event, ToolCall))
    assert set(call.input) == {"text"}
