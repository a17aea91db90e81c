"""Kinds of facts that real projects have beside their scripts: programs, generators, shell scripts, branches, documents."""

import json

import msgspec
import pytest

from preheat.facts import derive_facts
from preheat.facts.call_choice import choose_for_call
from preheat.facts.failure_choice import choose_after_failure
from preheat.facts.join import is_stale, join_facts
from preheat.facts.stated import checks_stated, without_stated
from preheat.facts.values import cites_missing_place
from preheat.provisioning.lesson_text import describe_lesson
from preheat.stated import read_statements
from tests.facts.test_facts import FILES, lesson, lines_of, tree_of

SETUP = "after a clone, a change of dependencies, or where a module is missing"

WORKSPACE = '{"workspaces": ["packages/*"], "devDependencies": {"typescript": "5", "vitest": "1"}}'
MEMBER = '{"name": "@shop/%s", "scripts": {"build": "rollup -c"}}'


@pytest.mark.parametrize(("files", "expected"), [
    ({"Cargo.toml": "[package]\nname = 'shop'\n", "src/main.rs": ""},
     ["run: `cargo run`", "`shop` is built from this project: `cargo run` runs it"]),
    ({"Cargo.toml": "[package]\nname = 'shop'\n", "src/main.rs": "", "src/bin/seed.rs": ""},
     ["run: `cargo run --bin shop`", "run: `cargo run --bin seed`"]),
    ({"Cargo.toml": "[package]\nname = 'shop'\n[features]\ndefault = ['tls']\ntls = []\nfuse = []\n", "src/lib.rs": ""},
     ["test of one feature: `cargo test --features fuse`"]),
    ({"go.mod": "module x\n", "cmd/shop/main.go": ""},
     ["run: `go run ./cmd/shop`", "`shop` is built from this project: `go run ./cmd/shop` runs it"]),
    ({"pyproject.toml": "[project]\nname = 'shop'\n[project.scripts]\nshop = 'shop:main'\n", "uv.lock": ""},
     ["run: `uv run shop`"]),
    ({"pyproject.toml": "[project]\nname = 'shop'\n[project.optional-dependencies]\ndev = ['pytest']\n"},
     [f"{SETUP}: `pip install -e .[dev]`"]),
    ({"Package.swift": 'targets: [.executableTarget(name: "shop")]'}, ["run: `swift run shop`"]),
    ({"site/wrangler.jsonc": '{"main": "src/index.ts"}'}, ["run: `cd site && npx wrangler dev`, port 8787"]),
    ({"app/pubspec.yaml": "dependencies:\n  flutter:\n    sdk: flutter\ndev_dependencies:\n  build_runner: 2\nflutter:\n"
      "  generate: true\n"},
     ["generate: `cd app && dart run build_runner build`", "generate: `cd app && flutter gen-l10n`"]),
    ({"project.yml": "name: Shop\ntargets:\n  Shop: {}\n"}, ["generate: `xcodegen generate`"]),
    ({"package.json": '{"devDependencies": {"prisma": "5"}}', "prisma/schema.prisma": ""},
     ["generate: `npx prisma generate`"]),
    ({"package.json": WORKSPACE, "pnpm-workspace.yaml": "", "pnpm-lock.yaml": "",
      **{f"packages/{each}/package.json": MEMBER % each for each in ("api", "web")},
      **{f"packages/{each}/tsconfig.json": "{}" for each in ("api", "web")},
      **{f"packages/{each}/src/cart.test.ts": "" for each in ("api", "web")}},
     ["typecheck of one package: `pnpm --filter PACKAGE exec tsc --noEmit`",
      "one test file of one package: `pnpm --filter PACKAGE exec vitest run PATH`"]),
    ({"package.json": '{"scripts": {"lint": "biome lint src"}}', "bun.lock": ""},
     ["lint, with fixes: `bunx biome lint --write PATH`"]),
    ({"package.json": '{"scripts": {"dev": "astro dev"}, "dependencies": {"@astrojs/check": "1"}}', "tsconfig.json": "{}"},
     ["run: `npm run dev`, port 4321", "typecheck: `npx astro check`"]),
    ({"package.json": '{"scripts": {"test": "vitest"}, "devDependencies": {"vitest": "1"}}', "src/__snapshots__/a.snap": ""},
     ["test, with new snapshots: `npx vitest run -u`"]),
    ({"package.json": "{}", "src/cart.js": ""}, ["syntax of one file: `node --check PATH`"]),
    ({"scripts/demo.sh": "#!/usr/bin/env bash\necho hello\n", "bin/setup": "#!/bin/sh\nbundle install\n"},
     ["`bash scripts/demo.sh`", f"{SETUP}: `sh bin/setup`"]),
    ({"run_tests.sh": "#!/bin/bash\n./cart --self-test\n"}, ["test: `bash run_tests.sh` = `./cart --self-test`"]),
    ({".pre-commit-config.yaml": "repos:\n- repo: x\n  hooks:\n  - id: black\n"},
     ["lint of all files, as a commit does it: `pre-commit run --all-files`"]),
    ({"CHANGELOG.md": "# Changes\n\n## [Unreleased]\n"},
     ["a change that users notice gets a line below `Unreleased` in `CHANGELOG.md`"]),
    ({"compose.yaml": "services:\n  worker:\n    image: x\n"}, ["services `worker`: `docker compose up -d`"]),
    ({"manage.py": ""}, ["generate: `python manage.py makemigrations`", "`python manage.py migrate`"]),
    ({"test/cart.bats": "", "test/till.bats": ""}, ["one test file: `bats PATH`"]),
    ({".goreleaser.yaml": ""}, ["`goreleaser check`"]),
    ({"go/go.mod": "module x\n", "go/cmd/shop/main.go": ""}, ["run: `cd go && go run ./cmd/shop`"]),
    ({"mise.toml": "[task_config]\nincludes = ['tasks.toml']\n",
      "tasks.toml": "[test]\nrun = 'cargo test'\n[lint]\ndepends = ['clippy']\n[secret]\nhide = true\nrun = 'x'\n"},
     ["test: `mise run test` = `cargo test`", "lint: `mise run lint` = `mise run clippy`"]),
    ({".dev.vars.example": "STRIPE_KEY=\n"},
     ["environment variables without a value in `.dev.vars.example`: `STRIPE_KEY`;"
      " after a clone: `cp .dev.vars.example .dev.vars`"]),
    ({".env.example": "PORT=3000\n"},
     ["environment variables with a default in `.env.example`: `PORT`; after a clone: `cp .env.example .env`"]),
    ({"Shop/Shop.xcodeproj/project.pbxproj": "", "Shop/Shop.xcodeproj/project.xcworkspace/contents.xcworkspacedata": ""},
     ["`xcodebuild` runs in `Shop`: the project's own folder has no `Shop.xcodeproj`",
      "one test: `cd Shop && xcodebuild test -project Shop.xcodeproj -scheme Shop -destination VALUE -only-testing:NAME`"]),
    ({"pyproject.toml": "[project]\nname = 'shop'\nversion = '2.1'\n", "src/shop/__init__.py": "__version__ = '2.1'\n"},
     ["the same version stands in `pyproject.toml`, `src/shop/__init__.py`: they change together"]),
    ({"package.json": '{"version": "2.1.0"}', "plugin/plugin.json": '{"version": "2.1.0"}',
      "other/plugin.json": '{"version": "3.1"}', "desktop/Cargo.toml": "[package]\nname = 'shop'\nversion = '2.1.0'\n"},
     ["the same version stands in `package.json`, `desktop/Cargo.toml`, `plugin/plugin.json`: they change together"]),
    ({"package.json": '{"scripts": {"test": "NODE_OPTIONS=--experimental-vm-modules NODE_ENV=test jest"}}'},
     ["one test file: `NODE_OPTIONS=--experimental-vm-modules npx jest PATH`"]),
    ({"package.json": '{"packageManager": "pnpm@9", "scripts": {"dev": "pnpm --filter shop-api dev"}}', "pnpm-workspace.yaml": "",
      "api/package.json": '{"name": "shop-api", "scripts": {"test": "jest"}}', "api/package-lock.json": ""},
     ["test of `api`: `pnpm --filter shop-api test` = `jest`"]),
], ids=["cargo", "cargo programs", "features", "go", "python", "pip", "swift", "wrangler", "flutter", "xcodegen", "prisma",
        "workspace", "fixes", "astro", "snapshots", "plain", "shell", "root script", "pre-commit", "changelog", "compose",
        "django", "bats", "goreleaser", "go below", "mise tasks", "dev vars", "defaults", "xcode", "python version", "version",
        "options", "addressed"])  # fmt: skip
