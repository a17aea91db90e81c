"""Reading Aider's chat histories, which are text only, with several chats in a file."""

import glob
import os

import pytest

from preheat.agents.aider import READER
from preheat.agents.sources import detect, read
from preheat.model.session import AssistantMessage, Other, Session, UserMessage, pair_calls_with_results
from tests.shared import FIXTURES, SHARED, needs_corpus

FILE = os.path.join(FIXTURES, "aider", ".aider.chat.history.md")


def parse(text: str, path: str = "history.md") -> list[Session]:
    parser = READER.parser(path)
    parser.feed(text.encode(), 1)
    return parser.take()


def test_each_chat_is_a_session() -> None:
    first, second = read(FILE, READER)
    assert first.id.startswith("2026-01-02_10_00_00-")
    assert first.id != second.id
    assert (first.version, first.model) == ("0.86.1", "scripted")
    assert first.project == os.path.dirname(FILE)
    assert [event.text for event in second.events if isinstance(event, UserMessage)] == ["hello"]


def test_a_prompt_over_several_lines_is_one_message() -> None:
    first, _ = read(FILE, READER)
    prompts = [event.text for event in first.events if isinstance(event, UserMessage)]
    assert prompts == ["fix the clock\n\nit stands still", "/run pytest", "thanks"]


def test_output_of_the_program_is_no_message() -> None:
    first, _ = read(FILE, READER)
    outputs = [event.raw for event in first.events if isinstance(event, Other) and event.name == "output"]
    assert outputs[1].startswith("Tokens: 1.2k sent")
    assert outputs[2] == "Applied edit to clock.py\nCommit 1234567 fix: let the clock run"


def test_nothing_inside_a_code_block_is_a_prompt_or_output() -> None:
    first, _ = read(FILE, READER)
    answer = next(event.text for event in first.events if isinstance(event, AssistantMessage))
    assert "#### not a prompt\n> not output" in answer
    assert answer.endswith("```")


def test_a_code_block_without_an_end_does_not_swallow_the_chat() -> None:
    first, _ = read(FILE, READER)
    answers = [event.text for event in first.events if isinstance(event, AssistantMessage)]
    assert answers[-1] == "An unfinished block stood above."


def test_a_history_has_no_calls() -> None:
    assert not [pair for session in read(FILE, READER) for pair in pair_calls_with_results(session)]


def test_a_chat_that_grows_keeps_its_id() -> None:
    """The id is made of the start time and the program's first output."""
    start = "# aider chat started at 2026-01-02 10:00:00\n\n> Aider v1  \n"
    (before,), (after,) = parse(start), parse(f"{start}\n#### hi  \n\nHello.\n")
    assert before.id == after.id
    twice = parse(start + start)
    assert twice[0].id != twice[1].id


def test_many_open_code_blocks_take_linear_time() -> None:
    (session,) = parse("# aider chat started at 2026-01-02 10:00:00\n" + "```python x\n" * 30_000)
    assert len(session.events) == 2


@pytest.mark.parametrize("text", ["", "# notes", "#### hi"])
def test_a_file_without_a_chat_has_a_problem(text: str) -> None:
    (session,) = parse(text, "/some/where/.cut.md")
    assert session.id == "cut"
    assert [problem.file for problem in session.problems] == ["/some/where/.cut.md"]


def test_only_chat_histories_are_detected() -> None:
    assert READER.detect(b"\n# aider chat started at 2026-01-02 10:00:00\n", "x.md")
    assert not READER.detect(b"# How aider chat started at all", "x.md")


@pytest.mark.corpus
@needs_corpus
def test_real_histories_have_the_expected_counts() -> None:
    """36 files; some tasks were tried several times, and every try is a chat."""
    files = glob.glob(os.path.join(SHARED, "corpus", "aider__aider-swe-bench", "*.md"))
    sessions = [session for path in files for session in read(path, detect(path))]
    assert (len(files), len(sessions), len({session.id for session in sessions})) == (36, 48, 48)
    assert not [pair for session in sessions for pair in pair_calls_with_results(session)]
    assert all(any(isinstance(event, UserMessage) for event in session.events) for session in sessions)
