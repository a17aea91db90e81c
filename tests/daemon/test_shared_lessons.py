"""Two people, one repository, three clones: a lesson travels through git both ways, asked about once in each clone, and reaches a
session of another agent at the moment that it is about."""

import json
import os
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from preheat.app import Preheat
from preheat.app.learning import learn
from preheat.app.sessions.archive import sync
from preheat.app.sharing.repository import TrustReport
from preheat.errors import UserError
from preheat.model.lesson import NewLesson
from preheat.testing.builders import ClaudeTranscript
from tests.daemon.builders import RIGHT, WRONG, daemon, learned

NEW_WRONG, NEW_RIGHT = "npm run lint", "make lint"


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout


class User:
    """A person with a machine, and clones of the one repository."""

    def __init__(self, folder: Path, name: str) -> None:
        self.home = folder / name
        self.home.mkdir()
        self.folder = str(self.home / "data")
        os.makedirs(self.folder)
        Path(self.folder, "settings.toml").write_text("[experiment]\nholdout = 0\n")
        self.preheat = Preheat(self.folder)
        self._origin = folder / "origin.git"

    def clone(self, name: str) -> Path:
        tree = self.home / name
        git(self.home, "clone", "-q", str(self._origin), str(tree))
        for setting, value in (("user.name", "somebody"), ("user.email", "somebody@example.com")):
            git(tree, "config", setting, value)
        return tree

    def approve(self, tree: Path, command: str) -> str:
        """Approve the lessons that say to use a command; the id of one."""
        found = [each for each in self.preheat.knowledge.lessons(str(tree)) if each.use == command and not each.origin]
        for each in found:
            self.preheat.knowledge.approve_text(each.id)
        return found[0].id

    def share(self, tree: Path) -> None:
        sharing = self.preheat.sharing
        sharing.write(sharing.plan(str(tree)))
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", "What sessions found out")
        git(tree, "push", "-q", "origin", "HEAD")

    def look(self, tree: Path) -> TrustReport:
        return self.preheat.sharing.look(str(tree))

    def known(self, tree: Path) -> dict[str, str]:
        """What sessions in a clone may be told to use, with where it came from."""
        found = self.preheat.knowledge.facts(str(tree))
        usable = (each for each in found if each.status == "active" and each.kind in ("convention", "repair"))
        return {each.use: each.origin for each in usable if each.use and each.support.calls_for}


def teach_lint(user: User, tree: Path) -> None:
    """Four sessions in which one command fails and another works."""
    for number in range(1, 5):
        found = ClaudeTranscript(
            session=f"{number:08x}-2222-4000-8000-000000000000",
            project=str(tree),
            started=time.time() - (6 - number) * 86400,
        )
        found = (
            found.prompt(f"Tidy part {number}").answer("I lint.").run(NEW_WRONG, 'npm error Missing script: "lint"', 1)
        )
        found = (
            found.answer("Another way.")
            .run(NEW_RIGHT, "All good")
            .answer("Again.")
            .run(NEW_RIGHT, "All good")
            .answer("Done.")
        )
        found.answer("Done.").write(str(user.home / ".claude" / "projects"))
    sync(user.folder, {"HOME": str(user.home)})
    learn(user.folder)


