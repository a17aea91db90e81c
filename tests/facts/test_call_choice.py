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
    at_home = Place(folder="")
    assert line_for(facts, "cargo test --features fuse 2>&1 | tail -5", at_home) == expected
    assert line_for(facts, "cd desktop/src-tauri && cargo test", at_home) == ""
    assert line_for(facts, "cargo test --manifest-path desktop/src-tauri/Cargo.toml", at_home) == ""
    assert line_for(facts, "cargo test", Place(folder="desktop/src-tauri")) == ""
    assert line_for(facts, "cargo test") == ""  # where the shell stands is not known
    assert line_for(facts, "cargo --version && cargo install cargo-edit@1", at_home) == ""


def test_xcodebuild_is_told_its_folder_unless_it_names_its_project_with_it() -> None:
    facts = derive_facts(tree_of({"Shop/Shop.xcodeproj/project.pbxproj": ""}))
    at_home = Place(folder="")
    expected = "`xcodebuild` runs in `Shop`: the project's own folder has no `Shop.xcodeproj`"
    assert line_for(facts, "xcodebuild build -scheme Shop", at_home) == expected
    assert line_for(facts, "xcodebuild build -project Shop/Shop.xcodeproj", at_home) == ""
    two = derive_facts(tree_of({"a/A.xcodeproj/project.pbxproj": "", "b/B.xcodeproj/project.pbxproj": ""}))
    assert "runs in" not in line_for(two, "xcodebuild build -scheme Shop", at_home)


def test_the_same_command_in_another_order_is_not_told_of() -> None:
    usual = lesson("build", "xcodebuild -scheme Shop -destination 'platform=iOS Simulator,name=iPhone 17 Pro' build")
    typed = "xcodebuild build -scheme Shop -quiet -destination 'platform=iOS Simulator,name=iPhone %s'"
    assert line_for([usual], typed % "17 Pro") == ""
    assert "iPhone 17 Pro" in line_for([usual], typed % "15")


def test_a_program_that_did_not_find_its_project_is_told_where_it_is() -> None:
    facts = derive_facts(tree_of(RUST_BELOW))
    message = "error: could not find `Cargo.toml` in `/w/shop` or any parent directory"
    assert getattr(choose_after_failure(facts, message, command="cargo test"), "topic", "") == "folder"
    assert choose_after_failure(facts, message, command="git status") is None
    assert choose_after_failure(facts, "error: test failed") is None


@pytest.mark.parametrize(
    ("message", "is_told"),
    [
        ("-m 'feat(cart): round'", False),
        ("-m \"$(cat <<'EOF'\nfix(pay): round\n\nmore\nEOF\n)\"", False),
        ("-m 'round the cart'", True),
        ("-m 'feat: round'", False),
        ("-m '✨ feat: round'", False),
        ("-m 'test(cart): round'", False),
        ("-m 'SHOP-7: round the cart'", False),
        ("-m 'Merge main into cart'", False),
        ("-F message.txt", False),
    ],
)
def test_the_form_of_messages_is_told_only_to_a_commit_that_does_not_have_it(message: str, is_told: bool) -> None:
    details = {"about": "message", "types": "feat,fix", "scope": "yes", "good": "9", "all": "9"}
    form = lesson("commit", "", details=details)
    assert (line_for([form], f"git commit {message}") != "") is is_told


@pytest.mark.parametrize(
    ("message", "is_told"),
    [
        ("sts: round", False),
        ("SHOP-7 round", False),
        ("feat: round", True),
        ("feat(sts): round", True),
        ("Round it", True),
    ],
)
def test_a_type_is_another_form_where_messages_begin_with_a_package(message: str, is_told: bool) -> None:
    form = lesson("commit", "", details={"about": "message", "form": "AREA: …", "beginnings": "sts: …,web: …"})
    assert (line_for([form], f"git commit -m '{message}'") != "") is is_told


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
    files = {**FILES, "package.json": '{"scripts": {"dotest": "vitest"}, "dependencies": {"left-pad": "1"}}'}
    facts = derive_facts(tree_of(files))
    found = choose_after_failure(facts, "module not found: left-pad")
    assert getattr(found, "use", "") == "pnpm install"
    assert choose_after_failure(facts, "module not found: left-pad", frozenset({getattr(found, "id", "")})) is None
    assert choose_after_failure(facts, "module not found: right-pad") is None  # no manifest has it
    assert choose_after_failure(facts, "Cannot find package 'left-pad'", command="node -e 'require.resolve(0)'") is None
    assert choose_after_failure(facts, "2 tests failed") is None


@pytest.mark.parametrize(("message", "command", "expected"), [
    ("module not found: jsonschema", "python3 -c 'import jsonschema'", ""),
    ("ModuleNotFoundError: No module named 'requests'", "", ""),
    ("Error: Cannot find module './cart'", "node shop.js", ""),
    ("module not found: playwright", "npm exec --package=playwright -- node a.js", ""),
    ("sh: vite: command not found", "pnpm build", "pnpm install"),
    ("zsh: command not found: vite", "vite build", "pnpm exec NAME"),
    ("gh: Not Found (HTTP 404)", "gh api repos/x", ""),
])  # fmt: skip
def test_what_is_said_after_a_failure_brings_the_very_thing_that_was_missing(
    message: str, command: str, expected: str
) -> None:
    files = {**FILES, "package.json": '{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "5"}}'}
    found = choose_after_failure(derive_facts(tree_of(files)), message, command=command)
    assert getattr(found, "use", "") == expected