def test_a_tree_has_more_than_its_scripts(files: dict[str, str], expected: list[str]) -> None:
    lines = lines_of(files)
    assert [each for each in expected if each not in lines] == []


def test_a_program_of_which_cargo_has_several_is_never_run_without_its_name() -> None:
    files = {"Cargo.toml": "[package]\nname = 'shop'\n", "src/main.rs": "", "src/bin/seed.rs": ""}
    assert "run: `cargo run`" not in lines_of(files)


def test_a_script_that_calls_a_deleting_script_of_the_shell_is_not_named() -> None:
    nuke = "#!/bin/bash\n" + "echo step\n" * 400 + "rm -rf ~/\n"  # at its end, behind a lot else
    files = {"package.json": '{"scripts": {"test": "./scripts/nuke.sh", "lint": "eslint ."}}', "scripts/nuke.sh": nuke}
    lines = lines_of(files)
    assert "lint: `npm run lint` = `eslint .`" in lines
    assert not any("nuke" in line or "npm test" in line for line in lines)


@pytest.mark.parametrize(
    "text", ["echo no shebang\n", "#!/usr/bin/env python\nprint()\n", "#!/bin/bash\n" + "true\n" * 5000]
)
def test_a_script_of_no_known_shell_or_without_end_is_not_named(text: str) -> None:
    assert lines_of({"scripts/test.sh": text}) == []


