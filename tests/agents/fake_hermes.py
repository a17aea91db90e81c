"""A Hermes that is only the outside of one: a Python of its own, a launcher, a home. Nothing in it can be started as Hermes."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path


def python_of(venv: Path) -> Path:
    return venv / "bin" / "python"


def packages_of(venv: Path) -> Path:
    return next((venv / "lib").glob("python*")) / "site-packages"


def make_python(venv: Path) -> Path:
    """A virtual environment without pip; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    return python_of(venv)


def add_package(venv: Path, name: str, version: str, points: str = "", needs: str = "") -> None:
    """Add a package that consists of its metadata only."""
    folder = packages_of(venv) / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    required = f"Requires-Dist: {needs}\n" if needs else ""
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}")
    if points:
        (folder / "entry_points.txt").write_text(points)


def make_hermes(venv: Path, version: str = "0.19.0") -> Path:
    """A Hermes in a Python of its own; its launcher."""
    python = make_python(venv)
    add_package(venv, "hermes-agent", version)
    return launcher(venv / "bin" / "hermes", f"#!{python}\nfrom hermes_cli.main import main\n")


def launcher(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def tree(*folders: Path) -> dict[str, str]:
    """Every file and folder below these folders, with the contents."""
    found = {}
    for root in folders:
        for folder, _, names in os.walk(root):
            found[folder] = ""
            for name in names:
                path = os.path.join(folder, name)
                link = os.readlink(path) if os.path.islink(path) else ""
                found[path] = link or hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return found
