"""The modules that run beside a model need nothing of the product, and the product needs nothing of the study."""

import ast
import os
import subprocess
import sys

import pytest

import preheat
import preheat.lab.study
from tests.shared import TESTS

CHECKOUT = os.path.dirname(TESTS)
ROOT = os.path.dirname(preheat.__file__)
BESIDE_A_MODEL = ("__init__", "errors", "fetch", "model", "plan", "prompts", "run")
"""The modules that the models' own environment imports; it has numpy, the runtime and jinja2."""
PACKAGES = ("preheat", "preheat.lab", "preheat.lab.study")
"""Their `__init__` modules are imported with every module of the study."""
RUNTIMES = {"ik_llama_cpp", "llama_cpp", "xllamacpp"}


def imported_modules(path: str) -> set[str]:
    with open(path, encoding="utf-8") as stream:
        tree = ast.parse(stream.read())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("name", BESIDE_A_MODEL)
def test_what_runs_beside_a_model_imports_the_standard_library_numpy_and_each_other(name: str) -> None:
    allowed = {f"preheat.lab.study.{each}" for each in BESIDE_A_MODEL}
    for module in imported_modules(os.path.join(ROOT, "lab", "study", f"{name}.py")):
        top = module.partition(".")[0]
        assert top in sys.stdlib_module_names or top == "numpy" or module in allowed, (
            f"study/{name}.py imports {module}"
        )


def test_the_command_loads_nothing_of_the_product_before_it_runs_beside_a_model() -> None:
    """Nor do the packages that the study is in: loaded are its own modules, numpy and the standard library."""
    code = (
        "import sys; from preheat.lab.study import __main__, model, run;"
        "print(*(name for name in sys.modules if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.partition(".")[0] == "preheat"}
    own = {f"preheat.lab.study.{name}" for name in (*BESIDE_A_MODEL[1:], "__main__")}
    assert loaded == {*PACKAGES, *own}


def test_the_product_knows_no_study_and_no_runtime() -> None:
    """No module outside of the study imports it or a runtime, and the package does not ask for one."""
    study = os.path.join(ROOT, "lab", "study")
    for folder, _, names in os.walk(ROOT):
        for name in names:
            if name.endswith(".py") and not folder.startswith(study):
                modules = imported_modules(os.path.join(folder, name))
                assert not {module.partition(".")[0] for module in modules} & RUNTIMES, name
                assert not [module for module in modules if module.startswith("preheat.lab.study")], name
    with open(os.path.join(CHECKOUT, "pyproject.toml"), encoding="utf-8") as stream:
        assert "llama" not in stream.read()
