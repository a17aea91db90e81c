"""What a person can do from a page, each with what takes it back. A further action is added to `ACTIONS`, nowhere else;
those about lessons stand in `lesson_actions`.

Knows no page: a button names its action and gives its fields.
"""

from collections.abc import Mapping

from preheat.web.lesson_actions import LESSON_ACTIONS
from preheat.web.site import Act, Done, Site, refuse


def make_link(site: Site, _: Mapping[str, str]) -> Done:
    """A link for another browser."""
    if site.access is None:
        raise refuse("there is no server to make a link to")
    return Done(f"Open this once in another browser on this machine: {site.access.make_link()}")


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
    "change-setting": change_setting,
    "split-project": split_project,
    "undo-project": undo_project,
    **LESSON_ACTIONS,
}
