"""What the agent did before and next, as evidence of why a call failed. Knows verdicts, not how they were reached.

Only a cause that nothing else shows is settled here, and that of the agent's own script: the same call with other arguments is
the repair of a mistake; the same call again, unchanged, that works, was stopped by something outside; a script that the agent
rewrites after it failed was its own mistake, and so was one that it had written itself and whose own code raised. A live session
has no next call yet: there such a cause stays as it is.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from msgspec import structs

from preheat.commands import Understanding, command_text, understand
from preheat.model.outcome import FAILURES, Cause, Outcome
from preheat.model.session import ToolCall, ToolResult
from preheat.outcomes.cause import INTERPRETERS, is_own_frame

_NEAR = 3
"""Calls of the agent in which it reacts to a failure."""
_SCRIPT = re.compile(r"[\w./-]*?([\w-]+\.(?:py|js|mjs|ts|rb|sh|php|pl))$")


def settle_causes(
    calls: Sequence[ToolCall], outcomes: Sequence[Outcome], results: Mapping[str, ToolResult]
) -> tuple[Outcome, ...]:
    """The outcomes, with the causes that the calls around them show."""
    settled = list(outcomes)
    for place, outcome in enumerate(outcomes):
        if outcome.status in FAILURES and outcome.cause in ("unknown", "finding"):
            result = results.get(outcome.call_id)
            cause = _cause_by_reaction(calls, outcomes, place, "" if result is None else result.text)
            if cause is not None:
                settled[place] = structs.replace(outcome, cause=cause)
    return tuple(settled)


def _cause_by_reaction(calls: Sequence[ToolCall], outcomes: Sequence[Outcome], place: int, text: str) -> Cause | None:
    call, outcome = calls[place], outcomes[place]
    shell = understand(command_text(call.input)) if call.kind == "shell" else None
    if outcome.cause == "finding":
        script = _own_script(shell)
        if not script:
            return None
        after = next(_reactions(calls, place), None)
        if after is not None and _writes(calls[after], script):
            return "mistake"
        is_own = is_own_frame(text, (script,)) and any(_writes(call, script) for call in islice(calls, place + 1))
        return "mistake" if is_own else None
    for after in islice(_reactions(calls, place), _NEAR):
        if not _is_same_kind(call, shell, calls[after]):
            continue
        if calls[after].input != call.input:
            return "mistake"
        return "environment" if outcomes[after].status not in FAILURES else None
    return None


def _reactions(calls: Sequence[ToolCall], place: int) -> "islice[int]":
    """The places of the next calls that were made when the result was known: not those of the same response."""
    response = calls[place].response
    return islice(
        (
            after
            for after in range(place + 1, min(place + 12, len(calls)))
            if not response or calls[after].response != response
        ),
        _NEAR,
    )


def _is_same_kind(call: ToolCall, shell: Understanding | None, other: ToolCall) -> bool:
    """Whether another call tries the same: with the same tool, of commands with the same program."""
    if other.tool != call.tool:
        return False
    if shell is None:
        return True
    programs = {command.program for command in understand(command_text(other.input)).commands}
    return shell.main is not None and shell.main.program in programs


def _own_script(shell: Understanding | None) -> str:
    """The name of the script that an interpreter ran; empty for a runner of tests and for anything else."""
    if shell is None or shell.main is None or shell.purpose not in ("run", "other", "test"):
        return ""
    main = shell.main
    found = _SCRIPT.match(main.words[1]) if main.program in INTERPRETERS and len(main.words) > 1 else None
    return found[1] if found else ""


def _writes(call: ToolCall, script: str) -> bool:
    """Whether a call writes the script anew or changes it by a command, as an agent does with a script for one use."""
    if call.kind == "write":
        return any(isinstance(value, str) and value.endswith(script) for value in call.input.values())
    if call.kind != "shell":
        return False
    text = command_text(call.input)
    if script not in text:
        return False
    if ("sed -i" in text and text.rstrip(" '\"").endswith(script)) or f"tee {script}" in text:
        return True
    return re.search(rf">\s*['\"]?[\w./$~{{}}-]*\b{re.escape(script)}", text) is not None
