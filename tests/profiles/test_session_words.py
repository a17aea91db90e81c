"""What people write and refer to: style and markers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.profiles.session import find_context_markers, user_style
from tests.growth import grows_in_proportion

from .sessions import Story


@pytest.mark.parametrize(
    ("messages", "style"),
    [
        ([], "unknown"),
        (["/help", "/clear", "do the thing now please"], "command_driven"),
        (["why?", "how?", "x" * 300], "conversational"),
        (["fix it", "again"], "terse"),
        (["x" * 201], "detailed"),
        (["x" * 50], "balanced"),
        (["x" * 200], "balanced"),
        (["/a"] * 3 + ["x" * 60] * 7, "terse"),
        (["why?", "x" * 120], "balanced"),
    ],
)  # fmt: skip
def test_style_follows_the_seeds_rules_in_their_order(messages: list[str], style: str) -> None:
    """More than 30 % commands, more than half questions, under 50 letters, over 200, else balanced; bounds excluded."""
    assert user_style(messages).style == style


def test_only_what_a_person_typed_counts() -> None:
    found = Story().says("why?").answers("x" * 999).says("/go").profile.user
    assert (found.messages, found.average_length, found.questions, found.commands) == (2, 3.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "markers"),
    [
        ("look at src/a/b.py, then (see `lib/x.rs:12:3`).", ["src/a/b.py", "lib/x.rs"]),
        ("/home/me/notes and ~/.config/x and ./run and ../up/y", ["/home/me/notes", "~/.config/x", "./run", "../up/y"]),
        ("https://example.org/a/b?q=1. And http://x.y", ["https://example.org/a/b?q=1", "http://x.y"]),
        ("and/or, 1/2, /help, read/write, // comment, a // b, ftp://x/y", []),
        ("```python\nprint(1)\nmore()\n```\nand ```\n\n```", ["```python print(1)"]),
        ("/w/proj/src/a.py src/a.py", ["src/a.py"]),
        ("a/b.py#L12 a/b.py:7-9 --in=a/b.py", ["a/b.py"]),
        ("/ / /. ./ .. ~/ … ``` /", []),
    ],
)  # fmt: skip
def test_markers_are_paths_addresses_and_code_blocks(text: str, markers: list[str]) -> None:
    assert list(find_context_markers([text], "/w/proj")) == markers


def test_the_most_frequent_come_first_then_the_first_seen_twenty_at_most() -> None:
    texts = [f"d/{number}.py" for number in range(30)] + ["d/7.py and d/9.py and d/9.py"]
    found = find_context_markers(texts)
    assert found[:4] == ("d/9.py", "d/7.py", "d/0.py", "d/1.py")
    assert len(found) == 20


@given(st.lists(st.text(alphabet=st.sampled_from("/.`~: \n\tahtps#L12é()"), max_size=80)))
def test_any_text_has_markers_of_one_line(texts: list[str]) -> None:
    found = find_context_markers(texts, "/p")
    assert len(found) <= 20
    assert all("\n" not in marker and marker.strip() for marker in found)


@pytest.mark.parametrize("text", ["/" * 300_000, "a" * 300_000 + "/", "```" * 100_000, "a/" * 150_000, "`/" * 150_000])
def test_time_grows_with_the_length_of_hostile_texts(text: str) -> None:
    grows_in_proportion(lambda part: find_context_markers([part]), text)
