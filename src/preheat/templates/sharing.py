"""Templates that leave this machine, and templates that come from another. Pure; knows no store.

What leaves carries no session, no words of its evidence and no path of this machine. What comes is a stranger's: it waits for a
review, and what a review finds fault with stays locked away unless a person says otherwise.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from preheat.errors import UserError
from preheat.model.lesson import Evidence, Lesson
from preheat.model.template import FORMAT, Template
from preheat.templates.digest import canonical, digest_of
from preheat.templates.findings import Check, Finding, only
from preheat.templates.loading import decoded, template_of, version_of


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """A template as one file."""

    format: int = FORMAT
    digest: str
    """SHA-256 of the template as canonical JSON: sorted keys, UTF-8, no blanks."""
    template: Template


class Fit(NamedTuple):
    """A template that may leave this machine, and what had to stay."""

    template: Template
    left_out: dict[str, int]
    """Lessons, by reason."""


class Opened(NamedTuple):
    """A template out of a file."""

    template: Template
    verified: bool
    """Whether a digest said that it is whole; the first implementations wrote none."""


def shareable(template: Template, checks: Sequence[Check], with_evidence: bool = False) -> Fit:
    """A template without what is nobody else's business; `checks` find paths of this machine and secrets."""
    template = replace(
        template,
        parent=None,
        project=_last(template.project),
        sources=template.sources if with_evidence else tuple(map(_hashed, template.sources)),
        extraction=replace(template.extraction, settings=template.extraction.settings if with_evidence else {}),
        lessons=tuple(_without_persons(lesson, checks, with_evidence) for lesson in template.lessons),
    )
    found = only(template, checks)
    faulty = {each.lesson: each.why for each in reversed(found)}
    left_out: defaultdict[str, int] = defaultdict(int)
    kept = []
    for lesson in template.lessons:
        if lesson.kind == "resume":
            left_out["a resume packet belongs to one project on one machine"] += 1
        elif lesson.status != "active":
            left_out[lesson.status] += 1
        elif lesson.id in faulty:
            left_out[faulty[lesson.id]] += 1
        else:
            kept.append(lesson)
    return Fit(replace(_mended(template, found), lessons=tuple(kept)), dict(sorted(left_out.items())))


def to_bytes(template: Template) -> bytes:
    """The file of a template."""
    shared = Shared(digest=digest_of(canonical(template)), template=template)
    return msgspec.json.format(canonical(shared), indent=1) + b"\n"


def from_bytes(data: bytes, where: str) -> Opened:
    """The template in a file of ours, checked against its digest, or in one of the first implementations."""
    raw = decoded(data, where)
    if version_of(raw, where) == 0:
        return Opened(template_of(raw, where), False)
    inside = raw.get("template")
    if not isinstance(inside, dict):
        raise UserError(f"`{where}` is no shared template; `preheat warm export NAME` writes one")
    version_of(inside, where)
    if not _fits(inside, raw.get("digest")):
        raise UserError(
            f"`{where}` was changed or damaged after it was written: its digest does not fit; get a fresh copy"
        )
    return Opened(template_of(inside, where), True)


def reviewed(template: Template, found: Iterable[Finding], everything: bool = False) -> Template:
    """An imported template as it may be handed out. Without `everything` the lessons with findings are quarantined, and so is
    the addendum, which would stand before everything else. What only this machine can know (pins, measured effects) goes."""
    faults: defaultdict[str, list[str]] = defaultdict(list)
    found = [] if everything else list(found)
    for each in found:
        if each.why not in faults[each.lesson]:
            faults[each.lesson].append(each.why)
    lessons = tuple(_reviewed(lesson, faults.get(lesson.id, [])) for lesson in template.lessons)
    template = replace(template if everything else replace(template, addendum=""), lessons=lessons)
    return _mended(template, found)


def _reviewed(lesson: Lesson, faults: list[str]) -> Lesson:
    lesson = replace(lesson, pinned=False, utility=None, score=min(1.0, max(0.0, lesson.score)))
    return replace(lesson, status="quarantined", why="; ".join(faults)) if faults else lesson


def _mended(template: Template, found: Iterable[Finding]) -> Template:
    """Without those of the template's own texts that something was found in."""
    faulty = {(each.field, each.text) for each in found if not each.lesson}
    fields = {field for field, _ in faulty}
    changes: dict[str, Any] = {
        field: tuple(text for text in getattr(template, field) if (field, text) not in faulty)
        for field in ("markers", "tags")
    }
    changes |= {field: "" for field in ("description", "addendum", "agent", "project") if field in fields}
    if "user" in fields:
        changes["user"] = type(template.user)()
    return replace(template, **changes)


def _without_persons(lesson: Lesson, checks: Sequence[Check], with_evidence: bool) -> Lesson:
    """A lesson whose evidence names no session and quotes nobody; with evidence, only what is fit is quoted."""

    def fit(each: Evidence) -> Evidence:
        if with_evidence:
            return replace(each, text="") if any(check(each.text) for check in checks) else each
        return replace(each, session=_hashed(each.session), text="")

    return replace(
        lesson,
        scope=replace(lesson.scope, project=_last(lesson.scope.project)),
        evidence=tuple(map(fit, lesson.evidence)),
    )


def _fits(inside: dict[str, Any], digest: object) -> bool:
    try:
        return digest_of(canonical(inside)) == digest
    except (RecursionError, OverflowError, ValueError):
        return False


def _last(project: str) -> str:
    """A project that goes by its whole path here goes by its last part elsewhere."""
    return project.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _hashed(key: str) -> str:
    return f"#{blake2b(key.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"
