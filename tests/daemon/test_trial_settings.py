"""The settings of a trial: the page has them as they are, and each of them acts."""

import ast
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from preheat.app.experiments import assignment
from preheat.app.experiments.assignment import DEFAULT_SETTINGS, AssignmentSettings, load_assignment_settings
from preheat.errors import UserError

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "reference", "settings.md")


def text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def rows() -> str:
    """The rows of the table, from the code."""
    body = next(
        each.body
        for each in ast.parse(text(assignment.__file__)).body
        if isinstance(each, ast.ClassDef) and each.name == AssignmentSettings.__name__
    )
    found = []
    for one, after in pairwise(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            assert isinstance(after, ast.Expr)
            assert isinstance(after.value, ast.Constant)
            found.append(
                f"| `{one.target.id}` | {getattr(DEFAULT_SETTINGS, one.target.id):g} | {after.value.value!s} |"
            )
    return "\n".join(found)


def test_the_docs_table_of_settings_matches_the_code() -> None:
    shown = re.search(r"<!-- assignment:.*?-->\n\|.*?\n\|[-|]+\n(.*?)\n<!-- /assignment -->", text(PAGE), re.DOTALL)
    assert shown is not None
    assert shown[1] == rows()


@pytest.mark.parametrize(
    "given", ["holdout = -0.1", "holdout = 1", 'holdout = "a fifth"', "drop_items = 2", "holdouts = 0"]
)
def test_a_share_outside_of_zero_to_one_is_refused(tmp_path: Path, given: str) -> None:
    (tmp_path / "settings.toml").write_text(f"[experiment]\n{given}\n")
    with pytest.raises(UserError, match=given.partition(" ")[0]):
        load_assignment_settings(str(tmp_path))


def test_without_a_file_a_fifth_is_held_out(tmp_path: Path) -> None:
    """And another heading changes nothing of that."""
    assert load_assignment_settings(str(tmp_path)) == AssignmentSettings(
        holdout=0.2, drop_items=0.1, withhold_advice=0.2
    )
    (tmp_path / "settings.toml").write_text("[live]\nfocus_low = 3\n")
    assert load_assignment_settings(str(tmp_path)) == DEFAULT_SETTINGS
