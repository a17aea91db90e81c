"""The numbers that steer the signals: each documented as it is, each with a test that it acts."""

import ast
import os
import re
from itertools import pairwise

import msgspec
import pytest

from preheat.live import signal
from preheat.live.signal import DEFAULTS, ByPhase, Thresholds
from preheat.model.live import PHASES

HERE = os.path.dirname(__file__)
PAGE = os.path.join(HERE, "..", "..", "docs", "concepts", "live.md")
NAMES = Thresholds.__struct_fields__


def table() -> str:
    """The rows of the page, from the code: name, default, the sentence that stands with it."""
    classes = [each for each in ast.parse(_text(signal.__file__)).body if isinstance(each, ast.ClassDef)]
    body = next(each.body for each in classes if each.name == "Thresholds")
    rows = []
    for one, after in pairwise(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            assert isinstance(after, ast.Expr), one.target.id
            assert isinstance(after.value, ast.Constant), one.target.id
            rows.append(f"| `{one.target.id}` | {_shown(getattr(DEFAULTS, one.target.id))} | {after.value.value!s} |")
    return "\n".join(rows)


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f'`"{each}"`' for each in value)
    return " / ".join(f"{value.of(phase):g}" for phase in PHASES) if isinstance(value, ByPhase) else f"{value:g}"


def test_the_docs_table_of_settings_matches_the_code() -> None:
    shown = re.search(r"<!-- thresholds:.*?-->\n\|.*?\n\|[-|]+\n(.*?)\n<!-- /thresholds -->", _text(PAGE), re.DOTALL)
    assert shown is not None
    assert shown[1] == table()


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_named_by_a_test(name: str) -> None:
    """A setting that no test of the signals touches may do nothing."""
    pages = [each for each in os.listdir(HERE) if each.startswith("test_") and each != os.path.basename(__file__)]
    assert any(name in _text(os.path.join(HERE, each)) for each in pages)


def test_thresholds_are_read_from_a_table_and_unknown_names_refused() -> None:
    found = msgspec.convert({"focus_low": 30, "debt_files": dict.fromkeys(PHASES, 4)}, Thresholds)
    assert (found.focus_low, found.debt_files.of("late"), found.late_turn) == (30, 4, 80)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"focus": 30}, Thresholds)
