"""The page of settings: every one of `settings.toml`, with its default and what it is, as the code has it."""

import ast
import os
import re
import tomllib
import typing
from itertools import pairwise
from pathlib import Path

import pytest

from preheat.app.live import settings
from preheat.app.live.settings import NO_ACTIONS, SETTINGS, OptInActions, load_actions, load_thresholds
from preheat.errors import UserError
from tests.live.test_thresholds_table import table

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "reference", "settings.md")


def text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def choices() -> str:
    """The rows of the choices, from the code."""
    classes = [each for each in ast.parse(text(settings.__file__)).body if isinstance(each, ast.ClassDef)]
    body = next(each.body for each in classes if each.name == OptInActions.__name__)
    kinds = typing.get_type_hints(OptInActions)
    rows = []
    for one, after in pairwise(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            assert isinstance(after, ast.Expr), one.target.id
            assert isinstance(after.value, ast.Constant), one.target.id
            name = one.target.id
            values = [_shown(each) for each in typing.get_args(kinds[name]) or (False, True)]
            default = _shown(getattr(NO_ACTIONS, name))
            rows.append(f"| `{name}` | {default} | {', '.join(values)} | {after.value.value!s} |")
    return "\n".join(rows)


def _shown(value: object) -> str:
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f'`"{value}"`'


def test_the_docs_table_of_settings_matches_the_code() -> None:
    for name, wanted in (("choices", choices()), ("thresholds", table())):
        shown = re.search(rf"<!-- {name}:.*?-->\n\|.*?\n\|[-|]+\n(.*?)\n<!-- /{name} -->", text(PAGE), re.DOTALL)
        assert shown is not None
        assert shown[1] == wanted


def test_the_example_settings_in_the_docs_are_valid(tmp_path: Path) -> None:
    shown = re.search(r"```toml\n(.*?)```", text(PAGE), re.DOTALL)
    assert shown is not None
    assert tomllib.loads(shown[1]).keys() == {"live"}
    (tmp_path / SETTINGS).write_text(shown[1])
    assert load_actions(str(tmp_path)).block == "critical"
    found = load_thresholds(str(tmp_path))
    assert (found.loop_rereads, found.debt_files.productive, found.debt_files.late) == (5, 8, 2)


@pytest.mark.parametrize(
    "given", ['block = "high "', 'block = "medium"', "block = true", "hold_stop = 1", 'shorten_output = "yes"']
)
def test_a_choice_is_one_of_its_values_or_refused(tmp_path: Path, given: str) -> None:
    """Nothing is guessed: what is not exactly a value is told, with its name."""
    (tmp_path / SETTINGS).write_text(f"[live]\n{given}\n")
    with pytest.raises(UserError, match=given.partition(" ")[0]):
        load_actions(str(tmp_path))
    load_thresholds(str(tmp_path))


def test_without_a_settings_file_all_choices_are_off(tmp_path: Path) -> None:
    assert load_actions(str(tmp_path)) == OptInActions()
    assert not any((OptInActions().shorten_output, OptInActions().hold_stop, OptInActions().block != "never"))
