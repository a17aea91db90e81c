"""Text to edit that is not in its file: the closest lines, and how they differ."""

import pytest

from preheat.answers import Failure, SessionFacts, answer_failure, warn_before
from preheat.answers.values import PlannedCall
from tests.answers.tree import ROOT, MemoryTree, editing

TEXT = "import os\n\n\ndef add(a, b):\n    total = a + b\n    return total\n\n\ndef sub(a, b):\n    return a - b\n"
TREE = MemoryTree({"calc.py": TEXT})
PATH = f"{ROOT}/calc.py"


@pytest.mark.parametrize(
    ("old", "lines", "how"),
    [
        ("def add(a, b):\n  total = a + b\n  return total", "4-6", "the same but for indentation"),
        ("def add(a,b):\n    total = a+b\n    return total", "4-6", "the same but for white space"),
        ("def Add(a, b):\n    Total = a + b\n    return total", "4-6", "the same but for upper and lower case"),
        ("def add(a, b):\n    sum = a + b\n    return total", "4-6", "nearly the same"),
        ("    totals = a + b", "5-5", "nearly the same"),
    ],
)
def test_the_closest_lines_are_named_with_how_they_differ(old: str, lines: str, how: str) -> None:
    answer = answer_failure(Failure(editing(PATH, old), "String to replace not found in file."), TREE)
    assert answer is not None
    assert answer.remedies == (lines,)
    assert how in answer.text


def test_a_change_that_was_made_already_is_said_to_be() -> None:
    answer = warn_before(editing(PATH, "def minus(a, b):", "def sub(a, b):\n    return a - b"), TREE)
    assert answer is not None
    assert "the change was made already" in answer.text


def test_an_earlier_change_of_the_file_in_this_session_is_mentioned() -> None:
    call = editing(PATH, "def add(a, b):\n    sum = a + b")
    answer = answer_failure(Failure(call, "not found"), TREE, facts=SessionFacts({"calc.py": 2}))
    assert answer is not None
    assert "This session changed the file 2 times before." in answer.text


def test_a_text_in_several_places_is_warned_of() -> None:
    tree = MemoryTree({"calc.py": "x = 1\ny = 2\nx = 1\n"})
    answer = warn_before(editing(PATH, "x = 1"), tree)
    assert answer is not None
    assert "first at lines 1 and 3" in answer.text


@pytest.mark.parametrize("old", ["def add(a, b):", "return total\n", "import os\n\n"])
def test_an_edit_that_will_work_is_not_warned_of(old: str) -> None:
    assert warn_before(editing(PATH, old), TREE) is None


def test_line_ends_of_another_system_are_no_difference() -> None:
    tree = MemoryTree({"calc.py": TEXT.replace("\n", "\r\n")})
    assert warn_before(editing(PATH, "def add(a, b):\n    total"), tree) is None


def test_nothing_is_said_of_a_text_from_which_a_secret_was_taken() -> None:
    assert warn_before(editing(PATH, "token = [REDACTED:aws]"), TREE) is None


def test_several_edits_follow_each_other() -> None:
    edits = [
        {"old_string": "total", "new_string": "sum_", "replace_all": True},
        {"old_string": "sum_ = a", "new_string": "s = a"},
    ]
    assert warn_before(PlannedCall("edit", "MultiEdit", {"file_path": PATH, "edits": edits}, ROOT), TREE) is None


@pytest.mark.parametrize(("line", "fits"), [("    total = a + b", True), ("    total = a * b", False)])
def test_the_hunks_of_a_patch_are_compared_with_the_file(line: str, fits: bool) -> None:
    patch = (
        f"*** Begin Patch\n*** Update File: calc.py\n@@\n def add(a, b):\n-{line}\n+    total = b + a\n*** End Patch"
    )
    answer = warn_before(PlannedCall("edit", "apply_patch", {"input": patch}, ROOT), TREE)
    assert (answer is None) == fits
