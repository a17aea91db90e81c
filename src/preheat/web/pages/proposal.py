"""What a project's `AGENTS.md` lacks, as a difference: shown, and written only when the person says so."""

from typing import NamedTuple

from preheat.app.proposals import FileProposal
from preheat.errors import UserError
from preheat.model.views import ChangedText
from preheat.web.lesson_actions import name_proposal
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site


class ShownProposal(NamedTuple):
    """A proposal as a page shows it."""

    found: FileProposal
    change: list[ChangedText]
    name: str
    """The name of exactly this change."""


def propose(site: Site, project: str) -> ShownProposal | str:
    """What the instructions file of a project lacks; in words, why that cannot be said."""
    try:
        found = site.home.proposals.propose(project)
    except UserError as error:
        return str(error)
    return ShownProposal(found, split_patch(found.patch), name_proposal(found))


def split_patch(patch: str) -> list[ChangedText]:
    """The lines of a patch of one file, without those that name the file."""
    lines = patch.splitlines()
    first = next((place for place, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return [ChangedText("@", line) if line[:1] in "@\\" else ChangedText(line[:1], line[1:]) for line in lines[first:]]


def show_proposal(site: Site, query: Query) -> Page:
    """The page; with `part` only the difference. Without a project it asks for one."""
    if not site.home.has_archive():
        return Page("empty.html", "AGENTS.md", {})
    project = query.text("project")
    values = {"proposal": propose(site, project) if project else None, "project": project}
    return Page("proposal.html" if query.text("part") else "propose.html", "AGENTS.md", values)