def test_branches_and_pull_requests_are_told_by_what_was_merged() -> None:
    subjects = [
        f"Merge pull request #{n} from shop/{name}"
        for n, name in enumerate(["feat/a", "feat/b", "fix/c", "fix/d", "docs"])
    ]
    lines = lines_of({"README.md": "x"}, subjects)
    assert lines == [
        "names of branches begin with what they are for: `feat/`, `fix/` (4 of 5)",
        "changes come in by pull requests: `gh pr create`; merged with `gh pr merge --merge`",
    ]
    assert lines_of({"README.md": "x"}, subjects[:2]) == []


@pytest.mark.parametrize(
    ("subjects", "merge"),
    [
        (["feat: one (#7)"] * 9, "gh pr merge --squash"),
        ([*["feat: one (#7)"] * 20, *["Merge pull request #6 from shop/cart"] * 20], "gh pr merge --squash"),
        (["Merge pull request #7 from shop/cart", "feat: one"] * 9, "gh pr merge --merge"),
        (["Merge pull request #7 from shop/cart", "fix: what somebody met (#6)"] * 9, None),
        ([*["feat: one"] * 20, *["feat: one (#7)"] * 20], None),
    ],
)
def test_how_pull_requests_are_merged_is_told_by_what_the_newest_left(subjects: list[str], merge: str | None) -> None:
    files = {".github/workflows/ci.yml": "x"}
    (fact,) = (fact for fact in derive_facts(tree_of(files, subjects)) if fact.topic == "pull_request")
    assert fact.details.get("merge") == merge


def test_what_sessions_and_the_tree_say_of_pull_requests_is_one_fact() -> None:
    tree = tree_of({".github/workflows/ci.yml": "x"}, ["feat: one (#7)"] * 9)
    draft = lesson("pull_request", "gh pr create --draft", details={"about": "pull request"})
    said = [
        describe_lesson(each) for each in join_facts([draft], derive_facts(tree), tree) if each.topic == "pull_request"
    ]
    assert said == ["changes come in by pull requests: `gh pr create --draft`; merged with `gh pr merge --squash`"]


