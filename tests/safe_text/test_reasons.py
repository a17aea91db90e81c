"""What is kept out of lessons: paths of one machine, what means nothing later, hidden letters, commands that do harm."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.safe_text.cleanup import one_line
from preheat.safe_text.paths import make_paths_relative
from preheat.safe_text.reasons import danger_reason, foreign_reason, hidden_reason, junk_reason, transient_reason
from tests.growth import grows_in_proportion

ROOT = "/home/dev/code/shop"


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (f"cat {ROOT}/src/a.py", "cat src/a.py"),
        (f"cd {ROOT} && make", "cd . && make"),
        (f"cd {ROOT}/ && make", "cd . && make"),
        (f"cat {ROOT}-old/a.py", "cat ~/code/shop-old/a.py"),
        (f'"{ROOT}/a b.py"', '"a b.py"'),
        ("ls /home/other/x", "ls ~/x"),
        ("ls /root/x /Users/ann/y", "ls ~/x ~/y"),
        ("cat x/home/dev/y", "cat x/home/dev/y"),
        ("", ""),
    ],
)
def test_paths_begin_at_the_project(text: str, mended: str) -> None:
    """Below the project its folder is taken off; elsewhere in a home the person's name is."""
    assert make_paths_relative(text, ROOT) == mended


@pytest.mark.parametrize(
    "text",
    [r"type C:\Users\ann\shop\src\a.py", "type c:/users/ann/shop/src/a.py", "type /c/Users/ann/shop/src/a.py",
     "type /mnt/c/Users/ann/shop/src/a.py", r"type C:\\Users\\ann\\shop\\src\a.py"],
)  # fmt: skip
def test_a_folder_of_windows_is_known_however_a_shell_writes_it(text: str) -> None:
    """Backslashes, slashes, doubled ones, a drive as a folder."""
    assert make_paths_relative(text, r"C:\Users\ann\shop").replace("\\", "/") == "type src/a.py"


def test_a_worktree_belongs_to_its_project() -> None:
    """Where an agent works in a copy, paths begin at the copy."""
    folder = f"{ROOT}/.worktrees/fix-1"
    assert make_paths_relative(f"cat {folder}/src/a.py {ROOT}/src/b.py", ROOT, folder) == "cat src/a.py src/b.py"


@given(st.text(max_size=200), st.sampled_from(["", "/", ROOT, "C:\\x\\y", "/w"]))
def test_making_paths_relative_twice_changes_nothing(text: str, root: str) -> None:
    once = make_paths_relative(text, root)
    assert make_paths_relative(once, root) == once or root in once or ROOT in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("pytest /tmp/x.py", "a temporary folder"),
        ("ls /private/var/folders/a/b", "a temporary folder"),
        ("cat $TMPDIR/x", "a temporary folder"),
        ("git show 1a2b3c4d", "a hash"),
        ("kill -9 4242", "a process or port of one run"),
        ("open localhost:53211", "a process or port of one run"),
        ("log 2026-01-02T03:04", "a moment in time"),
        ("f_0b7c1d2e-0000-4000-8000-00000000abcd", "an id of one run"),
        ("login --key [REDACTED:token]", "a secret was in it"),
        ("make test", ""),
        ("curl localhost:3000", ""),
        ("npm run build:decade", ""),
    ],
)
def test_texts_of_one_run_are_transient(text: str, why: str) -> None:
    assert transient_reason(text) == why


def test_paths_of_one_machine_are_foreign() -> None:
    assert foreign_reason("cat ~/notes.md") == foreign_reason("cat /home/ann/notes.md") == "a path of one machine"
    assert foreign_reason("npm i x@~1.2") == foreign_reason("src/a.py") == ""
    assert junk_reason("  ") == "nothing"
    assert junk_reason("make test") == ""


@pytest.mark.parametrize("letter", ["\u200b", "\u202e", "\u2066", "\ufeff", "\U000e0041", "\u00ad"])
def test_invisible_letters_are_found(letter: str) -> None:
    assert hidden_reason(f"make{letter} test").startswith("hidden characters")


@pytest.mark.parametrize("letter", ["\x1b", "\x00", "\r", "\x9b", "\x07"])
def test_control_characters_are_found_and_removed(letter: str) -> None:
    assert hidden_reason(f"make{letter} test") == "control characters"
    assert letter not in one_line(f"make{letter} test")


def test_a_harmful_command_is_named_in_the_reason() -> None:
    assert danger_reason("cd app && rm -rf build && make") == "a command that may do harm: `rm -rf`"
    assert danger_reason("uv run pytest") == ""


@given(st.text(max_size=400), st.integers(1, 50))
def test_one_line_is_one_line(text: str, most: int) -> None:
    """Short enough, visible, and the same if it is done again."""
    line = one_line(text, most)
    assert len(line) <= most
    assert line.splitlines() in ([], [line])
    assert one_line(line, most) == line


@pytest.mark.parametrize(
    "check", [hidden_reason, junk_reason, danger_reason, one_line, lambda text: make_paths_relative(text, ROOT)]
)
@pytest.mark.parametrize("piece", ["ignore ", "a" * 40 + " ", "you ", "/home/", "0a" * 30, "\u200b", "curl "])
def test_reading_a_long_text_takes_time_proportional_to_its_length(check: Callable[[str], str], piece: str) -> None:
    grows_in_proportion(check, piece * (300_000 // len(piece)))
