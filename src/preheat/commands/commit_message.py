"""The message that a `git commit` is given in a command, as far as the command says it. Knows no convention."""

import re

_MESSAGE = re.compile(
    r"(?:-[a-z]*m|--message)[ =]*(?:\"\$\(cat <<-?\s*['\"]?\w+['\"]?\n|\$?['\"])\s*(?P<first>[^\n'\"]{1,120})"
)


def first_line_of_message(command: str) -> str:
    """The beginning of the first line of the message; empty where it is in a file, or typed in an editor."""
    found = _MESSAGE.search(command)
    return found["first"] if found else ""
