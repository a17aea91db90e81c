"""What a person can do with lessons from a page: write, edit, approve, review, mark, propose; and what takes each back.

Words nothing and decides nothing itself: everything is a method of the application.
"""

from collections.abc import Mapping
from hashlib import blake2b

from preheat.amounts import format_count
from preheat.app.lessons import MarkKind
from preheat.app.proposals import FileProposal
from preheat.model.lesson import NewLesson
from preheat.web.site import Act, Done, Site, refuse


def _lesson_of(fields: Mapping[str, str]) -> str:
    lesson = fields.get("lesson", "")
    if not lesson:
        raise refuse("the form names no lesson; go back and load the page again")
    return lesson


def _with_undo(text: str, lesson: str, secrets: int = 0) -> Done:
    """What was done; taking it back is the last thing done with this lesson."""
    taken = f" Taken out of your words: {format_count(secrets, 'secret')}." if secrets else ""
    return Done(text + taken, "undo-lesson", {"lesson": lesson})


# The words of a person.
def add_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    """Store a lesson that a person wrote: words, or a command."""
    new = NewLesson(*(fields.get(name, "") for name in ("text", "command", "instead_of", "topic")))
    if new.text.strip() and (new.command.strip() or new.instead_of.strip()):
        raise refuse("give words or a command, not both")
    saved = site.home.knowledge.add(new, fields.get("project") or None)
    return _with_undo(f"`{saved.lesson.id}` is added. Sessions are told: {saved.said}", saved.lesson.id, saved.secrets)


def edit_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    """Give a lesson the words of a person."""
    saved = site.home.knowledge.edit(_lesson_of(fields), fields.get("text", ""))
    done = _with_undo(f"`{saved.lesson.id}` is edited. Sessions are told: {saved.said}", saved.lesson.id, saved.secrets)
    return done._replace(at=f"/lessons?find={saved.lesson.id}")  # its id is a new one: the page before may not show it


def approve_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    """Approve a lesson's text as it stands."""
    saved = site.home.knowledge.approve_text(_lesson_of(fields), fields.get("why", ""))
    return _with_undo(f"`{saved.lesson.id}` is approved. Sessions are told: {saved.said}", saved.lesson.id)


def keep_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    """Keep a lesson in a review."""
    saved = site.home.knowledge.keep(_lesson_of(fields))
    return _with_undo(f"`{saved.lesson.id}` is kept. Sessions are told: {saved.said}", saved.lesson.id)


def drop_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    """Drop a lesson in a review."""
    lesson = site.home.knowledge.drop(_lesson_of(fields))
    return _with_undo(f"`{lesson.id}` is dropped: no session is told it again.", lesson.id)


# Marks.
def _mark(site: Site, fields: Mapping[str, str], wanted: MarkKind | None, said: str) -> Done:
    marked = site.home.knowledge.mark(_lesson_of(fields), wanted, fields.get("why", ""))
    text = f"`{marked.lesson.id}` {said}."
    if wanted is None and not marked.was_marked:  # nothing was changed, so an undo would take back something else
        return Done(text)
    return _with_undo(text, marked.lesson.id)


def pin_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    return _mark(site, fields, "pinned", "is pinned: it is given whenever it fits")


def retire_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    return _mark(site, fields, "retired", "is retired: it is never given again")


def release_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    return _mark(site, fields, None, "has no mark any more")


def undo_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    """Take back the last thing that was done with a lesson."""
    undone = site.home.knowledge.undo(_lesson_of(fields))
    return Done(f"Undone: {undone.action} of `{undone.lesson}`: {undone.text}")


# A project's instructions file.
def name_proposal(found: FileProposal) -> str:
    """A name for exactly this change: what is written is what was shown."""
    return blake2b(found.patch.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def write_proposal(site: Site, fields: Mapping[str, str]) -> Done:
    """Write the change of the instructions file that the page showed."""
    found = site.home.proposals.propose(fields.get("project", ""))
    if not found.patch or name_proposal(found) != fields.get("shown"):
        raise refuse(f"what would change in `{found.name}` is another now; nothing was written: look at the page again")
    site.home.proposals.write(found)
    return Done(f"`{found.path}` is written.", "undo-proposal")


def undo_proposal(site: Site, _: Mapping[str, str]) -> Done:
    """Bring back the instructions file as it was before it was last written."""
    return Done(f"`{site.home.proposals.undo()}` is as it was before.")


LESSON_ACTIONS: dict[str, Act] = {
    "add-lesson": add_lesson,
    "edit-lesson": edit_lesson,
    "approve-lesson": approve_lesson,
    "keep-lesson": keep_lesson,
    "drop-lesson": drop_lesson,
    "pin-lesson": pin_lesson,
    "retire-lesson": retire_lesson,
    "release-lesson": release_lesson,
    "undo-lesson": undo_lesson,
    "write-proposal": write_proposal,
    "undo-proposal": undo_proposal,
}
