"""The texts in Cline's messages: whose words a user's text is, and calls that older versions had the model write as tags.

Cline sends its own notices as texts of the user, beside the person's words, which it wraps in tags. A call is
`<read_file><path>a</path></read_file>`: only known tools count, and only when the tag is closed. Knows nothing of messages.
"""

import re
from typing import NamedTuple

from preheat.agents.cline.tools import NAMES

# Whose words a text in a user's message is.
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


# Calls that older versions had the model write into its text, as tags
_OPENING = re.compile(r"<([a-z][a-z_]{2,40})>(?=\s*<)")
_PARAMETER = re.compile(r"<([A-Za-z][A-Za-z_0-9]{0,60})>")
_LONG = ("content", "diff")
"""Parameters whose text may contain tags: they end at their last closing tag."""


class TaggedCall(NamedTuple):
    """A call in a text."""

    tool: str
    input: dict[str, str]


def calls_in(text: str) -> tuple[list[TaggedCall], str]:
    """The calls in a text, in order, and the text without them."""
    found: list[TaggedCall] = []
    rest: list[str] = []
    at = 0
    # Each closing tag is searched for once, else many opening tags would take quadratic time.
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(text):
        if opening.start() < at or opening[1] not in NAMES or opening[1] in unclosed:
            continue
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            unclosed.add(opening[1])
            continue
        if any(f"<{name}>" in text[opening.end() : end] for name in _LONG):
            end = _last_closing(text, closing, end)
        rest.append(text[at : opening.start()])
        found.append(TaggedCall(opening[1], _parameters(text[opening.end() : end])))
        at = end + len(closing)
    rest.append(text[at:])
    return found, "".join(rest).strip() if found else text


def _last_closing(text: str, closing: str, first: int) -> int:
    """The end of a call whose content may contain its closing tag: the last one before another call begins."""
    end, after = first, first + len(closing)
    while (further := text.find(closing, after)) >= 0:
        if any(opening[1] in NAMES for opening in _OPENING.finditer(text, after, further)):
            break
        end, after = further, further + len(closing)
    return end


def _parameters(body: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    unclosed: set[str] = set()
    at = 0
    while (opening := _PARAMETER.search(body, at)) is not None:
        closing = f"</{opening[1]}>"
        if opening[1] in unclosed:
            at = opening.end()
            continue
        end = body.rfind(closing) if opening[1] in _LONG else body.find(closing, opening.end())
        if end < opening.end():
            unclosed.add(opening[1])
            at = opening.end()
            continue
        value = body[opening.end() : end]
        parameters[opening[1]] = value.removeprefix("\n").removesuffix("\n") if opening[1] in _LONG else value.strip()
        at = end + len(closing)
    return parameters
