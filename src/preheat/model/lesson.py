"""A lesson: one fact learned from past sessions, with its evidence.

Frozen values; how they are learned is in `lessons`, how they are chosen in `provisioning`. Texts come from calls and tools:
they are data, and whoever shows them to a model or a terminal says so.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.statistics.shares import wilson

LessonKind: TypeAlias = Literal[
    "resume", "sequence", "error", "repair", "convention", "working_set", "dead_end", "example"
]
LESSON_KINDS: tuple[LessonKind, ...] = (
    "resume", "convention", "repair", "dead_end", "error", "example", "working_set", "sequence",
)  # fmt: skip
"""In the order in which they are shown."""

LessonStatus: TypeAlias = Literal["active", "weak", "retired", "quarantined", "waiting"]
"""`weak`: too little support so far. `retired`: by a person, or because it does not help. `quarantined`: reads like an
instruction that a tool printed. `waiting`: by a person's own agent, and no person has reviewed it. Only active ones are given to
sessions."""

Author: TypeAlias = Literal["preheat", "person", "agent"]
"""Who worded a lesson: the learners, a person, or a person's own agent that was asked to distill sessions."""

Origin: TypeAlias = Literal["", "repository", "team"]
"""How a lesson came here: empty for one of this machine's own sessions or people."""

MOST_EVIDENCE = 20
"""Calls and messages that a lesson cites, at most."""
DAY = 86400.0


class Scope(msgspec.Struct, frozen=True):
    """Where a lesson holds; an empty field means anywhere."""

    agent: str = ""
    project: str = ""
    """The project's name, as `projects` makes it."""
    tool: str = ""


class Evidence(msgspec.Struct, frozen=True):
    """One call (or message) that a lesson rests on, or that speaks against it."""

    session: str
    """The key of its session."""
    seq: int | None = None
    """0-based number among the session's calls; None for a message of a person."""
    at: float | None = None
    against: bool = False
    """It speaks against the lesson."""
    text: str = ""
    """The call or message, on one line, capped."""
    failed: bool = False
    """The call failed: it is evidence of what the lesson says does not work, and none of what it says works."""


class Support(msgspec.Struct, frozen=True):
    """How much evidence is for a lesson and how much against it."""

    calls_for: int = 0
    sessions_for: int = 0
    calls_against: int = 0
    sessions_against: int = 0

    @property
    def share(self) -> float | None:
        """The share of the calls that are for the lesson; None without evidence."""
        total = self.calls_for + self.calls_against
        return self.calls_for / total if total else None

    @property
    def confidence(self) -> float:
        """The lower end of Wilson's 95 % interval of the share; 0 without evidence."""
        total = self.calls_for + self.calls_against
        return wilson(self.calls_for, total)[0]


class Example(msgspec.Struct, frozen=True):
    """A real call with its result, for use in another session: paths are relative to the project, the result is capped."""

    tool: str
    """The agent's name of the tool."""
    arguments: dict[str, Any]
    """The arguments of the call; never empty."""
    result: str
    kind: str = "other"
    agent: str = ""
    """The agent whose tool it is: other agents name theirs differently."""


class CheckResult(msgspec.Struct, frozen=True):
    """The last result of a check (a test, a build, a linter) in a session."""

    command: str
    passed: bool
    signature: str = ""
    """The masked message of the failure; empty for a check that passed."""
    at: float | None = None


class ResumePacket(msgspec.Struct, frozen=True, kw_only=True):
    """What the next session of a project needs to continue where the last one ended."""

    session: str
    """The key of the last session."""
    goal: str
    """What the person last asked for, capped."""
    checks: tuple[CheckResult, ...] = ()
    """The last result of each check, failing ones first."""
    failing: str = ""
    """The signature of the failing check that matters most."""
    unverified: tuple[str, ...] = ()
    """Files edited after the last passing check."""
    files: tuple[str, ...] = ()
    """Files that the session worked on, relative to the project."""
    dead_ends: tuple[str, ...] = ()
    """What was tried and did not work, on one line each."""
    next_command: str = ""
    """The command to continue with."""
    branch: str = ""
    head: str = ""
    """The commit that the session last saw or made, where known."""
    ended_at: float | None = None
    committed: bool = False
    """Whether a commit came after the last edit."""


