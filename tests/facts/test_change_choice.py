"""What a session is told at a change of files, before it commits, at a server, and after a check that found something."""

import json

import msgspec
import pytest

from preheat.facts import derive_facts
from preheat.facts.call_choice import Place, choose_for_call
from preheat.facts.choice import choose_for_prompt
from preheat.facts.failure_choice import choose_after_check
from preheat.facts.fitness import fits, is_usable, tool_of
from preheat.facts.join import join_facts
from preheat.model.lesson import Lesson, Support
from preheat.provisioning.lesson_text import describe_lesson
from tests.facts.test_facts import lesson, tree_of

SHOP = {
    "package.json": '{"scripts": {"test": "vitest run", "lint": "eslint .", "lint:fix": "eslint . --fix",'
    ' "proto:gen": "buf generate", "dev": "vite --port 5173"}, "devDependencies": {"vitest": "1"}}',
    "pnpm-lock.yaml": "",
    "packages/api/package.json": '{"name": "@shop/api", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1"}}',
    "pnpm-workspace.yaml": "packages:\n- packages/*\n",
    "src/cart.ts": "",
}


def line_for(
    facts: list[Lesson],
    changed: str = "",
    command: str = "",
    told: tuple[Lesson, ...] = (),
    place: Place | None = None,
) -> str:
    known = frozenset(each.id for each in told)
    found = choose_for_call(facts, command, [changed] if changed else [], known, place or Place())
    return describe_lesson(found) if found is not None else ""


FACTS = derive_facts(tree_of(SHOP))


def fact(use: str) -> Lesson:
    return next(each for each in FACTS if each.use == use)


@pytest.mark.parametrize(("changed", "expected"), [
    ("src/cart.test.ts", "one test file: `pnpm exec vitest run PATH`"),
    ("packages/api/src/cart.ts",
     "before a change is done, test of `packages/api`: `pnpm --filter @shop/api test`"
     " (one test file: `cd packages/api && pnpm exec vitest run PATH`), lint: `pnpm lint` (with fixes: `pnpm lint:fix`)"),
    ("src/cart.ts",
     "before a change is done, test: `pnpm test` (one test file: `pnpm exec vitest run PATH`),"
     " lint: `pnpm lint` (with fixes: `pnpm lint:fix`)"),
    ("package.json", ""),
    ("proto/cart.proto", "generate: `pnpm proto:gen`"),
    ("README.md", ""),
])  # fmt: skip
def test_a_change_brings_what_is_done_after_it(changed: str, expected: str) -> None:
    assert line_for(FACTS, changed) == expected


def test_what_a_session_ran_or_was_told_is_not_said_at_a_change() -> None:
    assert (
        line_for(FACTS, "src/cart.ts", place=Place(ran=("pnpm test 2>&1 | tail -5",)))
        == "lint: `pnpm lint` = `eslint .`; with fixes: `pnpm lint:fix`"
    )
    assert line_for(FACTS, "src/cart.ts", told=(fact("pnpm test"), fact("pnpm lint"))) == ""


def test_the_checks_of_a_project_are_named_together_once_and_without_what_a_file_states() -> None:
    whole = line_for(FACTS, "src/cart.ts")
    said = choose_for_call(FACTS, "", ["src/cart.ts"])
    assert said is not None
    assert "test: `pnpm test`" in whole
    assert "lint: `pnpm lint`" in whole
    assert line_for(FACTS, "src/cart.ts", told=(said,)) == ""
    assert "`vitest" not in line_for(FACTS, "src/cart.test.ts", told=(said,))
    assert choose_for_prompt(FACTS, "run the tests and the linter", told=frozenset([said.id])) == []
    stated = line_for(FACTS, "src/cart.ts", place=Place(stated=frozenset(["test"])))
    assert stated == "lint: `pnpm lint` = `eslint .`; with fixes: `pnpm lint:fix`"


