"""A suite is read whole or refused with the file and the line that is wrong."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.errors import UserError
from preheat.lab.suite import LARGEST, Task, parse_suite, read_suite

GOOD = """\
name: basics
tasks:
  - id: greet
    prompt: Make a greeting.
    verify: test -e greeting.txt
    timeout: 30
  - id: count
    prompt: |
      Count the lines
      of data.txt.
    setup: touch data.txt
"""


def test_a_suite_is_read_from_yaml() -> None:
    """Every field comes through; what is not given has its default."""
    suite = parse_suite(GOOD, "basics.yaml")
    assert suite.name == "basics"
    assert suite.tasks == (
        Task(id="greet", prompt="Make a greeting.", verify="test -e greeting.txt", timeout=30.0),
        Task(id="count", prompt="Count the lines\nof data.txt.\n", setup="touch data.txt"),
    )


def test_a_suite_is_read_from_json(tmp_path: Path) -> None:
    """JSON is read, too; without a name the file gives it."""
    path = tmp_path / "small.json"
    path.write_text('{"tasks": [{"id": "a", "prompt": "Do it.", "timeout": 5}]}')
    suite = read_suite(str(path))
    assert (suite.name, suite.tasks) == ("small", (Task(id="a", prompt="Do it.", timeout=5.0),))


def test_a_word_is_a_text_whatever_yaml_makes_of_it() -> None:
    """`yes` and `12` as prompts are what was typed, not a truth value or a number."""
    suite = parse_suite("tasks:\n  - {id: 1, prompt: yes, verify: 12}\n", "x")
    assert suite.tasks == (Task(id="1", prompt="yes", verify="12"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`x.yaml` is empty"),
        ("tasks: [", "`x.yaml` line 1: no YAML"),
        ("- a\n", "line 1: a suite has fields: name, tasks"),
        ("name: x\n", "line 1: a suite has `tasks`"),
        ("tasks: []\n", "line 1: `tasks` is a list of tasks, at least one"),
        ("name: x\ntask: []\n", "line 2: a suite has no field `task`; did you mean `tasks`?"),
        ("tasks:\n  - just a text\n", "line 2: a task has fields"),
        ("tasks:\n  - id: a\n", "line 2: task 1 has no `prompt`"),
        ("tasks:\n  - {id: a, prompt: x}\n  - prompt: y\n", "line 3: task 2 has no `id`"),
        ("tasks:\n  - {id: a, prompt: x}\n  - {id: a, prompt: y}\n", "line 3: there are two tasks `a`"),
        ("tasks:\n  - id: ../up\n    prompt: x\n", "line 2: `../up` is no id"),
        ("tasks:\n  - id: a\n    prompt: ''\n", "line 3: the prompt of `a` is empty"),
        ("tasks:\n  - id: a\n    prompt:\n", "line 3: `prompt` is a text"),
        ("tasks:\n  - id: a\n    prompt: x\n    prompt: y\n", "line 4: `prompt` is there twice"),
        ("tasks:\n  - id: a\n    prompt: [x]\n", "line 3: `prompt` is a text"),
        ("tasks:\n  - id: a\n    prompt: x\n    timeout: soon\n", "line 4: `timeout` is a number of seconds"),
        ("tasks:\n  - id: a\n    prompt: x\n    timeout: -1\n", "line 4: `timeout` is a number of seconds"),
        ("tasks:\n  - id: a\n    prompt: x\n    verfy: y\n", "line 4: a task has no field `verfy`; did you mean `verify`?"),
    ],
)  # fmt: skip
def test_a_wrong_suite_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=r"x\.yaml") as raised:
        parse_suite(text, "x.yaml")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_no_suite_is_refused(tmp_path: Path) -> None:
    """Missing, binary, or far too large: one line each."""
    with pytest.raises(UserError, match="cannot be read"):
        read_suite(str(tmp_path / "missing.yaml"))
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(UserError, match="is no text"):
        read_suite(str(binary))
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (LARGEST + 1))
    with pytest.raises(UserError, match="is larger than"):
        read_suite(str(large))


def test_deep_nesting_and_anchors_are_no_trouble() -> None:
    """No recursion error and no text that unfolds into gigabytes."""
    with pytest.raises(UserError):
        parse_suite("[" * 5_000, "x")
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\ntasks: [*b, *b]\n"
    with pytest.raises(UserError):
        parse_suite(bomb, "x")


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_suite_or_a_clear_refusal(text: str) -> None:
    """Never another exception, and never more than a line."""
    message = ""
    try:
        assert parse_suite(text, "x").tasks
    except UserError as error:
        message = str(error)
    assert "\n" not in message


def test_a_task_has_another_digest_when_it_changes() -> None:
    """An interrupted training goes on only with tasks that are the same."""
    assert Task(id="a", prompt="x").digest == Task(id="a", prompt="x").digest
    assert Task(id="a", prompt="x").digest != Task(id="a", prompt="x", verify="true").digest
