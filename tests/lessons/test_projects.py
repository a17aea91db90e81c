"""Which sessions belong to one project: worktrees, several people, several folders of one name."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.lessons.projects import folder_name, name_projects, root_of


@pytest.mark.parametrize(
    ("folder", "root"),
    [
        ("/home/dev/shop", "/home/dev/shop"),
        ("/home/dev/shop/", "/home/dev/shop"),
        ("/home/dev/shop/.worktrees/fix-1", "/home/dev/shop"),
        ("/home/dev/shop/.agent/worktrees/fix-1/src", "/home/dev/shop"),
        (r"C:\Users\ann\shop\.worktrees\a", r"C:\Users\ann\shop"),
        ("/home/dev", ""),
        ("/root", ""),
        ("/", ""),
        ("~", ""),
        (r"C:\Users\ann", ""),
        ("C:\\", ""),
        ("", ""),
        ("/home/dev/.codex/worktrees/9f/shop", "/home/dev/.codex/worktrees/9f/shop"),
    ],
)
def test_a_folder_belongs_to_the_folder_of_its_project(folder: str, root: str) -> None:
    """A worktree belongs to what it was made from; a home folder is no project."""
    assert root_of(folder) == root


def test_the_repository_root_is_the_project_folder() -> None:
    """A session that ran in a folder of the project belongs to the whole."""
    assert root_of("/home/dev/shop/src/till", lambda folder: "/home/dev/shop") == "/home/dev/shop"
    assert root_of("/home/dev/shop/src", lambda folder: "") == "/home/dev/shop/src"
    assert root_of("/home/dev", lambda folder: "/home/dev") == ""  # dot files under version control


def test_one_name_is_one_project_for_different_people() -> None:
    """A team's archive has the same repository under several homes."""
    found = name_projects({"/home/ann/shop": 3, "/Users/ben/code/Shop": 1, r"D:\work\shop": 2})
    assert set(found.values()) == {"", "shop"}


def test_two_folders_of_one_person_are_two_projects() -> None:
    """The folder with more sessions has the name, the other one its path; of equals the first by the alphabet."""
    found = name_projects({"/home/ann/a/app": 1, "/home/ann/b/app": 5, "/home/ben/app": 1})
    assert found["/home/ann/b/app"] == found["/home/ben/app"] == "app"
    assert found["/home/ann/a/app"] == "/home/ann/a/app"
    assert name_projects({"/home/ann/b/app": 1, "/home/ann/a/app": 1})["/home/ann/a/app"] == "app"


def test_no_folder_is_no_project() -> None:
    assert name_projects({"": 4}) == {"": ""}
    assert name_projects({}) == {"": ""}


@pytest.mark.parametrize(("root", "name"), [("/a/b", "b"), (r"C:\a\b", "b"), ("b/", "b"), ("/", "/")])
def test_the_name_of_a_folder_is_its_last_part(root: str, name: str) -> None:
    assert folder_name(root) == name


_parts = st.sampled_from(["home", "ann", "ben", "shop", "app", "Users", "x y", "é"])
_roots = st.dictionaries(
    st.lists(_parts, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts)), st.integers(1, 9)
)


@given(_roots, st.randoms())
def test_the_order_of_the_folders_does_not_matter(roots: dict[str, int], luck: random.Random) -> None:
    """Every folder has a name, whichever was met first."""
    found = name_projects(roots)
    assert found.keys() == {"", *roots}
    shuffled = list(roots.items())
    luck.shuffle(shuffled)
    assert name_projects(dict(shuffled)) == found
    assert all(name for root, name in found.items() if root)


@given(st.text(max_size=60))
def test_any_folder_has_a_project(folder: str) -> None:
    """Transcripts hold what they hold."""
    root = root_of(folder)
    assert root_of(root) == root
    assert name_projects({root: 1})[root] == "" or root
