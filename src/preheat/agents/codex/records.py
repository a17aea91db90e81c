"""The records of a rollout, as far as they are read.

Knows nothing of what they mean. Nearly everything is optional and of any type: fields came and went over the
years. Fields not named here (base instructions, copies of outputs, replaced histories) are skipped at native
speed.
"""

from typing import Any

import msgspec

_LARGEST_WHOLE = 2**62


class Item(msgspec.Struct):
    """A finished item of a paginated rollout: `item_completed.item`."""

    type: str = ""
    id: Any = None
    status: Any = None
    exit_code: Any = None
    duration: Any = None
    success: Any = None
    error: Any = None
    result: Any = None
    content: Any = None
    tool: Any = None
    kind: Any = None
    receiver_thread_ids: Any = None
    agent_thread_id: Any = None


class Payload(msgspec.Struct):
    """What is inside the envelope; old rollouts have it bare."""

    type: str = ""
    id: Any = None
    timestamp: Any = None
    # What the conversation is made of.
    role: Any = None
    content: Any = None
    internal_chat_message_metadata_passthrough: Any = None
    summary: Any = None
    call_id: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Any = None
    input: Any = None
    output: Any = None
    action: Any = None
    tools: Any = None
    status: Any = None
    author: Any = None
    # What the program reports of it.
    item: Item | None = None
    message: Any = None
    images: Any = None
    local_images: Any = None
    turn_id: Any = None
    num_turns: Any = None
    exit_code: Any = None
    duration: Any = None
    success: Any = None
    result: Any = None
    new_thread_id: Any = None
    agent_thread_id: Any = None
    kind: Any = None
    thread_name: Any = None
    model: Any = None
    info: Any = None
    response_id: Any = None
    usage: Any = None
    thread_token_usage: Any = None
    # What the session is.
    cwd: Any = None
    originator: Any = None
    cli_version: Any = None
    source: Any = None
    thread_source: Any = None
    git: Any = None
    forked_from_id: Any = None
    parent_thread_id: Any = None
    history_base: Any = None
    subagent_history_start_ordinal: Any = None


class Line(Payload):
    """One line: an envelope with a payload, or (in old rollouts) the bare record."""

    ordinal: Any = None
    payload: Payload | None = None
    record_type: Any = None


def whole_number(value: object) -> int | None:
    """A whole number of sensible size; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and -_LARGEST_WHOLE < value < _LARGEST_WHOLE:
        return value
    return None
