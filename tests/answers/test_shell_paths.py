"""Which words of a shell text are paths that have to be there, and which must never be taken for one."""

import pytest

from preheat.answers.shell_paths import needed_paths

FOLDER = "/work/shop"


def needs(command: str) -> list[str]:
    return [each.path.removeprefix(f"{FOLDER}/") for each in needed_paths(command, FOLDER)]


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat src/a.py", ["src/a.py"]),
        ("cd app && cat a.py b.py", ["app", "app/a.py", "app/b.py"]),
        ("sed -n '1,40p' src/a.py", ["src/a.py"]),
        ('rg -n "foo bar" src tests', ["src", "tests"]),
        ("grep -rn foo src", ["src"]),
        ("head -50 src/a.py", ["src/a.py"]),
        ("python scripts/run.py --out x.json", ["scripts/run.py"]),
        ("cat 'my file.txt'", ["my file.txt"]),
        ("cat größe/データ.txt", ["größe/データ.txt"]),
        ("git status; cat a.py", ["a.py"]),
    ],
)
def test_paths_that_a_command_reads_are_needed(command: str, paths: list[str]) -> None:
    assert needs(command) == paths


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p out && cat out/a.txt",
        "touch new.txt && cat new.txt",
        "echo hi > made.txt && cat made.txt",
        "npm run build && cat dist/x.js",
        "git clone URL x && cat x/README.md",
        "cat $HOME/a.txt",
        "cat src/*.py",
        "cat {a,b}.txt",
        "ls missing || true",
        "ls missing 2>/dev/null",
        "if [ -f a ]; then cat a; fi",
        "for f in a b; do cat x/$f; done",
        "cat <<EOF\nsrc/a.py\nEOF",
        "ssh host cat /etc/x/y",
        "docker exec box cat src/a.py",
        "rm -f gone.txt",
        "curl -o out.html https://x.org/a",
        "rg 'src/missing.py'",
        "grep src/a.py",
        "python -c 'open(1)'",
        "python -m pytest",
        "cat missing | head",
        "cat missing &",
        "sort -o out.txt",
        "head -n 5",
        "find . -name x.py",
        "echo src/missing.py",
        "cat https://example.org/a.txt",
        "cat ~/a.txt",
        "cat -",
        "cat `ls`",
        "",
    ],
)
def test_what_is_no_path_to_read_is_never_taken_for_one(command: str) -> None:
    assert needs(command) == []
