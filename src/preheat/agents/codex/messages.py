"""Who wrote the text of a message in a rollout: the person or the program.

Codex stores its own texts for the model (environment, instructions, notices, hook texts) as user and developer messages
beside what the person typed. Newer versions name the kind of each piece of content; in older ones the program's texts are
recognised by how they begin. Knows nothing of the order of records.
"""

from typing import Any, NamedTuple

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.codex.records import Payload

_PROGRAM_TAGS = (
    "environment_context", "environments_instructions", "user_instructions", "INSTRUCTIONS",
    "permissions instructions", "skills_instructions", "apps_instructions", "plugins_instructions",
    "app-context", "collaboration_mode", "multi_agent_mode", "multi_agent_role", "turn_aborted",
    "subagent_notification", "user_shell_command", "skill", "hook_prompt", "goal_context", "model_switch",
    "personality_spec", "context_window", "context_window_guidance", "current_time_reminder",
    "image_resize_notice", "managed_developer_instructions", "realtime_conversation", "realtime_delegation",
    "recommended_plugins", "codex_internal_context", "user_action",
)  # fmt: skip
_PROGRAM_BEGINNINGS = (
    "# AGENTS.md instructions",
    *(f"<{tag}{end}" for tag in _PROGRAM_TAGS for end in (">", " ", "\n")),
)
_EDITOR_BEGINNING = "# Context from my IDE setup:"
_EDITOR_REQUEST = "## My request for Codex:"
_IMAGE_TYPES = ("input_image", "image", "local_image")


class UserText(NamedTuple):
    """The person's text and the program's text in one message."""

    human: str
    program: str
    images: int


def split_user_text(payload: Payload) -> UserText:
    """Separate the person's text in a user message from the program's."""
    kinds = sequence(mapping(payload.internal_chat_message_metadata_passthrough).get("content_item_kinds"))
    human: list[str] = []
    program: list[str] = []
    images = 0
    for place, part in enumerate(_parts(payload.content)):
        if part.get("type") in _IMAGE_TYPES:
            images += 1
            continue
        piece = string(part.get("text"))
        if _is_image_frame(piece):
            continue
        kind = string(kinds[place]) if place < len(kinds) else ""
        if kind.startswith("user.") or (kind in ("", "unknown") and not piece.startswith(_PROGRAM_BEGINNINGS)):
            context, request = _split_editor_context(piece)
            human.append(request)
            program.append(context)
        else:
            program.append(piece)
    return UserText(_join(human), _join(program), images)


def message_text(content: object) -> str:
    """All the text of a message."""
    return _join([string(part.get("text")) for part in _parts(content)])


def _parts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in sequence(content) if isinstance(part, dict)]


def _split_editor_context(piece: str) -> tuple[str, str]:
    # Editors put the open files before the request, in one text.
    if piece.startswith(_EDITOR_BEGINNING):
        context, mark, request = piece.partition(_EDITOR_REQUEST)
        if mark:
            return context.strip(), request.strip()
    return "", piece


def _is_image_frame(piece: str) -> bool:
    stripped = piece.strip()
    return stripped == "</image>" or (stripped.startswith("<image") and stripped.endswith(">") and "\n" not in stripped)


def _join(pieces: list[str]) -> str:
    return "\n\n".join(piece for piece in pieces if piece)
