"""What is known to fail before it is tried: commands however their output is filtered, `git add` from below."""

import pytest

from preheat.answers import NO_HISTORY, Answer, History, summarise_history, warn_before
from preheat.answers.history import PastCommand
from tests.answers.tree import ROOT, MemoryTree, shell

TREE = MemoryTree({"src/cart.py": "a = 1\n", "src/shop/util.py": "b = 2\n", "go/cmd/main.go": ""})
REMOTE = "fatal: Could not read from remote repository"


def past(command: str, *errors: str) -> History:
    """A command that was tried in one session after another, each with an error or without one."""
    return summarise_history(
        PastCommand(f"s{number}", command, "failed" if error else "ok", "mistake" if error else None, error)
        for number, error in enumerate(errors)
    )


def warning(command: str, history: History = NO_HISTORY, folder: str = ROOT) -> Answer | None:
    return warn_before(shell(command, folder), TREE, history)


@pytest.mark.parametrize(
    "typed", ["rtk bun test", "rtk bun test 2>&1 | tail -30", "rtk bun test | grep fail | head -5"]
)
def test_a_command_is_known_to_fail_however_its_output_is_filtered(typed: str) -> None:
    known = past("rtk bun test 2>&1 | tail -20", "error: unrecognized subcommand", "error: unrecognized subcommand")
    found = warning(typed, known)
    assert found is not None
    assert found.rule == "known failure"
    assert warning(typed, past("rtk bun test | tail", "error: bad", "error: bad", "")) is None


def test_a_chain_is_warned_of_whose_first_command_failed_with_one_error_in_two_sessions() -> None:
    chain = "git pull --rebase && git push && git status"
    found = warning(chain, past("git pull --rebase && git push", REMOTE, REMOTE))
    assert found is not None
    assert "first command of this call failed in all 2 earlier sessions" in found.text
    assert warning(chain, past("git pull --rebase && git push", REMOTE, "error: You have unstaged changes")) is None
    assert warning(chain, past("git pull --rebase && bd sync", REMOTE, REMOTE, "")) is None


@pytest.mark.parametrize("command", ["cd go && go build", "git add -A && git commit -m x", "echo x && false"])
def test_what_only_prepares_a_chain_is_not_said_to_fail(command: str) -> None:
    assert warning(f"{command} && ls", past(command, "error: bad", "error: bad")) is None


def test_one_refusal_shows_which_family_a_program_is_of() -> None:
    refused = "cat: illegal option -- A"
    found = warning("cat -A src/cart.py", past("cat -A README.md", refused))
    assert found is not None
    assert "it takes `-v`" in found.text
    assert warning("tool --new src", past("tool --new lib", "error: unknown option --new")) is None


def test_a_flag_of_the_last_program_of_a_pipe_counts() -> None:
    assert warning("sed -n 1p src/cart.py | cat -A", past("cat -A README.md", "cat: illegal option -- A")) is not None


def test_a_loop_that_starts_no_program_needs_no_path() -> None:
    known = past("ls *.x", "zsh:1: no matches found: *.x")
    loop = 'for path in src go; do if test -e "$path"; then {} "$path"; fi; done'
    assert warning(loop.format("echo"), known) is None
    assert warning(loop.format("cat"), known) is not None


def test_a_script_behind_an_empty_ending_is_no_file_that_is_missing() -> None:
    assert warning("sed -i '' 's/one/other/' src/cart.py") is None
    assert warning("sed -i '' 's/one/other/' src/shop/cart.py") is not None


HERE = f"{ROOT}/go"


@pytest.mark.parametrize("command", [
    "git add go/cmd/main.go", "git add go/cmd/main.go src/cart.py && git commit -m \"$(cat <<'EOF'\nfix\nEOF\n)\"",
    "git add \\\n  go/cmd/main.go",
])  # fmt: skip
def test_a_path_from_the_projects_own_folder_is_named_as_one_types_it_below(command: str) -> None:
    found = warning(command, folder=HERE)
    assert found is not None
    assert "`cmd/main.go` exists" in found.text
    assert warning(command) is None


def test_what_was_removed_can_be_added() -> None:
    assert warning("git add go/cmd/gone.go", folder=HERE) is None
    assert warning("git add cmd/main.go", folder=HERE) is None