def test_what_most_sessions_run_beside_a_stated_check_is_said_at_a_change() -> None:
    usual = lesson("build", "go build ./...", sessions=9, reach=0.7)
    seldom = lesson("build", "go build ./...", sessions=2, reach=0.2)
    stated = Place(stated=frozenset(["build"]))
    own = lesson("test", "make test", sessions=4)
    assert "build: `go build ./...`" in line_for([own, usual], "src/cart.go", place=stated)
    assert "go build" not in line_for([own, seldom], "src/cart.go", place=stated)
    assert line_for([usual], "src/cart.go") == ""  # by itself everybody types it


def test_what_a_language_has_for_everybody_completes_the_checks_where_sessions_run_it() -> None:
    own = lesson("test", "make test", sessions=4)
    vet = lesson("lint", "go vet ./...", sessions=4)
    assert line_for([own, vet], "src/cart.go") == "before a change is done, test: `make test`, lint: `go vet ./...`"


TEST = lesson("test", "make test", sessions=4)
MESSAGE = lesson("commit", "", details={"about": "message", "types": "feat,fix", "scope": ""})
BRANCHES = lesson("branch", "", details={"about": "branch", "prefixes": "fix/,feat/", "good": "9", "all": "10"})
PULLS = lesson(
    "pull_request", "gh pr create --draft", details={"about": "pull request", "merge": "gh pr merge --squash"}
)
CHANGES = lesson("release", "", details={"about": "changelog", "path": "CHANGELOG.md"})


def test_how_a_change_comes_in_is_said_with_its_checks_and_once() -> None:
    facts = [TEST, MESSAGE, BRANCHES, PULLS, CHANGES]
    said = choose_for_call(facts, "", ["src/cart.go"])
    assert said is not None
    assert describe_lesson(said) == (
        "before a change is done, test: `make test`; commit messages: `TYPE: …`, mostly `feat: …`, `fix: …`;"
        " branches: `fix/`, `feat/`; pull requests: `gh pr create --draft`, merged with `gh pr merge --squash`;"
        " what users notice: a line below `Unreleased` in `CHANGELOG.md`"
    )
    assert line_for(facts, "src/till.go", told=(said,)) == ""
    assert line_for(facts, command="git commit -m 'fix: x'", told=(said,), place=Place(edited=("src/cart.go",))) == ""
    assert choose_for_prompt(facts, "commit it and open a pull request", told=frozenset([said.id])) == []


def test_customs_alone_are_worth_a_line_where_there_are_two_and_sessions_commit() -> None:
    assert line_for([MESSAGE, BRANCHES], "src/cart.go") == (
        "when a change is committed, messages: `TYPE: …`, mostly `feat: …`, `fix: …`, branches: `fix/`, `feat/`"
    )
    assert line_for([MESSAGE], "src/cart.go") == ""
    seldom = [msgspec.structs.replace(each, reach=0.1) for each in (MESSAGE, BRANCHES)]
    assert line_for(seldom, "src/cart.go") == ""
    plain = msgspec.structs.replace(PULLS, use="gh pr create", details={"about": "pull request"})
    assert line_for([MESSAGE, plain], "src/cart.go") == ""  # everybody makes them so


def test_sessions_that_only_read_say_nothing_of_what_a_change_needs() -> None:
    """One session in twenty changes code, and each of those tests it."""
    seldom = msgspec.structs.replace(TEST, reach=0.05, details={"about": "test", "main": "yes"})
    lint = msgspec.structs.replace(
        seldom, id="lint", topic="lint", use="make lint", details={"about": "lint", "main": "yes"}
    )
    few = [msgspec.structs.replace(each, support=Support(1, 1)) for each in (seldom, lint)]
    assert line_for(few, "src/cart.go") == ""
    needed = [msgspec.structs.replace(each, need=0.9, changing=3) for each in few]
    assert line_for(needed, "src/cart.go") == "before a change is done, test: `make test`, lint: `make lint`"


