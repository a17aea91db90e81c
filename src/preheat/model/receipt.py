"""Receipts: what was said to a session, what came of it, and what it cost. Frozen values, made in `receipts`."""

from typing import Literal, TypeAlias

import msgspec

TextKind: TypeAlias = Literal["warning", "hold", "answer", "advice"]
"""`warning`: a text before a call. `hold`: the call was refused once. `answer`: from the working tree, after a failure.
`advice`: of a signal or a lesson."""
TextOutcome: TypeAlias = Literal["", "failed", "worked", "followed"]
"""What was seen of it: the call was made and failed, or worked; a later call used what was named, and worked. Empty: none of that
was seen."""


class SentText(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One text for a session, and what came of it."""

    kind: TextKind
    about: str
    """The rule of an answer or warning; the signal of other advice."""
    at: float
    turn: int
    text: str = ""
    names: tuple[str, ...] = ()
    """What it names to use instead."""
    call: str = ""
    """The call that it is about, if that had not been made yet: its id, or a hash where it was held."""
    is_drawn: bool = False
    """Whether it was said or withheld at random."""
    is_shown: bool = True
    outcome: TextOutcome = ""
    later_calls: int = 0
    """Calls of the session since, as far as they are looked at."""


class NamedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that was named with a prompt, or would have been."""

    path: str
    is_drawn: bool = False
    is_shown: bool = True
    is_opened: bool = False
    """Whether the session read or changed it afterwards."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one session was told, what came of it, and what it cost."""

    texts: tuple[SentText, ...] = ()
    files: tuple[NamedFile, ...] = ()
    contexts: int = 0
    """Contexts that were handed out to it."""
    tokens: int = 0
    """Tokens of everything that was put into the model's context, estimated."""
    events: int = 0
    """Hook events that were answered, with something or with nothing."""
    microseconds: int = 0
    """The daemon's time on them, from the arrival of an event to its answer."""
    slowest: int = 0
    """The longest of these times."""
    said: int = 0
    """Texts and files that reached the agent, also those that are too old to be kept here."""
    reported: int = 0
    """How many of them there were when the person was last shown a line."""


class SessionReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """The receipt of one session."""

    agent: str
    session: str
    project: str
    began_at: float
    last_at: float
    is_over: bool
    receipt: Receipt


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How often something was said, and what was seen of it."""

    said: int = 0
    failed: int = 0
    worked: int = 0
    followed: int = 0


class FileTally(msgspec.Struct, frozen=True, kw_only=True):
    """Files that were named, and those of them that were opened afterwards."""

    named: int = 0
    opened: int = 0


class WithdrawnHold(msgspec.Struct, frozen=True, kw_only=True):
    """A reason for which calls are no longer held in a project, because calls that were let pass worked."""

    project: str
    reason: str
    held: int
    worked: int
    failed: int


class Receipts(msgspec.Struct, frozen=True, kw_only=True):
    """The receipts of sessions, added up."""

    sessions: tuple[SessionReceipt, ...]
    said: dict[TextKind, Tally]
    """What reached the agent."""
    withheld: dict[TextKind, Tally]
    """What was withheld at random, and what was seen of it all the same: the comparison."""
    drawn: dict[TextKind, Tally]
    """Of what reached the agent, what was drawn at random: what `withheld` is compared with."""
    files: FileTally
    files_withheld: FileTally
    files_drawn: FileTally
    contexts: int
    tokens: int
    events: int
    milliseconds: float
    slowest_milliseconds: float
    withdrawn: tuple[WithdrawnHold, ...] = ()