@pytest.fixture
def users(tmp_path: Path) -> tuple[User, User]:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin.git")
    one, two = User(tmp_path, "one"), User(tmp_path, "two")
    tree = one.clone("shop")
    (tree / "src").mkdir()
    (tree / "src" / "checkout.py").write_text("step = 1\n")
    (tree / "Makefile").write_text("lint:\n\truff check\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "first")
    git(tree, "push", "-q", "origin", "HEAD:main")
    return one, two


def call_codex(tree: Path, command: str) -> bytes:
    fields: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": command}}
    return json.dumps({"session_id": "s1", "hook_event_name": "PreToolUse", "cwd": str(tree), **fields}).encode()


def start_codex(tree: Path) -> bytes:
    fields = {"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(tree)}
    return json.dumps(fields).encode()


def test_a_lesson_travels_through_git_both_ways_and_each_clone_asks_once(users: tuple[User, User]) -> None:
    one, two = users
    first = one.home / "shop"
    learned(one.folder, str(first), str(one.home))
    one.approve(first, RIGHT)
    one.share(first)
    assert one.look(first).state == "trusted"  # its person wrote it

    second = two.clone("shop")
    before = two.look(second)
    assert (before.state, [each.kind for each in before.new]) == ("untrusted", ["convention", "repair"])
    assert two.known(second) == {}
    with daemon(two.folder) as served:  # another agent, and a machine without an archive
        assert RIGHT.encode() not in served.ask(start_codex(second), "codex")
        assert RIGHT.encode() not in served.ask(call_codex(second, WRONG), "codex")
    two.preheat.sharing.trust(before)
    assert two.known(second) == {RIGHT: "repository"}
    with daemon(two.folder) as served:
        assert RIGHT.encode() in served.ask(start_codex(second), "codex")
        assert RIGHT.encode() in served.ask(call_codex(second, WRONG), "codex")
        # A change takes its lessons away at once, in a session that runs.
        path = second / ".preheat" / "lessons.toml"
        kept = path.read_bytes()
        other_start, other_call = (
            each.replace(b'"s1"', b'"s2"') for each in (start_codex(second), call_codex(second, WRONG))
        )
        assert RIGHT.encode() in served.ask(other_start, "codex")
        path.write_bytes(kept + b"# changed\n")
        assert RIGHT.encode() not in served.ask(other_call, "codex")
        assert RIGHT.encode() not in served.ask(start_codex(second).replace(b'"s1"', b'"s3"'), "codex")
        path.write_bytes(kept)

    # Back: what two's sessions found out.
    teach_lint(two, second)
    two.approve(second, NEW_RIGHT)
    two.share(second)
    git(first, "pull", "-q", "--no-rebase", "origin", "main")
    seen = one.look(first)
    assert seen.state == "untrusted"
    assert {each.lesson for each in seen.gone} == set()
    assert all(NEW_RIGHT in each.says for each in seen.new)
    assert (one.known(first)[RIGHT], NEW_RIGHT in one.known(first)) == ("", False)
    one.preheat.sharing.trust(seen)
    assert (one.known(first)[RIGHT], one.known(first)[NEW_RIGHT]) == ("", "repository")

    # Another clone of two's asks for itself, once for this version.
    third = two.clone("again")
    assert two.look(third).state == "untrusted"
    assert NEW_RIGHT in two.known(third)  # the person's own
    assert RIGHT not in two.known(third)
    two.preheat.sharing.trust(two.look(third))
    assert two.known(third)[RIGHT] == "repository"
    assert two.preheat.sharing.revoke(str(third)) == 1
    assert RIGHT not in two.known(third)
    assert two.known(second)[RIGHT] == "repository"


def test_two_people_who_share_at_the_same_time_are_merged_without_a_conflict(users: tuple[User, User]) -> None:
    one, two = users
    first, second = one.home / "shop", two.clone("shop")
    learned(one.folder, str(first), str(one.home))
    teach_lint(two, second)
    one.approve(first, RIGHT)
    two.approve(second, NEW_RIGHT)
    one.share(first)
    with pytest.raises(subprocess.CalledProcessError):  # the push is behind
        two.share(second)
    git(second, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    seen = two.look(second)
    assert (seen.state, seen.problems) == ("untrusted", ())
    assert {RIGHT, NEW_RIGHT} <= read_uses(second)
    two.preheat.sharing.trust(seen)
    plan = two.preheat.sharing.plan(str(second))
    assert (plan.new, plan.changed, plan.gone) == ((), (), ())


def read_uses(tree: Path) -> set[str]:
    return {each.get("use", "") for each in tomllib.loads((tree / ".preheat" / "lessons.toml").read_text())["lessons"]}


def test_a_retired_lesson_leaves_the_file_and_an_untrusted_version_is_not_built_upon(users: tuple[User, User]) -> None:
    one, two = users
    first = one.home / "shop"
    learned(one.folder, str(first), str(one.home))
    one.approve(first, RIGHT)
    one.share(first)
    second = two.clone("shop")
    two.preheat.sync()
    with pytest.raises(UserError, match="not trusted; `preheat trust` comes first"):
        two.preheat.sharing.plan(str(second))
    two.preheat.sharing.trust(two.look(second))
    theirs = [each.id for each in two.preheat.knowledge.lessons() if each.origin == "repository"]
    assert len(theirs) == 2
    two.preheat.knowledge.mark(theirs[0], "retired")
    plan = two.preheat.sharing.plan(str(second))
    assert [each.lesson for each in plan.gone] == theirs[:1]
    two.preheat.sharing.write(plan)
    assert two.look(second).state == "trusted"
    assert two.look(second).lessons == 1


def test_a_lesson_that_contradicts_a_persons_own_is_shown_and_not_handed_out(users: tuple[User, User]) -> None:
    one, two = users
    first = one.home / "shop"
    learned(one.folder, str(first), str(one.home))
    one.approve(first, RIGHT)
    one.share(first)
    second = two.clone("shop")
    teach_lint(two, second)

    own = two.preheat.knowledge.add(NewLesson("", WRONG, RIGHT, "test"), str(second)).lesson
    (conflict, *_) = two.look(second).conflicts
    assert (conflict.ours.id, conflict.kept, conflict.why) == (own.id, "ours", "you said so")
    two.preheat.sharing.trust(two.look(second))
    assert RIGHT not in two.known(second)
    found = {each.id: each for each in two.preheat.knowledge.lessons(str(second)) if each.origin}
    assert {each.status for each in found.values()} == {"weak"}
    assert all(each.why == f"contradicts `{own.id}`: you said so" for each in found.values())
    assert {each.theirs.id for each in two.preheat.knowledge.conflicts(str(second))} == set(found)