def test_messages_of_which_some_have_a_scope_are_told_so() -> None:
    subjects = ["feat(cart): one", "fix: two", "feat(pay): three", "feat(i18n): four"] * 5
    assert lines_of({"README.md": "x"}, subjects) == [
        "commit messages: `TYPE: …` or `TYPE(SCOPE): …`, mostly `feat(…): …`, `fix: …`"
    ]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".env.example", "; after a clone: `cp .env.example .env`"),
        ("apps/api/.env.sample", "; after a clone: `cp apps/api/.env.sample apps/api/.env`"),
        ("templates/.env.example", ""),
        ("kept/.env.example", ""),
    ],
)
def test_an_example_of_an_environment_is_copied_where_the_project_has_none_of_its_own(path: str, said: str) -> None:
    """Names only; and not where it is for others, or the real one is in the tree."""
    lines = lines_of({path: "STRIPE_KEY=\n", "kept/.env": "STRIPE_KEY=x\n"})
    assert lines == [f"environment variables without a value in `{path}`: `STRIPE_KEY`{said}"]


def test_messages_that_a_program_wrote_say_nothing_of_how_people_write_them() -> None:
    bumps = ["build(deps): bump clap from 4.6.1 to 4.6.6 (#147)", "chore(deps): update dependency vite to v5"] * 8
    assert lines_of({"README.md": "x"}, [*bumps, *[f"feat(task-{n}x{n}): one" for n in range(9)]]) == [
        "commit messages: `TYPE(SCOPE): …`, mostly `feat(…): …`"
    ]
    assert lines_of({"README.md": "x"}, bumps) == []  # how people write them is not known


def test_every_tool_of_mise_is_named_and_only_the_first_ones_at_the_start() -> None:
    tools = "\n".join(f'"aqua:o/tool{n}" = "1"' for n in range(10))
    called = "all:\n" + "".join(f"\ttool{n} x\n" for n in range(10))
    files = {"mise.toml": f'[tools]\n{tools}\n"cargo:work-trunk" = "1"\n', "Makefile": called}
    facts = [each for each in derive_facts(tree_of(files)) if each.topic == "missing"]
    assert not any("trunk" in each.details["names"] for each in facts)  # what its program is called, nothing says
    assert [each.details["names"].count("tool") for each in facts] == [8, 2]
    assert [(each.reach or 0) >= 0.5 for each in facts] == [True, False]


def test_programs_of_packages_are_started_by_the_package_manager() -> None:
    package = '{"devDependencies": {"typescript": "5", "vite": "5", "left-pad": "1"}}'
    facts = derive_facts(tree_of({"package.json": package, "pnpm-lock.yaml": ""}))
    line = next(describe_lesson(each) for each in facts if each.topic == "missing")
    assert line == "tools come with `pnpm`: `tsc`, `vite`; where the shell does not find one: `pnpm exec NAME`"


def test_documents_for_developers_name_checks_that_nothing_else_names() -> None:
    guide = "# Contributing\n\n```sh\n$ meson test -C work   # all\nsudo rm -rf /\n```\n\nRun `x`.\n"
    readme = "# Shop\n\n```sh\npytest --pyargs shop\n```\n"  # how it is used, not how it is worked on
    assert lines_of({"CONTRIBUTING.md": guide, "README.md": readme}) == ["test: `meson test -C work`"]
    assert "test: `meson test -C work`" not in lines_of(
        {"CONTRIBUTING.md": guide, "go.mod": "module x\n", "a_test.go": ""}
    )


@pytest.mark.parametrize(
    "block", ["```\nnpm run gone\n```", "```\npytest nowhere/tests\n```", "```\nmake test", "```py\ntest()\n```"]
)
def test_a_document_that_is_stale_or_broken_names_nothing(block: str) -> None:
    files = {
        "CONTRIBUTING.md": f"# Tests\n{block}",
        "package.json": '{"scripts": {"start": "x"}}',
        "Makefile": "all:\n\ttrue\n",
    }
    assert not [line for line in lines_of(files) if line.startswith("test")]


def test_a_check_of_a_folder_that_was_given_up_is_not_handed_out() -> None:
    tree = tree_of(FILES)
    gone = lesson("test", "python3 -m pytest tests/ -v", sessions=9)
    there = lesson("test", "pnpm vitest run packages/api", sessions=9)
    assert (is_stale(gone, tree), is_stale(there, tree)) == (True, False)
    script = lesson("typecheck", "pnpm type-check", sessions=9)  # `pnpm typecheck` is the script's name
    assert is_stale(script, tree)


