"""A lesson as others may have it, and back: every text of it fits a slot of ours, and what is one person's is left out.

No session, no words of a person or of a tool, no path of one machine. Errors that a lesson is recognised by travel as digests of
their words. Knows no file.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.calls.words import words_key
from preheat.lesson_meaning import meaning_of
from preheat.model.lesson import Lesson, LessonKind, Origin, Scope
from preheat.safe_text import fact_sentences, lesson_sentences
from preheat.safe_text.sentences import fit_slot, rewrite_any
from preheat.safe_text.words import CUT
from preheat.sharing.evidence import read_evidence, write_evidence

Describe = Callable[[Lesson], str]
"""Gives the line of a lesson for a model (`provisioning.lesson_text.describe_lesson`)."""

SHARED_KINDS: tuple[LessonKind, ...] = ("convention", "repair", "dead_end", "error", "working_set")
"""In the order of the file. The other kinds are of one moment, one agent's tools or one person's way of working."""
MOST_LISTED = 6
"""Values of a list that are shared, at most."""
_PRIVATE_TOPICS = frozenset(["style"])
_REACH = {"convention": 0.7, "repair": 0.5, "dead_end": 0.3, "error": 0.3, "working_set": 0.4}
"""How likely a session needs a lesson of others, by its kind: how often it applied to theirs is not shared."""
_LEAST_SCORE = 0.5
"""A person approved it and another one trusts it."""
_LASTING = 365.0
"""Days after which a shared lesson counts half: its file is reviewed, and its evidence line is not written anew each day."""
_LOADED = (fact_sentences, lesson_sentences)
"""They add their slots when they are imported."""

DETAILS: Mapping[str, tuple[str, str]] = {
    "about": ("subject", ""), "body": ("command", ""), "by": ("command", ""), "commands": ("command", "\n"),
    "package": ("path", ""), "path": ("path", ""), "duration": ("duration", ""), "timeout": ("duration", ""),
    "port": ("number", ""), "ports": ("number", ","), "good": ("number", ""), "all": ("number", ""),
    "failed": ("number", ""), "names": ("name", ","), "services": ("name", ","), "types": ("name", ","),
    "prefixes": ("prefix", ","), "sign": ("sign", ""), "base": ("branch", ""), "manager": ("program", ""),
    "name": ("program", ""), "main": ("program", ""), "scope": ("program", ""),
}  # fmt: skip
"""The slot of each detail of a fact, and what separates several values of it."""
COUNTED = frozenset(["duration", "good", "all", "failed"])
"""Details that change with every session: a file keeps what it says of them."""
_SUBJECTS = frozenset(
    [*fact_sentences.ABOUT, "services", "variables", "generated", "message", "commit", "push", "branch", "change file",
     "tools", "script", "missing", "pull request"]
)  # fmt: skip


class SharedLesson(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of the file."""

    kind: LessonKind
    id: str
    """Made of what the lesson means; never that of a lesson learned here."""
    topic: str = ""
    agent: str = ""
    tool: str = ""
    use: str = ""
    avoid: str = ""
    error: str = ""
    difference: str = ""
    recheck: str = ""
    says: str = ""
    """A sentence of ours that has no other fields, with its slots."""
    forms: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()
    """Digests of the words of errors that it explains."""
    details: dict[str, str] = {}
    evidence: str


class FittedLesson(NamedTuple):
    """What may be shared of a lesson."""

    entry: SharedLesson | None
    why: str = ""
    """Why nothing may; empty if something does."""


SLOTS: Mapping[str, str] = {
    "topic": "name", "agent": "name", "tool": "name", "use": "command", "avoid": "command", "error": "error",
    "difference": "difference", "recheck": "command", "forms": "command", "files": "path",
}  # fmt: skip
"""The slot of each field."""


def fit_detail(name: str, value: str) -> str:
    """What may be shared of a detail; empty if nothing."""
    if name not in DETAILS:
        return ""
    kind, separator = DETAILS[name]
    if kind == "subject":
        return value if value in _SUBJECTS else ""
    if not separator:
        return fit_slot(kind, value)
    return separator.join(
        fitted for each in value.split(separator)[:MOST_LISTED] if each and (fitted := fit_slot(kind, each))
    )


def fit_says(text: str) -> str:
    """A sentence of ours with its slots fitted; empty if it is none."""
    return rewrite_any(lesson_sentences.CONVENTION_TEXTS, text)


