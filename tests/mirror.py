"""A bare repository as the benchmarks take it: one commit that is older than any session."""

import subprocess
from pathlib import Path

_DAY = "2020-01-01T00:00:00Z"


def make_mirror(folder: Path) -> str:
    """Make a repository with `src/cart.py`; the folder of repositories that it lies in."""
    tree = folder / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "cart.py").write_text("def total(a, b):\n    return a + b\n")
    place = folder / "mirrors" / "owner+name" / "repo"
    place.parent.mkdir(parents=True)
    dates = {"GIT_AUTHOR_DATE": _DAY, "GIT_COMMITTER_DATE": _DAY, "HOME": str(folder)}
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=tree, check=True, env={"PATH": "/usr/bin:/bin", **dates})
    subprocess.run(["git", "clone", "-q", "--bare", str(tree), str(place)], check=True, capture_output=True)
    return str(folder / "mirrors")