@pytest.mark.parametrize(("command", "is_missing"), [
    ("go test ./...", False), ("go test ./gone/...", True), ("go test ./packages/...", False),
    ("cd packages/api && jest src/", True),
    ("pytest PATH::NAME", False), ("tsc -p gone/tsconfig.json", False), ("eslint dist/", False), ("npm test -w @shop/api", False),
    ("curl http://x/y", False), ("rg a/b", True),
])  # fmt: skip
def test_a_place_is_missing_only_where_a_word_names_it_for_sure(command: str, is_missing: bool) -> None:
    assert cites_missing_place(command, tree_of(FILES)) is is_missing


def test_what_the_forge_runs_in_a_folder_is_named_with_it_or_not_at_all() -> None:
    job = "    defaults:\n      run:\n        working-directory: app\n    steps:\n      - run: ctest tests/unit\n"
    flow = f"jobs:\n  app:\n{job}"
    files = {".github/workflows/ci.yml": flow, "app/tests/unit/a.c": ""}
    assert lines_of(files) == ["test, as the forge runs it: `cd app && ctest tests/unit`"]
    assert lines_of({".github/workflows/ci.yml": flow}) == []


@pytest.mark.parametrize("name", ["package.json", "Cargo.toml", "pyproject.toml", "wrangler.jsonc", "CONTRIBUTING.md",
                                  "project.yml", "scripts/test.sh", ".gitlab-ci.yml", "CHANGELOG.md"])  # fmt: skip
@pytest.mark.parametrize(
    "text",
    ["{", "[", "\0", "x" * 300_000, "#!/bin/bash\n\x1b[31m", '{"scripts": 3, "husky": 4}', "[features]\nx = 1"],
)
def test_a_broken_or_huge_file_costs_no_other_fact(name: str, text: str) -> None:
    assert "test: `go test ./...`" in lines_of({"go.mod": "module x\n", "a_test.go": "", name: text})


def test_manifests_that_contradict_each_other_name_no_runner() -> None:
    files = {
        "package.json": '{"scripts": {"test": "jest"}, "devDependencies": {"vite": "5"}}',
        "yarn.lock": "",
        "bun.lock": "",
    }
    assert not [line for line in lines_of(files) if "yarn" in line or "bun" in line]


def test_nothing_is_implied_that_would_run_nothing_or_fail_at_once() -> None:
    """Classes of wrong lines that two graders found in projects nobody had looked at."""
    assert not any("go test" in line for line in lines_of({"go.mod": "module x\n", "main.go": ""}))
    assert lines_of({"editor/test/one.bats": ""}) == []
    nextest = {"Cargo.toml": '[package]\nname = "x"\n', ".config/nextest.toml": "[profile.default]\n"}
    assert not any("nextest" in line for line in lines_of(nextest))
    workflow = "on: push\njobs:\n  a:\n    steps:\n      - run: cargo nextest run\n"
    assert any("nextest" in line for line in lines_of({**nextest, ".github/workflows/a.yml": workflow}))
    scripts = {"build": "vite build", "docs:build": "vitepress build", "preview": "vite preview", "dev": "vite"}
    lines = lines_of({"package.json": json.dumps({"scripts": scripts}), "package-lock.json": "{}"})
    assert any("npm run build" in line for line in lines)
    assert not any("docs:build" in line and line.startswith("build") for line in lines)
    assert not any("preview" in line and line.startswith("run") for line in lines)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ('#!/bin/bash\nlog() {\n  echo "$1"\n}\nlog go\nprotoc x\n', True),
        ("#!/bin/bash\nprotoc ${1:-all}\n", True),
        ("#!/bin/bash\ntag=$1\nprotoc $tag\n", False),
        ("#!/bin/bash\nprotoc ${VERSION:?is not set}\n", False),
    ],
)
def test_a_script_that_stops_without_arguments_is_not_named(text: str, is_named: bool) -> None:
    lines = lines_of({"scripts/generate.sh": text})
    assert any("generate.sh" in line for line in lines) is is_named


def test_commands_of_the_tree_begin_as_the_sessions_begin_them() -> None:
    tree = tree_of({"package.json": '{"scripts": {"test": "vitest run"}}', "pnpm-lock.yaml": ""})
    started = {"about": "missing", "name": "pnpm", "started": "40", "total": "42"}
    usual = msgspec.structs.replace(lesson("missing", "corepack pnpm", sessions=5), details=started)
    uses = {each.use for each in join_facts([usual], derive_facts(tree), tree)}
    assert {"corepack pnpm test", "corepack pnpm install"} <= uses
    assert "pnpm test" not in uses
    assert "pnpm test" in {each.use for each in join_facts([], derive_facts(tree), tree)}
    assert is_stale(lesson("lint", "corepack pnpm run gone", sessions=5), tree)


