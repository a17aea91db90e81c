"""`preheat start` and `preheat templates test`: forms, files, explanations, and what is said where there is nothing."""

import json
import os
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from preheat.app.templates.library import Templates
from preheat.cli.start import FORMS
from preheat.model.lesson import DAY, Example, Lesson, Scope, Support
from preheat.model.template import Template
from tests.cli.conftest import Person
from tests.screens import check_screen
from tests.waiting import HUNG

TASK = "fix the upload parser"


def lessons() -> tuple[Lesson, ...]:
    """What a template holds: a convention, a file and an example."""
    now = time.time()
    common: dict[str, Any] = {
        "scope": Scope(project="shop"),
        "last_seen": now - DAY,
        "first_seen": now - 30 * DAY,
        "score": 0.6,
    }
    call = Example("Bash", {"command": "make upload"}, "uploaded 3 files", "shell", "claude_code")
    return (
        Lesson(id="c1", kind="convention", topic="test", text="Tests run with `make test`.", use="make test",
               support=Support(40, 9, 1, 1), **common),
        Lesson(id="w1", kind="working_set", text="Often.", use="src/upload.py", support=Support(9, 9, 1, 1), **common),
        Lesson(id="e1", kind="example", text="A call.", example=call, support=Support(9, 9, 0, 0), **common),
        Lesson(id="c2", kind="convention", text="Too little is known.", status="quarantined", **common),
    )  # fmt: skip


@pytest.fixture
def shop(person: Person) -> Person:
    """A template is there, and nothing else."""
    Templates(person.folder).store(Template(name="shop", project="shop", lessons=lessons()), "built")
    return person


def test_start_prints_the_block_and_nothing_else(steady: None, shop: Person) -> None:
    done = shop.run("warm", "start", "--task", TASK, "--template", "shop")
    assert (done.code, done.err) == (0, "")
    check_screen("warm-start", done.out)


