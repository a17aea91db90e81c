"""`preheat admin tree`: which folders are indexed, bringing that up to date, and deleting it; `sessions delete` does so, too."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from preheat.testing.builders import ClaudeTranscript
from preheat.tree.store import database_paths

from .conftest import FIRST, SECOND, Person


@pytest.fixture
def shop(person: Person) -> str:
    """A folder with a repository in which a session ran just now."""
    folder = os.path.join(person.home, "work", "shop")
    os.makedirs(os.path.join(folder, "src"))
    Path(folder, "src", "cart.py").write_text("class Cart:\n    def add_item(self): pass\n")
    subprocess.run(["git", "init", "-q", folder], check=True)
    person.write(
        ClaudeTranscript(session=FIRST, project=folder, started=time.time() - 60)
        .prompt("hello")
        .run("ls", "src")
        .answer("done")
    )
    assert person.run("sync", "--quiet").code == 0
    return folder


def listed(person: Person) -> list[str]:
    return [each["root"] for each in json.loads(person.run("tree", "list", "--json").out)["trees"]]


def test_the_folders_of_recent_sessions_are_indexed(person: Person, shop: str) -> None:
    assert "Nothing is indexed yet" in person.run("tree", "list").err
    done = person.run("tree", "update")
    assert done.code == 0
    assert "1 file, 1 read, 0 gone" in done.out
    assert listed(person) == [os.path.realpath(shop)]
    assert "2 symbols" in person.run("tree", "list").out
    assert person.run("tree", "update", "--quiet").out == ""


def test_a_folder_can_be_named_and_must_exist(person: Person, shop: str) -> None:
    assert person.run("tree", "update", shop).code == 0
    done = person.run("tree", "update", os.path.join(shop, "nowhere"))
    assert done.code == 2
    assert "there is no folder" in done.err


def test_turned_off_nothing_is_indexed_in_quiet_times(person: Person, shop: str) -> None:
    Path(person.folder, "settings.toml").write_text("[tree]\nenabled = false\n")
    assert person.run("tree", "update", "--quiet").code == 0
    assert listed(person) == []


def test_an_index_can_be_deleted(person: Person, shop: str) -> None:
    person.run("tree", "update")
    assert person.run("tree", "forget").code == 2
    assert json.loads(person.run("tree", "forget", os.path.dirname(shop), "--json").out) == {"deleted": 1}
    assert listed(person) == []
    person.run("tree", "update")
    assert "1 index deleted" in person.run("tree", "forget", "--all").out
    assert database_paths(person.folder) == []
    assert os.listdir(os.path.join(person.folder, "trees")) == []


def test_forgetting_the_last_session_of_a_folder_deletes_its_index(person: Person, shop: str) -> None:
    other = ClaudeTranscript(session=SECOND, project=shop, started=time.time() - 30)
    person.write(other.prompt("again").answer("done"))
    person.run("sync", "--quiet")
    person.run("tree", "update")
    assert person.run("forget", FIRST, "--yes").code == 0
    assert listed(person) == [os.path.realpath(shop)], "another session remains"
    assert person.run("forget", "--project", shop, "--yes").code == 0
    assert database_paths(person.folder) == []


def test_the_index_of_a_folder_that_is_gone_is_deleted(person: Person, shop: str) -> None:
    person.run("tree", "update")
    os.rename(shop, f"{shop}-moved")
    assert "the folder is gone" in person.run("tree", "list").out
    assert person.run("tree", "update", "--quiet").code == 0
    assert listed(person) == []


def test_other_commands_load_neither_numbers_nor_grammars() -> None:
    script = (
        "import sys, preheat.app.trees, preheat.cli.tree, preheat.tree.store, preheat.model.tree;"
        "print([name for name in ('numpy', 'tree_sitter', 'tree_sitter_python') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
