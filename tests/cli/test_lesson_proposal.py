"""`preheat lessons propose`: the lines that a project's instructions file lacks, its stale lines, and what contradicts it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.builders import ClaudeTranscript
from tests.screens import check_screen

from .conftest import Person

DAY = 86400.0


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def shop(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which `npm test` always failed and `pnpm run test:unit` works, and whose lessons are learned."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@example.org")
    (folder / "package.json").write_text('{"scripts": {"test:unit": "vitest run", "lint": "eslint ."}}')
    (folder / "pnpm-lock.yaml").write_text("lockfileVersion: 9\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "begin")
    start = 1_768_000_000.0
    for number in range(1, 6):
        session = f"{number:08x}-1111-4000-8000-000000000000"
        made = ClaudeTranscript(session=session, project=str(folder), started=start + number * DAY / 10)
        made = made.prompt(f"Make checkout step {number} work and test it").answer("I run the tests.")
        made = made.run("npm test", 'npm error Missing script: "test"', 1).answer("so")
        made = made.run("pnpm run test:unit", "9 passed").answer("and lint")
        made = made.run("pnpm run lint", "ok").answer("edit")
        path = f"{folder}/src/cart.ts"
        made = made.call("Edit", {"file_path": path, "old_string": "a", "new_string": f"{number}"}).result("updated")
        person.write(made.answer("again").run("pnpm run test:unit", "10 passed").answer("done"))
    assert person.run("sync").code == 0
    assert person.run("learn", "--quiet").code == 0
    monkeypatch.chdir(folder)
    return folder


def propose(person: Person, *arguments: str) -> Any:
    done = person.run("lessons", "propose", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_patch_has_only_what_the_file_does_not_state_and_git_applies_it(person: Person, shop: Path) -> None:
    (shop / "AGENTS.md").write_text("# Shop\n\nLint with `pnpm run lint`.")
    found = propose(person)
    assert found["stated"] >= 1
    assert any("pnpm run test:unit" in each["text"] for each in found["lines"])
    assert not any("pnpm run lint" in each["text"] for each in found["lines"])
    patch = person.run("lessons", "propose").out
    assert patch == found["patch"]
    subprocess.run(["git", "apply"], cwd=shop, input=patch, text=True, check=True)
    after = (shop / "AGENTS.md").read_text()
    assert after.startswith("# Shop\n\nLint with `pnpm run lint`.\n\n## How things are done here\n\n- ")
    assert propose(person)["lines"] == []
    assert "Nothing to propose" in person.run("lessons", "propose").err


def test_a_stale_line_is_marked_and_the_contradiction_is_told(person: Person, shop: Path) -> None:
    (shop / "AGENTS.md").write_text("# Shop\n\nRun `npm test`.\n\n```sh\nnpm test\n```\n")
    person.run("lessons", "add", "--command", "pnpm run test:unit", "--instead-of", "npm test", "--project", ".")
    found = propose(person)
    assert [(each["line"], each["command"]) for each in found["stale"]] == [(3, "npm test"), (6, "npm test")]
    assert found["stale"][0]["why"].startswith("`npm test` has failed 5 of 5 times since 2026-01-")
    assert {each["command"] for each in found["contradictions"]} == {"npm test"}
    done = person.run("lessons", "propose", "--write")
    assert "AGENTS.md:3 says `npm test`, but: " in done.err
    lines = (shop / "AGENTS.md").read_text().splitlines()
    comment = f"<!-- Preheat: {found['stale'][0]['why']} -->"
    assert lines[2:6] == ["Run `npm test`.", comment, "", comment]
    assert lines[6] == "```sh"
    assert propose(person)["patch"] == ""  # a mark is set once


def test_what_any_instruction_file_and_the_readme_contradict_is_told_with_file_and_line(
    person: Person, shop: Path
) -> None:
    """An agent reads `CLAUDE.md` also where the lines go into `AGENTS.md`, and a newcomer the README."""
    (shop / "AGENTS.md").write_text("# Shop\n")
    (shop / "CLAUDE.md").write_text("\nRun `pnpm run gone` first.\n")
    (shop / "README.md").write_text("`pnpm run lost`\n")
    (shop / "docs").mkdir()
    (shop / "docs" / "notes.md").write_text("`pnpm run away`\n")
    done = person.run("lessons", "propose")
    told = [line.partition(" says ")[0] for line in done.err.splitlines() if " says " in line]
    assert told == ["CLAUDE.md:2", "README.md:1"]
    named = person.run("lessons", "propose", "--file", "docs/notes.md").err
    assert "docs/notes.md:1 says `pnpm run away`, but: the tree has no such script or folder" in named


def test_a_path_that_a_commit_removed_is_stale_and_one_that_never_was_is_not(person: Person, shop: Path) -> None:
    (shop / "docs").mkdir()
    (shop / "docs" / "old.md").write_text("old")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "add it")
    git(shop, "rm", "-q", "docs/old.md")
    git(shop, "commit", "-qm", "remove it")
    day = git(shop, "log", "-1", "--format=%cs")
    (shop / "AGENTS.md").write_text("See `docs/old.md`, `path/to/file.ts` and `package.json`.\n")
    found = propose(person)
    assert found["stale"] == [{"line": 1, "command": "docs/old.md", "why": f"`docs/old.md` was removed on {day}"}]
    assert f"+<!-- Preheat: `docs/old.md` was removed on {day} -->" in found["patch"]


def test_a_script_that_the_file_names_and_the_tree_does_not_have_is_told(person: Person, shop: Path) -> None:
    (shop / "package.json").write_text('{"scripts": {"lint": "eslint ."}}')
    (shop / "AGENTS.md").write_text("Run `npm run gone`.\n")
    assert [(each["line"], each["text"]) for each in propose(person)["contradictions"]] == [
        (1, "the tree has no such script or folder")
    ]


def test_the_check_of_one_folder_is_not_proposed_as_that_of_the_project(person: Person, tmp_path: Path) -> None:
    """Sessions that worked in one package tested that; who reads the file works anywhere."""
    folder = tmp_path / "stock"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "go.mod").write_text("module example.org/stock\n")
    for number in range(1, 6):
        made = ClaudeTranscript(session=f"{number:08x}-2222-4000-8000-000000000000", project=str(folder))
        made = made.prompt(f"Make step {number} work and test it").answer("I run the tests.")
        made = made.run("npx biome lint src/price.test.ts", "Checked 1 file")  # of one file, whatever it is called
        person.write(made.run("go test ./pkg/price/...", "ok  stock/pkg/price").answer("done"))
    assert person.run("sync").code == 0
    assert person.run("learn", "--quiet").code == 0
    learned = person.run("lessons", "list", "--project", "stock").out
    assert "go test ./pkg/price" in learned
    found = propose(person, "--project", "stock")
    assert [each["text"] for each in found["lines"] if "price" in each["text"]] == []


def test_a_command_whose_tests_fail_is_not_stale(person: Person, shop: Path) -> None:
    for number in range(11, 16):
        made = ClaudeTranscript(session=f"{number:08x}-1111-4000-8000-000000000000", project=str(shop))
        made = (
            made.prompt("test it").answer("yes").run("pnpm run test:unit", "FAIL src/a.test.ts\n1 failed, 8 passed", 1)
        )
        person.write(made.answer("it fails"))
    person.run("sync")
    (shop / "AGENTS.md").write_text("Test with `pnpm run test:unit`.\n")
    assert propose(person)["stale"] == []


def test_write_can_be_undone_unless_the_file_was_changed_since(person: Person, shop: Path) -> None:
    assert propose(person, "--write")["written"] is True
    assert "pnpm run test:unit" in (shop / "AGENTS.md").read_text()
    assert person.run("lessons", "propose", "--undo").code == 0
    assert not (shop / "AGENTS.md").exists()
    (shop / "AGENTS.md").write_text("# Mine\n")
    os.chmod(shop / "AGENTS.md", 0o640)
    propose(person, "--write")
    assert (shop / "AGENTS.md").stat().st_mode & 0o777 == 0o640
    with (shop / "AGENTS.md").open("a") as file:
        file.write("more\n")
    done = person.run("lessons", "propose", "--undo")
    assert done.code == 2
    assert "was changed since" in done.err


def test_a_branch_gets_one_commit_and_no_hook_or_filter_runs(person: Person, shop: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        hook = shop / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    git(shop, "config", "filter.evil.clean", f"touch {ran}; cat")
    (shop / ".git" / "info").mkdir(exist_ok=True)
    (shop / ".git" / "info" / "attributes").write_text("*.md filter=evil\n")
    head = git(shop, "rev-parse", "HEAD")
    ran.unlink(missing_ok=True)
    commit = propose(person, "--branch", "notes")["commit"]
    assert not ran.exists()
    assert git(shop, "rev-parse", "notes") == commit
    assert git(shop, "rev-parse", "notes~1") == head == git(shop, "rev-parse", "HEAD")
    assert git(shop, "show", "--name-only", "--format=", "notes") == "AGENTS.md"
    assert "pnpm run test:unit" in git(shop, "show", "notes:AGENTS.md")
    assert not (shop / "AGENTS.md").exists()
    done = person.run("lessons", "propose", "--branch", "notes")
    assert (done.code, "there is a branch `notes` already" in done.err) == (2, True)
    done = person.run("lessons", "propose", "--branch", "a..b")
    assert (done.code, "is no name for a branch" in done.err) == (2, True)


def test_a_persons_lesson_stands_first_with_evidence_on_request(person: Person, shop: Path) -> None:
    person.run("lessons", "add", "Prices are in cents, never in floats", "--project", ".")
    lines = propose(person, "--evidence")["patch"].splitlines()
    place = lines.index("+- Prices are in cents, never in floats")
    assert lines[place - 2] == "+## How things are done here"
    assert lines[place + 1].startswith("+  <!-- written by a person (c")
    assert any("of 10 calls in 5 sessions, last 2026-01-" in line for line in lines)


def test_a_repository_without_any_session_gets_what_its_tree_says(
    person: Person, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is called like a project with lessons, of which nothing is said here. Another folder is still none."""
    new = tmp_path / "other" / "shop"
    new.mkdir(parents=True)
    git(new, "init", "-q", "-b", "main")
    git(new, "remote", "add", "origin", "https://example.org/other/shop.git")
    (new / "Makefile").write_text("test:\n\tpytest -q\n")
    monkeypatch.chdir(new)
    assert [each["text"] for each in propose(person)["lines"]] == ["Test: `make test` = `pytest -q`"]
    monkeypatch.chdir(tmp_path)
    done = person.run("lessons", "propose")
    assert (done.code, done.out) == (2, "")
    assert "no project `.` is known" in done.err


