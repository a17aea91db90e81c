"""Querying the archive, and forgetting sessions."""

from typing import Any

import pytest

from preheat.app.sessions.archive import forget_sessions, load_session, write_source
from preheat.archive import queries
from preheat.archive.packing import Packer, decompress
from preheat.archive.raw import find_companions, find_source, forget, read_source, verify
from preheat.errors import ArchiveUnusable, NotFound, UserError
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.machine import Machine, story

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def machine(tmp_path: Any) -> Machine:
    machine = Machine(tmp_path)
    for number in range(1, 6):
        story(number, steps=number).write(machine.projects)
    ClaudeTranscript(
        session="aaaaaaaa-5d6e-4f70-8a91-b2c3d4e5f607",
        project="/w/other",
        model="gpt-x",
        started=1_700_000_000.0,
    ).prompt("Zähle die Äpfel in der Küche").answer("Drei Äpfel.").write(machine.projects)
    machine.sync()
    return machine


@pytest.fixture
def connection(machine: Machine) -> Any:
    connection = machine.connection()
    yield connection
    connection.close()


def ids(found: list[SessionSummary]) -> list[str]:
    return [summary.session[:8] for summary in found]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (SessionFilter(), ["00000005", "00000004", "00000003", "00000002", "00000001", "aaaaaaaa"]),
        (SessionFilter(project="OTHER"), ["aaaaaaaa"]),
        (SessionFilter(model="gpt"), ["aaaaaaaa"]),
        (SessionFilter(agent="codex"), []),
        (SessionFilter(until=1_700_000_100.0), ["aaaaaaaa"]),
        (SessionFilter(since=1_767_606_000.0 + 4500), ["00000005"]),
        (SessionFilter(min_messages=14), ["00000005", "00000004"]),
        (SessionFilter(max_messages=2), ["aaaaaaaa"]),
    ],
)
def test_a_filter_applies_every_condition(connection: Any, chosen: SessionFilter, expected: list[str]) -> None:
    found = ids(queries.list_sessions(connection, chosen))
    assert found == expected
    assert queries.count_sessions(connection, chosen) == len(expected)
    assert ids(queries.list_sessions(connection, chosen, limit=1)) == expected[:1]


def test_a_session_is_found_by_the_beginning_of_its_id(connection: Any) -> None:
    assert queries.find_session(connection, "aaaa").project == "/w/other"
    assert queries.find_session(connection, "claude_code:aaaa").project == "/w/other"
    assert queries.find_session(connection, "latest").session.startswith("00000005")
    with pytest.raises(NotFound, match="could be any of"):
        queries.find_session(connection, "0000")
    with pytest.raises(NotFound, match="sessions list"):
        queries.find_session(connection, "nope")


@pytest.mark.parametrize(
    ("words", "kinds", "count"),
    [
        ("frobnicator", (), 5), ("FROBNICATOR mend", (), 5), ('"mend the frobnicator"', (), 5),
        ('"frobnicator the mend"', (), 0), ("frob*", (), 5), ("frob", (), 0), ("step-0", ("command",), 5),
        ("mended", ("assistant",), 5), ("mended", ("human",), 0), ("apfel kuche", (), 1),
        ("the AND OR NOT (", (), 0), ("frobnicator -number", (), 5),
    ],
)  # fmt: skip
def test_search_finds_words_phrases_and_prefixes(
    connection: Any, words: str, kinds: tuple[str, ...], count: int
) -> None:
    """Accents and case do not matter; nothing that a person types is a syntax error."""
    hits = list(queries.search(connection, words, SessionFilter(), kinds))
    assert len(hits) == count
    if kinds:
        assert {hit.kind for hit in hits} <= set(kinds)


def test_a_search_without_a_word_is_refused(connection: Any) -> None:
    with pytest.raises(UserError, match="no word"):
        list(queries.search(connection, ' "" * ', SessionFilter()))


