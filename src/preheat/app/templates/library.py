"""The templates in a folder: listed, shown, compared, restored, deleted, shared, built, loaded for a project.

Knows nothing of how a template is built (`build`), shared (`sharing`) or handed out (`app.context`). Light: tab completion
lists names with it.
"""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from preheat.app.lazy import LazyModule
from preheat.app.projects import project_folder
from preheat.app.templates.uses import (
    PinStatus,
    load_pins,
    load_template,
    load_uses,
    pin_problems,
    pin_status,
    track_uses,
    unload_template,
)
from preheat.errors import NotFound, UserError
from preheat.model.listing import SessionFilter
from preheat.model.template import (
    Template,
    TemplateAction,
    TemplateHistoryEntry,
    TemplatePin,
    TemplateResults,
    shorten_digest,
)
from preheat.provisioning.tokens import estimate_tokens
from preheat.templates.build import Request
from preheat.templates.choice import BestRule, SessionRule
from preheat.templates.difference import Change, ChangedLesson, Difference, compare_templates
from preheat.templates.store import NameState, StoredTemplate, TemplateStore, Version

if TYPE_CHECKING:
    from preheat.app.templates import build as _build
    from preheat.app.templates import sharing as _sharing
else:  # together 0.2 s, which listing, showing and loading do not need
    _build = LazyModule("preheat.app.templates.build")
    _sharing = LazyModule("preheat.app.templates.sharing")

__all__ = [
    "BestRule",
    "Change",
    "ChangedLesson",
    "Difference",
    "History",
    "PinStatus",
    "ProjectTemplate",
    "Request",
    "SessionRule",
    "StoredTemplate",
    "TemplateDetails",
    "TemplatePin",
    "TemplateSummary",
    "Templates",
    "Version",
    "VersionChange",
]  # fmt: skip


class TemplateSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A template in a list. One that cannot be read has a problem and nothing else."""

    name: str
    problem: str = ""
    digest: str | None = None
    """Of the current version; of an import that waits for a review, if there is no other."""
    template: Template | None = None
    tokens: int = 0
    """The tokens of all its lessons."""
    versions: int = 0
    waiting: bool = False
    """Whether an import of that name waits for a review."""
    live: bool = False
    """Whether there is a version that can be handed out."""
    tracked: TemplateResults = TemplateResults()
    """The uses of all its versions, and their success."""

    @property
    def version(self) -> str:
        """The digest as people see it."""
        return shorten_digest(self.digest or "")


class TemplateDetails(NamedTuple):
    """One version, with its uses and their success."""

    version: Version
    tracked: TemplateResults
    waiting: bool
    """Whether it was imported and waits for a review."""
    tokens: int
    """The tokens of all its lessons."""


class History(NamedTuple):
    """The history of a template's name."""

    name: str
    state: NameState
    entries: list[TemplateHistoryEntry]
    """The oldest first."""


class VersionChange(NamedTuple):
    """What changed from one version to another."""

    before: Version
    after: Version
    difference: Difference


class ProjectTemplate(NamedTuple):
    """Which template the new sessions of a project start with."""

    project: str
    """The folder that identifies it."""
    status: PinStatus | None
    """None: they start with lessons."""
    unloaded: TemplatePin | None = None
    """The version that was loaded until now, if it was unloaded."""


