"""Test runners, compilers and linters of many languages, as they end: failed or not, behind a pipe that hides their exit code."""

import pytest

from tests.outcomes.calls import ran

FAILED = [
    (
        "dotnet test | tail -3",
        "Failed!  - Failed:     1, Passed:    10, Skipped:     0, Total:    11, Duration: 2 s",
    ),
    (
        "dotnet build 2>&1 | tail",
        "Program.cs(5,13): error CS0103: The name 'x' does not exist\n\nBuild FAILED.\n    0 Warning(s)\n    1 Error(s)",
    ),
    (
        "bundle exec rspec | tail -4",
        "12 examples, 2 failures\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:3",
    ),
    (
        "vendor/bin/phpunit | tail",
        "FAILURES!\nTests: 3, Assertions: 5, Failures: 1.",
    ),
    (
        "./gradlew test | tail -5",
        "> Task :test FAILED\n\nFAILURE: Build failed with an exception.",
    ),
    (
        "ctest --test-dir build | tail -5",
        "67% tests passed, 1 tests failed out of 3\n\nThe following tests FAILED:\n\t  2 - b (Failed)",
    ),
    (
        "npx vitest run | tail -6",
        " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 30 passed (32)",
    ),
    (
        "npx playwright test | tail -4",
        "  1 failed\n    [chromium] › a.spec.ts:3:1 › works\n  5 passed (3.2s)",
    ),
    (
        "npx mocha | tail",
        "  3 passing (12ms)\n  1 failing\n\n  1) adds:\n     AssertionError: expected 3 to equal 4",
    ),
    (
        "tox -q | tail -3",
        "  py311: FAIL code 1 (3.21 seconds)\n  evaluation failed :( (3.3 seconds)",
    ),
    (
        "pre-commit run -a | tail",
        "trailing whitespace.....................................................Failed",
    ),
    (
        "swift test | tail",
        "error: Exited with signal code 6",
    ),
    (
        "swift build 2>&1 | tail -3",
        "/a/Sources/x.swift:3:5: error: cannot find 'y' in scope",
    ),
    (
        "cargo clippy | tail -5",
        'error: this loop never loops\n  --> a.rs:3:5\nerror: could not compile `a` (bin "a") due to 1 previous error',
    ),
    (
        "mix test | tail -4",
        "Finished in 0.1 seconds\n10 tests, 2 failures",
    ),
    (
        "bats tests | tail",
        "not ok 2 adds\n# (in test file a.bats, line 5)",
    ),
    (
        "deno test | tail -3",
        "FAILED | 3 passed | 1 failed (12ms)\n\nerror: Test failed",
    ),
    (
        "npx jest 2>&1 | tail -6",
        "Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 20 passed, 21 total",
    ),
    (
        "php artisan test | tail",
        "  Tests:    1 failed, 5 passed (12 assertions)",
    ),
    (
        "npx prettier --check . | tail -2",
        "[warn] a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.",
    ),
    (
        "black --check . 2>&1 | tail -2",
        "would reformat a.py\n1 file would be reformatted.",
    ),
    (
        "pyright | tail -1",
        "2 errors, 0 warnings, 0 informations",
    ),
    (
        "flake8 | head -3",
        "a.py:1:1: F401 'os' imported but unused",
    ),
    (
        "mvn test | tail -20",
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
    ),
    (
        "sbt test | tail -3",
        "[error] Failed: Total 3, Failed 1, Errors 0, Passed 2\n[error] (Test / test) Tests unsuccessful",
    ),
    (
        "zig build test 2>&1 | tail",
        "error: the following command failed with 1 compilation errors",
    ),
    (
        "flutter test | tail -2",
        "00:02 +3 -1: Some tests failed.",
    ),
    (
        "stack test | tail",
        "Failures: 1\n1 example, 1 failure",
    ),
    (
        "phpstan analyse | tail -3",
        " [ERROR] Found 2 errors",
    ),
    (
        "rubocop | tail -1",
        "10 files inspected, 3 offenses detected",
    ),
    (
        "go vet ./... | head",
        "# a/b\nvet: ./x.go:3:5: undefined: y",
    ),
    (
        "golangci-lint run | tail -3",
        "a.go:3:2: ineffectual assignment to x (ineffassign)\n1 issues:\n* ineffassign: 1",
    ),
    (
        "terraform validate | tail",
        "Error: Unsupported argument\n\n  on main.tf line 3",
    ),
    (
        "docker build . 2>&1 | tail -5",
        'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2',
    ),
    (
        "uv run pytest -q 2>&1 | tail -3",
        "ERROR tests/test_a.py\n!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!\n1 error in 0.12s",
    ),
    (
        "node --test | tail",
        "# pass 3\n# fail 1",
    ),
    (
        "xcodebuild test | tail -2",
        "** TEST FAILED **",
    ),
    (
        "python manage.py test | tail",
        "FAILED (errors=2)",
    ),
    (
        "npm run build | tail",
        "error during build:\nRollupError: Could not resolve './x'",
    ),
    (
        "npx next build | tail -4",
        "Failed to compile.\n\n./a.tsx:3:5\nType error: Property 'x' does not exist",
    ),
    (
        "make -j4 | tail -1",
        "ninja: build stopped: subcommand failed.",
    ),
]
PASSED = [
    (
        "dotnet test | tail -3",
        "Passed!  - Failed:     0, Passed:    11, Skipped:     0, Total:    11",
    ),
    (
        "bundle exec rspec | tail",
        "12 examples, 0 failures",
    ),
    (
        "npx jest | tail",
        "Tests:       21 passed, 21 total",
    ),
    (
        "npx vitest run | tail",
        "      Tests  32 passed (32)\n   Duration  1.2s (error handling suite 3ms)",
    ),
    (
        "mvn test | tail",
        "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    ),
    (
        "ctest | tail",
        "100% tests passed, 0 tests failed out of 3",
    ),
    (
        "pyright | tail -1",
        "0 errors, 0 warnings, 0 informations",
    ),
    (
        "rubocop | tail -1",
        "10 files inspected, no offenses detected",
    ),
    (
        "deno test | tail",
        "ok | 4 passed | 0 failed (12ms)",
    ),
    (
        "cargo test | tail",
        "test result: ok. 3 passed; 0 failed; 0 ignored",
    ),
    (
        "mix test | tail",
        "10 tests, 0 failures",
    ),
    (
        "./gradlew test | tail",
        "BUILD SUCCESSFUL in 3s",
    ),
    (
        "go test ./... | tail -3",
        "ok  \ta/b\t0.1s\n?   \ta/c\t[no test files]",
    ),
    (
        "phpstan analyse | tail",
        " [OK] No errors",
    ),
    (
        "npx playwright test | tail",
        "  5 passed (3.2s)",
    ),
    (
        "tox | tail",
        "  py311: OK (3.21 seconds)\n  congratulations :) (3.3 seconds)",
    ),
    (
        "docker build . 2>&1 | tail",
        "#8 exporting to image\n#8 DONE 0.1s",
    ),
]


@pytest.mark.parametrize(("command", "text"), FAILED, ids=[command for command, _ in FAILED])
def test_failing_checks_are_findings(command: str, text: str) -> None:
    outcome = ran(command, text, exit_code=0)
    assert (outcome.status, outcome.cause) == ("failed", "finding"), outcome


@pytest.mark.parametrize(("command", "text"), PASSED, ids=[command for command, _ in PASSED])
def test_passing_checks_are_ok(command: str, text: str) -> None:
    assert ran(command, text, exit_code=0).status == "ok"
