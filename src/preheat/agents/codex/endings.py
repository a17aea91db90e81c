"""How a command ended, looked up at the end of a rollout: Codex's hooks do not tell it, but its rollout has it by then.

Knows nothing of hooks nor of the rest of a session. Looks at a bounded piece of a file that is a rollout by its name.
"""

import os
import stat

from preheat.agents.hooking import decoded, fields, number

_PIECE = 262_144


def exit_code(path: str, call_id: str) -> int | None:
    """The exit code of a call that has just ended; None where it is not there (yet)."""
    if not call_id or not _is_rollout(path):
        return None
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _PIECE))
            piece = stream.read(_PIECE)
    except OSError:
        return None
    name = b'"' + call_id.encode("utf-8", "replace") + b'"'
    end = len(piece)
    while (at := piece.rfind(name, 0, end)) >= 0:
        begin = piece.rfind(b"\n", 0, at) + 1
        code = _code(piece[begin : piece.find(b"\n", at) if b"\n" in piece[at:] else len(piece)], call_id)
        if code is not None:
            return code
        end = begin
    return None


def _code(line: bytes, call_id: str) -> int | None:
    payload = fields((decoded(line) or {}).get("payload"))
    item = fields(payload.get("item"))
    if item.get("id") == call_id and item.get("type") == "CommandExecution":
        return number(item.get("exit_code"))
    if payload.get("type") == "exec_command_end" and payload.get("call_id") == call_id:
        return number(payload.get("exit_code"))
    return None


def _is_rollout(path: str) -> bool:
    """By its name, and a plain file: a payload may name anything, and a pipe would hold us up."""
    name = os.path.basename(path)
    if not (name.startswith("rollout-") and name.endswith(".jsonl")) or "\0" in path:
        return False
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
