"""Why calls fail: the agent's mistake, a tool's finding, or the world around it; and signatures that make failures equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.model.outcome import Cause
from preheat.model.session import ToolKind
from preheat.outcomes.verdict import LONGEST, signature
from tests.outcomes.calls import judged, ran


@pytest.mark.parametrize(
    ("command", "text", "cause"),
    [
        ("pytest", "==== 1 failed in 0.1s ====", "finding"),
        ("pytest --colour", "error: unrecognized arguments: --colour", "mistake"),
        ("pytest tests/nowhere", "ERROR: file or directory not found: tests/nowhere", "mistake"),
        ("pytest", "bash: line 1: pytest: command not found", "environment"),
        ("npm test", 'npm error Missing script: "test"', "mistake"),
        (
            "python -c 'print(x'",
            "  File \"<string>\", line 1\n    print(x\nSyntaxError: '(' was never closed",
            "mistake",
        ),
        ("python repro.py", "Traceback (most recent call last):\n  x\nAssertionError: 3 != 4", "finding"),
        (
            "python job.py",
            "Traceback (most recent call last):\n  x\nModuleNotFoundError: No module named 'pandas'",
            "environment",
        ),
        ("cat nowhere", "cat: nowhere: No such file or directory", "mistake"),
        ("cat /root/key", "cat: /root/key: Permission denied", "environment"),
        (
            "git push",
            "ssh: connect to host h port 22: Operation timed out\nfatal: Could not read from remote",
            "environment",
        ),
        ("git checkout nope", "error: pathspec 'nope' did not match any file(s) known to git", "mistake"),
        ("git merge a", "CONFLICT (content): Merge conflict in a.txt", "finding"),
        ("curl http://h", "curl: (6) Could not resolve host: h", "environment"),
        ("pip install nopkg", "ERROR: No matching distribution found for nopkg", "environment"),
        ("cd nowhere", "bash: line 0: cd: nowhere: No such file or directory", "mistake"),
    ],
)
def test_a_command_s_message_and_purpose_give_the_cause(command: str, text: str, cause: Cause) -> None:
    outcome = ran(command, text, exit_code=1)
    assert (outcome.status, outcome.cause) == ("failed", cause), outcome


@pytest.mark.parametrize(
    ("kind", "text", "cause"),
    [
        ("edit", "String to replace not found in file.", "mistake"),
        ("read", "FileNotFoundError: [Errno 2] No such file or directory: 'a'", "mistake"),
        ("web", "Request failed with status code 503", "environment"),
        ("other", "Invalid arguments: `id` must be a number", "mistake"),
        ("read", "EACCES: permission denied, open 'a'", "environment"),
    ],
)
def test_a_tool_s_message_gives_the_cause(kind: ToolKind, text: str, cause: Cause) -> None:
    assert judged(text, kind=kind, is_error=True).cause == cause


def test_messages_of_the_same_failure_have_one_signature() -> None:
    first = "File '/home/a/src/x.py' line 12: commit 1a2b3c4d5e is not known, see https://example.org/1"
    second = "File '/srv/b/y.py' line 7: commit deadbeef99 is not known, see https://example.org/2"
    assert signature(first) == signature(second) == "File … line N: commit HASH is not known, see URL"


def test_different_failures_have_different_signatures() -> None:
    assert signature("command not found: go") != signature("command not found: rg")


@given(st.text(max_size=2000))
def test_a_signature_is_short_on_one_line_and_stable(message: str) -> None:
    found = signature(message)
    assert len(found) <= LONGEST
    assert "\n" not in found
    assert found == signature(message)
