"""What a session's calls show of the repository: its branch, its HEAD, and whether the work was committed.

Knows only what git printed; where it printed nothing, nothing is claimed.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from preheat.calls.seen import JudgedCall
from preheat.commands import Command, command_text, understand

_ELSEWHERE = re.compile(r"\b(?:cd|pushd)\s+[\"']?(?:/|~|\.\.|\$|[A-Za-z]:)|\bgit\s+(?:-C|--git-dir)\b|worktrees[\\/]")
_COMMITTED = re.compile(r"^\[(?P<branch>[^\]\s]+|detached HEAD)(?: \(root-commit\))? (?P<head>[0-9a-f]{7,40})\] ", re.M)
_SWITCHED = re.compile(r"^(?:Switched to (?:a new )?branch|Already on) '([^']+)'", re.M)
_ON_BRANCH = re.compile(r"^On branch (\S+)$", re.M)
_LOG_OUTPUT = re.compile(r"^(?:commit )?([0-9a-f]{7,40})(?:\s|$)", re.M)
_FORWARD = re.compile(r"^Updating [0-9a-f]{7,40}\.\.([0-9a-f]{7,40})$", re.M)
_MOVING = frozenset(["checkout", "switch", "pull", "merge", "rebase", "reset", "cherry-pick", "revert", "commit", "am"])
_PLAIN_LOG = re.compile(r"-(?:\d+|n\d*|-oneline|-decorate|-stat|-max-count=\d+|-no-pager|-no-decorate)$|\d+$|HEAD$")


class GitState(NamedTuple):
    """Where a session left the repository."""

    branch: str = ""
    head: str = ""
    commit_seq: int = -1
    """The place of its last commit among its calls; -1 where it made none."""


def find_git_state(calls: Iterable[JudgedCall], branch: str = "") -> GitState:
    """The state by the last outputs of git; `branch` is the branch in the session's own record."""
    found = GitState(branch)
    for each in calls:
        if each.call.kind != "shell" or each.result is None or not each.worked:
            continue
        text = command_text(each.call.input)
        if "git" in text and not _ELSEWHERE.search(text):
            found = _state_after(found, text, each.result.text, each.record.seq)
    return found


def _state_after(before: GitState, text: str, output: str, seq: int) -> GitState:
    commands = [command for command in understand(text).commands if command.program == "git"]
    subcommands = [_subcommand(command) for command in commands]
    if not subcommands:
        return before
    branch, head, committed = before
    if "commit" in subcommands:
        committed = seq
    if not _MOVING.isdisjoint(subcommands):
        head = ""
    if not {"status", "checkout", "switch"}.isdisjoint(subcommands):
        named = [*_ON_BRANCH.findall(output), *_SWITCHED.findall(output)]
        branch = named[-1] if named else branch
    for made in _COMMITTED.finditer(output) if "commit" in subcommands else ():
        head = made["head"]
        branch = branch if made["branch"] == "detached" or " " in made["branch"] else made["branch"]
    if not {"pull", "merge"}.isdisjoint(subcommands) and (forward := _FORWARD.search(output)):
        head = forward[1]
    last = commands[-1]
    if (subcommands[-1] == "log" and _is_plain_log(last)) or (
        subcommands[-1] == "rev-parse" and last.words[-1] == "HEAD"
    ):
        logged = _LOG_OUTPUT.search(output)
        head = logged[1] if logged and len(set(subcommands) & {"diff", "show", "blame", "reflog"}) == 0 else head
    return GitState(branch, head, committed)


def _subcommand(command: Command) -> str:
    return next((word for word in command.words[1:] if not word.startswith("-")), "")


def _is_plain_log(command: Command) -> bool:
    """A log that begins at HEAD: no other name, no range, no file."""
    after = command.words[command.words.index("log") + 1 :]
    return all(_PLAIN_LOG.match(word) for word in after)
