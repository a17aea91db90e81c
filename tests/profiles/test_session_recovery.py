"""Which later success puts a failure right."""

import pytest

from .sessions import Story


def recovered(story: Story) -> list[int | None]:
    return [record.recovered_in for record in story.records]


def test_the_first_success_of_the_same_intent_within_five_calls_is_the_recovery() -> None:
    story = Story().edits("/w/a.py", "failed").reads("/w/a.py").edits("/w/a.py", "failed").edits("/w/a.py")
    assert recovered(story) == [3, None, 1, None]
    far = Story().edits("/w/a.py", "failed")
    for number in range(5):
        far.reads(f"/w/{number}.py")
    assert recovered(far.edits("/w/a.py"))[0] is None


def test_reading_a_file_does_not_put_an_edit_of_it_right_but_writing_it_does() -> None:
    assert recovered(Story().edits("/w/a.py", "failed").reads("/w/a.py"))[0] is None
    assert recovered(Story().edits("/w/a.py", "failed").calls("Write", "write", file_path="/w/a.py"))[0] == 1


def test_calls_of_the_same_response_do_not_put_each_other_right() -> None:
    """All of them were decided before any came back."""
    story = Story().edits("/w/a.py", "failed", response="r").edits("/w/a.py", response="r")
    assert recovered(story)[0] is None
    assert recovered(story.edits("/w/a.py", response="s"))[0] == 2


@pytest.mark.parametrize(
    ("wrong", "right", "same"),
    [
        ("/w/src/a.py", "/w/lib/a.py", True),
        ("/w/settings.py", "/w/setting.py", True),
        ("/w/config.json", "/w/main.rs", False),
    ],
)
def test_a_read_of_a_wrong_path_is_put_right_by_one_of_a_similar_name(wrong: str, right: str, same: bool) -> None:
    assert recovered(Story().reads(wrong, "failed").reads(right))[0] == (1 if same else None)


@pytest.mark.parametrize(
    ("wrong", "right", "same"),
    [
        ("pytest tests/x.py", "cd app && timeout 60 python -m pytest -q", True),
        ("git commit -m x", "git -C sub commit -m y", True),
        ("git commit -m x", "git status", False),
        ("npm run lint", "npm run build", False),
        ("npm test", "npm test -- --watch=false", True),
        ("python3 a.py", "python a.py --fast", True),
        ("python a.py", "python b.py", False),
        ("ls", "pwd", False),
        ("./test-all.sh check", "./test-all.sh clean", False),
        ("python3.11 -m pytest", "pytest", True),
    ],
)
def test_the_intent_of_a_shell_command_is_purpose_program_and_subcommand(wrong: str, right: str, same: bool) -> None:
    assert recovered(Story().runs(wrong, "failed").runs(right))[0] == (1 if same else None)


def test_another_program_recovers_from_a_missing_one() -> None:
    """Only the shell's own code for that says so: after another failure it would be another try."""
    assert recovered(Story().runs("rg x", "failed", exit_code=127).runs("grep -r x ."))[0] == 1
    assert recovered(Story().runs("rg x", "failed", exit_code=2).runs("grep -r x ."))[0] is None


def test_searches_are_one_family_and_an_empty_answer_is_a_success() -> None:
    story = Story().calls("Grep", "search", "failed", pattern="(").calls("Glob", "search", "empty", pattern="*.py")
    assert recovered(story)[0] == 1
    assert recovered(Story().calls("Grep", "search", "failed", pattern="(").runs("grep -rn x ."))[0] == 1
    assert recovered(Story().runs("rg x", "failed").calls("Grep", "search", pattern="x"))[0] == 1
    assert recovered(Story().calls("Grep", "search", "failed", pattern="(").runs("ls"))[0] is None


def test_the_intent_of_other_tools_is_their_name_and_unknown_outcomes_are_no_recovery() -> None:
    story = Story().calls("Deploy", "other", "failed").calls("Deploy", "other", "unknown").calls("Deploy", "other")
    assert recovered(story)[0] == 2
    assert recovered(Story().calls("Deploy", "other", "failed").calls("Check", "other"))[0] is None
