"""What a script looks at: at which files its command is said, and whether it can pass before a change is committed."""

import json

import pytest

from preheat.facts import derive_facts
from preheat.facts.fitness import fits
from preheat.facts.join import join_facts
from preheat.model.lesson import Lesson
from tests.facts.test_change_choice import line_for
from tests.facts.test_facts import lesson, tree_of

MAKEFILE = (
    "PY ?= uv run --frozen python\nGO_PACKAGES := ./...\n"
    "build:\n\tcd go && go build ./...\n\t./scripts/bundle.sh\n"
    "format-check:\n\ttest -z \"$$(gofmt -l go)\"\n\tuv run --frozen ruff format --check python\n"
    "lint: format-check\n\t@echo linting\n\tcd go && go vet $(GO_PACKAGES)\n\t$(PY) -m ruff check python\n"
    "type-check:\n\tuv run --frozen ty check python/src \\\n\t\t--exclude 'python/src/generated/**' --output-format concise\n"
    "fmt:\n\t@echo \"Formatting...\"\n\t@find scripts -name '*.sh' -type f -exec shfmt -w -i 4 -ci {} +\n"
)  # fmt: skip
BILINGUAL = {"Makefile": MAKEFILE, "go/cart.go": "", "python/src/cart.py": "", "scripts/bundle.sh": ""}


def fact_of(files: dict[str, str], use: str) -> Lesson:
    return next(each for each in derive_facts(tree_of(files)) if each.use == use)


@pytest.mark.parametrize(("use", "fitting", "other"), [
    ("make type-check", ["python/src/cart.py"], ["go/cart.go", "web/cart.ts"]),
    ("make fmt", ["scripts/bundle.sh"], ["python/src/cart.py", "settings.toml", "go/cart.go"]),
    ("make format-check", ["python/src/cart.py", "go/cart.go"], ["web/cart.ts"]),
    ("make lint", ["python/src/cart.py", "go/cart.go"], ["web/cart.ts", "scripts/bundle.sh"]),
    ("make build", ["python/src/cart.py", "go/cart.go", "web/cart.ts"], []),
])  # fmt: skip
def test_a_task_is_fit_for_the_files_that_all_its_programs_look_at(
    use: str, fitting: list[str], other: list[str]
) -> None:
    """Through continued lines, variables, targets that are made before, and commands in place of words; one program that
    nobody knows makes it fit for all."""
    fact = fact_of(BILINGUAL, use)
    assert [path for path in fitting if not fits(fact, [path])] == []
    assert [path for path in other if fits(fact, [path])] == []


def test_a_task_of_one_language_is_not_said_at_a_file_of_another() -> None:
    facts = derive_facts(tree_of(BILINGUAL))
    assert "make type-check" in line_for(facts, "python/src/cart.py")
    assert "make lint" in line_for(facts, "go/cart.go")
    assert "make type-check" not in line_for(facts, "go/cart.go")
    assert "make fmt" not in line_for(facts, "python/src/cart.py")


def test_what_a_script_looks_at_is_known_where_sessions_ran_it() -> None:
    tree = tree_of(BILINGUAL)
    ran = lesson("typecheck", "make type-check", sessions=9)
    facts = join_facts([ran], derive_facts(tree), tree)
    assert "make type-check" in line_for(facts, "python/src/cart.py")
    assert "make type-check" not in line_for(facts, "go/cart.go")


@pytest.mark.parametrize(("body", "is_fit"), [
    ("node scripts/check.mjs", True), ("node --test", False), ("go run ./tools/check", True), ("bun test", False),
    ("pnpm install && vitest run || true", False), ("npx --yes vitest run", False), ("CI=1 vitest run > out.txt 2>&1", False),
])  # fmt: skip
def test_a_script_of_the_project_may_look_at_any_file(body: str, is_fit: bool) -> None:
    """What only installs, announces or hands on counts for nothing."""
    fact = fact_of({"Makefile": f"test:\n\t{body}\n", "web/cart.ts": ""}, "make test")
    assert fits(fact, ["web/cart.ts"])
    assert fits(fact, ["cart.rs"]) is is_fit