def test_what_a_target_needs_first_is_known_of_it() -> None:
    lines = lines_of({
        "Makefile": "lint:\n\truff check .\ntest:\n\tpytest\nspec:\n\tpython scripts/spec.py\n"
        "verify: lint test spec ## all of it\n\t@echo OK\n",
        "scripts/spec.py": "",
    })  # fmt: skip
    assert "all checks: `make verify` = `make lint && make test && make spec`" in lines
    assert not any(line.startswith("test: `make spec`") for line in lines)


def test_a_target_that_deletes_things_before_is_not_named() -> None:
    files = {"Makefile": "wipe:\n\trm -rf ~/\ntest: wipe\n\tpytest\n"}
    assert not any("make test" in line for line in lines_of(files))


@pytest.mark.parametrize(("text", "is_named"), [
    ('tmp="$(mktemp -d)"\ntrap \'rm -rf "$tmp"\' EXIT\ndiff -r a "$tmp/a"\n', True),
    ("tmp=$(mktemp -d)\nrm -rf ${tmp}/out\n", True),
    ("find src -type d -name __pycache__ -prune -exec rm -rf {} +\n", True),
    ("tmp=$(mktemp -d)\ntmp=/\nrm -rf $tmp\n", False),
    ("tmp=$(mktemp -d)\nrm -rf $tmp/../..\n", False),
    ("tmp=$(mktemp -d)\nrm -rf $tmp ~/\n", False),
    ("find / -name __pycache__ -exec rm -rf {} +\n", False),
    ("rm -rf $HOME\n", False),
])  # fmt: skip
def test_a_script_may_take_away_what_it_made_for_itself(text: str, is_named: bool) -> None:
    files = {"Makefile": "test:\n\t./scripts/run.sh\n", "scripts/run.sh": f"#!/bin/sh\n{text}"}
    assert any("make test" in line for line in lines_of(files)) is is_named


def test_what_a_script_runs_says_what_sessions_type_it_for() -> None:
    tree = tree_of({"package.json": '{"scripts": {"lint": "oxide check", "fix": "oxide check --fix"}}'})
    typed = [lesson("other", "oxide check", details={}), lesson("run", "oxide check --fix", details={})]
    found = {each.use: each for each in join_facts(typed, derive_facts(tree), tree)}
    assert found["oxide check"].topic == "lint"
    assert found["oxide check --fix"].details["about"] == "lint, with fixes"


def test_what_a_file_states_of_a_script_it_states_of_its_command() -> None:
    facts = derive_facts(tree_of({"package.json": '{"scripts": {"lint": "oxide check"}}'}))
    statements = read_statements("Run `oxide check` before you commit.")
    assert checks_stated(statements, facts) == {"lint"}
    assert checks_stated(statements) == set()
    assert not any(fact.use.endswith("lint") for fact in without_stated(facts, statements))


def test_variables_of_make_do_not_make_another_command() -> None:
    tree = tree_of({"Makefile": "lint:\n\truff check .\ntest:\n\tpytest\nverify: lint test\n"})
    typed = lesson("test", "make verify PY=.venv/bin/python", sessions=4)
    found = [each for each in join_facts([typed], derive_facts(tree), tree) if "verify" in each.use]
    assert [(each.topic, each.use) for each in found] == [("check", "make verify PY=.venv/bin/python")]


MAKEFILE = (
    "PY ?= python3\nRUFF = $(PY) -m ruff\nlint:\n\t$(RUFF) check .\nfmt:\n\t$(RUFF) format .\ntest:\n\t$(PY) -m pytest\n"
    "verify: lint test\ndocs:\n\tmkdocs build\n"
)


