"""Prompts as the models' chat template writes them (ChatML with tools), and the contexts that arms add to them.

A prompt has a prefix (system, tools, the arm's context), which the tasks of one context share, and a suffix (the conversation
and the beginning of the call). They meet where a message begins, so that no token straddles the border. Standard library
only.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

SYSTEM = "You are a coding agent. You work in a repository by running shell commands with the bash tool."
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a shell command in the root of the repository.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}
PREFILL = '<tool_call>\n{"name": "bash", "arguments": {"command": "'
"""Given to the model: free, these models never write the opening tag (see the protocol)."""
CLOSE = '"'
"""Ends a command; belongs to the format and is never scored."""

_TOOLS = (
    "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
    + json.dumps(TOOL)
    + "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)


class Message(NamedTuple):
    """One message; of an assistant a command may be its call, of a `tool` the text is the result."""

    role: str
    text: str
    command: str = ""


def render_messages(messages: Sequence[Message]) -> str:
    """Messages that begin with the system's."""
    parts = []
    for place, message in enumerate(messages):
        if message.role == "system":
            if place:
                raise ValueError("only the first message is the system's")
            parts.append(f"<|im_start|>system\n{message.text}{_TOOLS}<|im_end|>\n")
        elif message.role == "tool":
            follows = place > 0 and messages[place - 1].role == "tool"
            goes_on = place + 1 < len(messages) and messages[place + 1].role == "tool"
            parts.append("" if follows else "<|im_start|>user")
            parts.append(f"\n<tool_response>\n{message.text}\n</tool_response>")
            parts.append("" if goes_on else "<|im_end|>\n")
        elif message.command:
            text = f"\n{message.text}" if message.text else ""
            call = json.dumps({"command": message.command}, ensure_ascii=False)
            parts.append(
                f'<|im_start|>assistant{text}\n<tool_call>\n{{"name": "bash", "arguments": {call}}}\n</tool_call><|im_end|>\n'
            )
        else:
            parts.append(f"<|im_start|>{message.role}\n{message.text}<|im_end|>\n")
    return "".join(parts)


def render_prefix(messages: Sequence[Message], note: str = "") -> str:
    """The system's message, with a note below it if there is one, and the messages of an arm."""
    system = f"{SYSTEM}\n\n{note}" if note else SYSTEM
    return render_messages([Message("system", system), *messages])


def render_suffix(conversation: Sequence[Message]) -> str:
    """The conversation, and the beginning of the call that is asked for."""
    whole = render_messages([Message("system", ""), *conversation])
    return whole.removeprefix(render_messages([Message("system", "")])) + f"<|im_start|>assistant\n{PREFILL}"


def escape_command(command: str) -> str:
    """A command as it stands in the JSON of a call."""
    return json.dumps(command, ensure_ascii=False)[1:-1]


def endpoint_messages(messages: Sequence[Message], note: str, conversation: Sequence[Message]) -> list[dict[str, Any]]:
    """The same as a chat endpoint takes it."""
    system = f"{SYSTEM}\n\n{note}" if note else SYSTEM
    found: list[dict[str, Any]] = []
    for number, message in enumerate([Message("system", system), *messages, *conversation]):
        if message.command:
            call = {"name": "bash", "arguments": json.dumps({"command": message.command}, ensure_ascii=False)}
            calls = [{"id": f"call_{number}", "type": "function", "function": call}]
            found.append({"role": "assistant", "content": message.text, "tool_calls": calls})
        elif message.role == "tool":
            found.append({"role": "tool", "tool_call_id": f"call_{number - 1}", "content": message.text})
        else:
            found.append({"role": message.role, "content": message.text})
    return found


# The context of an arm.
_FILLER = ("ok", "done", "clean", "cached", "kept", "fine", "same", "ready")

Count = Callable[[str], int]


class ArmContext(NamedTuple):
    """A text below the system's own, and messages before the task."""

    note: str = ""
    messages: tuple[Message, ...] = ()

    @property
    def prefix(self) -> str:
        return render_prefix(self.messages, self.note)


def fit_to_length(context: ArmContext, tokens: int, count: Count) -> ArmContext:
    """The same, cut or lengthened until the whole prefix has so many tokens, or hardly fewer."""
    if context.messages:
        return _fit_messages(context, tokens, count)
    return _fit_text(context, tokens, count)


def _fit_messages(context: ArmContext, tokens: int, count: Count) -> ArmContext:
    """Words of results are taken away or added; calls stay whole."""
    messages = list(context.messages)
    results = [place for place, message in enumerate(messages) if message.role == "tool"]
    while count(render_prefix(messages, context.note)) > tokens:
        longest = max(results, key=lambda place: len(messages[place].text.split()))
        kept = messages[longest].text.split()
        if len(kept) < 2:
            raise ValueError("the placebo cannot be made as short as the warm context")
        messages[longest] = messages[longest]._replace(text=" ".join(kept[:-1]))
    for turn in range(tokens):
        place = results[turn % len(results)]
        word = _FILLER[turn // len(results) % len(_FILLER)]
        longer = [*messages]
        longer[place] = messages[place]._replace(text=f"{messages[place].text} {word}")
        if count(render_prefix(longer, context.note)) > tokens:
            break
        messages = longer
    return ArmContext(context.note, tuple(messages))


def _fit_text(context: ArmContext, tokens: int, count: Count) -> ArmContext:
    """As many of its lines as fit, the next one cut within; a text that is too short is said again from its beginning."""
    words: list[str] = context.note.split(" ")
    if not context.note.strip():
        raise ValueError("an empty text cannot be made longer")
    while count(render_prefix((), " ".join(words))) < tokens:
        words += ["\n" + context.note.split(" ")[0], *context.note.split(" ")[1:]]
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(render_prefix((), " ".join(words[:middle]))) <= tokens:
            low = middle
        else:
            high = middle - 1
    return ArmContext(" ".join(words[:low]))
