"""Flags and fields that a program refuses, patterns that a shell refuses, commands of another folder."""

import pytest

from preheat.answers import Failure, SessionFacts, answer_failure, warn_before
from preheat.answers.facts import update_facts
from preheat.answers.history import PastCommand, program_and_subcommand, summarise_history
from preheat.commands import understand
from preheat.model.live import CallEvent
from tests.answers.tree import ROOT, MemoryTree, shell

TREE = MemoryTree({"src/a.ts": "", "native/Cargo.toml": "", "native/core/Cargo.toml": "", "native/src/lib.rs": ""})
NO_MATCH = "zsh:1: no matches found: http://localhost/?a=b"
REFUSES = SessionFacts(refuses_patterns=True)


@pytest.mark.parametrize(
    "command",
    ["curl http://localhost:3000/api?type=x", "grep -r --include=*.ts cart src", "agent open https://host/x?view=[1]"],
)
def test_a_pattern_that_matches_no_file_is_warned_of_where_the_shell_refuses_it(command: str) -> None:
    warning = warn_before(shell(command), TREE, facts=REFUSES)
    assert warning is not None
    assert "in quotes it is passed on" in warning.text
    assert warn_before(shell(command), TREE) is None


@pytest.mark.parametrize(
    "command",
    [
        "curl 'http://localhost:3000/api?type=x'",
        "ls src/*.ts",
        "URL=http://localhost/?a=b",
        "curl http://localhost/?a || true",
        'git commit -m "what? why*"',
    ],
)
def test_a_quoted_pattern_or_one_that_may_match_is_not(command: str) -> None:
    assert warn_before(shell(command), TREE, facts=REFUSES) is None


@pytest.mark.parametrize(("command", "is_warned"), [
    ("git show | head; echo ===; git log", True), ("echo == done", True), ("print a =b", True),
    ("echo '==='; ls", False), ("echo =; ls", False), ("[[ a == b ]] && echo x", False), ("echo a=b", False),
    ("cat <<X\necho ===\nX", False), ("rg -n 'echo ===' src", False),
])  # fmt: skip
def test_signs_that_the_shell_takes_for_a_program_are_warned_of_where_it_does(command: str, is_warned: bool) -> None:
    warning = warn_before(shell(command), TREE, facts=REFUSES)
    assert (warning is not None and warning.remedies == ("=",)) is is_warned
    assert warn_before(shell(command), TREE) is None


def test_that_a_shell_refuses_patterns_is_known_from_the_session_and_from_earlier_ones() -> None:
    told = update_facts(
        SessionFacts(),
        CallEvent(tool="Bash", kind="shell", activity="shell:network", status="failed", signature=NO_MATCH),
    )
    assert told.refuses_patterns
    past = summarise_history([PastCommand("s1", "curl x?y", "failed", "mistake", NO_MATCH)])
    assert past.refuses_patterns


@pytest.mark.parametrize(("command", "is_warned"), [
    ('rg -n "--color-|gold" src', True), ('rg -n -e "--color-" src', False), ("rg -n -g'*.ts' cart src", False),
    ("rg --glob=*.ts cart src", False),
])  # fmt: skip
def test_a_search_for_a_text_that_begins_with_a_dash_needs_an_option(command: str, is_warned: bool) -> None:
    warning = warn_before(shell(command), TREE)
    assert (warning is not None and warning.remedies == ("-e", "--")) is is_warned


def test_a_flag_that_was_refused_in_two_sessions_is_warned_of_without_writing_it() -> None:
    past = [
        PastCommand(f"s{number}", "tool status --no-pager", "failed", "mistake", "unknown flag: --no-pager")
        for number in range(2)
    ]
    warning = warn_before(shell("tool status --json --no-pager"), TREE, summarise_history(past))
    assert warning is not None
    assert warning.text == (
        "`tool status` refused the second option of this call in 2 earlier sessions: without it the call works."
    )
    worked = PastCommand("s3", "tool log --no-pager", "ok", None, "")
    assert warn_before(shell("tool list --no-pager"), TREE, summarise_history([*past, worked])) is None
    assert warn_before(shell("tool list --no-pager"), TREE, summarise_history(past[:1])) is None


@pytest.mark.parametrize(("command", "output", "remedy"), [
    ("ls | grep -oP 'a+'", "grep: invalid option -- P\nusage: grep [-A num]", "-E"),
    ("gh pr list --json number,checks", 'Unknown JSON field: "checks"\nAvailable fields:\n  number\n  statusCheckRollup\n',
     "statusCheckRollup"),
])  # fmt: skip
def test_the_flag_or_field_that_was_meant_is_named(command: str, output: str, remedy: str) -> None:
    answer = answer_failure(Failure(shell(command), output), TREE)
    assert answer is not None
    assert answer.remedies == (remedy,)


def test_what_the_program_has_named_itself_is_not_said_again() -> None:
    output = "error: unexpected argument '--colour' found\n  tip: a similar argument exists: '--color'"
    assert answer_failure(Failure(shell("tool list --colour always"), output), TREE) is None


def test_a_command_that_needs_a_manifest_is_sent_to_the_folder_that_has_it() -> None:
    warning = warn_before(shell("cargo test --features fuse"), TREE)
    assert warning is not None
    assert warning.text == "This command works in `native`, where its `Cargo.toml` is."
    assert warn_before(shell("cargo test", f"{ROOT}/native/core"), TREE) is None
    assert warn_before(shell("cargo test --manifest-path native/Cargo.toml"), TREE) is None
    assert warn_before(shell("cargo new x"), TREE) is None


@pytest.mark.parametrize(("text", "form"), [
    ("gh pr diff --stat", "gh pr diff"), ("gh api repos/x", "gh api"), ("git show --no-stat", "git show"),
    ("cat -A src/a.ts", "cat"), ("gh pr view 12", "gh pr view"),
])  # fmt: skip
def test_flags_belong_to_the_subcommand_that_takes_them(text: str, form: str) -> None:
    """`gh pr list` has `--state`, `gh pr diff` has not."""
    main = understand(text).main
    assert main is not None
    assert program_and_subcommand(main) == form
