"""What every reader must do, run over the recorded sessions of every agent.

A new agent is covered as soon as it has a folder of fixtures.
"""

import os
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS, places_of, reader_of
from preheat.agents.parsing import LinesParser, decode_json
from preheat.agents.reader import DatabaseReader, Parser
from preheat.agents.sources import detect, open_source, read, split_blocks
from preheat.model.session import Other, Session, ToolCall, ToolResult, sum_usage
from tests.shared import FIXTURES, fixture_files

FILES = [(agent, name) for agent in AGENTS for name in fixture_files(agent)]
RECORD_FILES = [(agent, name) for agent, name in FILES if reader_of(agent).framing(name) != "document"]
each_file = pytest.mark.parametrize(("agent", "name"), FILES)
each_record_file = pytest.mark.parametrize(("agent", "name"), RECORD_FILES)


def records(agent: str, name: str) -> list[tuple[str, str, bytes]]:
    """The sources in a fixture: path, part and its lines as bytes."""
    path = os.path.join(FIXTURES, name)
    reader = reader_of(agent)
    if reader.framing(path) == "database":
        database = cast(DatabaseReader, reader)
        return [
            (path, part.id, b"".join(row + b"\n" for row in database.dump(path, part.id)))
            for part in database.parts(path)
        ]
    with open_source(path) as stream:
        return [(path, "", stream.read())]


def parse(agent: str, path: str, part: str, data: bytes) -> list[Session]:
    parser = reader_of(agent).parser(path, part)
    feed_lines(parser, data, 1)
    return parser.take()


def feed_lines(parser: Parser, data: bytes, line: int) -> int:
    """Feed the whole lines of some bytes; the next line's number comes back."""
    whole = data[: data.rfind(b"\n") + 1]
    if whole:
        parser.feed(whole, line)
    return line + whole.count(b"\n")


def test_every_agent_has_fixtures() -> None:
    """An agent without recorded sessions would pass everything below unseen."""
    assert {agent for agent, _ in FILES} == set(AGENTS)


@each_file
def test_a_file_is_recognised_by_its_content(agent: str, name: str) -> None:
    assert detect(os.path.join(FIXTURES, name)).agent == agent


@each_file
def test_reading_twice_gives_the_same(agent: str, name: str) -> None:
    path = os.path.join(FIXTURES, name)
    assert read(path) == read(path)


@each_file
def test_a_session_has_agent_id_and_ordered_times(agent: str, name: str) -> None:
    for session in read(os.path.join(FIXTURES, name)):
        assert session.agent == agent
        assert session.id
        if session.started_at is not None and session.ended_at is not None:
            assert session.started_at <= session.ended_at


@each_file
def test_every_result_joins_a_call_and_nothing_counts_twice(agent: str, name: str) -> None:
    for session in read(os.path.join(FIXTURES, name)):
        calls = [event.call_id for event in session.events if isinstance(event, ToolCall)]
        results = [event.call_id for event in session.events if isinstance(event, ToolResult)]
        assert len(calls) == len(set(calls))
        assert len(results) == len(set(results))
        assert set(results) <= set(calls)


@each_file
def test_tokens_add_up_to_what_the_agent_reports(agent: str, name: str) -> None:
    for session in read(os.path.join(FIXTURES, name)):
        if session.reported is not None:
            assert sum_usage(session) == session.reported


