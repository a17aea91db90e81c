"""The template store: files below `templates/` in Preheat's folder, outside the archive.

    objects/3f/3fa2….json   one version: canonical JSON, named by its hash, never changed
    names/NAME.json         the history of a name

Knows no lesson, and nothing of uses or loaded versions, which are in the state. A version is written before the history that
names it, so a writer that is killed leaves at worst a version that nothing refers to.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from preheat import files
from preheat.errors import NotFound, UserError
from preheat.files import read_file
from preheat.locking import hold_lock
from preheat.model.template import Template, TemplateAction, TemplateHistoryEntry, shorten_digest
from preheat.templates.file_format import load_template
from preheat.templates.names import Address, canonical_json, check_name, digest_of, have_same_content, parse_address

PATIENCE = 30.0
"""Seconds that a writer waits for another one."""


@contextmanager
def hold_folder_lock(folder: str, wait: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a folder."""
    files.make_private_folder(folder)
    busy = UserError(f"another program has held `{folder}` for {wait:.0f} s; try again later")
    with hold_lock(os.path.join(folder, "lock"), wait, busy):
        yield


def write_durable(path: str, data: bytes) -> None:
    """Write a file whole or not at all, and wait until it is on disk. Raises UserError."""
    try:
        files.write_atomically(path, data, durable=True, make_folders=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"`{path}` could not be written ({why}); nothing was changed") from error


# The present state of a template's name, folded from its history.
class NameState(NamedTuple):
    """The present state of a name."""

    live: str | None = None
    """The digest of the current version; None if there never was one."""
    waiting: str | None = None
    """The digest of an import that waits for a review."""
    deleted: bool = False
    versions: tuple[str, ...] = ()
    """Every version that was live, in order: a rollback goes to one of these."""


def state_of(history: Sequence[TemplateHistoryEntry]) -> NameState:
    """The state after a history. An import changes nothing until it is accepted."""
    live, waiting, deleted = None, None, False
    versions: dict[str, None] = {}
    for entry in history:
        if entry.action == "imported":
            waiting, deleted = entry.digest, False
        elif entry.action == "rejected":
            waiting = None
        elif entry.action in ("deleted", "restored"):
            deleted = entry.action == "deleted"
        else:
            live, deleted = entry.digest, False
            versions[live] = None
            if entry.action == "accepted":
                waiting = None
    return NameState(live, waiting, deleted, tuple(versions))


_HISTORY = msgspec.json.Decoder(list[TemplateHistoryEntry])


class Version(NamedTuple):
    """A version that was found."""

    name: str
    digest: str
    template: Template

    @property
    def short(self) -> str:
        """Its digest as people see it."""
        return shorten_digest(self.digest)

    @property
    def title(self) -> str:
        """`name@3fa2b1c0d4`, for people."""
        return f"{self.name}@{self.short}"


class StoredTemplate(NamedTuple):
    """The result of storing a template."""

    digest: str
    new: bool
    """False if the current version is the same already."""

    @property
    def short(self) -> str:
        """The digest as people see it."""
        return shorten_digest(self.digest)


