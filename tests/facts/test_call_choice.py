"""Which fact a call gets before it is made, and after it failed: what it will not find, and what it sets off."""

import msgspec
import pytest

from preheat.facts import derive_facts
from preheat.facts.call_choice import Place, choose_for_call
from preheat.facts.failure_choice import choose_after_failure
from preheat.model.lesson import Lesson, Support
from preheat.provisioning.lesson_text import describe_lesson
from tests.facts.test_facts import FILES, lesson, tree_of

RUST_BELOW = {
    "README.md": "",
    "desktop/src-tauri/Cargo.toml": "[package]\nname='x'\n",
    "desktop/src-tauri/src/main.rs": "",
}
TOOLS = {"mise.toml": "[tools]\ngo = '1.25'\nshellcheck = '1'\n", "go.mod": "module x\n"}


def line_for(facts: list[Lesson], command: str, place: Place | None = None, told: frozenset[str] = frozenset()) -> str:
    found = choose_for_call(facts, command, (), told, place or Place())
    return describe_lesson(found) if found is not None else ""


def test_a_program_that_finds_its_project_elsewhere_is_told_where() -> None:
    facts = derive_facts(tree_of(RUST_BELOW))
    expected = "`cargo` runs in `desktop/src-tauri`: the project's own folder has no `Cargo.toml`"
    assert line_for(facts, "cargo test --features fuse 2>&1 | tail -5") == expected
    assert line_for(facts, "cd desktop/src-tauri && cargo test") == ""
    assert line_for(facts, "cargo test --manifest-path desktop/src-tauri/Cargo.toml") == ""
    assert line_for(facts, "cargo test", Place(folder="desktop/src-tauri")) == ""


@pytest.mark.parametrize(
    ("message", "is_told"),
    [
        ("-m 'feat(cart): round'", False),
        ("-m \"$(cat <<'EOF'\nfix(pay): round\n\nmore\nEOF\n)\"", False),
        ("-m 'round the cart'", True),
        ("-m 'feat: round'", True),
        ("-F message.txt", True),
    ],
)
def test_the_form_of_messages_is_told_only_to_a_commit_that_does_not_have_it(message: str, is_told: bool) -> None:
    details = {"about": "message", "types": "feat,fix", "scope": "yes", "good": "9", "all": "9"}
    form = lesson("commit", "", details=details)
    assert (line_for([form], f"git commit {message}") != "") is is_told


def test_another_package_manager_than_that_of_the_lock_file_is_named() -> None:
    facts = derive_facts(tree_of(FILES))
    assert line_for(facts, "npm install left-pad") == "the package manager here is `pnpm` (`pnpm-lock.yaml`)"
    assert line_for(facts, "pnpm install left-pad") == ""
    assert line_for(facts, "npm --version") == ""


def test_a_tool_of_mise_is_told_of_unless_the_shell_finds_it() -> None:
    facts = derive_facts(tree_of(TOOLS))
    assert "`mise exec -- NAME`" in line_for(facts, "shellcheck run.sh")
    assert line_for(facts, "shellcheck run.sh", Place(has_program=lambda name: True)) == ""
    assert "`mise exec -- NAME`" in describe_lesson(
        choose_after_failure(facts, "zsh: command not found: go") or facts[0]
    )


@pytest.mark.parametrize(("command", "expected"), [
    ("pnpm dotest --watch", True), ("pnpm install", False), ("cd web && pnpm dotest", False), ("git status", False),
])  # fmt: skip
def test_packages_that_are_not_installed_bring_the_set_up(command: str, expected: bool) -> None:
    facts = derive_facts(tree_of(FILES))
    assert ("pnpm install" in line_for(facts, command, Place(lacks_modules=True))) is expected
    assert line_for(facts, command) == ""


def test_a_module_that_was_not_found_brings_the_set_up_after_the_failure() -> None:
    facts = derive_facts(tree_of(FILES))
    found = choose_after_failure(facts, "module not found: left-pad")
    assert getattr(found, "use", "") == "pnpm install"
    assert choose_after_failure(facts, "module not found: left-pad", frozenset({getattr(found, "id", "")})) is None
    assert choose_after_failure(facts, "2 tests failed") is None


def test_a_missing_variable_is_named_before_the_commands_that_missed_it() -> None:
    known = lesson("variable", "", details={"about": "variables", "names": "DB_URL", "commands": "bun test"})
    assert line_for([known], "bun test src/a.test.ts") == "environment variables that must be set: `DB_URL`"
    assert line_for([known], "bun run lint") == ""
    assert choose_after_failure([known], "error: Missing DB_URL or DB_HOST") == known


def test_a_pattern_is_warned_of_only_where_the_shell_refuses_it_and_nothing_matches() -> None:
    zsh = lesson("pattern", "", details={"about": "pattern"})
    nothing, something = Place(has_match=lambda pattern: False), Place(has_match=lambda pattern: True)
    assert line_for([zsh], "grep -r x --include=*.ts src", nothing).startswith("the shell here is `zsh`")
    assert line_for([zsh], "ls src/*.ts", something) == ""
    assert line_for([zsh], "grep -r x --include='*.ts' src", nothing) == ""


def test_a_check_that_takes_long_says_so_before_it_runs() -> None:
    slow = lesson("test", "make e2e", details={"about": "test", "duration": "9 min", "timeout": "15 min"})
    quick = lesson("lint", "make lint", details={"about": "lint", "duration": "9 s"})
    assert "takes about 9 min, with a time-out of 15 min" in line_for([slow, quick], "make e2e | tail -3")
    assert line_for([slow, quick], "make lint") == ""


def test_a_commit_without_hooks_is_told_which_checks_did_not_run() -> None:
    changed = Place(edited=("src/main.rs",))
    facts = derive_facts(tree_of({"Cargo.toml": "[package]\nname='x'\n"}))
    used = [msgspec.structs.replace(each, support=Support(4, 2)) for each in facts if each.topic == "format"]
    assert line_for(used, "git commit -m x", changed) == ""  # every project in that language has it
    task = derive_facts(tree_of({"mise.toml": "[tasks.fmt]\nrun = 'cargo fmt --all'\n"}))
    assert line_for(task, "git commit -m x", changed) == "format: `mise run fmt` = `cargo fmt --all`"
    assert line_for(task, "git commit -m x") == ""  # nothing was changed here
    assert line_for(derive_facts(tree_of(FILES)), "git commit -m x", changed).startswith("a commit runs")


def test_a_pull_request_and_a_worktree_with_a_new_branch_bring_how_they_are_made_here() -> None:
    pull = lesson("pull_request", "gh pr create", details={"about": "pull request", "base": "develop"})
    branch = lesson("branch", "", details={"about": "branch"})
    for command, expected in (
        ("git push && gh pr create --fill", "pull_request"),
        ("git worktree add ../cart -b cart", "branch"),
        ("git worktree add ../cart main", ""),
    ):
        assert getattr(choose_for_call([pull, branch], command), "topic", "") == expected
