"""Only evidence makes a failure a mistake: who spoke, what is not there, and what the agent did next; else it is `unknown`."""

import pytest

from preheat.model.outcome import NO_DIALECT, Cause, Outcome
from preheat.model.session import Event, ToolCall, ToolKind, ToolResult
from preheat.outcomes import judge
from tests.outcomes.calls import judged, ran, session_of


def judged_run(*steps: tuple[str, str, int]) -> tuple[Outcome, ...]:
    """The outcomes of shell commands, one after the other: command, output, exit code."""
    events: list[Event] = []
    for number, (command, text, code) in enumerate(steps):
        events.append(
            ToolCall(
                line=number,
                call_id=str(number),
                tool="Shell",
                kind="shell",
                input={"command": command},
                response=str(number),
            )
        )
        events.append(ToolResult(line=number, call_id=str(number), text=text, exit_code=code))
    return judge(session_of(*events), NO_DIALECT)


@pytest.mark.parametrize(
    ("command", "text"),
    [("frobnicate --all", ""), ("frobnicate --all", "frobbed 3 of 5"), ("./deploy", "")],
)
def test_a_failure_that_nothing_explains_is_unknown(command: str, text: str) -> None:
    assert ran(command, text, exit_code=1).cause == "unknown"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("other", 'MCP server "x" tool "y" timed out after 100s'),
        ("other", "Error: the vault is sealed"),
        ("other", "Error: blocked for security reasons"),
        ("other", "Error: monthly quota exceeded"),
        ("other", "Error: API_KEY environment variable is not set"),
        ("web", "Request failed with status code 401"),
    ],
)
def test_what_stands_around_a_tool_is_the_environment(kind: ToolKind, text: str) -> None:
    assert judged(text, kind=kind, is_error=True).cause == "environment"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("sudo apt install x", "sudo: a terminal is required to read the password"),
        ("git push", "fatal: could not read Username for 'https://h': terminal prompts disabled"),
        ("tailscale status", "Logged out."),
        ("./search.sh x", "Error: SEARCH_API_KEY environment variable is not set."),
        ("sh run.sh", "sh: 1: pnpm: not found"),
    ],
)
def test_passwords_and_what_is_not_set_up_are_the_environment(command: str, text: str) -> None:
    assert ran(command, text, exit_code=1).cause == "environment"


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("bash: line 1: pnpm: command not found", "command not found: pnpm"),
        ("zsh:1: command not found: pnpm", "command not found: pnpm"),
        ("sh: 1: pnpm: not found", "command not found: pnpm"),
        ("ModuleNotFoundError: No module named 'pandas'", "module not found: pandas"),
        ("/usr/bin/python3: No module named pytest", "module not found: pytest"),
        ("Error: Cannot find module 'zod'", "module not found: zod"),
    ],
)
def test_what_is_not_installed_has_one_signature_with_its_name(text: str, signature: str) -> None:
    outcome = ran("./run", text, exit_code=127)
    assert (outcome.cause, outcome.signature) == ("environment", signature)


def test_a_check_that_lacks_a_module_is_the_environment() -> None:
    text = "error: Cannot find package 'zod' from 'a.test.ts'\n(fail) schemas > parse\n 3 pass\n 1 fail"
    assert ran("bun test", text, exit_code=1).cause == "environment"


