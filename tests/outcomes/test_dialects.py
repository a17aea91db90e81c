"""What the programs themselves say in the place of a result: refused, cut off, out of time, wrongly called."""

import pytest

from preheat.agents import dialect_of
from preheat.model.outcome import Cause, Status
from tests.outcomes.calls import judged, ran

SENTENCES: list[tuple[str, str, Status, Cause | None]] = [
    ("claude_code", "The user doesn't want to proceed with this tool use. It was rejected.", "denied", "environment"),
    ("claude_code", "<tool_use_error>Sibling tool call errored</tool_use_error>", "interrupted", "environment"),
    ("claude_code", "[Request interrupted by user for tool use]", "interrupted", "environment"),
    ("claude_code", "<tool_use_error>File has not been read yet.</tool_use_error>", "failed", "mistake"),
    ("claude_code", "Command timed out after 2m 0s", "failed", "environment"),
    ("codex", "aborted by user after 3.1s", "interrupted", "environment"),
    ("gemini", "[Operation Cancelled] Reason: User denied execution.", "denied", "environment"),
    ("opencode", "The user rejected permission to use this tool.", "denied", "environment"),
    ("opencode", "Tool execution aborted", "interrupted", "environment"),
    ("cline", "The user denied this operation.", "denied", "environment"),
    ("hermes", "Tool 'x' does not exist.", "failed", "mistake"),
    ("pi", "Command aborted", "interrupted", "environment"),
    ("mini_swe_agent", "Please always provide EXACTLY ONE action in triple backticks, found 2.", "failed", "mistake"),
]


@pytest.mark.parametrize(("agent", "text", "status", "cause"), SENTENCES)
def test_sentences_of_an_agent_s_program_decide_the_outcome(
    agent: str, text: str, status: Status, cause: Cause | None
) -> None:
    flagged = judged(text, kind="edit", is_error=True, dialect=dialect_of(agent))
    bare = judged(text, kind="edit", dialect=dialect_of(agent))
    assert (flagged.status, flagged.cause) == (status, cause)
    assert (bare.status, bare.cause) == (status, cause), "also when the flag is not known"


@pytest.mark.parametrize(("agent", "text", "status", "cause"), SENTENCES)
def test_the_merged_dialect_knows_the_sentences_of_every_agent(
    agent: str, text: str, status: Status, cause: Cause | None
) -> None:
    assert judged(text, kind="edit", dialect=dialect_of("openai_chat")).status == status


def test_a_silent_timeout_has_a_signature() -> None:
    outcome = ran("sleep 9", "(no output)", detail={"timed_out": True}, dialect=dialect_of("opencode"))
    assert (outcome.status, outcome.cause, outcome.signature) == ("failed", "environment", "timed out")


FIELDS: list[tuple[str, dict[str, object], Status]] = [
    ("claude_code", {"denial": "user-rejected"}, "denied"),
    ("claude_code", {"returnCodeInterpretation": "No matches found"}, "empty"),
    ("codex", {"status": "declined"}, "denied"),
    ("codex", {"running": "17"}, "unknown"),
    ("gemini", {"exception": "timeout"}, "failed"),
    ("hermes", {"status": "timeout"}, "failed"),
    ("hermes", {"status": "blocked"}, "denied"),
    ("pi", {"aborted": True}, "interrupted"),
    ("openhands", {"rejected": "user"}, "denied"),
    ("copilot", {"permission": "denied-by-rules"}, "denied"),
]


@pytest.mark.parametrize(("agent", "detail", "status"), FIELDS)
def test_fields_of_an_agent_s_program_decide_the_outcome(agent: str, detail: dict[str, object], status: Status) -> None:
    assert ran("sleep 9", "", detail=detail, dialect=dialect_of(agent)).status == status
