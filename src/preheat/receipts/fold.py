"""The receipt of a session, folded from the entries of the journal. Pure: it gives the same live and after a crash.

Nothing is concluded here: a text is *followed* if one of the next calls uses what it names and works, a call that was warned of
*failed* or *worked* if that was seen. Texts that were withheld at random are folded in the same way, to compare with.
"""

import re

import msgspec

from preheat.model.experiment import AdviceAssignment
from preheat.model.live import WARNING, Advisory, CallEvent, JournalEntry, answer_subject, is_answer, strip_marks
from preheat.model.outcome import FAILURES
from preheat.model.receipt import NamedFile, Receipt, SentText, TextKind, TextOutcome

WITHIN = 12
"""Calls after a text in which it counts as followed."""
MOST_TEXTS, MOST_FILES = 60, 120
_LONGEST = 240
_EDIT_TEXT = "edit text"
_ORIENTATION = "orientation"


def update_receipt(receipt: Receipt, entry: JournalEntry) -> Receipt:
    """The receipt after an entry of the journal."""
    texts, files = receipt.texts, receipt.files
    for event in entry.events:
        if isinstance(event, CallEvent):
            texts = tuple(_see_call(each, event, entry.passed_call) for each in texts)
            files = _open_files(files, event)
    if (new := _read_told(entry)) is not None:
        texts = (*texts, new)[-MOST_TEXTS:]
    said = receipt.said + (new is not None and new.is_shown)
    if entry.orientation:
        known = len(files)
        files = _add_files(files, entry)
        said += sum(each.is_shown for each in files[known:])
    return Receipt(
        texts=texts,
        files=files[-MOST_FILES:],
        said=said,
        reported=said if entry.is_reported else receipt.reported,
        contexts=receipt.contexts + bool(entry.context),
        tokens=receipt.tokens + entry.tokens,
        events=receipt.events + entry.events_taken,
        microseconds=receipt.microseconds + entry.microseconds,
        slowest=max(receipt.slowest, entry.slowest),
    )


# What was said.
def _read_told(entry: JournalEntry) -> SentText | None:
    advisory = entry.advisory or entry.withheld
    if advisory is None:
        return None
    drawn = any(isinstance(each, AdviceAssignment) and each.signal != _ORIENTATION for each in entry.assignments)
    return SentText(
        kind=_find_kind(advisory, entry),
        about=answer_subject(advisory.cause).rpartition(" ")[0] if is_answer(advisory) else advisory.signal,
        at=entry.at,
        turn=advisory.turn,
        text=strip_marks(advisory.text).strip()[:_LONGEST],
        names=advisory.names,
        call=entry.held_call or entry.planned_call,
        is_drawn=drawn,
        is_shown=entry.advisory is not None,
    )


def _find_kind(advisory: Advisory, entry: JournalEntry) -> TextKind:
    if entry.held_call:
        return "hold"
    if not is_answer(advisory):
        return "advice"
    return "warning" if advisory.cause.startswith(WARNING) else "answer"


# What came of it.
def _see_call(sent: SentText, event: CallEvent, passed_call: str) -> SentText:
    """A text after a later call. The first thing that is seen of it stays."""
    if sent.outcome or sent.later_calls >= WITHIN or sent.kind == "advice":
        return sent
    outcome: TextOutcome = ""
    is_the_call = passed_call == sent.call if sent.kind == "hold" else _is_planned(sent.call, event)
    if sent.kind != "answer" and is_the_call:
        outcome = _judge(event)
    elif sent.kind != "warning" and _judge(event) == "worked" and _uses(event, sent):
        outcome = "followed"
    return msgspec.structs.replace(sent, outcome=outcome, later_calls=sent.later_calls + 1)


def _judge(event: CallEvent) -> TextOutcome:
    if event.status in FAILURES:
        return "failed"
    return "worked" if event.status in ("ok", "empty") else ""


def _is_planned(call: str, event: CallEvent) -> bool:
    """Whether a finished call is the one that was warned of: the same id, or the next of its tool where there is none."""
    return call in (event.call_id, f"tool {event.tool}") if call else False


def _uses(event: CallEvent, sent: SentText) -> bool:
    if sent.about == _EDIT_TEXT:
        return any(name in event.edited for name in sent.names)
    return any(name in event.files or _mentions(event.summary, name) for name in sent.names)


def _mentions(summary: str, name: str) -> bool:
    """Whether a call says a name as a whole word."""
    return bool(name) and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", summary) is not None


# Files that were named with a prompt.
def _add_files(files: tuple[NamedFile, ...], entry: JournalEntry) -> tuple[NamedFile, ...]:
    draws = [each for each in entry.assignments if isinstance(each, AdviceAssignment) and each.signal == _ORIENTATION]
    shown = all(each.shown for each in draws)
    known = {each.path for each in files}
    new = [
        NamedFile(path=path, is_drawn=bool(draws), is_shown=shown) for path in entry.orientation if path not in known
    ]
    return (*files, *new)


def _open_files(files: tuple[NamedFile, ...], event: CallEvent) -> tuple[NamedFile, ...]:
    touched = set(event.files)
    if not touched or _judge(event) != "worked":
        return files
    return tuple(
        msgspec.structs.replace(each, is_opened=True) if each.path in touched and not each.is_opened else each
        for each in files
    )