def test_without_an_author_no_commit_is_made_and_it_is_said_what_git_lacks(person: Person, shop: Path) -> None:
    git(shop, "config", "--unset", "user.name")
    git(shop, "config", "--unset", "user.email")
    git(shop, "config", "user.useConfigOnly", "true")
    done = person.run("lessons", "propose", "--branch", "notes")
    assert (done.code, done.out) == (2, "")
    assert "`git config user.email ADDRESS`" in done.err
    assert git(shop, "branch", "--list", "notes") == ""


def test_another_file_can_be_named_and_one_outside_is_refused(person: Person, shop: Path) -> None:
    (shop / "docs").mkdir()
    assert propose(person, "--file", "docs/NOTES.md")["file"] == "docs/NOTES.md"
    for name, error in (("../else.md", "is not in the project"), ("docs", "is no file"), ("no/x.md", "is no file")):
        done = person.run("lessons", "propose", "--file", name)
        assert (done.code, error in done.err) == (2, True), done.err
    (shop / "bad.md").write_bytes(b"\xff\xfe\x00")
    assert "is no text in UTF-8" in person.run("lessons", "propose", "--file", "bad.md").err
    assert person.run("lessons", "propose", "--write", "--undo").code == 2


def test_the_file_that_the_project_has_is_taken_and_nothing_is_said_that_another_states(
    person: Person, shop: Path
) -> None:
    (shop / "CLAUDE.local.md").write_text("mine alone\n")
    (shop / "CLAUDE.md").write_text("Tests: `pnpm run test:unit`\n")
    found = propose(person)
    assert found["file"] == "CLAUDE.md"
    (shop / "AGENTS.md").write_text("# Shop\n")
    found = propose(person)
    assert found["file"] == "AGENTS.md"
    assert not any("test:unit" in each["text"] for each in found["lines"])
    assert found["stated"] >= 1


