"""Where a command stands in the arguments of a call."""

from typing import Any

import pytest

from preheat.commands import command_text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": "ls -l", "timeout": 5}, "ls -l"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["bash", "-lc", "cd a && ls"]}, "cd a && ls"),
        ({"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
        ({"command": ["ls && pwd"]}, "ls && pwd"),
        ({"commands": ["ls", "pwd"]}, "ls\npwd"),
        ({"action": {"type": "exec", "command": ["sh", "-c", "ls"]}}, "ls"),
        ({"text": "ls"}, "ls"),
        ({"input": "ls"}, "ls"),
        ({"command": None, "cmd": "ls"}, "ls"),
        ({"command": ["ls", 5]}, ""),
        ({"command": {"a": 1}}, ""),
        ({"session_id": 5, "chars": "q"}, ""),
        ({}, ""),
    ],
)
def test_the_shell_text_is_found_in_the_arguments(arguments: dict[str, Any], text: str) -> None:
    """Every known way to hand over a command gives its shell text; a call without one gives none."""
    assert command_text(arguments) == text
