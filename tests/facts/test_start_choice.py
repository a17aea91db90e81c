"""What every session of a project is told at its start: what most sessions need; everything, where nothing can be said later."""

import msgspec
import pytest

from preheat.app.facts import read_log
from preheat.facts import ProjectTree, derive_facts
from preheat.facts.choice import choose_for_prompt
from preheat.facts.join import join_facts
from preheat.facts.start_choice import choose_for_start
from preheat.facts.stated import is_stated, without_stated
from preheat.facts.variants import commands_beside
from preheat.model.lesson import Lesson, Support
from preheat.provisioning.lesson_text import describe_lesson
from preheat.stated import read_statements
from tests.facts.test_facts import lesson, tree_of

SHOP = {
    "package.json": '{"scripts": {"test": "vitest run", "lint": "eslint .", "lint:fix": "eslint . --fix",'
    ' "lint:md:fix": "mdl -f", "test:e2e": "playwright test", "typecheck": "tsc --noEmit"}, "devDependencies": {"vitest": "1"}}',
    "pnpm-lock.yaml": "",
}


def lines_at_once(lessons: list[Lesson], stated: frozenset[str] = frozenset()) -> list[str]:
    return [describe_lesson(each) for each in choose_for_start(lessons, stated, at_once=True)]


def choose_at_once(lessons: list[Lesson]) -> list[Lesson]:
    return choose_for_start(lessons, at_once=True)


def test_what_a_change_or_a_call_will_ask_for_waits_for_it() -> None:
    """Of three sessions one changes no code, and needs nothing of how one comes in."""
    usual = lesson("test", "make test", sessions=9, reach=0.7)
    hook = lesson("hook", "", details={"about": "commit", "commands": "make lint"}, reach=0.6)
    message = lesson("commit", "", details={"about": "message", "types": "feat,fix"}, reach=0.6)
    assert choose_for_start([usual, hook, message]) == []
    assert choose_at_once([usual, hook, message]) == [usual, hook, message]
    by_all = lesson("test", "make test", sessions=9, reach=0.9)
    assert choose_for_start([by_all, hook, message]) == [by_all]


def test_each_check_is_one_line_with_how_one_case_is_run_and_what_mends() -> None:
    assert lines_at_once(derive_facts(tree_of(SHOP))) == [
        "test: `pnpm test` = `vitest run`; one test file: `pnpm exec vitest run PATH`",
        "lint: `pnpm lint` = `eslint .`; with fixes: `pnpm lint:fix`",
        "typecheck: `pnpm typecheck` = `tsc --noEmit`",
    ]


def test_what_is_said_beside_a_check_is_known_with_it() -> None:
    facts = derive_facts(tree_of(SHOP))
    told = [each.id for each in choose_for_start(facts, at_once=True)]
    assert commands_beside(facts, told) == {"pnpm exec vitest run PATH", "pnpm lint:fix"}


def test_of_a_check_that_a_file_states_no_other_command_is_said_unless_most_sessions_use_it() -> None:
    facts = derive_facts(tree_of(SHOP))
    assert not any(line.startswith("test") for line in lines_at_once(facts, frozenset(["test"])))
    usual = lesson("build", "zig build site", sessions=9, reach=0.7)
    assert lines_at_once([usual], frozenset(["build"])) != []


def test_everything_below_the_project_is_no_folder() -> None:
    """`./...` once counted as one, which hid the tests of every project in Go."""
    usual = lesson("test", "go test -tags=live ./...", sessions=9, reach=0.7)
    one_folder = lesson("test", "go test ./internal/store/...", sessions=9, reach=0.7)
    assert len(choose_at_once([usual])) == 1
    assert choose_at_once([one_folder]) == []


def test_a_script_for_one_part_is_not_the_check_of_the_whole() -> None:
    files = {"package.json": '{"scripts": {"test:report-ui": "vitest run ui", "test:e2e": "playwright test"}}'}
    assert lines_at_once(derive_facts(tree_of(files))) == []


@pytest.mark.parametrize(("sessions", "said"), [(0, True), (4, True), (60, False)])
def test_a_script_that_session_after_session_went_by_without_is_not_said_to_all(sessions: int, said: bool) -> None:
    """Those that checked their work otherwise count; those that only looked around count little."""
    files = {"package.json": '{"scripts": {"lint": "eslint ."}}'}
    tree = tree_of(files)
    others = [lesson("test", "make test", sessions=sessions)] if sessions else []
    facts = join_facts(others, derive_facts(tree), tree)
    assert any("npm run lint" in line for line in lines_at_once(facts)) is said


def test_the_projects_own_task_is_said_for_what_sessions_type() -> None:
    typed = lesson("test", "go test ./...", sessions=9, reach=0.7)
    own = lesson("test", "mise run test", reach=0.5, details={"about": "test", "main": "yes", "body": "go test ./..."})
    assert [each.use for each in choose_at_once([typed, own])] == ["mise run test"]


def test_a_form_that_stands_for_many_commands_gives_way_to_that_of_the_folder_they_work_in() -> None:
    open_form = lesson("build", "xcodebuild -project NAME -scheme Shop build", sessions=9, reach=0.6)
    folder = {"about": "build", "main": "yes", "package": "Shop"}
    own = lesson("build", "cd Shop && xcodebuild -project Shop.xcodeproj -scheme Shop build", details=folder)
    assert [each.use for each in choose_at_once([open_form, own])] == [own.use]


