"""Which session made a commit or a pull request: by its own command, by files and time; and the commits of a session."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript

from .conftest import Person

AT = 1_767_700_000.0


def git(folder: Path, *arguments: str, at: float = AT) -> str:
    dates = {"GIT_AUTHOR_DATE": f"{int(at)} +0000", "GIT_COMMITTER_DATE": f"{int(at)} +0000"}
    names = {f"GIT_{role}_{what}": "dev@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **dates, **names, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def shop(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits; one was made by a session's command, one by hand from another session's work."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git(folder, "init", "-q", "-b", "main")
    (folder / "pay.py").write_text("1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Pay at once (#7)")
    made = git(folder, "rev-parse", "--short", "HEAD")
    (folder / "cart.py").write_text("2\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "A cart", at=AT + 7200)
    one = ClaudeTranscript(session="11111111-0000-4000-8000-000000000001", project=str(folder), started=AT - 60)
    one = one.prompt("pay at once").call("Write", {"file_path": f"{folder}/pay.py", "content": "1"}).result("written")
    one = one.run("git commit -qam 'Pay at once'", f"[main {made}] Pay at once (#7)\n 1 file changed")
    person.write(one.run("gh pr create --fill", "https://example.org/dev/shop/pull/7"))
    two = ClaudeTranscript(session="22222222-0000-4000-8000-000000000002", project=str(folder), started=AT + 7100)
    two = two.prompt("a cart").call("Write", {"file_path": f"{folder}/cart.py", "content": "2"}).result("written")
    person.write(two.answer("Done."))
    assert person.run("sync").code == 0
    return folder


def found(person: Person, *arguments: str) -> Any:
    done = person.run("sessions", "for", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_session_whose_command_printed_the_hash_made_it(shop: Path, person: Person) -> None:
    (match,) = found(person, "HEAD~1")["matches"]
    assert match["session"]["session"].startswith("11111111")
    assert match["made_it"] is True
    assert "git commit" in match["reasons"][0]


def test_a_commit_by_hand_is_found_by_its_files_and_its_time(shop: Path, person: Person) -> None:
    result = found(person, "HEAD")
    assert (result["subject"], result["files"]) == ("A cart", ["cart.py"])
    (match,) = result["matches"]
    assert match["session"]["session"].startswith("22222222")
    assert match["made_it"] is False
    assert match["score"] == 0.9
    assert match["reasons"][0] == "changed 1 of its 1 file"


def test_a_pull_request_is_found_by_the_command_that_opened_it(shop: Path, person: Person) -> None:
    for name in ("#7", "https://example.org/dev/shop/pull/7"):
        (match,) = found(person, name)["matches"]
        assert match["session"]["session"].startswith("11111111")
    assert person.run("sessions", "for", "#8").code == 1


def test_a_commit_of_which_no_session_knows_is_said_to_be_unknown(shop: Path, person: Person) -> None:
    (shop / "other.py").write_text("3\n")
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "By hand", at=time.time())
    done = person.run("sessions", "for", "HEAD")
    assert done.code == 1
    assert "No session is known that made it." in done.out


@pytest.mark.parametrize("name", ["nothing", "--all", "-x", "", "HEAD; touch x", "HEAD --output=x"])
def test_what_is_no_commit_is_an_error_in_one_line(name: str, shop: Path, person: Person) -> None:
    done = person.run("sessions", "for", "--", name)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert not (shop / "x").exists()


def test_outside_a_repository_it_says_where_to_go(shop: Path, person: Person, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = person.run("sessions", "for", "HEAD", "--project", str(tmp_path / "empty"))
    assert done.code == 2
    assert "is not in a git repository" in done.err


def test_a_session_shows_its_commits_and_pull_requests(shop: Path, person: Person) -> None:
    shown = person.run("sessions", "show", "11111111").out
    assert "Committed in this session" in shown
    assert "Pay at once (#7)  (main)" in shown
    assert "pull request 7  https://example.org/dev/shop/pull/7" in shown
    assert "Committed in this session" not in person.run("sessions", "show", "22222222").out
    listed = json.loads(person.run("sessions", "show", "11111111", "--json").out)["version_control"]
    assert [each["number"] for each in listed["requests"]] == [7]
