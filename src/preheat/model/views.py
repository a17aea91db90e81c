"""What a screen shows at once: a page of sessions, one session with its calls, a part of a transcript. Frozen values.

Knows nothing of how they are found or shown. Texts come from sessions and tools: they are data.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.analysis import Episode
from preheat.model.experiment_report import SessionArm
from preheat.model.listing import SessionSummary
from preheat.model.outcome import FAILURES, Cause, Status
from preheat.model.session import Usage

SessionOrder: TypeAlias = Literal[
    "started", "agent", "project", "model", "prompts", "calls", "failed", "tokens", "length"
]
SESSION_ORDERS: tuple[SessionOrder, ...] = (
    "started", "agent", "project", "model", "prompts", "calls", "failed", "tokens", "length",
)  # fmt: skip
"""By what a list of sessions can be ordered; `failed` by the share of failed calls, `length` by time."""


class FoundText(msgspec.Struct, frozen=True, gc=False):
    """The first passage of a session in which a search found its words."""

    line: int
    kind: str
    """`human`, `assistant` or `command`."""
    text: str
    """The words with some text around them."""


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some sessions of a list."""

    sessions: tuple[SessionSummary, ...]
    total: int
    """How many sessions the whole list has; of a search, how many were found before it ended."""
    start: int
    """How many sessions of the list come before these."""
    found: dict[str, FoundText] = {}
    """What a search found, by the key of the session."""
    is_whole: bool = True
    """False if a search ended before it had looked at everything."""

    @property
    def next_start(self) -> int | None:
        """Where the next page begins; None after the last."""
        after = self.start + len(self.sessions)
        return after if after < self.total else None


class FilterChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to choose from, the most used first."""

    projects: tuple[str, ...]
    agents: tuple[str, ...]
    models: tuple[str, ...]


class ViewedCall(msgspec.Struct, frozen=True, gc=False):
    """One call of a session, on one line."""

    seq: int
    tool: str
    kind: str
    summary: str
    line: int
    at: float | None
    status: Status
    cause: Cause | None
    exit_code: int | None
    signature: str
    era: int
    """How many compactions came before it."""
    bookkeeping: bool
    copied: bool
    lost_seconds: float
    lost_tokens: int
    recovered_in: int | None

    @property
    def is_failure(self) -> bool:
        """Whether it counts as a failure of this session."""
        return self.status in FAILURES and not self.bookkeeping and not self.copied


class ContextSize(msgspec.Struct, frozen=True, gc=False):
    """How large the model's context was when it gave a response."""

    at: float | None
    tokens: int


class UsedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a session used."""

    path: str
    uses: tuple[str, ...]
    """What was done to it: `read`, `changed`, `made`, `removed`."""
    first_seq: int
    """The first call that used it."""


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session at a glance: everything but its texts."""

    summary: SessionSummary
    project: str
    """The name of its project; empty if it has none."""
    calls: tuple[ViewedCall, ...]
    judged: bool
    """Whether the calls were judged in the session's present state."""
    episodes: tuple[Episode, ...]
    contexts: tuple[ContextSize, ...]
    usage: Usage
    money: float | None
    """US dollars at list prices; None if no response has a known price."""
    failed_money: float
    """The part of `money` that failed calls account for."""
    unpriced_tokens: int
    files: tuple[UsedFile, ...]
    children: tuple[SessionSummary, ...]
    """Subagents, forks and continuations."""
    arm: SessionArm | None
    """Into which arm of a comparison it was assigned."""


# Parts of a transcript.
EntryKind: TypeAlias = Literal[
    "prompt", "injected", "preheat", "assistant", "reasoning", "call", "compaction", "spawn", "rewind"
]


class ChangedText(msgspec.Struct, frozen=True, gc=False):
    """One line of a change: what stands before it is `+`, `-`, ` ` or `@`."""

    mark: str
    text: str


class TranscriptEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a session as it is read by a person; a call together with its result."""

    number: int
    """0-based number among the entries of the session."""
    kind: EntryKind
    line: int
    at: float | None
    text: str = ""
    """The beginning of the text; of a call, of its result."""
    size: int = 0
    """Characters of the whole text."""
    episode: int | None = None
    """The number of the episode that begins here; None if none does."""
    call: ViewedCall | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    """Of a call: names and beginnings of its arguments."""
    change: tuple[ChangedText, ...] = ()
    """Of a call that changes a file: the change."""
    images: int = 0


class TranscriptPart(msgspec.Struct, frozen=True, kw_only=True):
    """Some entries of a transcript."""

    entries: tuple[TranscriptEntry, ...]
    next_start: int | None
    """The number of the entry that the next part begins with; None after the last."""
    total: int


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """When the calls of the chosen sessions were made, in local time."""

    calls: tuple[tuple[int, ...], ...]
    """Calls by weekday (Monday first) and hour."""
    days: tuple[tuple[str, int, int, int], ...]
    """By day (`YYYY-MM-DD`), in order: sessions that began, calls, failed calls."""


# A prompt tried out.
class TriedItem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that would be said, and why."""

    text: str
    why: str
    lesson: str = ""
    """The id of the lesson that it is; empty: it is none."""


class TriedMoment(msgspec.Struct, frozen=True, kw_only=True):
    """What one moment of a session would say."""

    moment: str
    text: str
    """What the model would read; empty where nothing would be said."""
    tokens: int = 0
    items: tuple[TriedItem, ...] = ()
    silence: str = ""
    """Why nothing would be said."""
    left_out: dict[str, int] = {}
    """How many things were not taken, by reason."""


class TriedPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """What each moment of a session with this prompt would say."""

    prompt: str
    folder: str
    project: str
    """The name of the project there; empty if none is known."""
    moments: tuple[TriedMoment, ...]


# Settings.
class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting of `settings.toml`. Values are written as in that file."""

    heading: str
    name: str
    value: str
    default: str
    is_set: bool
    """Whether the file sets it."""
    choices: tuple[str, ...]
    """The only values that it may have; empty: others may be written."""
    about: str
    """What it does."""


class SettingList(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, and what is wrong with the file."""

    path: str
    settings: tuple[Setting, ...]
    faults: tuple[str, ...]


class ChangedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that was changed."""

    heading: str
    name: str
    before: str
    """The value that the file had; empty: it set none."""
    after: str
    """The value that the file has now; empty: it sets none, and the default holds."""