def test_a_manifest_of_a_language_is_among_what_its_programs_look_at() -> None:
    assert fits(fact_of({"Makefile": "test:\n\tcargo test\n"}, "make test"), ["Cargo.toml"])


SHOP = {
    "package.json": json.dumps({"scripts": {
        "test": "pnpm --filter @shop/web test", "lint": "pnpm --filter web lint && pnpm -C packages/api lint",
        "build": "turbo run build", "typecheck": "pnpm -r typecheck", "format": "prettier --write .",
        "test:api": "npm --prefix packages/api run test", "lint:web": "turbo run lint --filter=@shop/web",
        "test:ui": "pnpm --filter ./apps/web exec playwright test", "build:all": "pnpm build && node scripts/pack.mjs",
        "lint:lost": "pnpm --filter @shop/gone lint", "test:e2e": "cd e2e && npx playwright test",
    }}),
    "pnpm-workspace.yaml": "packages:\n- apps/*\n- packages/*\n",
    "pnpm-lock.yaml": "",
    "apps/web/package.json": '{"name": "@shop/web", "scripts": {"test": "vitest run", "lint": "eslint .", "build": "vite build",'
    ' "typecheck": "tsc --noEmit"}}',
    "packages/api/package.json": '{"name": "@shop/api", "scripts": {"test": "vitest run", "lint": "eslint .",'
    ' "build": "tsup", "typecheck": "tsc --noEmit"}}',
    "packages/ui/package.json": '{"name": "@shop/ui", "scripts": {"build": "tsup"}}',
    "e2e/package.json": "{}",
}  # fmt: skip
WEB, API, UI, ROOT = "apps/web/src/cart.ts", "packages/api/src/cart.ts", "packages/ui/src/cart.ts", "scripts/pack.mjs"


@pytest.mark.parametrize(("use", "fitting"), [
    ("pnpm test", [WEB]), ("pnpm lint", [WEB, API]), ("pnpm build", [WEB, API, UI]), ("pnpm typecheck", [WEB, API]),
    ("pnpm format", [WEB, API, UI, ROOT]), ("pnpm test:api", [API]), ("pnpm lint:web", [WEB]), ("pnpm test:ui", [WEB]),
    ("pnpm build:all", [WEB, API, UI, ROOT]), ("pnpm lint:lost", [WEB, API, UI, ROOT]),
    ("pnpm test:e2e", [WEB, API, UI, ROOT]),
])  # fmt: skip
def test_a_task_that_works_in_some_folders_is_fit_for_what_lies_in_them(use: str, fitting: list[str]) -> None:
    """A package by its name, the end of that, or its folder; a run over all packages looks at no file of the root. Where one of
    its commands runs for the whole, a package is not known, or a folder holds the tests of the rest, all files are fit."""
    fact = fact_of(SHOP, use)
    assert [path for path in (WEB, API, UI, ROOT) if fits(fact, [path])] == fitting


@pytest.mark.parametrize(("name", "text", "use"), [
    ("mise.toml", "[tasks.test]\ndir = 'apps/web'\nrun = 'vitest run'\n", "mise run test"),
    ("mise.toml", "[tasks.test]\ndir = '{{config_root}}/apps/web'\nrun = ['pnpm install', 'vitest run']\n", "mise run test"),
    ("mise.toml", "[tasks.test]\nrun = '''\ncd apps/web\npnpm install\nvitest run\n'''\n", "mise run test"),
    ("mise.toml", "[tasks.unit]\nhide = true\nrun = 'x'\n[tasks.test]\nrun = 'cd apps/web && vitest run'\n", "mise run test"),
    ("Makefile", "test:\n\t@$(MAKE) -C apps/web test\n", "make test"),
    ("Makefile", "unit:\n\tcd apps/web && vitest run\ntest: unit\n", "make test"),
    ("justfile", "test:\n    cd apps/web && vitest run\n", "just test"),
    ("Taskfile.yml", "version: '3'\ntasks:\n  test:\n    dir: apps/web\n    cmds:\n      - pnpm install\n      - vitest run\n",
     "task test"),
    ("package.json", '{"scripts": {"test": "(cd apps/web && vitest run)"}}', "npm test"),
])  # fmt: skip
def test_a_task_says_in_many_ways_that_it_works_in_one_folder(name: str, text: str, use: str) -> None:
    files = {name: text, "apps/web/Makefile": "test:\n\tvitest run\n", WEB: "", ROOT: ""}
    assert [path for path in (WEB, ROOT) if fits(fact_of(files, use), [path])] == [WEB]