@each_record_file
def test_every_truncation_gives_a_prefix(agent: str, name: str) -> None:
    """Cut anywhere, also inside a line or a character: no exception, and the events before the cut."""
    for path, part, data in records(agent, name):
        full = {session.id: session.events for session in parse(agent, path, part, data)}
        for cut in {0, 1, len(data) - 1, *range(0, len(data), max(1, len(data) // 60))}:
            for session in parse(agent, path, part, data[:cut]):
                expected = full[session.id]
                got = [event for event in session.events if event in expected]
                assert tuple(got) == expected[: len(got)]
                # What a database says of the whole session comes first and may close a cut one differently.
                assert len(session.events) - len(got) <= 1


@pytest.mark.parametrize(
    ("agent", "name"), [(agent, name) for agent, name in FILES if reader_of(agent).framing(name) != "database"]
)
def test_a_truncated_file_is_read_without_raising(agent: str, name: str, tmp_path: Any) -> None:
    with open_source(os.path.join(FIXTURES, name)) as stream:
        data = stream.read()
    target = tmp_path / os.path.basename(name).removesuffix(".zst")
    for cut in range(1, len(data), max(1, len(data) // 25)):
        target.write_bytes(data[:cut])
        for session in read(str(target), reader_of(agent)):
            assert all(problem.file for problem in session.problems)


@each_record_file
def test_continuing_from_a_saved_state_gives_the_same(agent: str, name: str) -> None:
    """Cut after any line."""
    for path, part, data in records(agent, name):
        full = parse(agent, path, part, data)
        ends = [index + 1 for index in range(len(data)) if data[index] == 10]
        for end in ends[:: max(1, len(ends) // 40)]:
            first = reader_of(agent).parser(path, part)
            line = feed_lines(first, data[:end], 1)
            before = first.take()
            state = first.save()
            if state is None:
                continue
            second = reader_of(agent).parser(path, part)
            second.load(state)
            feed_lines(second, data[end:], line)
            assert merged(before, second.take()) == full


def merged(before: list[Session], after: list[Session]) -> list[Session]:
    earlier = {session.id: session for session in before}
    return [
        msgspec.structs.replace(
            session,
            events=(*earlier[session.id].events, *session.events) if session.id in earlier else session.events,
        )
        for session in after
    ]


STATE_NAMES = {
    "claude_code": "lines responses spawned chains",
    "codex": "lineage tally twins calls ended running spawned responses responding turn_line prompts model window",
    "codex_exec": "thread joiner ended",
    "copilot": "known open seen owners by_person denied children tallies by_record prompts thought hooked",
    "cursor": "joiner",
    "gemini": "messages calls used subagent",
    "hermes": "replay session names renamed goals rewind prompted given",
    "opencode": "message created calls responses trigger context by_person reverted rewind",
    "openhands": "joiner usages places head responses model",
    "pi": "places leaf last header forked_at joiner",
}
PATHS = {"opencode": "opencode.db", "openhands": "base_state.json", "gemini": "chats/session-1.jsonl"}


@pytest.mark.parametrize("agent", STATE_NAMES)
def test_saved_states_of_0_1_0_can_be_continued(agent: str) -> None:
    """A field under another name would silently begin with its default in the middle of a session."""
    parser = reader_of(agent).parser(PATHS.get(agent, "session.jsonl"))
    assert isinstance(parser, LinesParser)
    fields = msgspec.structs.fields(parser.state_type)
    of_0_1_0 = {"headings", *STATE_NAMES[agent].split()}
    assert of_0_1_0 <= {field.encode_name for field in fields}
    assert not [field for field in fields if field.required and field.encode_name not in of_0_1_0]


@each_record_file
def test_an_unknown_record_becomes_an_other_event_with_all_its_contents(agent: str, name: str) -> None:
    path, part, data = records(agent, name)[0]
    strange = {"type": "from-the-future", "table": "from-the-future", "payload": {"answer": [42, None, "ä"]}}
    before = sum(len(session.events) for session in parse(agent, path, part, data))
    sessions = parse(agent, path, part, data + msgspec.json.encode(strange) + b"\n")
    others = [event for session in sessions for event in session.events if isinstance(event, Other)]
    assert any(event.raw == strange for event in others)
    assert sum(len(session.events) for session in sessions) == before + 1


def test_readers_have_versions_and_titles() -> None:
    for agent in AGENTS:
        place = places_of(agent)
        assert place.agent == agent == reader_of(agent).agent
        assert place.reader_version >= 1
        assert place.title


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=4), st.none(), max_size=2),
)  # fmt: skip


def broken(value: Any, draw: Any) -> Any:
    """A record with one thing in it replaced by something of any type, at any depth."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value, key=str)))
        return {**value, key: broken(value[key], draw)}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], broken(value[index], draw), *value[index + 1 :]]
    return draw(JUNK)


@st.composite
def damaged(draw: Any, lines: list[bytes]) -> bytes:
    """Some records with one or more of them damaged: other types, lost or doubled lines, flipped bytes."""
    some = list(lines)
    for _ in range(draw(st.integers(1, 4))):
        index = draw(st.integers(0, len(some) - 1))
        kind = draw(st.sampled_from(("type", "byte", "double", "drop", "cut", "swap")))
        if kind == "type":
            try:
                some[index] = msgspec.json.encode(broken(decode_json(some[index]), draw))
            except ValueError:
                continue
        elif kind == "byte" and some[index]:
            place = draw(st.integers(0, len(some[index]) - 1))
            some[index] = some[index][:place] + bytes([draw(st.integers(0, 255))]) + some[index][place + 1 :]
        elif kind == "double":
            some.insert(draw(st.integers(0, len(some))), some[index])
        elif kind == "drop" and len(some) > 1:
            del some[index]
        elif kind == "cut":
            some[index] = some[index][: draw(st.integers(0, len(some[index])))]
        else:
            other = draw(st.integers(0, len(some) - 1))
            some[index], some[other] = some[other], some[index]
    return b"\n".join(some) + b"\n"


@pytest.mark.parametrize("agent", AGENTS)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_damaged_records_never_raise_and_every_problem_names_its_file(agent: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for owner, name in FILES if owner == agent]))
    path, part, content = data.draw(st.sampled_from(records(agent, name)))
    document = reader_of(agent).framing(name) == "document"
    lines = [content.rstrip(b"\n")] if document else content.splitlines()[:60]
    mutated = data.draw(damaged(lines))
    parser = reader_of(agent).parser(path, part)
    parser.feed(mutated, 1)
    for session in parser.take():
        assert all(problem.file for problem in session.problems)
        msgspec.json.encode(session)  # whatever was read can be stored
    state = parser.save()
    if state is not None:
        reader_of(agent).parser(path, part).load(state)


def test_blocks_contain_every_byte_of_a_file(tmp_path: Any) -> None:
    path = tmp_path / "long"
    data = b"a\n" + b"x, " * (15 << 20) + b"\nb\n" + b"half"
    path.write_bytes(data)
    with open_source(str(path)) as stream:
        found = list(split_blocks(stream))
    assert b"".join(block.data for block in found) == data
    assert {block.kind for block in found} == {"lines", "piece", "last piece", "half"}
    assert [block.line for block in found if block.kind == "half"] == [4]