def test_totals_and_tools_count_what_was_stored(connection: Any) -> None:
    (totals,) = queries.totals(connection)
    assert (totals.sessions, totals.calls, totals.problems) == (6, 15, 0)
    key = queries.find_session(connection, "00000005").key
    assert queries.count_calls_by_tool(connection, key) == [("Bash", 5, 2)]


def test_stored_bytes_are_exact_and_damage_is_found(machine: Machine, connection: Any) -> None:
    summary = queries.find_session(connection, "00000003")
    found = bytearray()
    write_source(connection, summary.key, found.extend)
    assert bytes(found) == story(3, steps=3).data()
    assert list(verify(connection)) == []
    packed = connection.execute("SELECT data FROM packs LIMIT 1").fetchone()[0]
    connection.execute("UPDATE packs SET data = ?", (packed[:200] + bytes([packed[200] ^ 1]) + packed[201:],))
    with pytest.raises(ArchiveUnusable, match="damaged"):
        load_session(connection, summary.key)
    assert verify(connection)


def test_a_forgotten_session_is_deleted_from_every_file_and_stays_away(machine: Machine, connection: Any) -> None:
    """Rows, search index, packs and free pages; other sessions are untouched."""
    secret = "quicksilver"
    transcript = story(9).prompt(f"the {secret} plan").answer("noted")
    path = transcript.write(machine.projects)
    machine.sync()
    key = f"claude_code:{transcript.session}"
    assert find_companions(connection, key) == []
    assert forget_sessions(machine.folder, [key]) == 1
    assert not list(queries.search(connection, secret, SessionFilter()))
    for number in range(1, 6):
        assert len(load_session(connection, f"claude_code:{story(number).session}").events) > 0
    for (pack,) in connection.execute("SELECT data FROM packs"):
        assert secret.encode() not in decompress(pack)
    assert secret.encode() not in machine.everything_on_disk()
    assert transcript.session.encode() not in machine.everything_on_disk()
    machine.sync()
    with pytest.raises(NotFound):
        queries.find_session(connection, key)
    with open(path, "ab") as stream:  # also when the agent goes on writing
        stream.write(story(9).prompt("more").lines()[-1] + b"\n")
    machine.sync()
    with pytest.raises(NotFound):
        queries.find_session(connection, key)


def test_copied_calls_count_in_the_copy_once_their_original_is_forgotten(machine: Machine) -> None:
    old = story(7, steps=4)
    copy = old.data().replace(old.session.encode(), story(8).session.encode())
    old.write(machine.projects)
    path = story(8).write(machine.projects)
    with open(path, "wb") as stream:
        stream.write(copy)
    machine.sync()
    connection = machine.connection()
    keys = [f"claude_code:{story(number).session}" for number in (7, 8)]
    assert sorted(queries.find_session(connection, key).calls for key in keys) == [0, 4]
    owner = next(key for key in keys if queries.find_session(connection, key).calls)
    forget(connection, [owner])
    (left,) = [key for key in keys if key != owner]
    assert queries.find_session(connection, left).calls == 4
    connection.close()


def test_a_source_that_fails_halfway_leaves_nothing_in_its_pack() -> None:
    packer = Packer()
    packer.add(b"one")
    first = packer.end_source()
    packer.add(b"broken")
    packer.forget_source()
    packer.add(b"two")
    second = packer.end_source()
    packer.close()
    data = decompress(packer.packs[0])
    assert [data[segment.start : segment.start + segment.length] for segment in (*first, *second)] == [
        b"one",
        b"two",
    ]


def test_the_source_of_a_session_is_found(machine: Machine, connection: Any) -> None:
    source = find_source(connection, queries.find_session(connection, "00000002").key)
    assert source.path.endswith(f"{story(2).session}.jsonl")
    assert b"".join(read_source(connection, source.source_id, source.generation)) == story(2, steps=2).data()
