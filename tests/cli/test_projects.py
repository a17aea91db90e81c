"""`preheat projects`, and that what is learned stays in its project: the whole way, with real repositories."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.app.live.hooks import Hooks
from tests.ingest.test_learning import worked
from tests.projects.repositories import add_worktree, git, make_repository

from .conftest import Person

ACME = "https://ann:s3cret@github.com/acme/cli.git"
TASK = "run the tests"
KNOWN = "uv run pytest"


def teach(person: Person, folder: Path, first: int = 1, sessions: int = 4) -> None:
    """Sessions in a folder in which `pytest` is not there and `uv run pytest` works."""
    for number in range(first, first + sessions):
        person.write(worked(number, str(folder)))
    assert person.run("sync").code == 0
    assert person.run("learn", "--quiet").code == 0


def ask(person: Person, *words: str) -> Any:
    done = person.run(*words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def context_in(person: Person, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The context that a session gets in a folder."""
    monkeypatch.chdir(folder)
    return person.run("warm", "start", "--task", TASK).out


@pytest.fixture
def cli(person: Person, tmp_path: Path) -> Path:
    """A repository with sessions that taught something."""
    folder = make_repository(tmp_path / "code" / "cli", ACME)
    teach(person, folder)
    return folder


@pytest.mark.parametrize("width", [60, 80, 110])
def test_each_project_has_one_line_that_fits_the_window(
    width: int, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("deep/" * 12) / "shop"
    folder.mkdir(parents=True)
    teach(person, folder, sessions=2)
    monkeypatch.setenv("COLUMNS", str(width))
    shown = person.run("projects", "list").out
    titles, row, *rest = shown.splitlines()
    assert rest == [], shown
    assert titles.startswith("project")
    assert row.startswith("shop ")
    assert row.endswith("deep/shop")
    assert len(row) <= width


def test_another_repository_of_the_same_name_gets_nothing(
    person: Person, cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1: neither a fresh clone of another remote, nor a folder without a repository."""
    assert KNOWN in context_in(person, cli, monkeypatch)
    other = make_repository(tmp_path / "clientB" / "cli", "git@github.com:client-b/cli.git")
    plain = tmp_path / "notes" / "cli"
    plain.mkdir(parents=True)
    for folder in (other, plain):
        assert KNOWN not in context_in(person, folder, monkeypatch)
        assert person.run("lessons", "list", "--project", ".").code == 2


def test_worktrees_and_clones_under_another_name_get_the_lessons(
    person: Person, cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I2: a worktree elsewhere, a clone of the same remote by another protocol, and a clone of the folder."""
    tree = add_worktree(cli, tmp_path / "workspaces" / "rome")
    clone = make_repository(tmp_path / "copy", "ssh://git@github.com:22/acme/cli")
    git(tmp_path, "clone", "-q", str(cli), "local-copy")
    for folder in (tree, clone, tmp_path / "local-copy", cli / ".git" / ".." / "."):
        assert KNOWN in context_in(person, folder, monkeypatch)
    for number in range(1, 9):
        person.write(worked(10 + number, str(tree)))
    assert person.run("sync").code == 0
    (project,) = ask(person, "projects", "list")["projects"]
    assert (project["name"], project["sessions"], len(project["folders"])) == ("cli", 12, 2)


def test_another_repository_in_the_same_folder_gets_nothing(
    person: Person, cli: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(cli, "remote", "set-url", "origin", "git@github.com:client-b/tool.git")
    assert KNOWN not in context_in(person, cli, monkeypatch)


def test_a_repository_without_a_remote_is_known_by_its_first_commit(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_repository(tmp_path / "code" / "till")
    teach(person, folder)
    os.rename(folder, tmp_path / "code" / "renamed")
    assert KNOWN in context_in(person, tmp_path / "code" / "renamed", monkeypatch)
    assert KNOWN not in context_in(person, make_repository(tmp_path / "till", text="other"), monkeypatch)


def test_a_daemon_gives_a_worktree_the_lessons_and_another_repository_none(
    person: Person, cli: Path, tmp_path: Path
) -> None:
    """The way that hooks take."""
    tree = add_worktree(cli, tmp_path / "rome")
    other = make_repository(tmp_path / "clientB" / "cli", "git@github.com:client-b/cli.git")
    hooks = Hooks(person.folder)
    for folder in (tree, other):
        hooks.prepare_folder(str(folder))
    assert hooks._folder_at(str(tree)).known != hooks._folder_at(str(other)).known


def test_sessions_keep_their_project_when_the_folder_is_gone(person: Person, cli: Path) -> None:
    """Also when they are analysed again, or a session is read again."""
    os.rename(cli, cli.parent / "gone")
    person.write(worked(1, str(cli)).answer("More.").run("ls", "ok"))
    assert person.run("sync").code == 0
    assert person.run("learn", "--quiet").code == 0
    (project,) = ask(person, "projects", "list")["projects"]
    assert (project["known_by"], project["sessions"]) == ("github.com/acme/cli", 4)
    assert "s3cret" not in json.dumps(project)


def test_projects_can_be_linked_and_taken_apart_again(person: Person, cli: Path, tmp_path: Path) -> None:
    fork = make_repository(tmp_path / "fork", "git@github.com:ann/cli.git")
    teach(person, fork, first=20)
    assert [each["name"] for each in ask(person, "projects", "list")["projects"]] == ["ann/cli", "cli"]
    linked = ask(person, "projects", "link", "ann/cli", "cli")
    assert (linked["name"], linked["sessions"]) == ("cli", 8)
    assert len(ask(person, "sessions", "list", "--project", "cli")) == 8
    assert ask(person, "projects", "show", str(fork))["name"] == "cli"
    assert "belongs to it, by you" in person.run("projects", "show", "cli").out
    assert person.run("projects", "link", "--undo", "ann/cli").code == 0
    assert [each["sessions"] for each in ask(person, "projects", "list")["projects"]] == [4, 4]


def test_a_copy_elsewhere_in_which_no_session_ran_yet_can_be_linked_as_the_error_says(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions of another machine name a folder that is not here, and no remote: nothing else joins a clone to them."""
    teach(person, Path("/elsewhere/code/shop"))
    clone = make_repository(tmp_path / "shop", "git@github.com:acme/shop.git")
    monkeypatch.chdir(clone)
    done = person.run("lessons", "list", "--project", ".")
    assert (done.code, done.out) == (2, "")
    assert "If this folder is of it, `preheat projects link . shop` says so" in done.err
    assert person.run("projects", "link", ".", "shop").code == 0
    assert len(ask(person, "lessons", "list", "--project", ".")) > 0
    assert "AGENTS.md: " in person.run("lessons", "propose", "--project", "shop").err
    assert person.run("projects", "link", "--undo", ".").code == 0
    assert person.run("lessons", "list", "--project", ".").code == 2


def test_a_folder_can_be_split_off_and_given_back(person: Person, cli: Path) -> None:
    old = cli / "old"
    old.mkdir()
    teach(person, old, first=30)
    assert ask(person, "projects", "show", "cli")["sessions"] == 8
    split = ask(person, "projects", "split", str(old))
    assert (split["name"], split["sessions"]) == ("old", 4)
    assert ask(person, "projects", "show", str(old / "deeper"))["name"] == "old"
    assert person.run("projects", "split", "--undo", str(old)).code == 0
    assert ask(person, "projects", "show", "cli")["sessions"] == 8


def test_what_does_not_exist_is_said_to_be_unknown(person: Person, cli: Path) -> None:
    for words in (("show", "nosuch"), ("link", "nosuch", "cli"), ("link", "cli", "nosuch"), ("split", "/no/such"),
                  ("link", "--undo", "cli"), ("split", "--undo", "/no/such"), ("link", "cli", "cli")):  # fmt: skip
        done = person.run("projects", *words)
        assert (done.code, done.out) == (2, ""), words
        assert "preheat projects" in done.err or "already" in done.err


def test_sessions_of_a_project_are_listed_from_any_of_its_folders(
    person: Person, cli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(add_worktree(cli, tmp_path / "rome"))
    assert len(ask(person, "sessions", "list", "--project", ".")) == 4
    assert len(ask(person, "lessons", "list", "--project", ".")) > 0


def test_a_mistyped_name_is_not_taken_for_the_repository_around(
    person: Person, cli: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the repository is it; a word that is none, and no project's name, is a mistake of the person."""
    (cli / "src").mkdir()
    monkeypatch.chdir(cli)
    for words in (
        ["mistakes"],
        ["lessons", "list"],
        ["lessons", "propose"],
        ["sessions", "list"],
        ["start", "--task", TASK],
    ):
        done = person.run(*words, "--project", "clii")
        assert (done.code, done.out) == (2, ""), words
        assert done.err == "preheat: no project `clii` is known; did you mean `cli`?\n"
    assert len(ask(person, "sessions", "list", "--project", "src")) == 4
