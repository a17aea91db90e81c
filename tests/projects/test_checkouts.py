"""What git's own files say of a folder, on repositories that git made."""

import os
from pathlib import Path

import pytest

from preheat.checkouts import find_checkout, find_package, root_commits

from .repositories import add_worktree, git, make_repository

REMOTE = "https://ann:s3cret@github.com/acme/cli.git"


def test_a_checkout_is_found_from_any_folder_in_it(tmp_path: Path) -> None:
    app = make_repository(tmp_path / "app", REMOTE)
    inside = app / "src" / "deep"
    inside.mkdir(parents=True)
    found = find_checkout(str(inside))
    assert found is not None
    assert (found.root, found.main, found.remote) == (str(app), str(app), "github.com/acme/cli")
    assert root_commits(found) == (git(app, "rev-parse", "HEAD"),)


def test_a_folder_without_a_repository_has_no_checkout(tmp_path: Path) -> None:
    assert find_checkout(str(tmp_path)) is None


def test_a_worktree_belongs_to_the_repository_that_it_was_made_from(tmp_path: Path) -> None:
    app = make_repository(tmp_path / "app", REMOTE)
    tree = add_worktree(app, tmp_path / "elsewhere" / "rome")
    found = find_checkout(str(tree))
    assert found is not None
    assert (found.root, found.main, found.remote) == (str(tree), str(app), "github.com/acme/cli")
    assert root_commits(found) == (git(app, "rev-parse", "HEAD"),)


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", text="inner")
    app = make_repository(tmp_path / "app", REMOTE)
    git(app, "submodule", "add", "-q", str(inner), "lib")
    git(app / "lib", "remote", "set-url", "origin", "git@github.com:acme/lib.git")
    found = find_checkout(str(app / "lib"))
    assert found is not None
    assert (found.root, found.main, found.remote) == (str(app / "lib"), str(app / "lib"), "github.com/acme/lib")
    assert root_commits(found) == (git(inner, "rev-parse", "HEAD"),)


def test_a_clone_of_a_folder_has_the_remote_of_that(tmp_path: Path) -> None:
    app = make_repository(tmp_path / "app", REMOTE)
    git(tmp_path, "clone", "-q", str(app), "copy")
    git(tmp_path, "clone", "-q", "copy", "copy-of-copy")
    found = find_checkout(str(tmp_path / "copy-of-copy"))
    assert found is not None
    assert found.remote == "github.com/acme/cli"


def test_clones_that_name_each_other_have_no_remote(tmp_path: Path) -> None:
    one = make_repository(tmp_path / "one", str(tmp_path / "two"))
    make_repository(tmp_path / "two", str(one))
    found = find_checkout(str(one))
    assert found is not None
    assert found.remote == ""


def test_origin_is_the_main_remote(tmp_path: Path) -> None:
    """A fork is not what it was forked from."""
    app = make_repository(tmp_path / "app")
    git(app, "remote", "add", "upstream", "https://github.com/acme/cli")
    git(app, "remote", "add", "origin", "https://github.com/ann/cli")
    found = find_checkout(str(app))
    assert found is not None
    assert found.remote == "github.com/ann/cli"


def test_a_planted_file_cannot_claim_another_repository(tmp_path: Path) -> None:
    """A `.git` file counts only if the folder that it names points back."""
    app = make_repository(tmp_path / "app", REMOTE)
    add_worktree(app, tmp_path / "tree")
    for target in (app / ".git", app / ".git" / "worktrees" / "tree", tmp_path / "nowhere"):
        evil = tmp_path / f"evil-{target.name}"
        evil.mkdir()
        (evil / ".git").write_text(f"gitdir: {target}\n")
        found = find_checkout(str(evil))
        assert found is not None
        assert (found.root, found.remote, root_commits(found)) == (str(evil), "", ())


def test_the_oldest_commits_of_a_shallow_clone_are_no_roots(tmp_path: Path) -> None:
    app = make_repository(tmp_path / "app")
    git(app, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{app}", "shallow")
    found = find_checkout(str(tmp_path / "shallow"))
    assert found is not None
    assert root_commits(found) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        '[remote "origin"',
        '[remote "origin"]\nurl',
        '[remote "origin"]\nurl=',
        "\0\xff",
        "[include]\npath = /dev/zero",
    ],
)
def test_a_broken_configuration_is_no_remote(tmp_path: Path, text: str) -> None:
    app = make_repository(tmp_path / "app")
    (app / ".git" / "config").write_text(text)
    found = find_checkout(str(app))
    assert found is not None
    assert found.remote == ""


def test_special_files_are_not_read(tmp_path: Path) -> None:
    os.mkdir(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe" / ".git")
    found = find_checkout(str(tmp_path / "pipe"))
    assert found is not None
    assert found.remote == ""


def test_a_package_is_the_innermost_folder_with_a_manifest(tmp_path: Path) -> None:
    app = make_repository(tmp_path / "app")
    (app / "package.json").write_text("{}")
    package = app / "packages" / "till"
    (package / "src").mkdir(parents=True)
    assert find_package(str(package / "src"), str(app)) == ""
    (package / "package.json").write_text("{}")
    assert find_package(str(package / "src"), str(app)) == "packages/till"
    assert find_package(str(app), str(app)) == ""
