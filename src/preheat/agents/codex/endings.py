"""A command's exit code, looked up at the end of a rollout: Codex's hook events lack it, but the rollout has it by then.

Knows nothing of hooks nor of the rest of a session. Reads a bounded tail, and only of a file named like a rollout.
"""

import os
import stat

from preheat.agents.hooking import decode_payload, fields, number

_TAIL_BYTES = 262_144


def find_exit_code(path: str, call_id: str) -> int | None:
    """The exit code of a call that has just ended; None if the rollout does not have it (yet)."""
    if not call_id or not _is_rollout(path):
        return None
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            tail = stream.read(_TAIL_BYTES)
    except OSError:
        return None
    name = b'"' + call_id.encode("utf-8", "replace") + b'"'
    end = len(tail)
    while (at := tail.rfind(name, 0, end)) >= 0:
        begin = tail.rfind(b"\n", 0, at) + 1
        code = _exit_code_in(tail[begin : tail.find(b"\n", at) if b"\n" in tail[at:] else len(tail)], call_id)
        if code is not None:
            return code
        end = begin
    return None


def _exit_code_in(line: bytes, call_id: str) -> int | None:
    payload = fields((decode_payload(line) or {}).get("payload"))
    item = fields(payload.get("item"))
    if item.get("id") == call_id and item.get("type") == "CommandExecution":
        return number(item.get("exit_code"))
    if payload.get("type") == "exec_command_end" and payload.get("call_id") == call_id:
        return number(payload.get("exit_code"))
    return None


def _is_rollout(path: str) -> bool:
    """Whether a path is a plain file named like a rollout: a payload may name anything, and reading a pipe would block."""
    name = os.path.basename(path)
    if not (name.startswith("rollout-") and name.endswith(".jsonl")) or "\0" in path:
        return False
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
