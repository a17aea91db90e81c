"""Scripts, targets and tasks that a manifest does not have, programs and flags that are not there."""

import pytest

from preheat.answers import Failure, History, answer_failure, warn_before
from preheat.answers.history import PastCommand, summarise_history
from preheat.manifests.names import MANIFESTS
from tests.answers.tree import ROOT, MemoryTree, shell

TREE = MemoryTree(
    {
        "package.json": '{"scripts": {"test:unit": "vitest", "build": "tsc", "lint": "biome"}}',
        "apps/web/package.json": '{"scripts": {"dev": "vite"}}',
        "Makefile": "build: src\n\tcc\ntest-all:\n\t./run\n.PHONY: build\n",
        "justfile": "default: fmt\nfmt:\n  x\nci-check name='a':\n  y\n",
        ".venv/bin/pytest": "",
        ".venv/bin/python": "",
        ".venv/lib/python3.12/site-packages/yaml/__init__.py": "",
    }
)


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("npm run test-unit", "test:unit"),
        ("cd apps/web && npm run lnt", "dev"),
        ("pnpm run biuld", "build"),
        ("make test-al", "test-all"),
        ("just ci-chek", "ci-check"),
        ("npm run dev", f"{ROOT}/apps/web"),
    ],
)
def test_the_nearest_script_or_the_folder_that_has_it_is_named(command: str, remedy: str) -> None:
    answer = warn_before(shell(command), TREE)
    assert answer is not None
    assert remedy in answer.remedies


@pytest.mark.parametrize(
    "command",
    [
        "npm run build",
        "npm run nothing --if-present",
        "pnpm --filter web run nothing",
        "npm run nothing -w web",
        "make -C other x",
        "make Makefile",
        "just fmt",
        "bun run script.ts",
        "npm install",
        "yarn nothing",
        "npm run nothing || true && ssh host make x",
        "docker exec box npm run nothing",
    ],
)
def test_nothing_is_said_of_what_may_well_work(command: str) -> None:
    assert warn_before(shell(command), TREE) is None


@pytest.mark.parametrize(
    ("runner", "text", "names"),
    [
        ("npm", "{", None),
        ("npm", '{"scripts": 1}', None),
        ("npm", "[]", None),
        ("make", "include other.mk\nx:\n", None),
        ("make", "%.o: %.c\n\tcc\n", None),
        ("just", "import 'x.just'\na:\n", None),
        ("mise", '[tasks.lint]\nrun = "x"\n[tasks."a:b"]\n', ("lint", "a:b")),
        ("tox", "[testenv:py311]\n[tox]\n", ("py311",)),
        ("nox", "@nox.session\ndef tests(session):\n    pass\n", ("tests",)),
        ("poe", "[tool.poe.tasks]\nfmt = 'x'\n", ("fmt",)),
        ("composer", '{"scripts": {"cs": "x"}}', ("cs",)),
        ("deno", '{"tasks": {"dev": "x"}}', ("dev",)),
        ("cargo", '[alias]\nxt = "run"\n', ("xt",)),
        ("task", "version: 3\ntasks:\n  build:\n    cmds: []\n", ("build",)),
    ],
)
def test_manifests_are_read_and_open_ones_are_not_trusted(
    runner: str, text: str, names: tuple[str, ...] | None
) -> None:
    assert MANIFESTS[runner].read(text) == names


def test_a_program_is_found_in_the_projects_own_folders() -> None:
    answer = answer_failure(Failure(shell("pytest -q"), "bash: pytest: command not found"), TREE)
    assert answer is not None
    assert "`.venv/bin/pytest`" in answer.text


def test_a_module_is_found_in_the_projects_own_python() -> None:
    answer = answer_failure(Failure(shell("python x.py"), "ModuleNotFoundError: No module named 'yaml'"), TREE)
    assert answer is not None
    assert "`.venv/bin/python`" in answer.text


def _history(*calls: tuple[str, str, str, str]) -> History:
    return summarise_history(
        PastCommand(session, command, "ok" if not error else "failed", "mistake" if error else None, error)
        for session, command, error, _ in calls
    )


def test_a_command_that_failed_in_two_sessions_and_never_worked_is_known_to_fail() -> None:
    error = "zsh:N: command not found: go"
    history = _history(
        ("s1", "go test ./...", error, ""),
        ("s2", "go test ./...", error, ""),
        ("s3", "mise exec -- go test ./...", "", ""),
    )
    answer = warn_before(shell("go test ./..."), TREE, history)
    other = warn_before(shell("go build ./..."), TREE, history)
    assert answer is not None
    assert answer.text.endswith("the shell did not find the program of this call in 2 earlier sessions.")
    assert other is not None
    assert other.text.startswith("`mise exec -- go` worked here in one earlier session; ")


@pytest.mark.parametrize("last", [("s1", "go vet", "bad", ""), ("s3", "go vet", "", "")])
def test_one_session_or_one_success_is_too_little(last: tuple[str, str, str, str]) -> None:
    history = _history(("s1", "go vet", "bad", ""), *([("s2", "go vet", "bad", "")] if not last[2] else []), last)
    assert warn_before(shell("go vet"), TREE, history) is None


def test_a_flag_of_close_spelling_from_the_usage_is_named() -> None:
    output = "error: unexpected argument '--colour' found\n\nUsage: tool [--color WHEN] [--quiet]"
    answer = answer_failure(Failure(shell("tool list --colour always"), output), TREE)
    assert answer is not None
    assert answer.remedies == ("--color",)