def test_a_file_that_no_agent_of_the_sessions_reads_is_not_taken_and_a_new_one_that_it_would_not_read_is_told(
    person: Person, shop: Path
) -> None:
    """What stands where only another agent looks helps none of these sessions. A file that takes it in reads it, too."""
    (shop / ".github").mkdir()
    (shop / ".github" / "copilot-instructions.md").write_text("# Shop\n")
    found = propose(person)
    assert (found["file"], found["unread_by"]) == ("AGENTS.md", ["Claude Code"])
    said = person.run("lessons", "propose").err
    assert "Claude Code does not read AGENTS.md by itself: choose a file that it reads with `--file`" in said
    (shop / "CLAUDE.md").write_text("See @AGENTS.md\n")
    (shop / "AGENTS.md").write_text("# Shop\n")
    assert propose(person)["unread_by"] == []


def test_a_script_that_the_tree_no_longer_has_is_not_proposed(person: Person, shop: Path) -> None:
    assert any("pnpm run lint" in each["text"] for each in propose(person)["lines"])
    (shop / "package.json").write_text('{"scripts": {"test:unit": "vitest run"}}')
    assert not any("pnpm run lint" in each["text"] for each in propose(person)["lines"])


@pytest.mark.parametrize("width", [60, 110])
def test_the_screen(person: Person, shop: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    (shop / "AGENTS.md").write_text("# Shop\n\nRun `npm test`.\n")
    done = person.run("lessons", "propose")
    check_screen(f"lessons-propose-{width}", done.out + "--- error stream ---\n" + done.err)
