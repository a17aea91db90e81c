"""Names are known by where they stand, and found however they are written."""

import pytest

from preheat.dataset.names import Name, Names, in_heading, in_text


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
def test_where_names_stand(text: str, sort: str, name: str) -> None:
    """Each place that says what a name is a name of."""
    assert (sort, name) in set(in_text(text))


def test_a_program_that_signs_commits_is_nobody() -> None:
    """Otherwise half of the models' names would be taken for persons'."""
    assert not [name for name in in_text("Co-Authored-By: Robo Coder <noreply@example.com>") if name.sort == "person"]


def test_folders_and_branches_give_names() -> None:
    """Every part of a project's folder that is no common word, and whoever a branch begins with."""
    names = Names(in_heading("/Users/jquill/work/quillco/inkwell", "jquill/fix-blots"))
    for word in ("jquill", "quillco", "inkwell"):
        assert list(names.find(f"the {word} build"))
    assert not list(names.find("work on the fix"))


def test_words_of_tools_name_no_folder_and_reserved_ones_nobody() -> None:
    """A folder `vitest` does not take the program away; a person of that name still goes. What every export has stays."""
    names = Names(
        [Name("project", "vitest"), Name("person", "sage"), Name("person", "struggling")], ("vitest",), ("struggling",)
    )
    assert [sort for _, _, sort, _ in names.find("vitest sage struggling")] == ["person"]