def test_a_command_for_all_checks_is_said_with_the_tasks_that_it_runs() -> None:
    body = "make lint && make test"
    whole = lesson("check", "make verify", details={"about": "check", "body": body, "main": "yes"})
    lint = lesson("lint", "make lint", sessions=4)
    form = lesson("format", "make fmt", sessions=4)
    expected = "before a change is done, all checks: `make verify` = `make lint && make test`, format: `make fmt`"
    assert line_for([whole, TEST, lint, form], "src/cart.go") == expected


def test_another_test_that_many_sessions_run_stands_beside_the_usual_one() -> None:
    other = lesson("test", "make e2e", sessions=3)
    seldom = lesson("test", "make slow", sessions=3, reach=0.1)
    lint = lesson("lint", "make lint", sessions=4)
    expected = "before a change is done, test: `make test`, other tests: `make e2e`, lint: `make lint`"
    assert line_for([TEST, other, seldom, lint], "src/cart.go") == expected
    script = lesson("test", "make test", sessions=4, details={"about": "test", "body": "go test ./...", "main": "yes"})
    same = lesson("test", "mise exec -- go test ./...", sessions=3)
    assert "other tests" not in line_for([script, same, lint], "src/cart.go")


def test_a_check_whose_program_no_shell_finds_is_not_named() -> None:
    lint = lesson("lint", "golangci-lint run", sessions=3)
    lost = lesson("missing", "", sessions=2, details={"about": "missing", "name": "golangci-lint"})
    found = msgspec.structs.replace(lost, use="mise exec -- golangci-lint")
    assert "golangci-lint" in line_for([TEST, lint], "src/cart.go")
    assert "golangci-lint" in line_for([TEST, lint, found], "src/cart.go")  # what works instead is said before the call
    assert "golangci-lint" not in line_for([TEST, lint, lost], "src/cart.go")


def test_what_everybody_types_is_no_line_without_a_test_of_the_project() -> None:
    vet, build = lesson("lint", "go vet ./..."), lesson("build", "go build ./...")
    assert line_for([vet, build], "src/cart.go") == ""
    assert "go vet" in line_for([lesson("test", "go test ./..."), vet, build], "src/cart.go")


@pytest.mark.parametrize("name", ["generate-check", "test:smoke", "lint:watch"])
def test_a_task_that_is_called_for_something_else_is_no_check_of_a_change(name: str) -> None:
    assert name not in line_for([TEST, lesson("lint", f"make {name}", sessions=9)], "src/cart.go")


def test_a_linter_that_sessions_run_on_folders_is_the_linter_of_the_project() -> None:
    implied = lesson(
        "lint", "golangci-lint run", sessions=0, details={"about": "lint", "implied": "yes", "main": "yes"}
    )
    part = lesson("lint", "golangci-lint run ./FOLDER/...", sessions=3)
    assert "lint" not in line_for([TEST, implied], "src/cart.go")
    assert "lint: `golangci-lint run`" in line_for([TEST, implied, part], "src/cart.go")
    task = lesson("lint", "make lint", sessions=0, details={"about": "lint", "main": "yes"})
    assert "lint: `make lint`" in line_for([TEST, implied, part, task], "src/cart.go")


def test_a_script_stands_for_what_sessions_type_in_its_place() -> None:
    script = lesson("typecheck", "pnpm typecheck", sessions=0, details={"about": "typecheck", "body": "tsc --noEmit"})
    typed = lesson("typecheck", "npx tsc --noEmit --pretty false", sessions=6)
    assert "typecheck: `pnpm typecheck`" in line_for([TEST, script, typed], "src/cart.ts")


def test_the_check_of_a_formatter_brings_no_other_check() -> None:
    lint = lesson("lint", "uv run ruff check .", sessions=4)
    assert line_for([lint], command="uv run ruff format --check .", place=Place(folder="")) == ""


def test_a_form_that_nobody_can_run_as_it_stands_is_not_among_the_checks() -> None:
    open_form = lesson("build", "xcodebuild -project NAME -scheme Shop build", sessions=9, reach=0.6)
    own = lesson("test", "make test", sessions=4)
    assert "xcodebuild" not in line_for([open_form, own], "Shop/Cart.swift")


