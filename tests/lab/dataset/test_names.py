"""Names are known by where they stand, and found however they are written."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.lab.dataset.names import CASELESS_LETTERS, PLACES, Name, Names, names_in_heading, names_in_text

PLACED = (
    "/Users/jquill/x", "\\\\HOME\\jquill ", "-Users-jquill", "_home_jquill", "jane.quill@quillco.io",
    "Author: Jane Quill <j@quillco.io>", "ACKED-BY: Jane Quill <j@quillco.io>", "Written By Jane Quill",
    "aſsigned to Jane Quill", "wrıtten by Jane Quill", '"User_Name": "Jane Quill"', '"displayName\\": \\"jane',
    "GIT_AUTHOR_NAME=jane", "user.name 'jane'", "git@quillhub.io:quillco/inkwell.git",
    "ssh://j@quillhub.io:2222/team/ink.git", "HTTPS://quillhub.io/team/ink.GIT", "https://quillhub.io/team/ink.git",
    "GitHub.com/quillco/inkwell", "http://inkhost:8080/x", "/uſers/jquill/",
)  # fmt: skip


@pytest.mark.parametrize(
    "written",
    [
        "Jane Quill",
        "jane.quill",
        "JaneQuill",
        "jane_quill",
        "JANE-QUILL",
        "janequill",
        "jane%20quill",
        "\\njane quill",
        "Jáne Quíll",
    ],
)
def test_a_name_is_found_however_it_is_written(written: str) -> None:
    """Case, accents, joints and escapes make no other person."""
    found = list(Names([Name("person", "Jane Quill")]).find(f"by {written}, who"))
    assert len(found) == 1
    _, end, sort, _ = found[0]
    assert sort == "person"
    assert "quill" not in f"by {written}, who".lower().replace("í", "i")[end:]


def test_part_of_a_word_is_no_name() -> None:
    """`tom` is not in `atom` or `custom`."""
    assert list(Names([Name("person", "tom")]).find("atom custom tomato")) == []


@pytest.mark.parametrize(
    ("text", "sort", "name"),
    [
        ("cd /Users/jquill/x", "person", "jquill"),
        ("cd /home/jquill", "person", "jquill"),
        (r"C:\Users\Jane Quill\x", "person", "Jane Quill"),
        ("-Users-jquill-work", "person", "jquill"),
        ("Author: Jane Quill <j@quillco.io>", "person", "Jane Quill"),
        ("Co-Authored-By: Jane Quill <j@quillco.io>", "person", "Jane Quill"),
        ("git config user.name 'Jane Quill'", "person", "Jane Quill"),
        ("(last modified by Jane Quill)", "person", "Jane Quill"),
        ('{\\"user_name\\": \\"Jane Quill\\"}', "person", "Jane Quill"),
        ("jane.quill@quillco.io", "person", "jane.quill"),
        ("1234+jquill@users.noreply.github.com", "person", "jquill"),
        ("jane.quill@quillco.io", "name", "quillco"),
        ("git@github.com:quillco/inkwell.git", "repository", "inkwell"),
        ("https://git.quillco.io/team/inkwell.git", "repository", "inkwell"),
        ("https://github.com/quillco/inkwell/pull/3", "repository", "quillco/inkwell"),
        ("http://inkhost:8080/x", "host", "inkhost"),
    ],
)
def test_the_place_of_a_name_says_what_it_is_a_name_of(text: str, sort: str, name: str) -> None:
    assert (sort, name) in set(names_in_text(text))


def test_a_program_that_signs_commits_is_nobody() -> None:
    """Otherwise half of the models' names would be taken for persons'."""
    assert not [
        name for name in names_in_text("Co-Authored-By: Robo Coder <noreply@example.com>") if name.sort == "person"
    ]


def test_folders_and_branches_give_names() -> None:
    """Every part of a project's folder that is no common word, and whoever a branch begins with."""
    names = Names(names_in_heading("/Users/jquill/work/quillco/inkwell", "jquill/fix-blots"))
    for word in ("jquill", "quillco", "inkwell"):
        assert list(names.find(f"the {word} build"))
    assert not list(names.find("work on the fix"))


def test_words_of_tools_name_no_folder_and_reserved_ones_nobody() -> None:
    """A folder `vitest` does not take the program away; a person of that name still goes. What every export has stays."""
    names = Names(
        [Name("project", "vitest"), Name("person", "sage"), Name("person", "struggling")], ("vitest",), ("struggling",)
    )
    assert [sort for _, _, sort, _ in names.find("vitest sage struggling")] == ["person"]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(PLACED), st.text(max_size=12)), max_size=8),
    st.sampled_from(["", " ", "\n", '"']),
)
def test_the_quick_check_for_words_passes_over_no_place(parts: list[str], joint: str) -> None:
    """The words that a text must have before a place is looked for leave nothing out that its pattern would find."""
    text = joint.join(parts)
    every = {name for place in PLACES for found in place.pattern.finditer(text) for name in place.names(found)}
    assert set(names_in_text(text)) == every


def test_every_letter_that_only_patterns_take_for_another_is_listed() -> None:
    """`ſ` is an `s` to a pattern without regard to case, and stays itself in small letters: every such letter is listed."""
    others = {
        chr(code)
        for code in range(sys.maxunicode + 1)
        if re.fullmatch("[a-z]", chr(code), re.IGNORECASE) and not re.fullmatch("[a-z]", chr(code).lower())
    }
    assert others == set(CASELESS_LETTERS)
