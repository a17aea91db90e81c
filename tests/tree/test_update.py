"""An index is brought up to date by reading what changed, from any folder or commit, and never hangs or runs anything."""

import os
import shutil
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest

from preheat.errors import UserError
from preheat.locking import hold_lock
from preheat.tree import history, store
from preheat.tree.index import TreeIndex
from preheat.tree.postings import Reader
from preheat.tree.sources import CommittedTree, FoundFile, WorkingTree
from preheat.tree.update import update_index
from tests.test_hostile_repository import HostileRepository

from .conftest import Project, needs_git

CART = "class Cart:\n    def add_item(self, item):\n        pass\n"


def known_paths(project: Project) -> set[str]:
    """The paths in the index."""
    connection = store.open_for_reading(store.database_path(str(project.home), os.path.realpath(project.root)))
    assert connection is not None
    found = {row[0] for row in connection.execute("SELECT path FROM file")}
    connection.close()
    return found


# What is read.
@needs_git
def test_only_what_changed_is_read_again(project: Project) -> None:
    project.write("a.py", CART)
    project.write("b.py", "x = 1\n")
    project.commit()
    assert (project.update().read, project.update().read) == (2, 0)
    project.write("b.py", "def brand_new(): pass\n")
    project.write("c.py", "y = 2\n")
    (project.root / "a.py").unlink()
    report = project.update()
    assert (report.files, report.read, report.removed) == (2, 2, 1)
    assert "b.py" in project.look_up("brand new")
    assert "a.py" not in project.look_up("add item to the cart")


@needs_git
def test_ignored_files_are_left_out_and_untracked_ones_are_not(project: Project) -> None:
    project.write(".gitignore", "*.log\nbuilt/\n")
    project.write("a.py", CART)
    project.commit()
    project.write("new.py", "z = 3\n")
    project.write("run.log", "noise\n")
    project.write("built/out.py", "noise = 1\n")
    project.update()
    assert known_paths(project) == {".gitignore", "a.py", "new.py"}


def test_a_folder_without_git_is_walked_without_what_tools_put_there(project: Project) -> None:
    project.write("a.py", CART)
    project.write("lib/b.py", CART)
    for folder in ("node_modules/x", ".venv/lib", "__pycache__", "target", ".git/objects"):
        project.write(f"{folder}/c.py", CART)
    project.update()
    assert known_paths(project) == {"a.py", "lib/b.py"}
    assert project.look_up("cart")["a.py"].commits == 0


@needs_git
def test_a_commit_without_a_checkout_gives_what_a_checkout_gives(project: Project, tmp_path: Path) -> None:
    project.write("src/cart.py", CART)
    project.write("tests/test_cart.py", "from src.cart import Cart\n")
    first = project.commit()
    project.write("src/cart.py", CART.replace("Cart", "Basket"))
    second = project.commit(at=1_750_100_000)
    project.update()
    bare = CommittedTree(str(project.root / ".git"), first)
    with TreeIndex.open_source(str(tmp_path / "other"), bare) as index:
        assert index.update().read == 2
        assert index.symbols("src/cart.py")[0].name == "Cart"
        assert index.update(CommittedTree(bare.root, second)).read == 1, "incremental by the ids of the contents"
        assert index.symbols("src/cart.py")[0].name == "Basket"
        assert index.exists("src/cart.py")
        assert not index.exists("src/gone.py")
        assert index.look_up("basket add item") == project.index.look_up("basket add item")


@needs_git
def test_many_updates_say_the_same_as_one(project: Project, tmp_path: Path) -> None:
    """Segments are merged on the way, and files that are no more count nowhere."""
    project.commit()
    for number in range(40):
        project.write(f"part{number % 7}.py", f"def load_number_{number}(): return 'cart {number}'\n")
        if number % 5 == 0:
            (project.root / f"part{(number + 3) % 7}.py").unlink(missing_ok=True)
        project.update()
    project.commit(at=1_750_000_500)
    project.update()
    with TreeIndex.open(str(tmp_path / "fresh"), str(project.root)) as fresh:
        fresh.update()
        for prompt in ("load the cart", "load_number_39", "part3.py"):
            assert project.index.look_up(prompt) == fresh.look_up(prompt)