def test_one_test_file_is_told_of_once_for_all_packages_with_the_same_tool() -> None:
    first = fact("pnpm exec vitest run PATH")
    assert "vitest run PATH" not in line_for(FACTS, "packages/api/src/cart.test.ts", told=(first,))


def test_a_check_of_another_language_is_not_said() -> None:
    assert line_for(FACTS, "tools/release.py") == ""
    assert not fits(lesson("format", "cd backend && ruff format ."), ["frontend/cart.tsx"])
    assert fits(lesson("format", "make fmt"), ["frontend/cart.tsx"])


def test_a_source_of_generated_code_brings_its_command() -> None:
    known = lesson("generate", "mise run pkl:gen", details={"about": "generate", "source": "pkl/builtins/*.pkl"})
    assert line_for([known], "pkl/builtins/biome.pkl").startswith(
        "after changes of `pkl/builtins/*.pkl`: `mise run pkl:gen`"
    )
    assert line_for([known], "src/main.rs") == ""


def test_a_new_file_of_a_kind_that_goes_elsewhere_is_told_where() -> None:
    placed = lesson(
        "placement", "web/components", details={}, text="New `.tsx` files go below `web/components/` (6 of 6 new ones)."
    )

    def line_at(path: str, has_kind: bool = False) -> str:
        new = Place(is_there=lambda path: False, created=(path,), has_kind=lambda folder, ending: has_kind)
        return line_for([placed], path, place=new)

    assert line_at("web/cart.tsx").startswith("New `.tsx` files go below `web/components/`")
    assert line_at("web/components/cart.tsx") == ""
    assert line_at("web/pages/cart.tsx", has_kind=True) == ""
    assert line_for([placed], "web/cart.tsx", place=Place(is_there=lambda path: False)) == ""  # an edit
    for path in (
        "test/helpers/cart.tsx",
        "web/__mocks__/cart.tsx",
        "web/CartMock.tsx",
        "scripts/cart.tsx",
        "examples/a.tsx",
    ):
        assert line_at(path) == ""


def test_a_commit_brings_the_checks_that_no_hook_runs_once_code_was_changed() -> None:
    facts = [lesson("lint", "make lint")]
    assert line_for(facts, command="git commit -m x", place=Place(edited=("src/cart.go",))).startswith(
        "lint: `make lint`"
    )
    assert line_for(facts, command="git commit -m x") == ""
    assert line_for(facts, command="git commit -m x", place=Place(edited=("src/cart.go",), ran=("make lint",))) == ""
    hook = lesson("hook", "", details={"about": "commit", "commands": "make lint"})
    assert "make lint" not in line_for(
        [*facts, hook], command="git commit -m x", told=(hook,), place=Place(edited=("a.go",))
    )


def test_a_server_that_is_asked_is_named_by_its_port() -> None:
    silent = Place(listens=lambda port: False)
    assert line_for(FACTS, command="curl -s http://localhost:5173/cart", place=silent) == "run: `pnpm dev`, port 5173"
    assert line_for(FACTS, command="curl -s http://localhost:9999/cart", place=silent) == ""
    assert line_for(FACTS, command="curl -s http://localhost:5173/cart") == ""  # it runs
    assert line_for(FACTS, command="pnpm dev & curl -s http://localhost:5173/cart", place=silent) == ""


def test_a_program_that_the_project_does_not_use_for_this_is_replaced_by_its_own() -> None:
    assert line_for(FACTS, command="npx jest") == "test: `pnpm test` = `vitest run`"
    assert line_for(FACTS, command="npx vitest run src/") == ""  # what its script runs
    assert line_for(FACTS, command="cargo test") == ""
    assert line_for(FACTS, command="pnpm test:e2e") == ""  # another script of the project
    gap = lesson("build", "xcodebuild -project NAME -scheme Shop build", details={"about": "build", "main": "yes"})
    assert line_for([gap], command="xcodebuild build -scheme Shop") == ""
    assert line_for(FACTS, command="pytest") == ""