class Templates:
    """The templates in a folder, named by `name`, `name@digest` or `name@-1`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._store = TemplateStore(folder)

    # Lists.
    def names(self, deleted: bool = False) -> list[str]:
        """The names of all templates, or of the deleted ones."""
        return self._store.names(deleted)

    def versions(self, name: str) -> list[str]:
        """The digests of all versions of a name, the oldest first. Raises NotFound."""
        return list(self._store.state(name).versions)

    def summaries(self, deleted: bool = False, follow: bool = False) -> list[TemplateSummary]:
        """All templates by name, with the number of their uses; with `follow` also whether the sessions that got them succeeded,
        which searches the archive."""
        names = self._store.names(deleted)
        results = self._results(follow) if names else {}
        return [self._summary(name, results) for name in names]

    def templates(self) -> list[Template]:
        """The current version of every template."""
        found = (self._store.find(name).template for name in self.names() if self._store.state(name).live is not None)
        return list(found)

    def template(self, name: str) -> Template:
        """One version of a template. Raises NotFound."""
        return self._store.find(name).template

    # One template.
    def find(self, name: str) -> Version:
        """One version with its digest; an import that waits for a review is not found. Raises NotFound."""
        return self._store.find(name)

    def show(self, name: str) -> TemplateDetails:
        """One version, also of an import, with its uses and their success."""
        found = self._store.find(name, waiting=True)
        waiting = found.digest not in self._store.state(found.name).versions
        return TemplateDetails(
            found, _add_results(self._results(True), [found.digest]), waiting, _count_tokens(found.template)
        )

    def history(self, name: str) -> History:
        """The history of a name. Raises NotFound."""
        return History(name, self._store.state(name), self._store.history(name))

    def compare(self, first: str, second: str | None = None) -> VersionChange:
        """The changes from one version to another; given one version, from the one before it."""
        after = self._store.find(second or first, waiting=True)
        if second is not None:
            before = self._store.find(first, waiting=True)
        elif after.template.parent is None:
            raise NotFound(f"`{after.name}` has no version before `{after.short}`; name two to compare")
        else:
            before = self._store.find(f"{after.name}@{after.template.parent}")
        return VersionChange(before, after, compare_templates(before.template, after.template))

    # Changes; no version is ever lost.
    def store(self, template: Template, action: TemplateAction, note: str = "") -> StoredTemplate:
        """Store a template as the new version of its name."""
        return self._store.store(template, action, time.time(), note)

    def roll_back(self, name: str, digest: str = "") -> Version:
        """Go back to an earlier version: by the beginning of its digest, else the one before."""
        return self._store.roll_back(f"{name}@{digest}" if digest else name, time.time())

    def delete(self, name: str) -> None:
        """Delete a template; `restore` brings it back."""
        self._store.delete(name, time.time())

    def restore(self, name: str) -> str | None:
        """Restore a deleted template; the digest of its version."""
        self._store.restore(name, time.time())
        return self._store.state(name).live

    # Sharing.
    def export(self, name: str, with_evidence: bool = False, path: str = "") -> "_sharing.ExportedTemplate":
        """A template as a file without what must not leave this machine; written to `path` if one is given."""
        return _sharing.export_template(self._folder, name, with_evidence, path)

    def import_file(self, path: str, name: str = "") -> "_sharing.ImportedTemplate":
        """Import a template from a file, under its own name unless one is given. It waits for a review."""
        return _sharing.import_file(self._folder, path, name)

    def import_bytes(self, data: bytes, where: str, name: str = "") -> "_sharing.ImportedTemplate":
        """Import a template from the bytes of a file; `where` names the file in messages."""
        return _sharing.import_bytes(self._folder, data, where, name)

    def review(self, name: str) -> "_sharing.Review":
        """The import that waits for a review, with the findings against it. Raises UserError if none waits."""
        return _sharing.review_template(self._folder, name)

    def answer_review(self, name: str, answer: "_sharing.Answer") -> "_sharing.Review":
        """Accept or reject an import."""
        return _sharing.answer_review(self._folder, name, answer)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of template files."""
        return _sharing.template_schema()

    # Building.
    def extract(
        self, session: str, name: str = "", description: str = "", addendum: str = "", tags: Iterable[str] = ()
    ) -> "_build.BuiltTemplate":
        """Build a template from one session, with lessons of little support too; named after its project unless named."""
        return _build.extract_template(
            self._folder, session, name=name, description=description, addendum=addendum, tags=tuple(tags)
        )

    def build(self, request: Request, chosen: SessionFilter, rule: SessionRule | None = None) -> "_build.BuiltTemplate":
        """Build a template from the newest sessions that match a filter and a rule."""
        return _build.build_template(self._folder, request, chosen, rule or SessionRule())

    def find_best_sessions(self, chosen: SessionFilter, rule: BestRule | None = None) -> "list[_build.Group]":
        """The best sessions by project, also of projects that have too few."""
        return _build.find_best_sessions(self._folder, chosen, rule or BestRule())

    def build_from_best(
        self, groups: "Iterable[_build.Group]", rule: BestRule | None = None
    ) -> "list[_build.BuiltTemplate]":
        """Build a template for each group that has enough sessions."""
        return _build.build_best_templates(self._folder, groups, rule or BestRule())

    # Loading for a project.
    def load(self, name: str, where: str) -> ProjectTemplate:
        """Load a version: new sessions of the project around a folder start with it. Raises NotFound."""
        load_template(self._folder, project_folder(where), name, time.time())
        return self.project_template(where)

    def unload(self, where: str) -> ProjectTemplate:
        """Unload: new sessions of the project around a folder start with lessons again."""
        project = project_folder(where)
        return ProjectTemplate(project, None, unload_template(self._folder, project))

    def project_template(self, where: str) -> ProjectTemplate:
        """The version that is loaded for the project around a folder."""
        project = project_folder(where)
        pin = load_pins(self._folder).get(project)
        return ProjectTemplate(project, pin_status(self._folder, pin) if pin is not None else None)

    def load_problems(self) -> list[str]:
        """Loaded versions that cannot be handed out, a sentence each with what to do."""
        return pin_problems(self._folder)

    def _summary(self, name: str, results: Mapping[str, TemplateResults]) -> TemplateSummary:
        try:
            state = self._store.state(name)
            digest = state.live or state.waiting
            template = self._store.read(digest) if digest else None
        except UserError as error:
            return TemplateSummary(name=name, problem=str(error))
        return TemplateSummary(
            name=name,
            digest=digest,
            template=template,
            tokens=_count_tokens(template) if template else 0,
            versions=len(state.versions),
            waiting=state.waiting is not None,
            live=state.live is not None,
            tracked=_add_results(results, state.versions),
        )

    def _results(self, follow: bool) -> dict[str, TemplateResults]:
        """By version: its uses; with `follow` also their success."""
        uses = load_uses(self._folder)
        if uses and follow:
            return track_uses(self._folder, uses)
        results: dict[str, TemplateResults] = {}
        for use in uses:
            results[use.template] = TemplateResults(uses=results.get(use.template, TemplateResults()).uses + 1)
        return results


def _add_results(results: Mapping[str, TemplateResults], versions: Iterable[str]) -> TemplateResults:
    """The uses of all these versions together."""
    some = [results[digest] for digest in versions if digest in results]
    return TemplateResults(
        uses=sum(each.uses for each in some),
        sessions=sum(each.sessions for each in some),
        succeeded=sum(each.succeeded for each in some),
        failed=sum(each.failed for each in some),
    )


def _count_tokens(template: Template) -> int:
    return sum(estimate_tokens(lesson.text) for lesson in template.lessons)
