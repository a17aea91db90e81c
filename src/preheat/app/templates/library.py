"""The templates: listed, shown, compared, brought back, deleted, shared, made, loaded for a project.

Knows nothing of how a template is made (`template_building`), shared (`template_sharing`) or handed out (`context`). Light:
tab completion lists names with it.
"""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from preheat.app.later import Later
from preheat.app.projects import project_folder
from preheat.app.templates.state import Standing, load_for, pins, problems, standing, unload
from preheat.app.templates.state import uses as uses_of
from preheat.errors import NotFound, UserError
from preheat.model.listing import Filter
from preheat.model.template import Action, Entry, Pin, Template, Tracked, short_digest
from preheat.provisioning.tokens import estimate
from preheat.templates.build import Request
from preheat.templates.choice import Best, Wanted
from preheat.templates.difference import Change, Changed, Difference, difference
from preheat.templates.history import State
from preheat.templates.store import Kept, Store, Version

if TYPE_CHECKING:
    from preheat.app.templates import building as _building
    from preheat.app.templates import sharing as _sharing
    from preheat.app.templates import uses as _uses
else:  # 0.2 s (queries, patterns, learners) that listing, showing and loading do not need
    _building = Later("preheat.app.templates.building")
    _sharing = Later("preheat.app.templates.sharing")
    _uses = Later("preheat.app.templates.uses")

__all__ = [
    "Best", "Change", "Changed", "Difference", "History", "Kept", "Loaded", "Pin", "Request", "ShownTemplate", "Standing",
    "TemplateSummary", "Templates", "Version", "VersionChange", "Wanted",
]  # fmt: skip


class TemplateSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A template in a list. One that cannot be read has a problem and nothing else."""

    name: str
    problem: str = ""
    digest: str | None = None
    """Of the version that the name stands for; of an import that waits, where there is none."""
    template: Template | None = None
    tokens: int = 0
    """Of all its lessons."""
    versions: int = 0
    waiting: bool = False
    """An import of that name waits for a review."""
    live: bool = False
    """The name stands for a version that can be handed out."""
    tracked: Tracked = Tracked()
    """What came of all its versions."""

    @property
    def version(self) -> str:
        """The digest as people see it."""
        return short_digest(self.digest or "")


class ShownTemplate(NamedTuple):
    """One version, and how it did."""

    version: Version
    tracked: Tracked
    waiting: bool
    """It was imported, and nobody has reviewed it."""
    tokens: int
    """Of all its lessons."""


class History(NamedTuple):
    """What was done with a name."""

    name: str
    state: State
    entries: list[Entry]
    """The oldest first."""


class VersionChange(NamedTuple):
    """What changed from one version to another."""

    before: Version
    after: Version
    difference: Difference


class Loaded(NamedTuple):
    """Which template the new sessions of a project start with."""

    project: str
    """The folder that it goes by."""
    standing: Standing | None
    """None: they start with what was learned."""
    ended: Pin | None = None
    """What was loaded until now, where that was ended."""


class Templates:
    """The templates in a folder. They go by `name`, `name@digest` or `name@-1`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._store = Store(folder)

    # Which there are.
    def names(self, deleted: bool = False) -> list[str]:
        """The names there are; with `deleted` those of deleted ones."""
        return self._store.names(deleted)

    def versions(self, name: str) -> list[str]:
        """The digests of a name's versions, the oldest first. Raises NotFound."""
        return list(self._store.state(name).versions)

    def summaries(self, deleted: bool = False, follow: bool = False) -> list[TemplateSummary]:
        """All of them, by name, with how often each was used; with `follow` also how the sessions went that got it, for
        which they are looked for in the archive."""
        names = self._store.names(deleted)
        tracks = self._tracks(follow) if names else {}
        return [self._summary(name, tracks) for name in names]

    def templates(self) -> list[Template]:
        """The newest version of each that is not deleted."""
        found = (self._store.find(name).template for name in self.names() if self._store.state(name).live is not None)
        return list(found)

    def template(self, name: str) -> Template:
        """One version. Raises NotFound."""
        return self._store.find(name).template

    # One of them.
    def find(self, name: str) -> Version:
        """One version with its digest; an import that nobody has reviewed is not found. Raises NotFound."""
        return self._store.find(name)

    def show(self, name: str) -> ShownTemplate:
        """One version, also of an import, with how the sessions went that got it."""
        found = self._store.find(name, waiting=True)
        waiting = found.digest not in self._store.state(found.name).versions
        return ShownTemplate(found, _together(self._tracks(True), [found.digest]), waiting, _tokens(found.template))

    def history(self, name: str) -> History:
        """What was done with a name. Raises NotFound."""
        return History(name, self._store.state(name), self._store.history(name))

    def compare(self, first: str, second: str | None = None) -> VersionChange:
        """What changed from one version to another; of one alone, from the version before it."""
        after = self._store.find(second or first, waiting=True)
        if second is not None:
            before = self._store.find(first, waiting=True)
        elif after.template.parent is None:
            raise NotFound(f"`{after.name}` has no version before `{after.short}`; name two to compare")
        else:
            before = self._store.find(f"{after.name}@{after.template.parent}")
        return VersionChange(before, after, difference(before.template, after.template))

    # Changing what a name stands for; nothing is ever lost.
    def keep(self, template: Template, action: Action, note: str = "") -> Kept:
        """Keep a template as the newest version of its name."""
        return self._store.keep(template, action, time.time(), note)

    def roll_back(self, name: str, digest: str = "") -> Version:
        """Let a name stand for an earlier version again: by the beginning of its digest, else the one before."""
        return self._store.roll_back(f"{name}@{digest}" if digest else name, time.time())

    def delete(self, name: str) -> None:
        """The name is no longer found."""
        self._store.delete(name, time.time())

    def restore(self, name: str) -> str | None:
        """A deleted name stands again for what it stood for; its digest."""
        self._store.restore(name, time.time())
        return self._store.state(name).live

    # Sharing.
    def export(self, name: str, with_evidence: bool = False, path: str = "") -> "_sharing.Exported":
        """A template as one file without what must not leave this machine, written to `path` where one is given."""
        return _sharing.export_template(self._folder, name, with_evidence, path)

    def import_file(self, path: str, name: str = "") -> "_sharing.Imported":
        """Take in the template in a file, under its own name unless one is given. It waits for a review."""
        return _sharing.import_file(self._folder, path, name)

    def import_bytes(self, data: bytes, where: str, name: str = "") -> "_sharing.Imported":
        """The same of the bytes of a file; `where` says in a message which one."""
        return _sharing.import_bytes(self._folder, data, where, name)

    def review(self, name: str) -> "_sharing.Review":
        """An import that waits for a review, with what speaks against it. Raises UserError where none does."""
        return _sharing.review_template(self._folder, name)

    def answer_review(self, name: str, answer: "_sharing.Answer") -> "_sharing.Review":
        """Accept or reject an import."""
        return _sharing.answer_review(self._folder, name, answer)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of template files."""
        return _sharing.schema()

    # Making.
    def extract(
        self, session: str, name: str = "", description: str = "", addendum: str = "", tags: Iterable[str] = ()
    ) -> "_building.Made":
        """From one session, whatever the support; named after its project unless a name is given."""
        return _building.extract_template(
            self._folder, session, name=name, description=description, addendum=addendum, tags=tuple(tags)
        )

    def build(self, request: Request, chosen: Filter, rule: Wanted | None = None) -> "_building.Made":
        """From the newest sessions that a filter lets through and that fit the rule."""
        return _building.build_template(self._folder, request, chosen, rule or Wanted())

    def find_best(self, chosen: Filter, rule: Best | None = None) -> "list[_building.Group]":
        """The best sessions by project, also of projects that have too few."""
        return _building.best_sessions(self._folder, chosen, rule or Best())

    def build_best(self, groups: "Iterable[_building.Group]", rule: Best | None = None) -> "list[_building.Made]":
        """One template for each group of sessions that are enough, in their order."""
        return _building.auto_templates(self._folder, groups, rule or Best())

    # What new sessions of a project start with.
    def load(self, name: str, where: str) -> Loaded:
        """New sessions of the project around a folder start with this version from now on. Raises NotFound."""
        load_for(self._folder, project_folder(where), name, time.time())
        return self.loaded(where)

    def unload(self, where: str) -> Loaded:
        """New sessions of the project around a folder start with what was learned again."""
        project = project_folder(where)
        return Loaded(project, None, unload(self._folder, project))

    def loaded(self, where: str) -> Loaded:
        """What the new sessions of the project around a folder start with."""
        project = project_folder(where)
        pin = pins(self._folder).get(project)
        return Loaded(project, standing(self._folder, pin) if pin is not None else None)

    def load_problems(self) -> list[str]:
        """What is loaded and cannot be handed out, a line each with what to do."""
        return problems(self._folder)

    # How.
    def _summary(self, name: str, tracks: Mapping[str, Tracked]) -> TemplateSummary:
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
            tokens=_tokens(template) if template else 0,
            versions=len(state.versions),
            waiting=state.waiting is not None,
            live=state.live is not None,
            tracked=_together(tracks, state.versions),
        )

    def _tracks(self, follow: bool) -> dict[str, Tracked]:
        """By version: its uses; with `follow` how the sessions went."""
        uses = uses_of(self._folder)
        if uses and follow:
            return _uses.track_uses(self._folder, uses)
        tracks: dict[str, Tracked] = {}
        for use in uses:
            tracks[use.template] = Tracked(uses=tracks.get(use.template, Tracked()).uses + 1)
        return tracks


def _together(tracks: Mapping[str, Tracked], versions: Iterable[str]) -> Tracked:
    """What came of all these versions."""
    some = [tracks[digest] for digest in versions if digest in tracks]
    return Tracked(
        uses=sum(each.uses for each in some),
        sessions=sum(each.sessions for each in some),
        succeeded=sum(each.succeeded for each in some),
        failed=sum(each.failed for each in some),
    )


def _tokens(template: Template) -> int:
    return sum(estimate(lesson.text) for lesson in template.lessons)