def test_a_text_that_is_handed_to_a_command_is_no_pattern() -> None:
    zsh = lesson("pattern", "", details={"about": "pattern"})
    nothing = Place(has_match=lambda pattern: False)
    assert line_for([zsh], command="node - <<'END'\nconst a = b * c;\nEND", place=nothing) == ""
    assert line_for([zsh], command='rg "cart|*.ts" src', place=nothing) == ""
    assert line_for([zsh], command="rg cart src/*.ts", place=nothing).startswith("the shell here is `zsh`")


def test_a_lock_file_is_only_at_risk_where_something_is_installed() -> None:
    runner = lesson("runner", "", details={"about": "runner", "name": "pnpm", "file": "pnpm-lock.yaml"})
    assert line_for([runner], command="npm test") == ""
    assert line_for([runner], command="npm install -g vercel") == ""
    assert "pnpm" in line_for([runner], command="npm install left-pad")


@pytest.mark.parametrize(("purposes", "command", "expected"), [
    (["test"], "pnpm test", ""),
    (["lint"], "pnpm lint", "lint, with fixes: `pnpm lint:fix` = `eslint . --fix`"),
    (["test"], "pnpm vitest run src/cart.test.ts", ""),
    (["typecheck"], "pnpm typecheck", ""),
])  # fmt: skip
def test_a_check_that_found_something_brings_what_helps(purposes: list[str], command: str, expected: str) -> None:
    found = choose_after_check(FACTS, purposes, command)
    assert (describe_lesson(found) if found is not None else "") == expected


def test_a_check_of_another_folder_is_not_among_those_of_a_change() -> None:
    own, build = lesson("test", "make test"), lesson("build", "cd web && go build -tags=web ./...")
    assert "cd web" not in line_for([own, build], "internal/cart.go")
    assert "cd web" in line_for([own, build], "web/cart.go")


def test_the_build_of_another_program_is_not_said_of_a_change() -> None:
    build = lesson("build", "cd go && go build ./cmd/server/")
    assert line_for([build], "go/cmd/chat/main.go") == ""
    assert "cmd/server" in line_for([build], "go/cmd/server/main.go")
    assert "cmd/server" in line_for([build], "go/internal/store.go")


def test_a_command_without_its_program_is_no_command() -> None:
    assert line_for([lesson("test", "NAME PATH.py -q", details={"about": "one test file"})], "tests/test_cart.py") == ""


def test_scripts_of_the_shell_beside_a_program_do_not_bring_its_checks() -> None:
    own = [lesson("test", "make test"), lesson("lint", "make lint")]
    assert line_for(own, "docs/demo.sh") == ""
    assert line_for(own, "src/cart.go") != ""
    assert "shellcheck" in line_for([lesson("lint", "shellcheck tools/*")], "tools/demo.sh")


def test_one_test_is_named_after_a_failure_only_where_sessions_run_one_alone() -> None:
    """A small suite is run whole."""
    used = lesson("test", "make one NAME", sessions=2, details={"about": "one test"})
    assert choose_after_check([used], ["test"], "make test") is used
    seldom = lesson("test", "make one NAME", sessions=0, details={"about": "one test"})
    assert choose_after_check([seldom], ["test"], "make test") is None


def test_what_helps_after_a_check_is_said_once() -> None:
    told = frozenset([getattr(choose_after_check(FACTS, ["lint"], "pnpm lint"), "id", "")])
    assert choose_after_check(FACTS, ["lint"], "pnpm lint", told) is None


def test_a_command_that_was_typed_for_one_file_is_not_the_way_of_the_project() -> None:
    once = lesson("lint", "cd packages/cli && bunx biome lint src/bin/skill-hint.test.ts")
    script = lesson("lint", "bash scripts/lint.sh")
    assert [each.lesson.use for each in choose_for_prompt([once, script], "fix the lint")] == ["bash scripts/lint.sh"]


