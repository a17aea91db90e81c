"""How a person writes to an agent, by the first implementation's rules. Knows nothing of sessions."""

from collections.abc import Sequence

from preheat.model.profile import UserStyle, WritingStyle


def user_style(messages: Sequence[str]) -> UserStyle:
    """The style of what a person typed; the first rule that holds decides."""
    total = len(messages)
    if not total:
        return UserStyle(0, 0.0, 0.0, 0.0, "unknown")
    length = sum(map(len, messages)) / total
    questions = sum("?" in text for text in messages) / total
    commands = sum(text.startswith("/") for text in messages) / total
    style: WritingStyle = "balanced"
    if commands > 0.3:
        style = "command_driven"
    elif questions > 0.5:
        style = "conversational"
    elif length < 50:
        style = "terse"
    elif length > 200:
        style = "detailed"
    return UserStyle(total, length, questions, commands, style)
