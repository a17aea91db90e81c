"""What came back as evidence: paths of which the disk says nothing, the nearest names, the folder that one is in already; scripts
of workspaces; what failed in earlier sessions. And silence where an answer would only repeat the error."""

import pytest

from preheat.answers import Failure, PlannedCall, answer_failure, warn_before
from preheat.answers.history import PastCommand, summarise_history
from tests.answers.tree import ROOT, MemoryTree, reading, shell

TREE = MemoryTree(
    {
        "src/shop/cart.py": "",
        "src/shop/capability.py": "",
        "src/shop/discount.py": "",
        "docs/reset.md": "",
        "package.json": '{"scripts": {"build": "x"}}',
        "apps/web/package.json": '{"name": "@shop/web", "scripts": {"dev": "vite", "typecheck": "tsc"}}',
        "mise.toml": "[tasks.fmt]\nrun = 'x'\n",
        "mise-tasks/lint/all": "",
        "mise-tasks/release": "",
    },
    hidden=frozenset([f"{ROOT}/dist/cart.py", f"{ROOT}/dist"]),
)


def said(call: PlannedCall, text: str) -> str:
    found = answer_failure(Failure(call, text), TREE)
    return found.text if found is not None else ""


def test_a_path_that_may_not_be_looked_at_is_missing_if_the_program_says_so() -> None:
    text = said(shell("cat dist/cart.py"), "cat: dist/cart.py: No such file or directory")
    assert text == "Nothing is at this call's path; `src/shop/cart.py` exists."
    outside = PlannedCall("read", "Read", {"file_path": "/elsewhere/shop/cart.py"}, ROOT)
    assert "`src/shop/cart.py` exists" in said(outside, "File does not exist.")


def test_of_such_a_path_nothing_is_said_before_the_call_or_after_another_failure() -> None:
    assert warn_before(shell("cat dist/cart.py"), TREE) is None
    assert said(reading("/elsewhere/shop/cart.py"), "File content exceeds the maximum of 25000 tokens") == ""


def test_names_that_are_spelled_alike_are_named_as_the_nearest() -> None:
    text = said(shell("cat src/shop/capabilities_v2.py"), "cat: src/shop/capabilities_v2.py: No such file or directory")
    assert text == "Nothing is at this call's path; nearest to it in `src/shop` are `capability.py`."
    root = said(shell("cat packages.json"), "cat: packages.json: No such file or directory")
    assert root == "Nothing is at this call's path; `package.json` exists."


def test_that_a_command_works_without_a_path_is_said_where_another_waits_for_it() -> None:
    message = "rg: lib: No such file or directory (os error 2)\nsrc/shop/cart.py:1:x"
    waited, alone = shell("rg cart src lib && git status"), shell("rg cart src lib")
    assert said(waited, message) == "Without the second path of this call it works: the others exist."
    warning = warn_before(waited, TREE)
    assert warning is not None
    assert warning.text == said(waited, message)
    assert said(alone, message) == ""
    assert warn_before(alone, TREE) is None
    assert warn_before(shell("diff docs/reset.md lib && git status"), TREE) is None


@pytest.mark.parametrize(
    "command", ["rg cart src doc", "rg cart src doc | head -5", "rg cart . docs/x.md src/reset.md"]
)
def test_of_one_guess_among_the_paths_of_a_search_nothing_is_said(command: str) -> None:
    missing = "src/reset.md" if "reset" in command else "doc"
    if "docs/x.md" in command:
        command = command.replace("docs/x.md", "docs")
    assert said(shell(command), f"rg: {missing}: No such file or directory (os error 2)") == ""
    assert warn_before(shell(command), TREE) is None


def test_a_path_that_the_command_names_itself_is_no_answer() -> None:
    text = "rg: src/cart.py: No such file or directory (os error 2)"
    assert said(shell("rg cart src/cart.py"), text).endswith("`src/shop/cart.py` exists.")
    assert said(shell("sed -n 1p src/shop/cart.py && rg cart src/cart.py"), text) == ""


def test_a_guess_that_stands_alone_or_that_others_wait_for_is_answered() -> None:
    for command in ("ls doc", "rg cart src doc && git status"):
        warning = warn_before(shell(command), TREE)
        assert warning is not None
        assert warning.text.endswith("`docs` exists.")


def test_a_command_that_enters_the_folder_it_is_in_is_told_so() -> None:
    text = said(shell("cd apps/web && npm run dev", f"{ROOT}/apps/web"), "cd: no such file or directory: apps/web")
    assert text == "This call runs in that folder already: from here this call's path is `.`."


def test_the_end_of_an_address_is_no_path() -> None:
    assert said(shell("curl http://localhost:8788/cart.py"), "8788/cart.py: No such file or directory") == ""


def test_for_a_folder_no_file_is_named() -> None:
    assert said(shell("ls docs/reset/"), "ls: docs/reset/: No such file or directory") == ""


@pytest.mark.parametrize(
    "command",
    [
        "npm run dve -w @shop/web",
        "npm run dve --workspace=@shop/web",
        "pnpm --filter @shop/web run dve",
        "npm --prefix apps/web run dve",
        "pnpm -C apps/web dve",
        "pnpm --filter web run dve",
    ],
)
def test_a_script_of_another_workspace_is_looked_up_in_its_own_manifest(command: str) -> None:
    text = said(shell(command), 'npm error Missing script: "dve"')
    assert text.startswith("`apps/web/package.json` has nothing of that name; the nearest is `dev`")
    assert warn_before(shell(command), TREE) is None


def test_tasks_that_are_files_are_among_those_that_exist() -> None:
    text = said(shell("mise run lint"), "mise ERROR no task lint found")
    assert "`lint:all`" in text
    assert "`release`" in text


def test_what_failed_in_earlier_sessions_is_said_after_the_failure_too() -> None:
    past = [
        PastCommand(
            f"s{number}", "go vet ./...", "failed", "environment", "go: no toolchain", "mise exec -- go vet ./..."
        )
        for number in range(2)
    ]
    found = answer_failure(Failure(shell("go vet ./..."), "go: no toolchain"), TREE, summarise_history(past))
    assert found is not None
    assert found.remedies == ("mise exec -- go vet ./...",)