@pytest.mark.parametrize(("command", "tool"), [
    ("npx jest --ci", "jest"), ("cd web && pnpm exec vitest run", "vitest"), ("mise exec -- go test ./...", "go"),
    ("uv run python -m pytest", "pytest"), ("CI=1 cargo test", "cargo"), ("vendor/bin/pint", "pint"), ("", ""),
])  # fmt: skip
def test_the_tool_of_a_command_stands_after_what_starts_it(command: str, tool: str) -> None:
    assert tool_of(command) == tool


BELOW = {"web/package.json": '{"scripts": {"test": "vitest run"}}', "web/pnpm-lock.yaml": ""}
INSTALL = "after a clone, a change of dependencies, or where a module is missing: `%s`"


@pytest.mark.parametrize(("files", "path", "line", "expected"), [
    (SHOP, "package.json", '    "left-pad": "^1.3.0",', ""),  # everybody types that
    (BELOW, "web/package.json", '    "left-pad": "^1.3.0",', INSTALL % "cd web && pnpm install"),
    (SHOP, "package.json", '  "version": "1.2.4",', ""),
    (SHOP, "package.json", '    "build": "vite build",', ""),
    (SHOP, "package.json", '  "description": "1 shop",', ""),
    ({"pyproject.toml": "[project]\nname = 'x'\n", "uv.lock": ""}, "pyproject.toml", '  "requests>=2",', INSTALL % "uv sync"),
    ({"pyproject.toml": "[project]\nname = 'x'\n", "uv.lock": ""}, "pyproject.toml", 'version = "1.2"', ""),
    ({"mise.toml": "[tools]\ngo = '1.25'\n"}, "mise.toml", 'shfmt = "3"',
     "after a clone, or a change of the tools in `mise.toml`: `mise install`"),
    ({"mise.toml": "[tools]\ngo = '1.25'\n"}, "mise.toml", 'run = "go test ./..."', ""),
])  # fmt: skip
def test_a_manifest_brings_the_set_up_only_where_its_dependencies_change(
    files: dict[str, str], path: str, line: str, expected: str
) -> None:
    assert line_for(derive_facts(tree_of(files)), path, place=Place(lines=(line,))) == expected


TWICE = {"package.json": '{"version": "2.1.0"}', "plugin.json": '{"version": "2.1.0"}'}


@pytest.mark.parametrize(("files", "line", "is_told"), [
    (TWICE, '  "version": "2.2.0",', True), (TWICE, '  "name": "shop",', False),
    (TWICE | {"plugin.json": '{"version": "2.0.9"}'}, '  "version": "2.2.0",', False),
    (TWICE | {"lerna.json": "{}"}, '  "version": "2.2.0",', False),
    (dict.fromkeys(TWICE, '{"version": "0.1.0"}'), '  "version": "0.2.0",', False),
    (dict.fromkeys(TWICE, '{"version": ["2.1.0"]}'), '  "version": "2.2.0",', False),
])  # fmt: skip
def test_a_change_of_a_version_brings_the_other_files_that_have_it(
    files: dict[str, str], line: str, is_told: bool
) -> None:
    said = line_for(derive_facts(tree_of(files)), "package.json", place=Place(lines=(line,)))
    assert ("the same version stands in `package.json`, `plugin.json`" in said) is is_told


def test_an_edit_outside_of_the_project_brings_nothing() -> None:
    for path in ("/tmp/scratch/cart.ts", "../other/cart.ts", "~/cart.ts"):
        assert line_for(FACTS, path) == ""


def test_a_generator_is_told_of_only_by_its_source_never_by_the_ending_of_a_script() -> None:
    release = lesson("generate", "bash scripts/render-install.sh", details={"about": "generate"})
    assert line_for([release], "tests/gen_fixtures.sh") == ""
    assert (
        line_for([lesson("generate", "bash scripts/gen-proto.proto", details={"about": "generate"})], "a.proto") == ""
    )