class Lesson(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One learned fact."""

    id: str
    """Made by `lesson_id`: the same in every run and on every machine."""
    kind: LessonKind
    scope: Scope
    topic: str = ""
    """What it is about within its kind: a purpose (`test`), a family of tools (`edit`), `correction`, `placement`…"""
    text: str
    """The lesson in one sentence of our own that can be checked, with what is quoted in backticks."""
    use: str = ""
    """The command or argument form that works; for a working set the file."""
    avoid: str = ""
    """The command or argument form that does not work."""
    error: str = ""
    """The message that the lesson is about, masked: words that a tool printed."""
    difference: str = ""
    """For a repair: what changed from the failed call to the one that worked."""
    steps: tuple[str, ...] = ()
    """For a sequence: the shapes of calls in their order."""
    signatures: tuple[str, ...] = ()
    """Signatures of failures that the lesson explains, prevents or repairs."""
    forms: tuple[str, ...] = ()
    """Forms of commands (`calls.shell.command_form`) or names of tools that the lesson is about."""
    files: tuple[str, ...] = ()
    """Files and folders that the lesson is about, relative to the project."""
    example: Example | None = None
    """For an example: the call with its result."""
    packet: ResumePacket | None = None
    """For a resume: what the next session needs."""
    recheck: str = ""
    """For a dead end: a command that shows whether it still holds."""
    environment: dict[str, str] = {}
    """For a dead end: what was so when it failed (agent, model, branch, versions)."""
    details: dict[str, str] = {}
    """For a fact of a project: more that its sentence has a place for (`duration`, `port`, `body`…), by name."""
    support: Support = Support()
    first_seen: float | None = None
    last_seen: float | None = None
    half_life: float = 60.0
    """Days after which the lesson counts half, if it is not seen again."""
    expires_at: float | None = None
    """When the lesson is no longer given, in seconds since the epoch; None: never."""
    evidence: tuple[Evidence, ...] = ()
    """The newest evidence for and against, at most `MOST_EVIDENCE`; `support` counts all."""
    cost_seconds: float = 0.0
    """Time that the failures the lesson is about cost, all together."""
    cost_tokens: int = 0
    """Tokens that the failures the lesson is about cost, all together."""
    status: LessonStatus = "active"
    why: str = ""
    """Why the lesson is weak, retired or quarantined."""
    pinned: bool = False
    """A person wants the lesson given whatever its score."""
    score: float = 0.0
    """The lesson's value, 0 to 1, before task, scope and age are considered."""
    reach: float | None = None
    """The share of the project's sessions in which the lesson applied (its command, file or error occurred), the
    newest counting most; None where that is not known."""
    need: float | None = None
    """The same of the sessions that changed code, for what belongs to a change; None where none did."""
    changing: int = 0
    """How many sessions changed code when that was counted."""
    utility: float | None = None
    """The effect of showing the lesson on the mistake rate, from a randomised comparison; None: not measured."""
    author: Author = "preheat"
    """Who worded it. What a person wrote is not weighed: it outranks what was learned."""
    origin: Origin = ""
    """How it came here, if others learned it: it outranks nothing that a person of this machine said."""

    def freshness(self, now: float) -> float:
        """1 when just seen, half after each half-life."""
        if self.last_seen is None or self.half_life <= 0:
            return 0.5
        return float(0.5 ** (max(0.0, now - self.last_seen) / DAY / self.half_life))

    def is_usable(self, now: float) -> bool:
        """Whether it may be given to a session."""
        return self.status == "active" and (self.expires_at is None or self.expires_at > now)


def text_digest(text: str) -> str:
    """The digest by which a person approves a text: of these very characters and no others."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def lesson_id(kind: LessonKind, scope: Scope, *key: str) -> str:
    """An id made of what the lesson is about; its first letter is that of the kind."""
    text = "\0".join((kind, scope.agent, scope.project, scope.tool, *key))
    return f"{kind[0]}{blake2b(text.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"


def count_support(evidence: Iterable[Evidence]) -> Support:
    """Count all evidence, of which a lesson keeps only some."""
    sides: tuple[list[Evidence], list[Evidence]] = ([], [])
    for each in evidence:
        sides[each.against].append(each)
    good, bad = sides
    return Support(len(good), len({each.session for each in good}), len(bad), len({each.session for each in bad}))


def select_evidence(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The newest evidence for and against, at most `MOST_EVIDENCE` together, in time order; undated evidence counts as old."""
    ordered = sorted(evidence, key=lambda each: (each.at or 0.0, each.session, each.seq or 0), reverse=True)
    against = [each for each in ordered if each.against][: MOST_EVIDENCE // 4]
    good = [each for each in ordered if not each.against][: MOST_EVIDENCE - len(against)]
    return tuple(sorted((*good, *against), key=lambda each: (each.at or 0.0, each.session, each.seq or 0)))


# Marks and approvals by a person.
MarkKind: TypeAlias = Literal["pinned", "retired"]


class LessonMark(NamedTuple):
    """A person's mark on a lesson: `pinned` is given whenever it fits, `retired` never again."""

    mark: MarkKind
    why: str = ""
    """The person's reason."""
    at: float = 0.0


class Approval(NamedTuple):
    """A lesson that a person read and approved."""

    lesson: str
    """The id of the lesson."""
    digest: str
    """`text_digest` of the text that was approved (the lesson's, or the goal of a packet): a changed text is not approved."""
    why: str = ""
    """The person's reason."""
    at: float = 0.0


# What people do with lessons: write, edit, approve, pin, retire, review, and undo.
LONGEST_TEXT = 300
"""Characters of a lesson's text that a session is given: a person's text may not be longer."""

LessonAction: TypeAlias = Literal["add", "edit", "approve", "pin", "retire", "release", "keep", "drop"]
Verdict: TypeAlias = Literal["kept", "edited", "dropped"]
"""What a person decided of a lesson in a review."""


class NewLesson(NamedTuple):
    """A text of a person."""

    text: str
    """One line; empty if a command is given."""
    command: str = ""
    """The command to use."""
    instead_of: str = ""
    """The command not to use."""
    topic: str = ""
    """What the command is for: `test`, `lint`…"""


class WrittenLesson(NamedTuple):
    """A lesson that a person wrote, or that a person's own agent proposed."""

    lesson: Lesson
    project: str = ""
    """The key of its project: the name may change. Empty: it holds anywhere."""
    replaces: str = ""
    """The id of the lesson that it is an edited form of; empty if none."""
    at: float = 0.0


class LessonRecord(msgspec.Struct, frozen=True, array_like=True):
    """Everything that people said of one lesson at one time, so that it can be restored."""

    lesson: str
    """The id of the lesson."""
    mark: LessonMark | None = None
    approval: Approval | None = None
    written: WrittenLesson | None = None
    review: Verdict | None = None


class LessonChange(NamedTuple):
    """One thing that a person did with lessons."""

    number: int
    at: float
    action: LessonAction
    before: tuple[LessonRecord, ...]
    """What the lessons concerned were before; the first one is the one that was named."""