@pytest.mark.parametrize(("typed", "usual"), [
    ([("make verify PY=.venv/bin/python", 6), ("make docs", 9)], "PY=.venv/bin/python"),
    ([("make verify PY=.venv/bin/python", 6), ("make test", 1)], "PY=.venv/bin/python"),
    ([("make verify PY=.venv/bin/python", 6), ("make test", 3)], ""),
    ([("make verify PY=.venv/bin/python", 1)], ""),
    ([("make verify PY=/home/ann/venv/bin/python", 6)], ""),
    ([("make verify PY=PATH", 6)], ""),
    ([("make verify", 6)], ""),
])  # fmt: skip
def test_a_variable_that_sessions_nearly_always_set_is_set_for_all_targets_that_use_it(
    typed: list[tuple[str, int]], usual: str
) -> None:
    """Also by another variable; not what is set for one person, nor for a target that does without."""
    tree = tree_of({"Makefile": MAKEFILE})
    lessons = [lesson("check", use, sessions=sessions, details={"about": "check"}) for use, sessions in typed]
    uses = {each.use for each in join_facts(lessons, derive_facts(tree), tree)}
    assert {f"make fmt {usual}".strip(), f"make lint {usual}".strip()} <= uses
    assert not any(use.startswith("make docs ") for use in uses)


def test_a_part_of_all_checks_is_not_said_beside_them_for_the_variable_that_it_needs() -> None:
    tree = tree_of({"Makefile": MAKEFILE})
    typed = lesson("check", "make verify PY=.venv/bin/python", sessions=6, details={"about": "check"})
    said = choose_for_call(join_facts([typed], derive_facts(tree), tree), "", ["src/cart.py"])
    assert said is not None
    assert describe_lesson(said) == (
        "before a change is done, all checks: `make verify PY=.venv/bin/python` = `make lint && make test`,"
        " format: `make fmt PY=.venv/bin/python`"
    )


def test_a_server_that_a_script_starts_is_not_started_otherwise() -> None:
    scripts = '{"scripts": {"worker:dev": "pnpm build && wrangler dev --local", "build": "vite build"}}'
    lines = lines_of({"package.json": scripts, "pnpm-lock.yaml": "", "wrangler.jsonc": "{}"})
    assert "run: `pnpm worker:dev`, port 8787" in lines
    assert not any("npx wrangler dev" in line for line in lines)


def test_tasks_of_a_taskfile_that_call_others_name_them() -> None:
    check = "  check:\n    cmds:\n      - task: lint\n      - task: test\n"
    others = "  lint:\n    cmds:\n      - ruff check .\n  test:\n    cmds:\n      - pytest\n"
    lines = lines_of({"Taskfile.yml": f"version: '3'\ntasks:\n{check}{others}"})
    assert "all checks: `task check` = `task lint && task test`" in lines


def test_a_tool_that_mise_brings_is_not_started_otherwise() -> None:
    package = '{"devDependencies": {"nx": "1", "vitest": "1"}, "scripts": {"test": "vitest run", "lint": "nx lint"}}'
    lines = lines_of({"package.json": package, "pnpm-lock.yaml": "", "mise.toml": "[tools]\nnx = '20'\n"})
    assert "tools come with `mise`: `nx`; where the shell does not find one: `mise exec -- nx`" in lines
    assert not any(line.startswith("tools come with `pnpm`") and "`nx`" in line for line in lines)


def test_a_tool_that_only_an_extra_brings_is_started_with_it() -> None:
    start = "[project]\nname = 'shop'\n"
    extra = {"pyproject.toml": start + '[project.optional-dependencies]\ndev = ["pytest>=8"]\n', "uv.lock": ""}
    assert "test: `uv run --extra dev pytest`" in lines_of(extra)
    group = {"pyproject.toml": start + '[dependency-groups]\ndev = ["pytest>=8"]\n', "uv.lock": ""}
    assert "test: `uv run pytest`" in lines_of(group)


def test_a_module_of_the_project_itself_is_brought_by_no_installer() -> None:
    manifest = "[project]\nname = 'shop-server'\n"
    tree = tree_of({"pyproject.toml": manifest, "uv.lock": "", "app/__init__.py": "", "app/cart.py": ""})
    facts = derive_facts(tree)
    assert choose_after_failure(facts, "ModuleNotFoundError: No module named 'app'", frozenset(), "python -m x") is None
    found = choose_after_failure(facts, "ModuleNotFoundError: No module named 'httpx'", frozenset(), "python -m x")
    assert found is not None
    assert found.use == "uv sync"