class TemplateStore:
    """The templates in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "templates")

    # Reading.
    def names(self, deleted: bool = False) -> list[str]:
        """The names of all templates, or of the deleted ones, sorted."""
        return [name for name in self._all_names() if self._is_deleted(name) == deleted]

    def history(self, name: str) -> list[TemplateHistoryEntry]:
        """The entries of a name's history, the oldest first; none if there is no such name."""
        path = self._history_path(name)
        try:
            data = read_file(path)
        except FileNotFoundError:
            return []
        try:
            return _HISTORY.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UserError(f"`{path}` is damaged ({error}); move it away, or put a copy in its place") from error

    def state(self, name: str) -> NameState:
        """The state of a name. Raises NotFound."""
        check_name(name)
        history = self.history(name)
        if not history:
            raise NotFound(f"no template `{name}`; {self._advice(name)}")
        return state_of(history)

    def find(self, wanted: str, waiting: bool = False) -> Version:
        """A version by `name`, `name@digest` or `name@-1`; an import that waits for a review only with `waiting`. Raises
        NotFound."""
        where = parse_address(wanted)
        state = self.state(where.name)
        if state.deleted:
            raise NotFound(f"`{where.name}` was deleted; `preheat templates restore {where.name}` brings it back")
        digest = self._find_digest(where, state, waiting)
        return Version(where.name, digest, self.read(digest))

    def read(self, digest: str) -> Template:
        """A version by its whole digest."""
        path = self._object_path(digest)
        try:
            data = read_file(path)
        except FileNotFoundError:
            raise NotFound(f"`{path}` is gone; put a copy in its place, or go back to another version") from None
        if digest_of(data) != digest:
            raise UserError(
                f"`{path}` is not what was stored: its content does not fit its name; put a copy in its place, or "
                "`preheat templates rollback` to another version"
            )
        return load_template(data, path)

    # Writing.
    def store(self, template: Template, action: TemplateAction, at: float, note: str = "") -> StoredTemplate:
        """Store a template as the new version of its name, unless the current version is the same."""
        name = check_name(template.name)
        with hold_folder_lock(self.folder):
            history = self.history(name)
            self._check_case(name, history)
            state = state_of(history)
            is_import = action == "imported"
            kept = self._keep_import(template, state) if is_import else self._keep_version(template, state, action)
            if kept.new:
                self._write_history(name, [*history, TemplateHistoryEntry(kept.digest, at, action, note)])
        return kept

    def roll_back(self, wanted: str, at: float) -> Version:
        """Go back to an earlier version: the addressed one, else the one before."""
        where = parse_address(wanted)
        if not where.digest and not where.back:
            wanted = f"{where.name}@-1"
        with hold_folder_lock(self.folder):
            found = self.find(wanted)
            history = self.history(where.name)
            before = state_of(history).live
            if found.digest == before:
                raise UserError(f"`{where.name}` is at version `{shorten_digest(found.digest)}` already")
            note = f"from {shorten_digest(before)}" if before else ""
            self._write_history(where.name, [*history, TemplateHistoryEntry(found.digest, at, "rolled back", note)])
        return found

    def delete(self, name: str, at: float) -> None:
        """Delete a name; nothing is lost."""
        self._add_entry(name, "deleted", at)

    def restore(self, name: str, at: float) -> None:
        """Restore a deleted name."""
        self._add_entry(name, "restored", at)

    def reject(self, name: str, at: float) -> str:
        """Reject an import that waits for a review; its digest."""
        with hold_folder_lock(self.folder):
            state = self.state(name)
            if state.waiting is None:
                raise UserError(f"nothing of `{name}` waits for a review")
            self._write_history(name, [*self.history(name), TemplateHistoryEntry(state.waiting, at, "rejected")])
        return state.waiting

    def _keep_import(self, template: Template, state: NameState) -> StoredTemplate:
        digest = self._write_object(template)
        return StoredTemplate(digest, state.deleted or digest not in (state.waiting, state.live))

    def _keep_version(self, template: Template, state: NameState, action: TemplateAction) -> StoredTemplate:
        live = self._read_if_possible(state.live)
        if state.live is not None and live is not None and have_same_content(template, live):
            # A deleted name comes back by it, and an accepted import no longer waits.
            return StoredTemplate(state.live, state.deleted or action == "accepted")
        return StoredTemplate(self._write_object(replace(template, parent=state.live)), True)

    def _read_if_possible(self, digest: str | None) -> Template | None:
        """A version; None if it cannot be read, which must not stop a new one."""
        if digest is None:
            return None
        try:
            return self.read(digest)
        except UserError:
            return None

    def _add_entry(self, name: str, action: TemplateAction, at: float) -> None:
        with hold_folder_lock(self.folder):
            state = self.state(name)
            if state.deleted == (action == "deleted"):
                raise UserError(f"`{name}` is {'deleted already' if state.deleted else 'not deleted'}")
            digest = state.live or state.waiting or ""
            self._write_history(name, [*self.history(name), TemplateHistoryEntry(digest, at, action)])

    def _find_digest(self, where: Address, state: NameState, waiting: bool) -> str:
        hidden = f"`{where.name}` was imported and waits for a review; `preheat templates review {where.name}` shows it"
        if where.digest:
            known = {*state.versions, *([state.waiting] if state.waiting else [])}
            found = sorted(digest for digest in known if digest.startswith(where.digest))
            if len(found) > 1:
                several = ", ".join(f"`{digest[: len(where.digest) + 4]}`" for digest in found)
                raise NotFound(f"`{where.digest}` could be any of {several}; give more of it")
            if not found:
                raise NotFound(
                    f"`{where.name}` has no version `{where.digest}`; `preheat templates history {where.name}` lists them"
                )
            if found[0] not in state.versions and not waiting:
                raise NotFound(hidden)
            return found[0]
        if waiting and state.waiting is not None and not where.back:
            return state.waiting
        if state.live is None:
            if state.waiting is None:
                raise NotFound(f"the import of `{where.name}` was rejected, and there is no other version")
            raise NotFound(hidden)
        return self._step_back(where, state, state.live)

    def _step_back(self, where: Address, state: NameState, digest: str) -> str:
        """The digest of the version `back` steps before this one, by their parents."""
        for _ in range(where.back):
            parent = self.read(digest).parent
            if parent is None or parent not in state.versions:
                raise NotFound(f"`{where.name}` has no version before `{shorten_digest(digest)}`")
            digest = parent
        return digest

    def _write_object(self, template: Template) -> str:
        data = canonical_json(template)
        digest = digest_of(data)
        write_durable(self._object_path(digest), data)
        return digest

    def _write_history(self, name: str, history: list[TemplateHistoryEntry]) -> None:
        write_durable(self._history_path(name), msgspec.json.format(canonical_json(history), indent=1))

    def _check_case(self, name: str, history: list[TemplateHistoryEntry]) -> None:
        """Raise UserError if another name differs only by case: some file systems take both for one file."""
        if not history:
            for other in self._all_names():
                if other != name and other.casefold() == name.casefold():
                    raise UserError(f"there is a template `{other}` already; `{name}` differs from it only by its case")

    def _all_names(self) -> list[str]:
        try:
            found = os.listdir(os.path.join(self.folder, "names"))
        except FileNotFoundError:
            return []
        return sorted(name.removesuffix(".json") for name in found if name.endswith(".json"))

    def _is_deleted(self, name: str) -> bool:
        try:
            return state_of(self.history(name)).deleted
        except UserError:
            return False  # a damaged one is listed; reading it raises

    def _advice(self, name: str) -> str:
        names = self.names()
        close = get_close_matches(name, names, 1)
        if close:
            return f"did you mean `{close[0]}`?"
        return "`preheat templates list` shows them" if names else "`preheat templates build NAME` makes one"

    def _object_path(self, digest: str) -> str:
        return os.path.join(self.folder, "objects", digest[:2], f"{digest}.json")

    def _history_path(self, name: str) -> str:
        return os.path.join(self.folder, "names", f"{check_name(name)}.json")
