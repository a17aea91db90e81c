"""Where a remedy would be a guess, none is named."""

import pytest

from preheat.answers import Failure, answer_failure, warn_before
from preheat.answers.flags import find_near
from preheat.answers.missing import find_meant
from preheat.calls.files import find_touches
from preheat.model.session import ToolCall
from tests.answers.tree import ROOT, MemoryTree, editing, shell

TREE = MemoryTree(
    {
        "package.json": '{"scripts": {"build": "x", "dev": "x", "test": "x", "lint:all": "x"}}',
        "src/index.ts": "",
        "packages/core/README.md": "",
        "apps/cli/src/commands/trace.ts": "",
        "apps/cli/test/commands/board/x.ts": "",
        "lib/README.md": "",
        "examples/sdk/tests/a.py": "",
        "other/tests/a.py": "",
        ".nvmrc": "",
        "a.py": "alpha = 1\n",
    }
)


@pytest.mark.parametrize(
    "typed",
    [
        "apps/cli/src/commands/board",  # its like is among the tests
        "packages/core/src/index.ts",  # a common name, in a package that is there
        "tests",  # a folder that stands in many places
        ".npmrc",  # a short name that differs in a letter
    ],
)
def test_another_file_of_the_name_is_not_said_to_be_the_one_that_was_meant(typed: str) -> None:
    assert find_meant(f"{ROOT}/{typed}", TREE, ROOT) == ()


@pytest.mark.parametrize(
    ("flag", "flags", "near"),
    [
        ("--colour", ["--color", "--quiet"], "--color"),
        ("--set-metadata", ["--metadata", "--json"], "--metadata"),
        ("--tail", ["--all", "--help"], ""),
        ("--short", ["--json", "--host"], ""),
        ("--log", ["--log-level", "--log-file"], ""),
        ("--no-stat", ["--stat", "--oneline"], ""),
        ("--verify", ["--no-verify"], ""),
        ("--skip-tests", ["--tests"], ""),
        ("--no-colour", ["--no-color", "--color"], "--no-color"),
    ],
)
def test_only_a_flag_of_the_same_words_or_nearly_the_same_spelling_is_near(
    flag: str, flags: list[str], near: str
) -> None:
    assert find_near(flag, flags) == near


@pytest.mark.parametrize("path", ["lib/GUIDE.txt", "apps/cli/src/commands/board.ts", "gone/away/a.txt", "a.test.py"])
def test_of_a_missing_path_that_nothing_is_like_nothing_is_said(path: str) -> None:
    """Neither what its folder holds nor that it is missing: the error says as much."""
    assert warn_before(shell(f"cat {path}"), TREE) is None
    assert answer_failure(Failure(shell(f"cat {path}"), f"cat: {path}: No such file or directory"), TREE) is None


def test_scripts_are_listed_only_where_the_failure_says_that_one_is_missing() -> None:
    missing = answer_failure(Failure(shell("npm run lint"), 'npm error Missing script: "lint"'), TREE)
    assert missing is not None
    assert missing.remedies == ("lint:all",)
    assert answer_failure(Failure(shell("pnpm add"), "zsh:1: no matches found: workspace:*"), TREE) is None
    unlike = answer_failure(Failure(shell("npm run deploy"), 'npm error Missing script: "deploy"'), TREE)
    assert unlike is not None
    assert unlike.remedies == ()


def test_before_an_edit_nothing_is_said_if_nothing_in_the_file_is_like_its_text() -> None:
    call = editing(f"{ROOT}/a.py", "something quite different")
    assert warn_before(call, TREE) is None
    found = answer_failure(Failure(call, "String to replace not found in file."), TREE)
    assert found is not None
    assert found.text.endswith("nothing in it is close.")


def test_that_a_change_was_made_already_is_said_only_where_the_old_text_would_stand() -> None:
    text = "first = load(one)\nsecond = 2\n" + "filler = 0\n" * 20 + "third = load(everything, again)\n"
    tree = MemoryTree({"a.py": text})
    call = editing(f"{ROOT}/a.py", "first = load(one)\nsecond = 3", "third = load(everything, again)")
    found = warn_before(call, tree)
    assert found is not None
    assert "lines 1 to 2 are nearly the same" in found.text
    made = warn_before(editing(f"{ROOT}/a.py", "third = load(some)", "third = load(everything, again)"), tree)
    assert made is not None
    assert "the change was made already" in made.text


def test_a_patch_that_deletes_a_file_and_adds_it_anew_does_not_remove_it() -> None:
    patch = "*** Begin Patch\n*** Delete File: a.md\n*** Delete File: b.md\n*** Add File: a.md\n+new\n*** End Patch"
    call = ToolCall(line=1, call_id="c", tool="apply_patch", kind="edit", input={"text": patch})
    assert {touch.path: touch.how for touch in find_touches(call, lambda path: path)} == {
        "a.md": "changed",
        "b.md": "removed",
    }
