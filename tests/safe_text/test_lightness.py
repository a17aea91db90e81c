"""What must start at once loads little: rendering a context, the shares of a lesson, writing a list."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("preheat.provisioning", ("preheat.commands", "numpy", "scipy", "rich", "sqlalchemy")),
        ("preheat.model.lesson", ("numpy", "scipy", "statistics")),
        ("preheat.lessons.learners", ("numpy", "scipy", "rich", "sqlalchemy")),
        ("preheat.archive.source_list", ("typing", "contextlib", "tempfile", "msgspec")),
    ],
)
def test_a_quick_path_loads_nothing_heavy(module: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys; before = set(sys.modules); import {module}; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert [name for name in loaded if name in heavy or name.startswith(tuple(f"{each}." for each in heavy))] == []
