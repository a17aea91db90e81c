"""Progress of a session, for the packet it gets after a compaction: the files it edited, and how its checks ended.

A pure fold over events: what calls did, not what the agent said. Knows no agent and no signal.
"""

import msgspec

from preheat.commands import understand
from preheat.live import sentences
from preheat.model.live import CallEvent, LiveEvent, StartEvent
from preheat.model.outcome import FAILURES
from preheat.model.session import PREHEAT_MARK
from preheat.safe_text.cleanup import one_line

MOST_FILES = 12
MOST_CHECKS = 4
_LONGEST = 100
_BLOCK_NAME = f"{PREHEAT_MARK.removeprefix('<')}resume"


class Check(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a check ended when it was last run."""

    command: str
    passed: bool
    signature: str = ""


class Progress(msgspec.Struct, frozen=True, array_like=True):
    """What was done so far, the newest last."""

    edited: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    unsaved: bool = False
    """There are uncommitted changes."""


def update_progress(progress: Progress, event: LiveEvent) -> Progress:
    """The progress after an event."""
    if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        return Progress()
    if not isinstance(event, CallEvent):
        return progress
    if event.removed or event.edited:
        replaced = {*event.removed, *event.edited}
        kept = [path for path in progress.edited if path not in replaced]
        done = event.status in ("ok", "empty")
        progress = Progress((*kept, *event.edited)[-MOST_FILES:], progress.checks, progress.unsaved or done)
    if event.checks and event.status in ("ok", *FAILURES):
        command = one_line(event.summary, _LONGEST)
        others = [check for check in progress.checks if check.command != command]
        check = Check(command, event.status == "ok", one_line(event.signature, _LONGEST))
        progress = Progress(progress.edited, (*others, check)[-MOST_CHECKS:], progress.unsaved)
    if progress.unsaved and event.status in ("ok", "empty") and _saves_changes(event):
        progress = Progress(progress.edited, progress.checks)
    return progress


def _saves_changes(event: CallEvent) -> bool:
    """Whether a call commits or stashes the changes."""
    if event.kind != "shell" or "git" not in event.summary:
        return False
    return any(
        each.program == "git" and not {"commit", "stash"}.isdisjoint(each.words[1:4])
        for each in understand(event.summary).commands
    )


def describe_progress(progress: Progress) -> str:
    """The packet for the model; empty without edits and checks."""
    lines = [sentences.EDITED_LAST.write(paths=progress.edited[::-1])]
    for check in reversed(progress.checks):
        if check.passed:
            lines.append(sentences.CHECK_PASSED.write(command=check.command))
        else:
            lines.append(sentences.CHECK_FAILED.write(command=check.command, error=check.signature))
    lines = [line for line in lines if line]
    if not lines:
        return ""
    text = "\n".join((sentences.PROGRESS_HEAD.write(), *lines))
    return f"<{_BLOCK_NAME}>\n{text}\n</{_BLOCK_NAME}>"