def test_a_module_of_the_project_itself_is_a_finding() -> None:
    text = "Error: Cannot find module './parse' from 'a.test.ts'\nFAIL src/a.test.ts"
    assert ran("npx jest", text, exit_code=1).cause == "finding"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("frobnicate --help", "Usage: frobnicate [options]\n\nOptions:\n  --error  Unknown errors are shown"),
        ("git -C x status", 'On branch main\nno changes added to commit (use "git add")'),
        ("git stash pop", "On branch main\nno changes added to commit\nDropped refs/stash@{0}"),
        ("git status -sb", "## fix/missing-url-not-found"),
        ("python reproduce.py", "Case 1\nError: in_bulk() got 'slug'"),
        ("go get x", "go: downloading x v1.0.0\ngo: added x v1.0.0"),
    ],
)
def test_ordinary_answers_are_no_failures_by_their_wording(command: str, text: str) -> None:
    assert ran(command, text).status in ("ok", "empty")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("gh release view v9", "release not found"),
        ("gh pr diff 1 -- a.rs", "accepts at most 1 arg(s), received 2"),
        ("gh run watch 1 --job 2", "unknown flag: --job\n\nUsage:  gh run watch <run-id> [flags]"),
        ("gh pr checks 7", "build\tpass\t3s\thttps://h/1\ntest\tfail\t9s\thttps://h/2"),
        ("bun run --filter x typecheck", "x typecheck: /bin/bash: tsc: command not found\nx typecheck: Exited"),
        ("perl -pe 's/(//'", "Unmatched ( in regex; marked by <-- HERE in m/( <-- HERE / at -e line 1."),
        ("cargo fmt --check", "Diff in /p/src/a.rs:12:\n-a\n+b"),
    ],
)
def test_programs_that_do_not_say_their_name_are_heard(command: str, text: str) -> None:
    assert ran(command, text).status == "failed"


@pytest.mark.parametrize(
    ("then", "cause"),
    [
        (("frobnicate --some", "done", 0), "mistake"),
        (("frobnicate --all", "done", 0), "environment"),
        (("frobnicate --all", "", 1), "unknown"),
        (("ls", "a", 0), "unknown"),
    ],
)
def test_what_the_agent_did_next_shows_the_cause(then: tuple[str, str, int], cause: Cause) -> None:
    first, _ = judged_run(("frobnicate --all", "", 1), then)
    assert first.cause == cause


def test_without_hindsight_a_cause_is_as_it_looked_then() -> None:
    call = ToolCall(line=1, call_id="a", tool="Shell", kind="shell", input={"command": "frob -a"})
    again = ToolCall(line=3, call_id="b", tool="Shell", kind="shell", input={"command": "frob -b"})
    results = [
        ToolResult(line=2, call_id="a", text="", exit_code=1),
        ToolResult(line=4, call_id="b", text="", exit_code=0),
    ]
    session = session_of(call, results[0], again, results[1])
    assert [judge(session)[0].cause, judge(session, hindsight=False)[0].cause] == ["mistake", "unknown"]


@pytest.mark.parametrize(
    ("then", "cause"),
    [
        (("cat <<'EOF' > repro.py\nimport x\nEOF", "", 0), "mistake"),
        (("sed -n 1,9p lib/x.py", "code", 0), "finding"),
    ],
)
def test_a_script_that_the_agent_writes_anew_was_its_mistake(then: tuple[str, str, int], cause: Cause) -> None:
    failed = ("python repro.py", "Traceback (most recent call last):\n  x\nRuntimeError: no app_label", 1)
    first, _ = judged_run(failed, then)
    assert first.cause == cause


def test_a_look_at_a_running_command_is_judged_as_that_command() -> None:
    start = ToolCall(line=1, call_id="a", tool="run", kind="shell", input={"cmd": "go test ./..."})
    look = ToolCall(line=3, call_id="b", tool="look", kind="shell", input={"session_id": 7, "chars": ""})
    told = ToolResult(line=2, call_id="a", text="Process running with session ID 7\nOutput:\n")
    ended = ToolResult(line=4, call_id="b", text="Output:\n--- FAIL: TestX\nFAIL", exit_code=1)
    assert judge(session_of(start, told, look, ended))[1].cause == "finding"


def test_a_command_that_the_agent_stops_itself_did_not_fail() -> None:
    stop = {"session_id": 7, "chars": "\x03"}
    assert judged("", kind="shell", given=stop, exit_code=130).status == "interrupted"
