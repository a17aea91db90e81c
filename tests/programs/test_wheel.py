"""Preheat as people install it: from the built wheel, in an empty home, with `uvx`, `pipx` and `pip`, on every supported Python.

What Preheat needs comes from the package index.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from preheat import __version__
from tests.programs.program import find_program
from tests.shared import TESTS, real_program

pytestmark = pytest.mark.program
CHECKOUT = os.path.dirname(TESTS)
HUNG = 600.0
FROM_INDEX = ("PIP_", "UV_", "SSL_", "HTTP", "NO_PROXY", "http", "no_proxy")
"""How this machine reaches the package index."""


def find_uv(name: str = "uv") -> str:
    return real_program(find_program(name, "uv", "bin", name), name)


def supported_pythons() -> list[str]:
    """The versions that the package says it supports."""
    with open(os.path.join(CHECKOUT, "pyproject.toml"), "rb") as stream:
        classifiers = tomllib.load(stream)["project"]["classifiers"]
    return [found[1] for each in classifiers if (found := re.search(r"Python :: (3\.\d+)$", each))]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An empty home, the folders of the system's programs, and the way to the package index. What was fetched before is used."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(FROM_INDEX)}
    home, caches = tmp_path / "home", os.path.expanduser("~/.cache")
    home.mkdir()
    more = glob.glob(os.path.join(os.environ.get("PYENV_ROOT", "/nowhere"), "versions", "3.*", "bin"))
    return {
        **kept, "HOME": str(home), "PATH": ":".join(("/usr/local/bin", "/usr/bin", "/bin", *sorted(more))),
        "LANG": "C.UTF-8", "NO_COLOR": "1", "UV_CACHE_DIR": os.path.join(caches, "uv"), "UV_PYTHON_DOWNLOADS": "never",
        "PIP_CACHE_DIR": os.path.join(caches, "pip"), "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("built")
    run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        os.environ,
        CHECKOUT,
    )
    (found,) = folder.glob("*.whl")
    return str(found)


def run(command: list[str], environment: Mapping[str, str], folder: str) -> str:
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=HUNG)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_program(command: list[str], environment: Mapping[str, str], folder: str) -> None:
    """The program says its version, tells its story, and has left nothing of its own in the home."""
    assert run([*command, "--version"], environment, folder) == f"preheat {__version__}\n"
    assert "with Preheat" in run([*command, "demo"], environment, folder)
    assert not os.path.exists(os.path.join(environment["HOME"], ".local", "share", "preheat"))


@pytest.mark.parametrize("version", supported_pythons())
def test_uvx_runs_the_wheel(version: str, wheel: str, environment: dict[str, str], tmp_path: Path) -> None:
    uv, uvx = find_uv(), find_uv("uvx")
    there = subprocess.run(
        [uv, "python", "find", "--no-project", version], env=environment, capture_output=True, text=True
    )
    if there.returncode != 0:
        pytest.skip(f"there is no Python {version} on this machine")
    words = [uvx, "--quiet", "--no-config", "--python", there.stdout.strip(), "--from", wheel, "preheat"]
    check_program(words, environment, str(tmp_path))


def test_pipx_installs_the_wheel(wheel: str, environment: dict[str, str], tmp_path: Path) -> None:
    pipx = real_program(find_program("pipx", "pipx", "bin", "pipx"), "pipx")
    known = {**environment, "PATH": f"{os.path.dirname(find_uv())}:{environment['PATH']}"}
    words = [pipx, "install", "--quiet", "--backend", "uv", "--python", sys.executable, wheel]  # quicker than with pip
    run(words, known, str(tmp_path))
    check_program([os.path.join(environment["HOME"], ".local", "bin", "preheat")], environment, str(tmp_path))


def test_pip_installs_the_wheel(wheel: str, environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    run([sys.executable, "-m", "venv", str(folder)], environment, str(tmp_path))
    run([str(folder / "bin" / "pip"), "install", "--quiet", wheel], environment, str(tmp_path))
    check_program([str(folder / "bin" / "preheat")], environment, str(tmp_path))
    assert shutil.which("preheat", path=environment["PATH"]) is None