@pytest.mark.parametrize("body", [
    "cd apps/web && vitest run && cd ../.. && vitest run", "cd apps/gone && vitest run",
    "(cd apps/web && vitest run); vitest run", "cd $DIR && vitest run", "cd apps/web && vitest run --root ../..",
])  # fmt: skip
def test_a_task_that_also_works_elsewhere_is_fit_for_all(body: str) -> None:
    files = {"package.json": json.dumps({"scripts": {"test": body}}), WEB: "", ROOT: ""}
    assert fits(fact_of(files, "npm test"), [ROOT])


def test_lines_of_a_makefile_begin_where_it_lies() -> None:
    files = {"Makefile": "test:\n\tcd apps/web && vitest run\n\tvitest run\n", WEB: "", ROOT: ""}
    assert fits(fact_of(files, "make test"), [ROOT])


def test_scripts_that_call_each_other_end() -> None:
    files = {"package.json": '{"scripts": {"test": "npm run lint", "lint": "npm test"}}', WEB: ""}
    assert fits(fact_of(files, "npm test"), [WEB])


CLEAN = ["@git diff --exit-code", "git diff --stat --exit-code HEAD", 'test -z "$$(git status --porcelain)"',
         'if [ -n "$$(git diff --name-only)" ]; then exit 1; fi']  # fmt: skip


@pytest.mark.parametrize("line", CLEAN)
def test_a_check_that_fails_on_any_change_is_none_before_a_change_is_done(line: str) -> None:
    parts = "lint:\n\truff check .\ntest:\n\tpytest\n"
    facts = derive_facts(tree_of({"Makefile": f"{parts}tidy:\n\t{line}\nci: lint test tidy\n"}))
    assert line_for(facts, "src/cart.py") == "before a change is done, test: `make test`, lint: `make lint`"
    whole = derive_facts(tree_of({"Makefile": f"{parts}ci: lint test\n"}))
    assert "all checks: `make ci`" in line_for(whole, "src/cart.py")


def test_a_part_says_by_its_name_that_nothing_may_be_changed() -> None:
    facts = derive_facts(tree_of({
        "Makefile": "test:\n\tpytest\ncheck-dirty:\n\t./scripts/dirty\nci: test check-dirty\n",
    }))  # fmt: skip
    assert line_for(facts, "src/cart.py") == "test: `make test` = `pytest`"


@pytest.mark.parametrize(
    "line", ["git diff --exit-code -- gen/", "git diff --exit-code docs", "git status --porcelain"]
)
def test_what_compares_some_files_only_is_a_check_of_a_change(line: str) -> None:
    files = {"Makefile": f"lint:\n\truff check .\ntest:\n\tpytest\ntidy:\n\t{line}\nci: lint test tidy\n"}
    assert "all checks: `make ci`" in line_for(derive_facts(tree_of(files)), "src/cart.py")


def test_a_hostile_script_costs_no_time() -> None:
    """Each of these takes for ever where an expression can read a text in several ways."""
    values = "".join(f"V{n} = $(V{n + 1}) $(V{n + 1}) $(V{n + 1})\n" for n in range(40))
    lines = [
        "git diff" + " --a" * 400 + " x",
        '-z "$(git status' + " --a" * 400,
        "1" * 1900,
        "$(V0)",
        "(" * 1900,
        "a;" * 900,
    ]
    targets = "".join(f"test{n}:\n\t{line}\n" for n, line in enumerate(lines))
    assert [each for each in derive_facts(tree_of({"Makefile": f"{values}{targets}"})) if each.topic == "test"]
