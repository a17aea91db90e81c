"""Templates as files to share: what may leave this machine, and what may be used of an import. Pure; knows no store.

An export contains no session, no text of evidence and no path of this machine. Every text of an import that could reach a
model is checked; lessons with findings are quarantined unless a person decides otherwise.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from preheat.errors import UserError
from preheat.model.lesson import Evidence, Lesson
from preheat.model.template import TEMPLATE_FORMAT, Template
from preheat.safe_text.reasons import address_reason, destruction_reason, hidden_reason, lookalike_reason
from preheat.templates.file_format import decode_object, make_template, version_of
from preheat.templates.names import canonical_json, digest_of

# Findings.
Check = Callable[[str], str]
"""A function that gives the reason why a text is suspicious; empty if it is not."""


class TemplateText(NamedTuple):
    """One text of a template."""

    lesson: str
    """The id of the lesson it is in; empty for the template's own."""
    field: str
    text: str


class Finding(msgspec.Struct, frozen=True):
    """A text and the reason against it."""

    lesson: str
    field: str
    why: str
    text: str


CHECKS: tuple[Check, ...] = (hidden_reason, lookalike_reason, destruction_reason, address_reason)


def template_texts(template: Template) -> Iterator[TemplateText]:
    """Every text that may reach a model, or a person who lists the template."""
    for field in ("description", "addendum", "agent", "project"):
        yield TemplateText("", field, getattr(template, field))
    for field in ("markers", "tags"):
        yield from (TemplateText("", field, text) for text in getattr(template, field))
    yield from (TemplateText("", "user", text) for text in _strings(template.user))
    for lesson in template.lessons:
        yield from lesson_texts(lesson)


def lesson_texts(lesson: Lesson) -> Iterator[TemplateText]:
    """Every text of a lesson but its evidence, which no model reads."""
    fields = (
        "topic", "text", "use", "avoid", "error", "difference", "steps", "signatures", "forms", "files", "example",
        "packet", "recheck", "environment", "scope", "why",
    )  # fmt: skip
    for field in fields:
        for text in _strings(getattr(lesson, field)):
            yield TemplateText(lesson.id, field, text)


def find_findings(template: Template, checks: Sequence[Check] = ()) -> list[Finding]:
    """The findings in a template, by the standard checks and the given ones."""
    return list(_check_texts(template_texts(template), (*CHECKS, *checks)))


def _check_texts(found_texts: Iterable[TemplateText], checks: Sequence[Check]) -> Iterator[Finding]:
    for lesson, field, text in found_texts:
        for check in checks if text else ():
            why = check(text)
            if why:
                yield Finding(lesson, field, why, text)


def findings_by(template: Template, checks: Sequence[Check]) -> list[Finding]:
    """The findings in a template by the given checks alone."""
    return list(_check_texts(template_texts(template), checks))


