"""Whose words a message of a rollout holds.

Codex stores what it tells the model itself (surroundings, instructions, notices, hook texts) as user and
developer messages beside what the person typed. Newer versions say for each piece of content what it is; for
the rest it is known how the program's own texts begin. Knows nothing of the order of records.
"""

from typing import Any, NamedTuple

from preheat.agents.codex.records import Payload, mapping, sequence, text

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


class Words(NamedTuple):
    """The person's words and the program's, in one message."""

    human: str
    program: str
    images: int


def words(payload: Payload) -> Words:
    """Tell the person's words in a user message from the program's."""
    kinds = sequence(mapping(payload.internal_chat_message_metadata_passthrough).get("content_item_kinds"))
    human: list[str] = []
    program: list[str] = []
    images = 0
    for place, part in enumerate(_parts(payload.content)):
        if part.get("type") in _IMAGE_TYPES:
            images += 1
            continue
        piece = text(part.get("text"))
        if _is_image_frame(piece):
            continue
        kind = text(kinds[place]) if place < len(kinds) else ""
        if kind.startswith("user.") or (kind in ("", "unknown") and not piece.startswith(_PROGRAM_BEGINNINGS)):
            context, request = _from_editor(piece)
            human.append(request)
            program.append(context)
        else:
            program.append(piece)
    return Words(_joined(human), _joined(program), images)


def said(content: object) -> str:
    """All the text of a message."""
    return _joined([text(part.get("text")) for part in _parts(content)])


def _parts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in sequence(content) if isinstance(part, dict)]


def _from_editor(piece: str) -> tuple[str, str]:
    # Editors put what is open before the request, in one text.
    if piece.startswith(_EDITOR_BEGINNING):
        context, mark, request = piece.partition(_EDITOR_REQUEST)
        if mark:
            return context.strip(), request.strip()
    return "", piece


def _is_image_frame(piece: str) -> bool:
    stripped = piece.strip()
    return stripped == "</image>" or (stripped.startswith("<image") and stripped.endswith(">") and "\n" not in stripped)


def _joined(pieces: list[str]) -> str:
    return "\n\n".join(piece for piece in pieces if piece)
