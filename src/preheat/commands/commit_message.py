"""The message that a `git commit` is given in a command, as far as the command says it. And the
usual words for kinds of changes."""

import re

from preheat.commands.words import name_set

COMMIT_TYPES = name_set("feat fix docs chore refactor test tests style perf build ci revert wip release deps security")
"""Words before the colon of a message."""
BRANCH_KINDS = (COMMIT_TYPES - {"release", "revert", "wip"}) | name_set(
    "feature features bugfix bug hotfix fixes doc task issue chores improvement enhancement experiment spike"
)
"""How names of branches begin that say what is done by a change of one's own. What else stands there is mostly the name of a
person, whose branches are nobody else's."""

PICTURE = r"[\u2190-\u2bff\U0001f300-\U0001faff]"
"""A picture, which may stand before the type of a message."""
_MESSAGE = re.compile(
    r"(?:-[a-z]*m|--message)[ =]*(?:\"\$\(cat <<-?\s*['\"]?\w+['\"]?\n|\$?['\"])\s*(?P<first>[^\n'\"]{1,120})"
)


def first_line_of_message(command: str) -> str:
    """The beginning of the first line of the message; empty where it is in a file, or typed in an editor."""
    found = _MESSAGE.search(command)
    return found["first"] if found else ""