def _strings(value: Any) -> Iterator[str]:
    """All texts in a value, nested ones and the keys of dictionaries too."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if each:
                yield each
        elif isinstance(each, dict):
            waiting += [*reversed(each.values()), *reversed(each.keys())]
        elif isinstance(each, list | tuple):
            waiting += reversed(each)
        elif isinstance(each, msgspec.Struct):
            waiting += [getattr(each, name) for name in reversed(each.__struct_fields__)]


# Files to share.
class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """A template as one file."""

    format: int = TEMPLATE_FORMAT
    digest: str
    """SHA-256 of the template as canonical JSON: sorted keys, UTF-8, no blanks."""
    template: Template


class ShareableTemplate(NamedTuple):
    """A template that may leave this machine, and what was left out."""

    template: Template
    left_out: dict[str, int]
    """Lessons, by reason."""


class OpenedFile(NamedTuple):
    """A template from a file."""

    template: Template
    verified: bool
    """Whether the file had a digest and matched it; files of the first implementations have none."""


def make_shareable(template: Template, checks: Sequence[Check], with_evidence: bool = False) -> ShareableTemplate:
    """A template without private content; `checks` find paths of this machine and secrets."""
    template = replace(
        template,
        parent=None,
        project=_last_part(template.project),
        sources=template.sources if with_evidence else tuple(map(_hash, template.sources)),
        extraction=replace(template.extraction, settings=template.extraction.settings if with_evidence else {}),
        lessons=tuple(_without_private_evidence(lesson, checks, with_evidence) for lesson in template.lessons),
    )
    found = findings_by(template, checks)
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
    return ShareableTemplate(
        replace(_without_faulty_texts(template, found), lessons=tuple(kept)), dict(sorted(left_out.items()))
    )


def to_bytes(template: Template) -> bytes:
    """The file of a template."""
    shared = Shared(digest=digest_of(canonical_json(template)), template=template)
    return msgspec.json.format(canonical_json(shared), indent=1) + b"\n"


def from_bytes(data: bytes, where: str) -> OpenedFile:
    """The template in a shared file, checked against its digest. Raises UserError."""
    raw = decode_object(data, where)
    if version_of(raw, where) == 0:
        return OpenedFile(make_template(raw, where), False)
    inside = raw.get("template")
    if not isinstance(inside, dict):
        raise UserError(f"`{where}` is no shared template; `preheat templates export NAME` writes one")
    version_of(inside, where)
    if not _matches_digest(inside, raw.get("digest")):
        raise UserError(
            f"`{where}` was changed or damaged after it was written: its digest does not fit; get a fresh copy"
        )
    return OpenedFile(make_template(inside, where), True)


def apply_review(template: Template, found: Iterable[Finding], everything: bool = False) -> Template:
    """An imported template as it may be handed out. Without `everything` lessons with findings are quarantined and the addendum
    is removed. Pins and measured effects are removed: only this machine can know them."""
    faults: defaultdict[str, list[str]] = defaultdict(list)
    found = [] if everything else list(found)
    for each in found:
        if each.why not in faults[each.lesson]:
            faults[each.lesson].append(each.why)
    lessons = tuple(_quarantine_faulty(lesson, faults.get(lesson.id, [])) for lesson in template.lessons)
    template = replace(template if everything else replace(template, addendum=""), lessons=lessons)
    return _without_faulty_texts(template, found)


def _quarantine_faulty(lesson: Lesson, faults: list[str]) -> Lesson:
    lesson = replace(lesson, pinned=False, utility=None, origin="", score=min(1.0, max(0.0, lesson.score)))
    return replace(lesson, status="quarantined", why="; ".join(faults)) if faults else lesson


def _without_faulty_texts(template: Template, found: Iterable[Finding]) -> Template:
    """A template without those of its own texts that have findings."""
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


def _without_private_evidence(lesson: Lesson, checks: Sequence[Check], with_evidence: bool) -> Lesson:
    """A lesson whose evidence names no session and quotes nobody; with evidence, only harmless text is quoted."""

    def fit(each: Evidence) -> Evidence:
        if with_evidence:
            return replace(each, text="") if any(check(each.text) for check in checks) else each
        return replace(each, session=_hash(each.session), text="")

    return replace(
        lesson,
        scope=replace(lesson.scope, project=_last_part(lesson.scope.project)),
        evidence=tuple(map(fit, lesson.evidence)),
        origin="",
    )


def _matches_digest(inside: dict[str, Any], digest: object) -> bool:
    try:
        return digest_of(canonical_json(inside)) == digest
    except (RecursionError, OverflowError, ValueError):
        return False


def _last_part(project: str) -> str:
    """The last part of a project's path."""
    return project.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _hash(key: str) -> str:
    return f"#{blake2b(key.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


# The JSON schema of a template file, made from the types.
def template_schema() -> dict[str, Any]:
    """The schema of the file that `preheat templates export` writes; `$defs/Template` is the template in it."""
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Shared)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A template that Preheat has written",
        **made,
    }