def test_a_missing_variable_is_named_before_the_commands_that_missed_it() -> None:
    known = lesson("variable", "", details={"about": "variables", "names": "DB_URL", "commands": "bun test"})
    assert line_for([known], "bun test --bail") == "environment variables that must be set: `DB_URL`"
    assert line_for([known], "bun run lint") == ""
    assert line_for([known], "DB_URL=x bun test") == ""
    assert line_for([known], "bun test src/a.test.ts") == ""  # one file may not need it
    assert choose_after_failure([known], "error: Missing DB_URL or DB_HOST") == known
    assert choose_after_failure([known], "error: Missing TEST_DB_URL_2") is None


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


PULL = lesson("pull_request", "gh pr create --draft", details={"about": "pull request", "base": "develop"})
PLAIN_PULL = lesson("pull_request", "gh pr create", details={"about": "pull request", "good": "9", "all": "9"})
MERGED = lesson("pull_request", "gh pr create", details={"about": "pull request", "merge": "gh pr merge --squash"})
MERGED_AS_GIT = lesson(
    "pull_request", "gh pr create", details={"about": "pull request", "merge": "gh pr merge --merge"}
)
BRANCH = lesson("branch", "", details={"about": "branch", "prefixes": "feat/,fix/", "good": "9", "all": "9"})


@pytest.mark.parametrize(("known", "command", "is_told"), [
    (PULL, "git push && gh pr create --fill", True),
    (PULL, "gh pr create -d --base develop --title x", False),
    (PULL, "gh pr create --draft --title x", True),
    (PULL, "git push -u origin cart", False),
    (PULL, "gh pr create --title x --repo other/shop", False),
    (PLAIN_PULL, "gh pr create --title x", False),
    (MERGED, "gh pr create --title x", False),
    (MERGED, "gh pr merge 7 --rebase", True),
    (MERGED, "gh pr merge 7 -s", False),
    (MERGED_AS_GIT, "gh pr merge 7 --squash", True),
    (MERGED_AS_GIT, "gh pr merge 7 -m -d", False),
    (MERGED_AS_GIT, "gh pr create --title x", False),
    (BRANCH, "git worktree add ../cart -b cart", True),
    (BRANCH, "git switch -c feature/cart", True),
    (BRANCH, "git switch -c feat/cart", False),
    (BRANCH, "git switch -c refactor/cart", False),
    (BRANCH, "git worktree add --orphan -b evidence/cart ../cart", False),
    (BRANCH, "git worktree add ../cart main", False),
])  # fmt: skip
def test_how_pull_requests_and_branches_are_made_is_told_only_where_the_call_does_otherwise(
    known: Lesson, command: str, is_told: bool
) -> None:
    assert (choose_for_call([known], command) is not None) is is_told


def test_a_commit_of_another_repository_or_of_a_merge_brings_nothing() -> None:
    hook = lesson("hook", "", details={"about": "commit", "commands": "make lint"})
    form = lesson("commit", "", details={"about": "message", "types": "feat,fix", "good": "9", "all": "9"})
    assert line_for([hook], "git commit -m x").startswith("a commit runs")
    assert line_for([hook, form], "cd ../notes && git commit -m x") == ""
    assert line_for([hook, form], "git commit -m x", Place(folder="../notes")) == ""
    assert line_for([hook, form], "git commit --no-edit") == ""
    assert line_for([hook], "git commit --no-verify -m x") == ""


def test_a_changelog_is_told_of_only_where_code_of_the_program_was_changed() -> None:
    entry = lesson("release", "", details={"about": "changelog", "path": "CHANGELOG.md"})
    change_file = lesson("release", "", details={"about": "change file", "path": ".changeset/"})
    for edited, is_told in ((("src/cart.ts",), True), (("docs/a.md", "test/cart.test.ts"), False), ((), False)):
        assert (line_for([entry], "git commit -m x", Place(edited=edited)) != "") is is_told
        assert (line_for([change_file], "git push", Place(edited=edited)) != "") is is_told
    assert line_for([change_file], "git push origin --delete old", Place(edited=("src/cart.ts",))) == ""


@pytest.mark.parametrize("command", [
    "[[ $name == *cart* ]] && echo yes", "echo ok # what is *this?", 'grep "a \\" b*" src', "for f in *.ts; do cat $f; done",
    "printf $'it\\'s *' ",
])  # fmt: skip
def test_a_sign_that_the_shell_does_not_expand_is_no_pattern(command: str) -> None:
    zsh = lesson("pattern", "", details={"about": "pattern"})
    assert line_for([zsh], command, Place(has_match=lambda pattern: False)) == ""


def test_a_missing_program_needs_two_sessions_or_what_works_instead() -> None:
    known = lesson("missing", "", details={"about": "missing", "name": "jq"}, text="`jq` is not there.")
    once = msgspec.structs.replace(known, support=Support(1, 1))
    assert choose_for_call([once], "jq . a.json") is None
    assert choose_for_call([msgspec.structs.replace(once, support=Support(2, 2))], "jq . a.json") is not None
    place = lesson("missing", "export PATH=/usr/local/go/bin:$PATH", details={"about": "missing", "name": "go"})
    assert choose_for_call([place], "go build ./...") is not None
    assert choose_for_call([place], "export PATH=/usr/local/go/bin:$PATH && go build ./...") is None


def test_a_missing_program_is_told_of_beside_another_one_that_is_missing() -> None:
    known = [
        lesson("missing", use, details={"about": "missing", "name": name})
        for use, name in (("mise exec -- hk", "hk"), ("python3", "python"))
    ]
    assert line_for(known, "python a.py", told=frozenset([known[0].id])).endswith("`python3` works")


def test_a_hook_that_often_refuses_is_told_before_a_commit() -> None:
    details = {"about": "commit", "commands": "make lint", "failed": "5", "all": "34"}
    assert (
        line_for([lesson("hook", "", details=details)], "git commit -m x")
        == "a commit runs `make lint`; it failed 5 of 34 times"
    )