def test_start_without_lessons_prints_nothing(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder whose files say nothing either. The reason is on the error stream, and no archive is created."""
    monkeypatch.chdir(person.home)
    done = person.run("warm", "start", "--task", TASK)
    assert (done.code, done.out) == (0, "")
    assert "no lessons yet; `preheat sync`, then `preheat lessons learn`\n" in done.err
    assert not os.path.exists(person.folder)


@pytest.mark.parametrize("form", [form.name for form in FORMS])
def test_every_form_can_be_asked_for(shop: Person, form: str) -> None:
    done = shop.run("warm", "start", "--task", TASK, "--template", "shop", "--format", form, "--print")
    assert done.code == 0
    assert "make test" in done.out
    assert ("make upload" in done.out) == (not form.startswith("hermes"))


def test_json_has_the_context_and_the_document(shop: Person) -> None:
    done = shop.run("warm", "start", "--task", TASK, "--template", "shop", "--format", "openai", "--json")
    found = json.loads(done.out)
    assert set(found) == {"context", "format", "document", "messages"}
    assert found["context"]["left_out"] == {"quarantined": 1}
    assert [each["role"] for each in found["messages"]] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert all(each["tokens"] > 0 for each in found["messages"])


def test_explain_prints_why_each_lesson_was_chosen(shop: Person) -> None:
    done = shop.run("warm", "start", "--task", TASK, "--template", "shop", "--explain")
    assert "c1  convention  value 0." in done.out
    assert "worth 0.60 × need" in done.out
    assert "Left out 1 of 4:\n  1  quarantined\n" in done.out
    assert "<preheat" not in done.out


def test_a_small_budget_leaves_lessons_out(shop: Person) -> None:
    done = shop.run("warm", "start", "--task", TASK, "--template", "shop", "--budget", "10")
    assert (done.code, done.out) == (0, "")
    assert "a budget of 10 tokens is too small for the smallest item (" in done.err


def test_the_task_may_come_from_a_pipe_and_be_long(shop: Person) -> None:
    """The messages have all of it; only its beginning is used to choose lessons."""
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "warm", "start", "--task", "-", "--template", "shop", "--format", "openai"],
        input=(TASK + " x" * 50_000 + "\udcff").encode("utf-8", "surrogateescape"),
        capture_output=True,
        env=os.environ,
        timeout=HUNG,
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)[-1]["content"]) == len(TASK) + 100_001
    assert b"the task has 100,022 characters; the first 8,000 were used to choose" in done.stderr


@pytest.mark.parametrize("task", ["", "  \n"])
def test_an_empty_task_is_refused(shop: Person, task: str) -> None:
    done = shop.run("warm", "start", "--task", task, "--template", "shop")
    assert done.code == 2
    assert "the task is empty" in done.err


def test_a_block_is_added_to_an_existing_file(shop: Person) -> None:
    path = os.path.join(shop.home, "AGENTS.md")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("# Ours\n")
    arguments = ("warm", "start", "--task", TASK, "--template", "shop", "--format", "agents-md", "--output", path)
    assert shop.run(*arguments).out.startswith(f"Wrote `{path}`: 3 lessons")
    once = read(path)
    assert once.startswith("# Ours\n\n<!-- preheat:begin")
    assert shop.run(*arguments).code == 0
    assert read(path) == once


def test_a_skill_is_written_as_a_folder(shop: Person) -> None:
    """Below the one that is named, and replaced by the next run."""
    folder = os.path.join(shop.home, "skills")
    arguments = ("warm", "start", "--task", TASK, "--template", "shop", "--format", "skill", "-o", folder)
    assert shop.run(*arguments).code == 0
    assert shop.run(*arguments).code == 0
    assert read(os.path.join(folder, "preheat-shop", "SKILL.md")).startswith("---\nname: preheat-shop\n")


def test_a_file_that_is_not_ours_is_not_overwritten(shop: Person) -> None:
    """Only with --force; one that Preheat wrote is."""
    path = os.path.join(shop.home, "prefill.json")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("mine")
    arguments = ("warm", "start", "--task", TASK, "--template", "shop", "--format", "hermes-prefill", "-o", path)
    done = shop.run(*arguments)
    assert done.code == 2
    assert "is there already and not by Preheat" in done.err
    assert read(path) == "mine"
    assert shop.run(*arguments, "--force").code == 0
    assert shop.run(*arguments).code == 0
    assert json.loads(read(path))[0]["role"] == "user"
    assert os.listdir(shop.home).count("prefill.json") == 1


def test_an_empty_context_writes_no_file(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(person.home)
    path = os.path.join(person.home, "context.txt")
    done = person.run("warm", "start", "--task", TASK, "-o", path)
    assert done.code == 0
    assert "no lessons yet" in done.err
    assert not os.path.exists(path)


def test_warm_test_shows_the_exact_messages(shop: Person) -> None:
    done = shop.run("warm", "test", "shop", TASK)
    assert done.code == 0
    assert done.out.startswith("[1] system: ")
    assert "] assistant calls Bash (preheat_" in done.out
    assert "] tool answers preheat_" in done.out
    assert "  (1 line of output)\n" in done.out
    assert re.search(rf"\[6\] user: \d tokens\n  {TASK}\n", done.out)
    assert "6 messages, " in done.out
    assert done.out.endswith("Left out 1 of 4:\n  1  quarantined\n")
    assert json.loads(shop.run("warm", "test", "shop", TASK, "--json").out)["format"] == "openai"


def test_an_unknown_template_is_named(shop: Person) -> None:
    done = shop.run("warm", "test", "shoop", TASK)
    assert done.code == 2
    assert "shoop" in done.err
    assert done.err.count("\n") == 1


def test_warm_start_imports_nothing_heavy(shop: Person) -> None:
    script = (
        "import sys; from preheat.cli import main;"
        f"code = main(['warm', 'start', '--task', {TASK!r}, '--template', 'shop']);"
        "heavy = {'sqlalchemy', 'alembic', 'scipy', 'numpy', 'rich', 'tree_sitter', 're2', 'bpe_openai', 'yaml',"
        " 'preheat.commands'};"
        "print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, timeout=HUNG)
    assert done.stderr == "0 []\n"


def read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()
