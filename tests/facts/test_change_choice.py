"""What a session is told at a change of files, before it commits, at a server, and after a check that found something."""

import pytest

from preheat.facts import derive_facts
from preheat.facts.call_choice import Place, choose_for_call
from preheat.facts.choice import choose_for_prompt
from preheat.facts.failure_choice import choose_after_check
from preheat.facts.fitness import fits, tool_of
from preheat.model.lesson import Lesson
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
    ("packages/api/src/cart.ts", "test of `packages/api`: `pnpm --filter @shop/api test` = `vitest run`"),
    ("src/cart.ts", "the project's checks: `pnpm test`, `pnpm lint`"),
    ("package.json", "after a clone, a change of dependencies, or where a module is missing: `pnpm install`"),
    ("proto/cart.proto", "generate: `pnpm proto:gen`"),
    ("README.md", ""),
])  # fmt: skip
def test_a_change_brings_what_is_done_after_it(changed: str, expected: str) -> None:
    assert line_for(FACTS, changed) == expected


def test_what_a_session_ran_or_was_told_is_not_said_at_a_change() -> None:
    assert (
        line_for(FACTS, "src/cart.ts", place=Place(ran=("pnpm test 2>&1 | tail -5",)))
        == "lint: `pnpm lint` = `eslint .`"
    )
    assert line_for(FACTS, "src/cart.ts", told=(fact("pnpm test"), fact("pnpm lint"))) == ""


def test_the_checks_of_a_project_are_named_together_once_and_without_what_a_file_states() -> None:
    whole = line_for(FACTS, "src/cart.ts")
    said = choose_for_call(FACTS, "", ["src/cart.ts"])
    assert said is not None
    assert "`pnpm test`, `pnpm lint`" in whole
    assert line_for(FACTS, "src/cart.ts", told=(said,)) == ""
    assert line_for(FACTS, "src/cart.ts", place=Place(stated=frozenset(["test"]))) == "lint: `pnpm lint` = `eslint .`"


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
    missing = Place(is_there=lambda path: False)
    assert line_for([placed], "web/cart.tsx", place=missing).startswith("New `.tsx` files go below `web/components/`")
    assert line_for([placed], "web/components/cart.tsx", place=missing) == ""
    assert line_for([placed], "web/cart.tsx") == ""


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
    assert line_for(FACTS, command="curl -s http://localhost:5173/cart") == "run: `pnpm dev`, port 5173"
    assert line_for(FACTS, command="curl -s http://localhost:9999/cart") == ""


def test_a_program_that_the_project_does_not_use_for_this_is_replaced_by_its_own() -> None:
    assert line_for(FACTS, command="npx jest") == "test: `pnpm test` = `vitest run`"
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
    (["test"], "pnpm test", "one test: `pnpm exec vitest run PATH -t NAME`"),
    (["lint"], "pnpm lint", "lint, with fixes: `pnpm lint:fix` = `eslint . --fix`"),
    (["test"], "pnpm vitest run src/cart.test.ts", ""),
    (["typecheck"], "pnpm typecheck", ""),
])  # fmt: skip
def test_a_check_that_found_something_brings_what_helps(purposes: list[str], command: str, expected: str) -> None:
    found = choose_after_check(FACTS, purposes, command)
    assert (describe_lesson(found) if found is not None else "") == expected


def test_what_helps_after_a_check_is_said_once() -> None:
    told = frozenset([getattr(choose_after_check(FACTS, ["test"], "pnpm test"), "id", "")])
    assert choose_after_check(FACTS, ["test"], "pnpm test", told) is None


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