def test_one_test_of_another_folder_is_not_told_of() -> None:
    other = lesson("test", "go test ./pkg/store/... -run NAME -tags=db", details={"about": "one test"})
    assert line_for([other], "internal/api/api_test.go") == ""
    assert line_for([other], "pkg/store/cart_test.go").startswith("one test: ")
    assert line_for([other], ".vscode-test.mjs") == ""


def test_a_formatter_that_only_a_file_configures_is_not_told_of() -> None:
    assert line_for(derive_facts(tree_of({".swiftformat": "", "Shop/Cart.swift": ""})), "Shop/Cart.swift") == ""


def test_scripts_of_a_package_are_not_told_of_at_code_of_another_language() -> None:
    script = lesson("lint", "pnpm lint", details={"about": "lint", "main": "yes"})
    assert line_for([script], "src/cart.ts").startswith("lint: `pnpm lint`")
    assert line_for([script], "desktop/cart.rs") == ""
    task = lesson("lint", "make web-lint", details={"about": "lint", "main": "yes", "body": "pnpm lint"})
    assert line_for([task], "desktop/cart.rs") == ""


def test_tests_of_a_package_that_the_root_configures_are_run_from_the_root() -> None:
    files = {
        **SHOP,
        "packages/api/package.json": '{"name": "@shop/api"}',
        "vitest.config.ts": "",
        "packages/api/test/cart.test.ts": "",
    }
    expected = "one test file: `pnpm exec vitest run PATH`"
    assert line_for(derive_facts(tree_of(files)), "packages/api/test/cart.test.ts") == expected
    own = files | {"packages/api/vitest.config.ts": ""}
    assert "cd packages/api && " in line_for(derive_facts(tree_of(own)), "packages/api/test/cart.test.ts")


def test_a_preview_of_what_was_built_is_not_the_server_of_the_project() -> None:
    files = {"package.json": '{"scripts": {"preview": "max preview", "dev": "max dev --port 3001"}}'}
    uses = [each.use for each in derive_facts(tree_of(files)) if each.topic == "serve"]
    assert uses == ["npm run dev"]


def checked(known: Lesson, purposes: list[str], command: str, edited: tuple[str, ...] = ()) -> bool:
    return choose_after_check([known], purposes, command, edited=edited) is not None


def test_a_formatter_helps_only_after_the_check_of_a_formatter() -> None:
    known = lesson("format", "make fmt", details={"about": "format", "main": "yes"})
    assert checked(known, ["lint"], "make fmt-check")
    assert checked(known, ["lint"], "npx prettier --check .")
    assert not checked(known, ["lint"], "golangci-lint run")


def test_one_test_helps_only_where_it_runs_the_tests_that_failed() -> None:
    known = lesson("test", "make one NAME", details={"about": "one test"})
    assert checked(known, ["test"], "make test")
    assert not checked(known, ["test"], "go test -tags=integration ./...")
    assert not checked(known, ["test"], "mise run test:integration")
    tagged = lesson("test", "go test -tags=integration -run NAME PATH", details={"about": "one test"})
    assert checked(tagged, ["test"], "go test -tags=integration ./...", ("store/cart.go",))
    of_folder = lesson("test", "go test -tags=integration -run NAME ./store/...", details={"about": "one test"})
    assert not checked(of_folder, ["test"], "go test -tags=integration ./...", ("store/cart.go",))


def test_the_fixes_of_a_linter_are_told_of_after_that_linter_alone() -> None:
    known = lesson("lint", "npx eslint --fix PATH", details={"about": "lint, with fixes", "main": "yes"})
    script = lesson("lint", "npm run lint", details={"about": "lint", "body": "biome lint src"})
    assert checked(known, ["lint"], "npx eslint")
    assert not checked(known, ["lint"], "npm run check-types")
    assert choose_after_check([known, script], ["lint"], "npm run lint") is None


