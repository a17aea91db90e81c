"""Whose words a text in a user's message is.

Cline sends what it has to tell itself (surroundings, notices, hook texts) as texts of the user, beside what the person typed,
which it wraps in tags. Knows nothing of messages.
"""

import re

_WRAPPERS = ("user_input", "user_command", "task", "feedback", "user_message", "answer", "new_instructions")
_PROGRAM_BEGINNINGS = (
    "<environment_details>", "<hook_context", "<explicit_instructions", "<file_content", "<folder_content",
    "[ERROR] You did not use a tool", "[TASK RESUMPTION]", "[NOTE] ", "Current Time", "<system-reminder>",
)  # fmt: skip
_AFTER_RESULTS = (
    "<environment_details>",
    "<hook_context",
    "<explicit_instructions",
    "[ERROR] You did not",
    "[TASK RESUMPTION]",
)
_NOTICE = re.compile(r"<mode_notice>[^<]{0,2000}</mode_notice>\s*")
_WRAPPED = {name: re.compile(rf"\s*<{name}\b[^>]{{0,200}}>(.*)</{name}>\s*\Z", re.DOTALL) for name in _WRAPPERS}
_FOLDER = re.compile(r"# Current Work(?:ing|space) Directory \(([^\n]{1,4000}?)\)(?: Files)?\n")


def is_written_by_program(text: str) -> bool:
    """Whether the program wrote a text of the user's message."""
    return text.lstrip().startswith(_PROGRAM_BEGINNINGS)


def continues_result(text: str) -> bool:
    """Whether a text after a result's beginning is part of it, and neither the program's notice nor the person's words."""
    return not text.lstrip().startswith(_AFTER_RESULTS) and unwrap(text)[0] is text


def unwrap(text: str) -> tuple[str, str]:
    """The person's words without the program's tags, and the program's notice before them."""
    notice = _NOTICE.match(text)
    rest, notice_text = (text[notice.end() :], notice[0].strip()) if notice is not None else (text, "")
    for pattern in _WRAPPED.values():
        found = pattern.match(rest)
        if found is not None:
            return found[1].strip(), notice_text
    return rest, notice_text


def folder_in(text: str) -> str:
    """The project's folder, as the environment details name it."""
    found = _FOLDER.search(text[:200_000])
    return found[1] if found is not None else ""
