"""The scripts of manifests: what they run, how they are run, and what a broken or hostile manifest gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.manifests.hooks import read_hooks, read_staged_commands
from preheat.manifests.scripts import LARGEST, command_of, read_scripts
from preheat.manifests.services import is_generated, read_ports, read_variable_names
from preheat.manifests.workflows import read_workflow


@pytest.mark.parametrize(
    ("path", "text", "command", "body"),
    [
        ("package.json", '{"scripts": {"test": "vitest run"}}', "npm test", "vitest run"),
        ("Makefile", "lint: deps\n\t@ruff check .\n", "make lint", "ruff check ."),
        ("justfile", "check path='.':\n    cargo clippy\n    cargo test\n", "just check", "cargo clippy; cargo test"),
        ("mise.toml", "[tasks.fmt]\nrun = 'gofmt -w .'\n", "mise run fmt", "gofmt -w ."),
        ("mise-tasks/test/bats", "#!/bin/sh\nbats test\n", "mise run test:bats", "bats test"),
        ("tox.ini", "[testenv:lint]\ncommands =\n    ruff check\n", "tox -e lint", "ruff check"),
        ("noxfile.py", "@nox.session\ndef tests(session):\n    session.run('pytest')\n", "nox -s tests", ""),
        ("deno.json", '{"tasks": {"dev": "deno run main.ts"}}', "deno task dev", "deno run main.ts"),
        (
            "Taskfile.yml",
            "version: 3\ntasks:\n  build:\n    cmds:\n      - go build ./...\n",
            "task build",
            "go build ./...",
        ),
    ],
)
def test_a_script_is_read_with_its_command_and_what_it_runs(path: str, text: str, command: str, body: str) -> None:
    (script,) = read_scripts(path, text)
    assert (command_of(script), script.body) == (command, body)


def test_the_runner_of_packages_decides_how_a_script_is_called() -> None:
    (script,) = read_scripts("package.json", '{"scripts": {"test": "bun test src"}}')
    assert [command_of(script, runner) for runner in ("npm", "pnpm", "yarn", "bun", "")] == [
        "npm test", "pnpm test", "yarn test", "bun run test", "",
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["package.json", "mise.toml", "Makefile", "pyproject.toml", "tox.ini", "Taskfile.yml"])
@pytest.mark.parametrize(
    "text", ["", "{", "[[[", "\x00" * 100, '{"scripts": []}', '{"scripts": {"a b": "x"}}', "x" * (LARGEST + 1)]
)
def test_a_broken_or_huge_manifest_gives_nothing(path: str, text: str) -> None:
    assert read_scripts(path, text) == ()


@given(
    st.sampled_from(["package.json", "Makefile", "justfile", "mise.toml", "tox.ini", "noxfile.py", "Taskfile.yml"]),
    st.text(),
)
def test_no_text_of_a_manifest_raises(path: str, text: str) -> None:
    for script in read_scripts(path, text):
        assert command_of(script)


@given(st.text())
def test_no_text_of_another_file_raises(text: str) -> None:
    read_workflow(text)
    read_ports(text)
    read_variable_names(text)
    read_staged_commands(text)
    is_generated(text)
    for path in (".pre-commit-config.yaml", "lefthook.yml", "hk.pkl", ".husky/pre-commit"):
        read_hooks(path, text)


WORKFLOW = """
jobs:
  test:
    env:
      DATABASE_URL: postgres://db
    steps:
      - uses: actions/checkout@v4
      - name: Lint
        run: pnpm lint
      - run: |
          # a comment
          pnpm --filter api \\
            test
          echo ${{ github.sha }}
      - name: Build
        working-directory: ./web
        run: npm run build
"""


def test_the_commands_of_a_workflow_are_read_with_their_folder() -> None:
    read = read_workflow(WORKFLOW)
    assert read.commands == (("", "pnpm lint"), ("", "pnpm --filter api test"), ("web", "npm run build"))
    assert read.variables == ("DATABASE_URL",)


def test_the_hooks_of_a_commit_are_read_from_files_of_several_programs() -> None:
    husky = read_hooks(
        ".husky/pre-commit", '#!/bin/sh\n. "$(dirname "$0")/_/husky.sh"\n\nbun run test && bun run lint\n'
    )
    assert [(each.moment, each.commands) for each in husky] == [("commit", ("bun run test && bun run lint",))]
    managed = read_hooks(
        ".pre-commit-config.yaml", "repos:\n- hooks:\n  - id: check-yaml\n  - id: ruff\n  - id: mypy\n"
    )
    assert managed[0].commands == (
        "ruff",
        "mypy",
    )  # whichever program runs them; what never refuses anything is left out
    handed_on = read_hooks(".githooks/pre-push", '#!/bin/sh\ngit lfs pre-push "$@"\nexec mise run pre-push\n')
    assert handed_on[0].commands == ("exec mise run pre-push",)
    lefthook = read_hooks("lefthook.yml", "pre-push:\n  commands:\n    t:\n      run: go test ./...\n")
    assert [(each.moment, each.commands) for each in lefthook] == [("push", ("go test ./...",))]


def test_an_example_of_an_environment_gives_names_and_never_a_value() -> None:
    text = "PORT=3000\nAPI_KEY=your-key-here\nexport TOKEN=\n# OLD_NAME=\n"
    assert read_variable_names(text) == (("PORT", False), ("API_KEY", True), ("TOKEN", True))


def test_ports_of_services_are_those_of_this_machine() -> None:
    text = 'services:\n  db:\n    ports:\n      - "5433:5432"\n  web:\n    ports:\n      - 127.0.0.1:8080:80\nvolumes:\n  x:\n'
    assert read_ports(text) == (("db", "5433"), ("web", "8080"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"simple-git-hooks": {"pre-commit": "npx lint-staged"}}', [("commit", ("npx lint-staged",))]),
        ('{"husky": {"hooks": {"pre-push": "npm test"}}}', [("push", ("npm test",))]),
        ('{"husky": "8", "simple-git-hooks": [1], "lint-staged": {}}', []),
        ("[1]", []),
        ("{", []),
    ],
)
def test_a_package_may_state_its_hooks_itself(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(each.moment, each.commands) for each in read_hooks("package.json", text)] == expected


def test_jobs_of_lefthook_and_files_of_lint_staged_are_read() -> None:
    text = "pre-commit:\n  jobs:\n    - run: ruff check\n"
    assert [each.commands for each in read_hooks("lefthook.yml", text)] == [("ruff check",)]
    assert read_staged_commands('{"*.ts": ["eslint --fix"]}') == (("*.ts", ("eslint --fix",)),)
    assert read_staged_commands('{"scripts": {"test": "jest"}}') == ()  # a package without any


def test_the_pipelines_of_other_forges_are_read() -> None:
    text = "lint:\n  image: x\n  script:\n    - ruff check .\n    - 'mypy src'\n  rules: []\ntest:\n  script:\n  - pytest -q\n"
    assert read_workflow(text).commands == (("", "ruff check ."), ("", "mypy src"), ("", "pytest -q"))


def test_the_folder_of_a_whole_workflow_or_of_one_job_is_that_of_its_steps() -> None:
    text = (
        "defaults:\n  run:\n    working-directory: app\njobs:\n  a:\n    steps:\n      - run: one\n"
        "  b:\n    defaults:\n      run:\n        working-directory: ./lib/\n    steps:\n      - run: two\n"
        "  c:\n    steps:\n      - run: three\n        working-directory: web\n"
    )
    assert read_workflow(text).commands == (("app", "one"), ("lib", "two"), ("web", "three"))