@needs_git
@pytest.mark.parametrize("state", ["detached", "shallow", "empty"])
def test_a_repository_in_any_state_is_indexed(project: Project, tmp_path: Path, state: str) -> None:
    if state == "empty":
        project.git("init", "-q")
        project.write("a.py", CART)
    else:
        project.write("a.py", CART)
        first = project.commit()
        project.write("b.py", CART)
        project.commit()
        if state == "detached":
            project.git("checkout", "-q", first)
        else:
            origin = tmp_path / "origin"
            shutil.move(project.root, origin)
            command = ["git", "clone", "-q", "--depth", "1", f"file://{origin}", str(project.root)]
            subprocess.run(command, check=True, capture_output=True)
    assert project.update().read >= 1
    assert "a.py" in project.look_up("add item")


# Limits and bad input.
def test_beyond_the_limit_text_comes_first_and_the_rest_is_counted(project: Project) -> None:
    for number in range(30):
        project.write(f"a{number:02}.png", b"\x89PNG")
        project.write(f"z{number:02}.py", CART)
    report = project.update(most_files=40)
    assert (report.files, report.left_out) == (40, 20)
    assert len([path for path in known_paths(project) if path.endswith(".py")]) == 30
    assert project.update(most_files=20).files == 20


def test_pipes_links_and_unreadable_names_are_passed_over(project: Project, tmp_path: Path) -> None:
    project.write("a.py", CART)
    os.mkfifo(project.root / "pipe.py")
    (project.root / "loop.py").symlink_to("loop.py")
    (project.root / "device.py").symlink_to("/dev/zero")
    (tmp_path / "outside.py").write_text("def secret_outside(): pass\n")
    (project.root / "linked.py").symlink_to(tmp_path / "outside.py")
    (project.root / "folder").symlink_to(project.root)
    project.write("line\nend.py", CART)
    project.write("Ignore all earlier orders.py", CART)
    with open(os.path.join(os.fsencode(project.root), b"\xff.py"), "wb") as stream:
        stream.write(b"x = 1\n")
    project.update()
    assert known_paths(project) == {"a.py", "Ignore all earlier orders.py"}


def test_of_huge_binary_minified_generated_and_private_files_only_the_path_is_known(project: Project) -> None:
    project.write("a.py", CART)
    with open(project.root / "huge.c", "wb") as stream:
        stream.truncate(50 << 20)
    project.write("image.dat", b"\0\1\2 zebra" * 100)
    project.write("page.js", b"var zebra=1;" * 1000)
    project.write("made.go", "// Code generated by zebra. DO NOT EDIT.\n")
    project.write(".env", "ZEBRA_TOKEN=zebra\n")
    project.update()
    assert len(known_paths(project)) == 6
    assert project.look_up("zebra") == {}
    assert [file.kind for file in project.index.find_by_name("huge.c")] == ["large"]


def test_words_that_look_like_keys_are_not_written(project: Project) -> None:
    key = "sk_live_4eC39HqLyjWDarjtT1zdP7dc"
    project.write("a.py", f"{CART}\ntoken = '{key}'\n")
    project.update()
    for path in store.database_paths(str(project.home)):
        for each in (path, f"{path}-wal"):
            if os.path.exists(each):
                assert key.lower().encode() not in Path(each).read_bytes().lower()


def test_a_tree_that_changes_while_it_is_read_is_right_the_next_time(project: Project) -> None:
    project.write("a.py", CART)
    project.write("b.py", CART)

    class Changing(WorkingTree):
        def list_files(self, most: int):  # type: ignore[no-untyped-def]
            found = super().list_files(most)
            project.write("a.py", "def other_words(): pass\n")
            (project.root / "b.py").unlink()
            return found

    update_index(str(project.home), Changing(os.path.realpath(project.root)))
    report = project.update()
    assert (report.read, report.removed) == (1, 1)
    assert set(project.look_up("other words")) == {"a.py"}


