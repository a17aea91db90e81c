"""Finds the task among the prompts of a session. Knows no session, only texts in their order.

A session ends with "yes", "commit" or "looks good" more often than with its task; those are passed over, and so are pasted
logs and plain questions, unless there is nothing else.
"""

import re
from collections.abc import Callable, Sequence

from preheat.safe_text.letters import one_line

MOST = 300
_SHORT = 80
"""A task shorter than this hardly says what it is about, so the first task of the session is added."""
_FIRST_LINE = 12
_FEWEST_WORDS = 4
_ASSENT = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|yep|yup|sure|no|nope|thanks?|thank you|great|good|nice|perfect|cool|fine|done|stop|exit|quit|"
    r"clear|continue|proceed|resume|go(?: on| ahead| for it)?|do (?:it|this|that)|please|lgtm|looks? good|that works|it works|"
    r"works|now|then|and|so|let'?s|keep going|carry on|next|retry|try again|again|both|all|the (?:first|second|last)(?: one)?|"
    r"option|all of them|hi|hello|hey|ping|test|\d+|[a-z])\b[\s.,!;:)?]*)+$"
)
_HOUSEKEEPING = re.compile(
    r"(?i)\b(?:commit|push|pull|merge|rebase|amend|squash|stage|stash|tag|branch|main|master|pr|pull request|remote|origin)\b"
)
_HOUSEKEEPING_MOST = 9
"""Words: a longer sentence with `commit` in it is about something."""
_QUESTION = re.compile(
    r"(?i)^(?:(?:and|ok(?:ay)?|so|but|hm+|wait|also|well|yes|no|right)[\s,.]+)*(?:what|where|why|when|who|which|how|is|are|was|were|"
    r"do|does|did|has|have|should|isn'?t|aren'?t|don'?t|doesn'?t|any|you)\b"
)
_REQUEST = re.compile(
    r"(?i)\b(?:can|could|would|will) (?:you|we|u)\b|\bplease\b|\blet'?s\b|\bi(?:'d| would)? (?:want|like|need)\b"
    r"|\b(?:we|you) (?:need|should)\b"
)
_HEADING = re.compile(r"(?m)^#{1,4} ")
_LOG_LINE = re.compile(
    r"^\s*(?:[\d:.TZ+-]{8,}|\[[^\]]*\]|[$%❯✓✗×] |at |File \"|Traceback|\w+Error\b|error\b|warning\b|npm ERR|npm warn|"
    r"panic:|goroutine |--- FAIL|FAIL\b|ok  |\S+:\d+(?::\d+)?[: ]|\S+@\S+ )"
)


def find_goal(prompts: Sequence[str], relative: Callable[[str], str] = str) -> str:
    """The last task, on one line; empty if no prompt sets one."""
    tasks = [text for each in prompts if (text := _task(each))]
    if not tasks:
        own_words = [text for each in prompts if (text := _own_words(each)) and not _ASSENT.match(text)]
        tasks = ([text for text in own_words if not is_housekeeping(text)] or own_words)[-1:]
    if not tasks:
        return ""
    last = one_line(relative(_first_section(tasks[-1])), MOST)
    if len(tasks) > 1 and len(last) < _SHORT and tasks[0] != tasks[-1]:
        return one_line(f"{last} (the session began with: {relative(_first_section(tasks[0]))}", MOST - 1) + ")"
    return last


def is_housekeeping(text: str) -> bool:
    """Whether it asks for no more than to commit, to push and the like: once done, there is nothing in it to go on with."""
    return len(text.split()) <= _HOUSEKEEPING_MOST and _HOUSEKEEPING.search(text) is not None


def _first_section(text: str) -> str:
    """The first section of a long text with headings (a plan)."""
    second = [match.start() for match in _HEADING.finditer(text)][1:2]
    return text[: second[0]] if second and len(text) > MOST else text


def _task(text: str) -> str:
    """A text if it sets a task."""
    text = _own_words(text)
    words = text.split()
    if len(words) < _FEWEST_WORDS or _ASSENT.match(text):
        return ""
    if is_housekeeping(text):
        return ""
    first, _, rest = text.partition("\n")
    plain_question = not rest and (_QUESTION.match(first) or first.endswith("?")) and not _REQUEST.search(text)
    return "" if plain_question else text


def _own_words(text: str) -> str:
    """The person's own words: no slash command, and no pasted log."""
    text = text.strip()
    if text.startswith(("/", "<", "!")) or not text:
        return ""
    lines = text.splitlines()
    logged = [bool(_LOG_LINE.match(line)) for line in lines]
    if len(lines) < _FIRST_LINE // 4 or sum(logged) * 3 < len(lines):
        return text
    kept = [line for line, log in zip(lines, logged, strict=True) if not log]
    return kept[0].strip() if kept and not logged[0] else ""
