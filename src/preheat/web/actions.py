"""What a person can do from a page, each with what takes it back. A further action is added to `ACTIONS`, nowhere else.

Knows no page: a button names its action and gives its fields.
"""

from collections.abc import Mapping

from preheat.web.site import Act, Done, Site, refuse


def make_link(site: Site, _: Mapping[str, str]) -> Done:
    """A link for another browser."""
    if site.access is None:
        raise refuse("there is no server to make a link to")
    return Done(f"Open this once in another browser on this machine: {site.access.make_link()}")


def _mark(site: Site, fields: Mapping[str, str], wanted: str) -> Done:
    """Mark a lesson; the mark it had before comes back with an undo."""
    lesson = fields.get("lesson", "")
    if not lesson:
        raise refuse("the form names no lesson; go back and load the page again")
    before = site.home.knowledge.marks().get(site.home.knowledge.find(lesson).id)
    if wanted == "pinned":
        site.home.pin(lesson, fields.get("why", ""))
    elif wanted == "retired":
        site.home.retire(lesson, fields.get("why", ""))
    else:
        site.home.release(lesson)
    undo = {"pinned": "pin-lesson", "retired": "retire-lesson"}.get(before.mark if before else "", "release-lesson")
    said = {"pinned": "is pinned: it is given whenever it fits", "retired": "is retired: it is never given again"}
    return Done(f"`{lesson}` {said.get(wanted, 'has no mark any more')}.", undo, {"lesson": lesson})


def pin_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    return _mark(site, fields, "pinned")


def retire_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    return _mark(site, fields, "retired")


def release_lesson(site: Site, fields: Mapping[str, str]) -> Done:
    return _mark(site, fields, "")


def change_setting(site: Site, fields: Mapping[str, str]) -> Done:
    """Change a setting; an undo puts back what stood in the file."""
    heading, name = fields.get("heading", ""), fields.get("name", "")
    changed = site.home.settings.change(heading, name, fields.get("value", ""))
    return Done(
        f"`{name}` is {changed.after or 'the default again'}.",
        "change-setting",
        {"heading": heading, "name": name, "value": changed.before},
    )


def split_project(site: Site, fields: Mapping[str, str]) -> Done:
    """Make a folder a project of its own."""
    folder = fields.get("folder", "")
    made = site.home.projects.split(folder)
    return Done(f"`{folder}` is the project `{made.name}` now.", "undo-project", {"what": folder})


def undo_project(site: Site, fields: Mapping[str, str]) -> Done:
    """Take back what a person said of a project."""
    what = fields.get("what", "")
    taken = site.home.projects.undo(what.removeprefix("folder:"))
    if taken.what.startswith("folder:") and taken.into.endswith(taken.what.removeprefix("folder:")):
        return Done(f"`{what}` belongs to where it did before.", "split-project", {"folder": taken.what[7:]})
    return Done(f"`{what}` belongs to where it did before.")


ACTIONS: dict[str, Act] = {
    "make-link": make_link,
    "pin-lesson": pin_lesson,
    "retire-lesson": retire_lesson,
    "release-lesson": release_lesson,
    "change-setting": change_setting,
    "split-project": split_project,
    "undo-project": undo_project,
}