def test_a_changelog_that_nobody_keeps_is_not_told_of() -> None:
    begun = "# Changelog\n\n## [Unreleased]\n- docs\n"

    def lines(changes: int | None) -> list[str]:
        texts = {"CHANGELOG.md": begun}
        tree = ProjectTree(frozenset(texts), texts, ["x"] * 60, "shop", changes)
        return [describe_lesson(each) for each in derive_facts(tree)]

    kept = "a change that users notice gets a line below `Unreleased` in `CHANGELOG.md`"
    assert (lines(0), lines(1), lines(9), lines(None)) == ([], [], [kept], [kept])


def test_the_newest_commits_are_read_with_what_they_change() -> None:
    log = "\0feat: one\n\nCHANGELOG.md\nsrc/a.ts\n\0fix: two\n\nsrc/b.ts\n"
    assert read_log(log) == {"subjects": ["feat: one", "fix: two"], "changelog_changes": 1}
    assert read_log("") == {"subjects": [], "changelog_changes": None}


def test_a_check_that_hardly_ever_passes_is_no_way_to_check_whatever_a_script_says() -> None:
    failing = lesson("test", "bun run test", sessions=13, details={"about": "test", "main": "yes", "passed": "1"})
    failing = msgspec.structs.replace(failing, support=Support(1, 13, 14, 12))
    passing = lesson("test", "bun run test:once", details={"about": "test", "main": "yes"})
    assert [each.use for each in choose_at_once([failing, passing])] == ["bun run test:once"]


@pytest.mark.parametrize(("command", "is_said"), [
    ("go test ./...", False), ("go build ./...", False), ("cargo test", False), ("npx tsc --noEmit", True),
    ("cd src && go test ./...", True), ("go test -tags=live ./...", True), ("cargo test --all-features", True),
])  # fmt: skip
def test_what_everybody_types_is_not_told_unless_the_project_lies_in_a_folder(command: str, is_said: bool) -> None:
    known = lesson("build" if "build" in command else "test", command, sessions=9, reach=0.7)
    assert bool(choose_at_once([known])) is is_said


def test_a_check_runs_in_the_folder_where_its_program_finds_the_project() -> None:
    """The sessions' shells stood there; who begins stands in the project's own folder."""
    tree = tree_of({"src/go.mod": "module shop\n", "src/cart_test.go": "", "README.md": "x"})
    typed = lesson("lint", "golangci-lint run ./...", sessions=9, reach=0.7)
    facts = join_facts([typed], derive_facts(tree), tree)
    assert "cd src && golangci-lint run ./..." in [each.use for each in choose_at_once(facts)]


def test_a_custom_that_a_file_describes_in_words_is_stated() -> None:
    text = "Use Conventional Commits. Work on a feature branch and open a draft PR.\n"
    commits, branches = (
        lesson(topic, "", details={"about": about}) for topic, about in (("commit", "message"), ("branch", "branch"))
    )
    pull = lesson("pull_request", "gh pr create --draft", details={"about": "pull request"})
    assert all(is_stated(each, read_statements(text)) for each in (commits, branches, pull))
    assert not any(is_stated(each, read_statements("Test with `make test`.")) for each in (commits, branches, pull))


def test_how_pull_requests_are_merged_waits_for_one_where_a_file_says_only_that_there_are_any() -> None:
    merged = lesson("pull_request", "gh pr create", details={"about": "pull request", "merge": "gh pr merge --squash"})
    vague, exact = (
        read_statements(f"Changes come in by pull requests.{more}\n") for more in ("", " They are squash-merged.")
    )
    assert [each.topic for each in choose_at_once([merged])] == ["pull_request"]
    (left,) = without_stated([merged], vague)
    assert choose_at_once([left]) == []
    assert [each.lesson for each in choose_for_prompt([left], "open a pull request for this")] == [left]
    assert without_stated([merged], exact) == []


def test_a_script_whose_program_no_package_brings_is_not_named() -> None:
    few = '{"scripts": {"format": "prettier --write ."}, "devDependencies": {"vite": "1"}}'
    many = few.replace('"vite": "1"', ", ".join(f'"vite-plugin-{n}": "1"' for n in range(8)))
    there = many.replace('"vite-plugin-0"', '"prettier"')
    commands = [
        any(f.topic == "format" for f in derive_facts(tree_of({"package.json": each}))) for each in (few, many, there)
    ]
    assert commands == [True, False, True]  # a small manifest may leave the rest to one above it


def test_what_a_file_advises_against_is_never_said() -> None:
    setup = lesson("setup", "npm install")
    pulls = lesson(
        "pull_request", "gh pr create --draft", details={"about": "pull request", "merge": "gh pr merge --squash"}
    )
    statements = read_statements("Never run `npm install` here.\n\nDo not run `gh pr merge`: the team merges.\n")
    assert [describe_lesson(each) for each in without_stated([setup, pulls], statements)] == [
        "changes come in by pull requests: `gh pr create --draft`"
    ]


@pytest.mark.parametrize("prompt", ["migrate from eslint to oxlint", "remove eslint and lint with oxlint"])
def test_the_check_of_a_tool_that_is_to_go_is_not_said(prompt: str) -> None:
    lint = lesson("lint", "pnpm lint", details={"about": "lint", "body": "eslint .", "main": "yes"})
    assert choose_for_prompt([lint], prompt) == []
    assert choose_for_prompt([lint], "fix the failing lint") != []


def test_a_command_that_a_prompt_has_without_its_run_is_not_repeated() -> None:
    tests = lesson("test", "mise run test:coverage", details={"about": "test", "main": "yes"})
    assert choose_for_prompt([tests], "run the tests with mise test:coverage") == []
