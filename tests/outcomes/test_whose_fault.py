"""Whose fault a failure is, by who speaks: what nobody typed, a check that speaks of its call, code that raised."""

import pytest

from preheat.model.outcome import Cause
from tests.outcomes.calls import ran

_INLINE = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'


@pytest.mark.parametrize(
    ("command", "text", "code", "cause"),
    [
        ("make build 2>&1 | tail -20", "tail: 2: No such file or directory", 1, "environment"),
        ("tail -20 notes.txt", "tail: notes.txt: No such file or directory", 1, "mistake"),
        (
            "xcodebuild -scheme A build",
            "xcodebuild: error: Unable to find a device for the provided destination",
            70,
            "mistake",
        ),
        ("cargo test", "error[E0433]: failed to resolve: could not find `types` in `super`", 101, "finding"),
        ("cargo build -q", "", 143, "environment"),
        ("curl -s localhost:3000", "", 7, "environment"),
        ("python -c 'import yaml'", _INLINE + "ModuleNotFoundError: No module named 'yaml'", 1, "environment"),
        ("python -c 'print(d[1])'", _INLINE + "KeyError: 1", 1, "mistake"),
        ("python -c 'check()'", _INLINE + "AssertionError: 3 != 4", 1, "finding"),
        (
            "npx eslint -f json src | python3 -c 'import json,sys; json.load(sys.stdin)'",
            _INLINE
            + '  File "/usr/lib/json/decoder.py", line 3, in decode\njson.decoder.JSONDecodeError: Expecting value',
            1,
            "mistake",
        ),
        ("pnpm test", " ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad Node.js version)", 1, "environment"),
        (
            "go test ./...",
            "error: list refs: dial tcp: lookup example.org: no such host\nexit status 1",
            1,
            "environment",
        ),
        ("git mv a b", "fatal: not under version control, source=a, destination=b", 128, "mistake"),
    ],
)
def test_the_cause_is_that_of_the_one_who_speaks(command: str, text: str, code: int, cause: Cause) -> None:
    outcome = ran(command, text, exit_code=code)
    assert outcome.status == "failed"
    assert outcome.cause == cause


def test_a_look_that_throws_away_complaints_is_answered() -> None:
    assert ran("ls ~/.config/x 2>/dev/null", "", exit_code=1).status == "empty"


def test_a_help_text_that_was_asked_for_is_no_failure_whatever_the_code() -> None:
    assert ran("tool --help", "usage: tool [flags]", exit_code=1).status == "ok"


def test_a_commit_that_was_made_is_not_refused_by_a_later_status() -> None:
    text = "[main 1234567] x\n 1 file changed\nOn branch main\nnothing to commit, working tree clean"
    assert ran("git commit -m x && git status", text).status == "ok"
    assert (
        ran("git add a && git commit -m x", "On branch main\nnothing to commit, working tree clean").status == "failed"
    )
