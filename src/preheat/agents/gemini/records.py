"""The parts of a message as Gemini CLI records them: a person's words, what the program put beside them, images, thoughts.

Knows nothing of calls and results, nor of earlier records.
"""

import re
from typing import Any, NamedTuple

from preheat.agents.chat import count, mapping, sequence, string
from preheat.model.session import Usage

CONTEXT = "<session_context>"
SNAPSHOT = "state_snapshot"
"""The tag around a summary."""
_INJECTED = (CONTEXT, "<hook_context>", "System: Please continue", "System: Potential loop detected")
_FOLDER = re.compile(
    r"(?:Workspace Directories:\*\*\s*\n\s*- |working in the (?:following directories|directory):\s*(?:- )?)(\S[^\n]*)"
)


class UserText(NamedTuple):
    """The text of a user message: the person's words, and the text that the program or a hook added."""

    human: str
    injected: str
    images: int


def texts_of(content: object) -> list[str]:
    """The text of each part; a part that is a thought or a call has none."""
    if isinstance(content, str):
        return [content]
    parts = [content] if isinstance(content, dict) else sequence(content)
    texts = [
        part if isinstance(part, str) else string(mapping(part).get("text"))
        for part in parts
        if not mapping(part).get("thought")
    ]
    return [text for text in texts if text]


def thoughts_in(content: object) -> list[str]:
    """Thoughts among the parts of a message."""
    return [string(mapping(part).get("text")) for part in sequence(content) if mapping(part).get("thought")]


def thought_text(thought: object) -> str:
    """A thought of the list beside the content: a heading and a text."""
    fields = mapping(thought)
    return "\n".join(text for text in (string(fields.get("subject")), string(fields.get("description"))) if text)


def parts_of_kind(content: object, name: str) -> list[dict[str, Any]]:
    """The parts of one kind: `functionCall` or `functionResponse`."""
    parts = [content] if isinstance(content, dict) else sequence(content)
    return [found for part in parts if (found := mapping(mapping(part).get(name)))]


def split_user_text(message: dict[str, Any]) -> UserText:
    """Split the text of a user message. `displayContent` is what the person typed if the program put files into the content."""
    content = message.get("content")
    texts = texts_of(content)
    injected = [text for text in texts if text.lstrip().startswith(_INJECTED)]
    human = "\n".join(text for text in texts if text not in injected)
    typed = "\n".join(texts_of(message.get("displayContent")))
    if typed and typed != human:
        added = human.removeprefix(typed).strip()
        injected = [added, *injected] if added else injected
        human = typed
    return UserText(human, "\n".join(injected), images_in(content))


def images_in(content: object) -> int:
    parts = [content] if isinstance(content, dict) else sequence(content)
    return sum("inlineData" in mapping(part) or "fileData" in mapping(part) for part in parts)


def folder_in(context: str) -> str:
    """The project's folder, as the context at the start names it."""
    found = _FOLDER.search(context[:4_000])
    return found[1].strip() if found else ""


def usage_of(tokens: object) -> Usage | None:
    """Tokens of one response; Gemini counts cached tokens as input, and thoughts not as output."""
    stated = mapping(tokens)
    if "input" not in stated and "output" not in stated:
        return None
    cached, thoughts = count(stated.get("cached")), count(stated.get("thoughts"))
    return Usage(
        input=max(0, count(stated.get("input")) - cached) + count(stated.get("tool")),
        output=count(stated.get("output")) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
    )
