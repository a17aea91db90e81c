"""The Codex reader on every real rollout of the shared corpus."""

import glob
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from preheat.agents.codex.reader import READER
from preheat.agents.parsing import decode_values, whole_lines
from preheat.agents.sources import HEAD_SIZE, read
from preheat.model.session import Session, ToolCall, ToolResult, sum_usage
from tests.shared import SHARED, needs_corpus

pytestmark = [pytest.mark.corpus, needs_corpus]


def rollouts() -> list[str]:
    """The rollouts in the corpus, each session once."""
    found: dict[str, str] = {}
    for path in sorted(glob.glob(os.path.join(SHARED, "corpus", "*", "*", "*.jsonl"))):
        with open(path, "rb") as file:
            if READER.detect(file.read(HEAD_SIZE), path):
                found.setdefault(os.path.basename(path), path)
    return list(found.values())


ROLLOUTS = rollouts() if os.path.isdir(SHARED) else []
each_rollout = pytest.mark.parametrize("path", ROLLOUTS, ids=[os.path.basename(path)[:13] for path in ROLLOUTS])


def session_of(path: str) -> Session:
    (session,) = read(path, READER)
    return session


def payloads(path: str) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        for line in whole_lines(file.read()):
            for record in decode_values(line)[0]:
                yield record["payload"]


def test_the_corpus_has_rollouts() -> None:
    assert len(ROLLOUTS) >= 8


@each_rollout
def test_real_rollouts_are_read_without_problems(path: str) -> None:
    """No problems, no unknown records except those kept on purpose, and every result has its call."""
    session = session_of(path)
    assert session.problems == ()
    calls = {event.call_id for event in session.events if isinstance(event, ToolCall)}
    results = [event.call_id for event in session.events if isinstance(event, ToolResult)]
    assert len(results) == len(set(results))
    assert set(results) <= calls
    assert len(calls) - len(results) <= 1  # the session may have been copied while a call ran


@each_rollout
def test_real_tokens_agree_with_both_of_the_programs_counts(path: str) -> None:
    """The sum of what each response used is the last running total; the reader gives that sum."""
    total, summed = None, 0
    for payload in payloads(path):
        if payload.get("type") == "token_count" and payload["info"]:
            stated = payload["info"]["total_token_usage"]["total_tokens"]
            if stated != total:
                total = stated
                summed += payload["info"]["last_token_usage"]["total_tokens"]
    session = session_of(path)
    assert session.reported == sum_usage(session)
    assert session.reported is not None
    assert session.reported.total == total == summed


@each_rollout
def test_real_exit_codes_agree_with_the_programs_record(path: str) -> None:
    """Where a version wrote both, the header of the output says the same as the record of the command."""
    session = session_of(path)
    read_codes = {event.call_id: event for event in session.events if isinstance(event, ToolResult)}
    for payload in payloads(path):
        if payload.get("type") == "exec_command_end":
            result = read_codes[payload["call_id"]]
            if "running" not in result.detail and not result.text.startswith("aborted by user"):
                assert result.exit_code == payload["exit_code"]


def test_no_call_is_counted_in_two_sessions() -> None:
    seen = Counter(
        event.call_id for path in ROLLOUTS for event in session_of(path).events if isinstance(event, ToolCall)
    )
    assert not [call for call, times in seen.items() if times > 1]