def test_the_command_for_all_checks_leaves_nothing_to_say_of_each() -> None:
    whole = lesson("check", "make ci", details={"about": "check", "main": "yes"})
    lint = lesson("lint", "make lint", details={"about": "lint", "main": "yes"})
    assert line_for([whole, lint], "src/cart.go") == "before a change is done, all checks: `make ci`, lint: `make lint`"
    assert line_for([whole, lint], "src/cart.go", told=(whole,)) == ""


@pytest.mark.parametrize(("topic", "use", "is_said"), [
    ("lint", "cd src && gofmt -l .", False), ("lint", "npx prettier --check .", False), ("lint", "make lint", True),
    ("typecheck", "npx tsc", False), ("typecheck", "npx tsc --noEmit", True),
])  # fmt: skip
def test_what_only_formats_or_compiles_is_not_the_check_of_a_change(topic: str, use: str, is_said: bool) -> None:
    own = lesson("test", "make test")
    assert (use in line_for([own, lesson(topic, use)], "src/cart.ts")) is is_said


def test_a_script_for_any_package_is_said_only_where_nearly_all_have_it() -> None:
    def names(*having: bool) -> bool:
        packages = {
            f"packages/p{number}/package.json": json.dumps(
                {"name": f"@shop/p{number}", "scripts": {"test": "vitest"} | ({"build": "tsc -b"} if has else {})}
            )
            for number, has in enumerate(having)
        }
        root = {"package.json": "{}", "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages:\n- packages/*\n"}
        tree = tree_of({**root, **packages})
        typed = lesson("build", "pnpm --filter PACKAGE build", details={"about": "build of one package"})
        return "pnpm --filter PACKAGE build" in [each.use for each in join_facts([typed], derive_facts(tree), tree)]

    assert names(True, True, True)
    assert not names(True, True, False)


def test_a_command_of_several_modules_that_names_none_is_not_said() -> None:
    typed = lesson("test", "go test -tags=live ./...", sessions=9, reach=0.7)
    tree = tree_of({"src/go.mod": "module a\n", "e2e/go.mod": "module b\n", "src/a_test.go": "", "e2e/b_test.go": ""})
    (found,) = (each for each in join_facts([typed], derive_facts(tree), tree) if each.id == typed.id)
    assert not is_usable(found)


def test_the_server_of_a_port_is_the_one_that_has_it() -> None:
    """Where the one of this port was told, another one is no answer."""
    api = lesson("serve", "pnpm api", details={"about": "run", "port": "8787"})
    web = lesson("serve", "pnpm dev", details={"about": "run", "main": "yes"})
    silent = Place(listens=lambda port: False)
    assert "pnpm api" in line_for([api, web], command="curl localhost:8787/x", place=silent)
    assert line_for([api, web], command="curl localhost:8787/x", place=silent, told=(api,)) == ""


@pytest.mark.parametrize("command", ["scripts/test-one.sh cart", "bash scripts/test.sh", "./run_tests.sh"])
def test_a_script_of_the_project_is_not_replaced_by_another_one(command: str) -> None:
    assert line_for([TEST], command=command, place=Place(folder="")) == ""


def test_another_linter_of_another_language_does_not_stand_beside_one() -> None:
    linter = lesson("lint", "golangci-lint run", sessions=5)
    prose = lesson("lint", "npx markdownlint-cli2 PATH", sessions=4)
    assert "markdownlint" not in line_for([linter, prose], "src/cart.go")


def test_a_check_of_types_that_only_a_file_configures_is_not_said_unasked() -> None:
    package = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1", "typescript": "5"}}'
    settings = '{"compilerOptions": {"noEmit": true}}'
    facts = derive_facts(tree_of({"package.json": package, "pnpm-lock.yaml": "", "tsconfig.json": settings}))
    assert "tsc" not in line_for(facts, "src/cart.ts")
    assert any("tsc" in describe_lesson(each.lesson) for each in choose_for_prompt(facts, "fix the type errors"))


def test_configuration_of_a_tool_is_no_code_of_the_program() -> None:
    assert line_for([TEST], "oxlint.config.ts") == ""
