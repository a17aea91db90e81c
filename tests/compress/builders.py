"""Sessions to be made shorter, read and judged like real ones."""

from preheat.agents import reader_of
from preheat.agents.openai_chat import to_messages
from preheat.app.analysis.assessment import assess
from preheat.compress import Compressed, compress
from preheat.model.session import Session
from preheat.testing.builders import ClaudeTranscript

LOG = "\n".join(f"step {number} of the long build went as it should" for number in range(200))


def read(transcript: ClaudeTranscript) -> Session:
    parser = reader_of("claude_code").parser("session.jsonl")
    parser.feed(transcript.data(), 1)
    (session,) = parser.take()
    return session


def working_day() -> ClaudeTranscript:
    """A mistake that is mended, a check that fails and then passes, edits, looking around, and a correction."""
    return (
        ClaudeTranscript()
        .prompt("make the parser accept empty files, see docs/parser.md")
        .answer("I look at it.")
        .run("cat src/parser.py", LOG)
        .run("pytest --fast", f"{LOG}\nerror: unrecognized arguments: --fast\n{LOG}", exit_code=4)
        .run("ls tests", "test_parser.py")
        .run("pytest -x", f"{LOG}\n12 passed in 3.1s")
        .call("Edit", {"file_path": "/w/proj/src/parser.py", "old_string": "a", "new_string": "b"})
        .result("The file has been updated.")
        .answer("I changed the parser.")
        .prompt("no, always run the whole suite here")
        .run("pytest", f"{LOG}\n120 passed in 30.5s")
        .run("ls src", "parser.py")
        .run("git commit -am parser", "[main abc1234] parser")
        .answer("All tests pass, and it is committed.")
    )


def by(strategy: str, session: Session, keep: int | None = None) -> Compressed:
    assessed = assess(session)
    return compress(
        session,
        assessed.records,
        strategy,
        render=to_messages,
        estimate=lambda text: (len(text) + 3) // 4,
        keep=keep,
        references=assessed.profile.context_markers,
    )


def commands(found: Compressed) -> list[str]:
    """The shell commands that are left."""
    return [
        call["function"]["arguments"].partition('"command":"')[2].rpartition('"')[0]
        for message in found.messages
        for call in message.get("tool_calls", ())
        if call["function"]["name"] == "Bash"
    ]


def texts(found: Compressed) -> str:
    return "\n".join(message.get("content") or "" for message in found.messages)