# From a lesson to an entry.
def fit_lesson(lesson: Lesson, describe: Describe) -> FittedLesson:
    """What may be shared of a lesson of this machine, or why nothing may."""
    if lesson.kind not in SHARED_KINDS or lesson.topic in _PRIVATE_TOPICS:
        return FittedLesson(None, "is about one moment, one agent's tools or one person's way of working")
    is_command = bool(lesson.use or lesson.avoid)
    if lesson.author != "preheat" and not (is_command and f"`{lesson.use or lesson.avoid}`" in lesson.text):
        return FittedLesson(
            None, "is in words of its author; only commands, paths and names are shared: `--command` takes one"
        )
    topic = "correction" if lesson.author == "person" else lesson.topic
    fields = {name: fit_slot(kind, getattr(lesson, name)) for name, kind in SLOTS.items() if hasattr(lesson, name) and name
              not in ("forms", "files", "topic")}  # fmt: skip
    for name in ("use", "avoid"):
        if getattr(lesson, name) and (not fields[name] or (name == "use" and CUT in fields[name])):
            return FittedLesson(None, f"`{name}` has a part that may not be shared")
    says = "" if is_command or lesson.kind != "convention" or lesson.details else fit_says(lesson.text)
    entry = SharedLesson(
        kind=lesson.kind,
        id="",
        topic=fit_slot("name", topic),
        agent=fit_slot("name", lesson.scope.agent),
        tool=fit_slot("name", lesson.scope.tool),
        says=says,
        forms=_fit_list("command", lesson.forms[:MOST_LISTED]),
        files=_fit_list("path", lesson.files[:MOST_LISTED]),
        matches=_find_matches(lesson),
        details={name: fitted for name, value in sorted(lesson.details.items()) if (fitted := fit_detail(name, value))},
        evidence=write_evidence(lesson),
        **fields,
    )
    if not entry.evidence:
        return FittedLesson(None, "has no evidence that can be counted")
    restored = restore_lesson(entry, describe)
    if restored is None:
        return FittedLesson(None, "has no sentence that may be shared")
    return FittedLesson(msgspec.structs.replace(entry, id=shared_id(restored)))


def _fit_list(kind: str, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fitted for each in values if (fitted := fit_slot(kind, each))))


def _find_matches(lesson: Lesson) -> tuple[str, ...]:
    known = (each if each.startswith("#") else words_key(each) for each in lesson.signatures or (lesson.error,))
    return tuple(sorted(dict.fromkeys(filter(None, known))))[:MOST_LISTED]


# From an entry to a lesson.
def restore_lesson(
    entry: SharedLesson, describe: Describe, project: str = "", origin: Origin = "repository"
) -> Lesson | None:
    """The lesson of an entry in words of ours; None where no sentence of ours says it. Nothing of it is an order of its author:
    it is neither pinned nor a person's own."""
    counts = read_evidence(entry.evidence)
    if counts is None:
        return None
    quoted = " ".join(f"`{each}`" for each in (entry.use, entry.avoid) if each)
    lesson = Lesson(
        id=entry.id,
        kind=entry.kind,
        scope=Scope(agent=entry.agent, project=project, tool=entry.tool),
        topic=entry.topic,
        text=entry.says or quoted,
        use=entry.use,
        avoid=entry.avoid,
        error=entry.error,
        difference=entry.difference,
        recheck=entry.recheck,
        forms=entry.forms,
        files=entry.files,
        signatures=entry.matches,
        details=entry.details,
        support=counts.support,
        first_seen=counts.first_seen,
        last_seen=counts.last_seen,
        half_life=_LASTING,
        score=max(_LEAST_SCORE, round(counts.support.confidence, 4)),
        reach=_REACH.get(entry.kind, 0.0),
        origin=origin,
    )
    # "Here" is said of a project: the sentence of a lesson that holds anywhere is another one.
    placed = lesson if project else msgspec.structs.replace(lesson, scope=Scope(entry.agent, "here", entry.tool))
    text = describe(placed)
    return msgspec.structs.replace(lesson, text=text) if text else None


def shared_id(lesson: Lesson) -> str:
    """The id of a shared lesson: the same for everybody who learns it. The dash tells it from ids of this machine."""
    text = "\0".join((lesson.scope.agent, *meaning_of(lesson)))
    return f"{lesson.kind[0]}-{blake2b(text.encode('utf-8', 'replace'), digest_size=5).hexdigest()}"
