"""What runs beside a model needs nothing of the product, and the product needs nothing of the study."""

import ast
import os
import sys

import pytest

import preheat
import preheat.lab.study
from tests.shared import TESTS

CHECKOUT = os.path.dirname(TESTS)
BESIDE = ("__init__", "chat", "check", "endpoint", "errors", "fetch", "given", "plan", "run", "runtime", "scoring")
"""The modules that the study's own environment imports; it has numpy, the runtime and jinja2."""


def imported(path: str) -> set[str]:
    with open(path, encoding="utf-8") as stream:
        tree = ast.parse(stream.read())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("name", BESIDE)
def test_what_runs_beside_a_model_imports_little(name: str) -> None:
    """The standard library, numpy, and each other."""
    for module in imported(os.path.join(os.path.dirname(preheat.lab.study.__file__ or ""), f"{name}.py")):
        top, _, rest = module.partition(".")
        allowed = top in sys.stdlib_module_names or top == "numpy" or (top == "study" and rest.split(".")[0] in BESIDE)
        assert allowed, f"study/{name}.py imports {module}"


def test_the_product_knows_no_study_and_no_runtime() -> None:
    """No module of it imports them, and the package does not ask for them."""
    root = os.path.dirname(preheat.__file__)
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".py"):
                tops = {module.partition(".")[0] for module in imported(os.path.join(folder, name))}
                assert not tops & {"study", "ik_llama_cpp", "llama_cpp", "xllamacpp"}, name
    with open(os.path.join(CHECKOUT, "pyproject.toml"), encoding="utf-8") as stream:
        assert "llama" not in stream.read()
