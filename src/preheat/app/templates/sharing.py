"""Exports templates to files, and imports templates of others, which wait for a person's review.

Combines the checks of `templates.sharing`, of `safe_text` (foreign paths) and of `ingest.redact` (secrets). Heavy
to import (patterns): only sharing imports it.
"""

import time
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from preheat.amounts import format_reasons
from preheat.errors import UserError
from preheat.ingest.redact import looks_secret
from preheat.model.template import Template
from preheat.safe_text.reasons import foreign_reason, spell_out
from preheat.templates.file_format import LARGEST, read_file
from preheat.templates.names import canonical_json, check_name, digest_of
from preheat.templates.sharing import (
    Check,
    Finding,
    apply_review,
    find_findings,
    from_bytes,
    make_shareable,
    template_schema,
    template_texts,
    to_bytes,
)
from preheat.templates.store import StoredTemplate, TemplateStore, write_durable

__all__ = [
    "LARGEST",
    "Answer",
    "ExportedTemplate",
    "Finding",
    "ImportedTemplate",
    "Review",
    "ReviewText",
    "answer_review",
    "export_template",
    "import_bytes",
    "import_file",
    "review_template",
    "spell_out",
    "template_schema",
]  # fmt: skip

Answer: TypeAlias = Literal["accept", "accept-all", "reject"]
"""A person's answer to an import: use what has no findings; use all of it; use nothing."""


class ExportedTemplate(NamedTuple):
    """A template as a file."""

    name: str
    digest: str
    """Of the template in the file, which may have fewer lessons than the version."""
    data: bytes
    lessons: int
    left_out: dict[str, int]
    """Lessons that were left out, by reason."""


class ImportedTemplate(NamedTuple):
    """An imported template that waits for a review."""

    template: Template
    kept: StoredTemplate
    verified: bool
    """Whether the file had a digest and matched it."""
    findings: list[Finding]


class ReviewText(NamedTuple):
    """One text of a template, with the findings against it."""

    lesson: str
    """The id of the lesson it is in; empty for the template's own."""
    field: str
    text: str
    reasons: tuple[str, ...]


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """An imported template as a person looks through it."""

    name: str
    digest: str
    """Of the import; once it is accepted, of the part that may be used."""
    answer: Answer | None = None
    findings: list[Finding]
    template: Template
    """As it was imported."""
    in_use: int = 0
    """The number of accepted lessons; the others are quarantined."""

    @property
    def texts(self) -> list[ReviewText]:
        """Every text that could reach a model, those of a lesson together."""
        why: dict[tuple[str, ...], list[str]] = {}
        for each in self.findings:
            why.setdefault((each.lesson, each.field, each.text), []).append(each.why)
        return [ReviewText(*text, tuple(why.get(tuple(text), ()))) for text in template_texts(self.template)]


EXPORT_CHECKS: tuple[Check, ...] = (foreign_reason, looks_secret)
IMPORT_CHECKS: tuple[Check, ...] = (looks_secret,)
"""The checks before an export, and after an import."""


def export_template(folder: str, wanted: str, with_evidence: bool = False, path: str = "") -> ExportedTemplate:
    """A template as a file that can be shared; written to `path` if one is given. Raises UserError if nothing of it may leave
    this machine."""
    found = TemplateStore(folder).find(wanted)
    fit = make_shareable(found.template, EXPORT_CHECKS, with_evidence)
    if not fit.template.lessons:
        raise UserError(
            f"nothing of `{found.name}` may leave this machine: {format_reasons(fit.left_out) or 'it is empty'}"
        )
    data = to_bytes(fit.template)
    if path:
        write_durable(path, data)
    return ExportedTemplate(
        found.name, digest_of(canonical_json(fit.template)), data, len(fit.template.lessons), fit.left_out
    )


def import_file(folder: str, path: str, name: str = "") -> ImportedTemplate:
    """Import a template from a file, under its own name unless one is given. It waits for a review."""
    if name:
        check_name(name)
    return import_bytes(folder, read_file(path), path, name)


def import_bytes(folder: str, data: bytes, where: str, name: str = "") -> ImportedTemplate:
    """Import a template from the bytes of a file; `where` names the file in messages."""
    if name:
        check_name(name)
    opened = from_bytes(data, where)
    template = replace(opened.template, name=name or opened.template.name, parent=None)
    kept = TemplateStore(folder).store(template, "imported", time.time(), f"from {where}")
    return ImportedTemplate(template, kept, opened.verified, find_findings(template, IMPORT_CHECKS))


def review_template(folder: str, name: str) -> Review:
    """The import that waits for a review, with the findings against it. Raises UserError if none waits."""
    store = TemplateStore(folder)
    state = store.state(name)
    if state.deleted or state.waiting is None:
        raise UserError(f"nothing of `{name}` waits for a review; `preheat templates list` shows what does")
    template = store.read(state.waiting)
    return Review(name=name, digest=state.waiting, findings=find_findings(template, IMPORT_CHECKS), template=template)


def answer_review(folder: str, name: str, answer: Answer) -> Review:
    """Accept or reject an import."""
    found, store = review_template(folder, name), TemplateStore(folder)
    if answer == "reject":
        store.reject(name, time.time())
        return replace(found, answer=answer)
    accepted = apply_review(found.template, found.findings, everything=answer == "accept-all")
    quarantined = sum(lesson.status == "quarantined" for lesson in accepted.lessons)
    in_use = len(accepted.lessons) - quarantined
    kept = store.store(accepted, "accepted", time.time(), f"{in_use} lessons in use, {quarantined} quarantined")
    return replace(found, answer=answer, digest=kept.digest, in_use=in_use)
