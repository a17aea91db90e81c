"""Whatever a session looks like, a shorter history is one that a chat interface takes."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS
from preheat.agents.sources import read
from preheat.compress import NAMES
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Rewind,
    Session,
    ToolCall,
    ToolKind,
    ToolResult,
    UserMessage,
)
from tests.compress.builders import by
from tests.shared import FIXTURES, fixture_files

WORDS = st.sampled_from(
    [
        "",
        "make",
        "no, use pnpm",
        "see src/a.py",
        "E   assert 1 == 2",
        "command not found: foo",
        "x\n" * 400,
        "y" * 3_000,
    ]
)
IDS = st.sampled_from(["a", "b", "c", "d", ""])
SHELL: ToolKind = "shell"
EDIT: ToolKind = "edit"
OTHER: ToolKind = "other"
TOOLS = st.sampled_from([("Bash", SHELL), ("Edit", EDIT), ("Odd", OTHER)])
ALL_ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"command": "npm test"},
    {"file_path": "a.py"},
    {"n": [1, {"b": "x" * 2_000}]},
]
ARGUMENTS = st.sampled_from(ALL_ARGUMENTS)
RESPONSES = st.sampled_from(["", "r1", "r2", "r3"])


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Events in any order: results before their calls, ids twice, calls that never came back."""
    events: list[Event] = []
    for line in range(1, draw(st.integers(0, 25)) + 1):
        sort = draw(
            st.sampled_from(["user", "preheat", "text", "call", "call", "result", "result", "back", "sum", "other"])
        )
        if sort in ("user", "preheat"):
            events.append(UserMessage(line=line, text=draw(WORDS), origin="human" if sort == "user" else "preheat"))
        elif sort == "text":
            events.append(AssistantMessage(line=line, text=draw(WORDS), response=draw(RESPONSES)))
        elif sort == "call":
            tool, kind = draw(TOOLS)
            arguments = dict(draw(ARGUMENTS))
            events.append(
                ToolCall(line=line, call_id=draw(IDS), tool=tool, kind=kind, input=arguments, response=draw(RESPONSES))
            )
        elif sort == "result":
            events.append(
                ToolResult(
                    line=line, call_id=draw(IDS), text=draw(WORDS), exit_code=draw(st.sampled_from([None, 0, 1]))
                )
            )
        elif sort == "back":
            events.append(Rewind(line=line, after=draw(st.integers(0, line))))
        elif sort == "sum":
            events.append(Compaction(line=line, summary=draw(WORDS)))
        else:
            events.append(Other(line=line, name="system", raw={"content": draw(WORDS)}))
    return Session(agent="tester", id="1", project="/w/proj", events=tuple(events))


def check(messages: list[dict[str, Any]]) -> None:
    """Every call is answered at once and once; nothing else answers; roles are those that there are."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert waiting, "a result without its call"
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "a call without its result"
        assert message["role"] in ("user", "assistant", "system", "developer")
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert not seen & set(waiting)
        seen.update(waiting)
    assert not waiting


@given(sessions(), st.sampled_from(NAMES), st.sampled_from([None, 0, 1, 3, 100]))
@settings(max_examples=300, deadline=None)
def test_any_session_gives_a_valid_history(session: Session, strategy: str, keep: int | None) -> None:
    """No exception, valid messages, no more tokens than before, no marker out of nowhere; twice the same."""
    found = by(strategy, session, keep)
    check(found.messages)
    assert found.after <= found.before
    assert all(0 <= each.kept <= each.total for each in found.markers.values())
    if strategy == "none":
        assert found.all_markers.kept == found.all_markers.total
    assert by(strategy, session, keep) == found


def test_every_recorded_session_gives_a_valid_history() -> None:
    """The sessions that real programs wrote, of every agent, by every strategy."""
    for agent in AGENTS:
        for name in fixture_files(agent):
            for session in read(f"{FIXTURES}/{name}"):
                for strategy in NAMES:
                    check(by(strategy, session).messages)