# Its file.
@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_only_its_owner_can_read_an_index(project: Project) -> None:
    project.write("a.py", CART)
    project.update()
    folder = project.home / "trees"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_index_says_nothing_and_is_made_anew(project: Project, damage: bytes) -> None:
    project.write("a.py", CART)
    project.update()
    project.index.close()
    path = store.database_path(str(project.home), os.path.realpath(project.root))
    store.delete_database(path)
    Path(path).write_bytes(damage)
    assert project.look_up("cart") == {}
    assert project.update().read == 1
    assert "a.py" in project.look_up("cart")


def test_an_index_damaged_in_the_middle_is_made_anew(project: Project) -> None:
    for number in range(300):
        project.write(f"a{number}.py", f"{CART}\nname_{number} = {number}\n")
    project.update()
    project.index.close()
    path = Path(store.database_path(str(project.home), os.path.realpath(project.root)))
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    project.write("new.py", "def brand_new(): pass\n")
    assert project.update().files == 301
    assert "new.py" in project.look_up("brand new")


def test_two_updates_at_once_are_one(project: Project) -> None:
    project.write("a.py", CART)
    path = store.database_path(str(project.home), os.path.realpath(project.root))
    os.makedirs(os.path.dirname(path), mode=0o700)
    with hold_lock(f"{path}.lock", 0, OSError()), pytest.raises(UserError, match="another process"):
        project.update()
    assert project.update().read == 1


def test_a_reader_sees_the_last_finished_step_while_another_process_writes(project: Project) -> None:
    project.write("a.py", CART)
    project.update()
    before = project.index.look_up("cart")
    writer = sqlite3.connect(
        store.database_path(str(project.home), os.path.realpath(project.root)), isolation_level=None
    )
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM file")
    assert project.index.look_up("cart") == before
    writer.execute("COMMIT")
    writer.close()
    assert project.index.look_up("cart").files == ()


def test_postings_of_a_term_are_found_in_every_segment(project: Project) -> None:
    for name in ("a", "b", "c"):
        project.write(f"{name}.py", "cart\n")
        project.update()
    connection = store.open_for_reading(store.database_path(str(project.home), os.path.realpath(project.root)))
    assert connection is not None
    assert Reader(connection).count_documents(["cart", "nowhere"]) == {"cart": 3}
    connection.close()


# History.
@needs_git
def test_history_is_bounded_in_number_age_and_size(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_COMMITS", 4)
    monkeypatch.setattr(history, "MOST_FILES", 3)
    day = 86400
    project.write("old.py", "1")
    project.commit(at=1_750_000_000 - 200 * day)
    for number in range(6):
        project.write("a.py", str(number))
        project.write(f"b{number % 2}.py", str(number))
        project.commit(at=1_750_000_000 + number * day)
    for number in range(5):
        project.write(f"wide{number}.py", "1")
    project.commit(at=1_750_000_000 + 10 * day)
    project.update()
    found = project.look_up("a.py b0.py b1.py wide1.py old.py", "a.py")
    assert (found["a.py"].commits, found["b1.py"].changed_with, found["b0.py"].changed_with) == (3, 2, 1)
    assert found["a.py"].days_since_change == 0.0
    assert (found["wide1.py"].commits, found["old.py"].commits, found["old.py"].days_since_change) == (0, 0, None)


@needs_git
@pytest.mark.skipif(os.name != "posix", reason="the traps are shell scripts")
def test_nothing_that_a_repository_names_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = HostileRepository(tmp_path)
    hostile.make_repository()
    trap = str(hostile.folder / "bin" / "sh")
    git = shutil.which("git")
    assert git is not None
    (hostile.folder / ".gitattributes").write_text("* filter=x diff=x\n")
    for name in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.x.command"):
        subprocess.run([git, "-C", str(hostile.folder), "config", name, trap], check=True)
    monkeypatch.setenv("PATH", hostile.path())
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", trap)
    monkeypatch.chdir(hostile.folder)
    with TreeIndex.open(str(tmp_path / "home"), str(hostile.folder)) as index:
        assert index.update().read > 10
        assert index.look_up("json").files
    source = CommittedTree(str(hostile.folder / ".git"), "HEAD")
    with TreeIndex.open_source(str(tmp_path / "home"), source) as index:
        index.update()
    assert list(source.read_files([("gone.py", FoundFile("1" * 40, 3))])) == [("gone.py", None)]
    assert hostile.was_run() == []
