"""Commands that report success although what they are for failed, and those that only look like it."""

import pytest

from preheat.model.outcome import FAILURES
from tests.outcomes.calls import ran

FAILED_CHECKS = [
    (
        "pytest -x 2>&1 | tail -5",
        "FAILED tests/test_a.py::test_b - assert 1 == 2\n==== 1 failed, 3 passed in 0.1s ====",
    ),
    ("python -m unittest | tail", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)"),
    ("go test ./... | tail -3", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.org/a\t0.1s"),
    ("go build ./... && go test ./... 2>&1 | tail -3", "FAIL\texample.org/a [build failed]"),
    (
        "cargo test || true",
        "error[E0308]: mismatched types\nerror: could not compile `a` (lib) due to 1 previous error",
    ),
    ("npx tsc --noEmit | head", "src/a.ts(3,5): error TS2322: Type 'x' is not assignable to type 'y'."),
    ("npm test | tail", "Tests:       2 failed, 10 passed, 12 total"),
    ("npx eslint . | tail -2", "✖ 3 problems (2 errors, 1 warning)"),
    ("ruff check . ; echo done", "a.py:1:1: F401 `os` imported but unused\nFound 1 error.\ndone"),
    ("mypy src | tail -1", "Found 2 errors in 1 file (checked 9 source files)"),
    ("make 2>&1 | tail -2", "make: *** [Makefile:3: all] Error 1"),
    ("mvn -q verify | tail -3", "[INFO] BUILD FAILURE"),
    ("bun test 2>&1 | tail -4", " 12 pass\n 2 fail\n 40 expect() calls"),
    (
        "python job.py | tee log",
        'Traceback (most recent call last):\n  File "job.py", line 1, in run\nValueError: bad value',
    ),
    ("cat nowhere.txt | head", "cat: nowhere.txt: No such file or directory"),
    ("nosuchtool --all | tail -3", "bash: line 1: nosuchtool: command not found"),
]


@pytest.mark.parametrize(("command", "text"), FAILED_CHECKS)
def test_a_failure_behind_a_hidden_exit_code_is_seen(command: str, text: str) -> None:
    outcome = ran(command, text, exit_code=0)
    assert (outcome.status, outcome.rung) == ("failed", "text"), outcome


FALSE_ALARMS = [
    ("pytest | tail -3", "error: this line comes from a test of error handling\n==== 12 passed in 0.2s ===="),
    ("bun test | tail", "error: Database connection failed\n 30 pass\n 0 fail"),
    ("grep -rn 'Traceback' docs | head", "docs/a.md:3:Traceback (most recent call last):\ndocs/a.md:9:ValueError: x"),
    ("cat app.log | tail -3", "FATAL: job failed\nerror: could not connect"),
    ("git log --oneline | head -3", "abc1234 fix: error: could not parse\ndef5678 FAIL fast"),
    ("git commit -m x 2>&1 | tail -9", "error: printed by a hook's tests\n[main 1a2b3c4] x\n 1 file changed"),
    ("npx eslint . | tail -2", "✖ 5 problems (0 errors, 5 warnings)"),
    ("golangci-lint run | tail -2", "0 issues."),
]


@pytest.mark.parametrize(("command", "text"), FALSE_ALARMS)
def test_an_output_that_mentions_failures_is_no_failure(command: str, text: str) -> None:
    assert ran(command, text, exit_code=0).status not in FAILURES


def test_an_exit_code_that_is_not_hidden_is_believed() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: as wanted here'
    assert ran("python a.py", text, exit_code=0).status == "ok"


def test_a_failure_that_the_command_expects_is_an_answer() -> None:
    assert ran('ls CHANGELOG* 2>/dev/null || echo "none here"', "none here", exit_code=0).status == "empty"
    text = "fatal: no upstream configured for branch 'a'\nno upstream"
    assert ran('git rev-parse @{u} 2>&1 || echo "no upstream"', text, exit_code=0).status == "empty"


def test_a_code_that_the_command_itself_prints_counts() -> None:
    outcome = ran('./job 2>&1; echo "exit=$?"', "it did not work\nexit=7", exit_code=0)
    assert (outcome.status, outcome.exit_code) == ("failed", 7)
    assert ran('./job 2>&1; echo "exit=$?"', "fine\nexit=0", exit_code=0).status == "ok"


def test_an_exception_that_was_caught_and_printed_is_no_failure() -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: the value is bad\n'
        "Caught exception: the value is bad"
    )
    assert ran("python a.py", text).status == "ok"


def test_a_part_that_worked_makes_it_partial() -> None:
    shown = "a.txt\nb.txt\nls: c.txt: No such file or directory"
    assert ran("ls a.txt b.txt c.txt", shown, exit_code=1).status == "partial"
    pushed = "[main 1a2b3c4] work\n 1 file changed\nfatal: Could not read from remote repository."
    assert ran("git commit -m work && git push", pushed, exit_code=128).status == "partial"
