"""Who is in the way: a lock of git, a port that another process holds, a commit hook that refused. Pure: asks `ProjectFiles`."""

import re
from posixpath import join

from preheat.answers import sentences
from preheat.answers.history import History
from preheat.answers.values import Answer, Failure, ProjectFiles, SessionFacts
from preheat.commands import command_text, understand

_LOCK = re.compile(r"Unable to create '([^'\n]{1,300}\.lock)': File exists")
_PORT = re.compile(
    r"(?i)(?:EADDRINUSE|address already in use|port\s+\d{2,5}\s+is\s+(?:already\s+)?(?:in use|taken|occupied|allocated))"
)
_NUMBER = re.compile(r"(?<=[:\s])\d{2,5}(?![\w.])")
_REFUSED_BY_HUSKY = re.compile(r"husky - (pre-commit|commit-msg|pre-push) (?:script|hook)")
_NO_CHECKS = frozenset(
    ["echo", "printf", "exit", "set", "export", "[", "test", "if", "then", "else", "fi", "cd", "exec"]
)
"""What stands in a hook and checks nothing."""
_MOST_TEXT = 20_000
_MOST_COMMANDS = 3
_LINE = 300


def look_at_lock(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """Whether the lock that stopped a command of version control is still there."""
    found = _LOCK.search(failure.text[:_MOST_TEXT])
    path = failure.call.absolute(found[1]) if found else ""
    kind = files.kind(path) if path else "unknown"
    if kind not in ("file", "none"):
        return None
    sentence = sentences.LOCK_HELD if kind == "file" else sentences.LOCK_GONE
    said = sentence.write(path=failure.call.show(path))
    return Answer("lock", said, path) if said else None


def find_port_holder(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """Which process holds the port that a command wanted, or that none does any more."""
    found = _PORT.search(failure.text[:_MOST_TEXT])
    if found is None:
        return None
    start = failure.text.rfind("\n", 0, found.start()) + 1
    line = failure.text[start : start + _LINE].partition("\n")[0]
    port = int(next(reversed(_NUMBER.findall(line)), "0"))  # before it may stand the number of the error
    if not 0 < port < 65536:
        return None
    holder = files.find_listener(port)
    if holder is None:
        return None
    if not holder.process:
        said = sentences.PORT_FREE.write(port=str(port))
    else:
        said = sentences.PORT_HELD.write(
            port=str(port), name=holder.program, process=str(holder.process), folder=failure.call.show(holder.folder)
        )
    return Answer("port", said, str(port)) if said else None


def read_commit_hook(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """What the commit hook runs that refused: it can be run by itself until it passes."""
    found = _REFUSED_BY_HUSKY.search(failure.text[:_MOST_TEXT])
    if found is None or failure.call.kind != "shell" or "git" not in command_text(failure.call.arguments):
        return None
    path = join(files.root, ".husky", found[1])
    text = files.read_text(path)
    if text is None:
        return None
    lines = [line.strip() for line in text.splitlines()]
    commands = [
        line
        for line in lines
        if line and line[0] not in '#."[' and "husky.sh" not in line and (known := understand(line)).main is not None
        and len(known.commands) == 1 and known.main.program not in _NO_CHECKS
    ]  # fmt: skip
    if not commands:
        return None
    said = sentences.HOOK_RUNS.write(path=failure.call.show(path), commands=commands[:_MOST_COMMANDS])
    return Answer("commit hook", said, path, tuple(commands[:_MOST_COMMANDS])) if said else None
