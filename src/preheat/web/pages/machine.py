"""The machine: projects and how sessions belong to them, every setting, and whether everything works."""

from preheat.app import Preheat
from preheat.app.installation import InstallStatus
from preheat.model.health import HealthReport
from preheat.model.project import ProjectList
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_MOST_PROBLEMS = 20


def describe_projects(folder: str) -> ProjectList:
    """All projects. Slow where there are many sessions."""
    return Preheat(folder).projects.describe_all()


def examine_machine(folder: str) -> tuple[HealthReport, InstallStatus]:
    """What `preheat admin doctor` and `preheat status` find. Slow."""
    home = Preheat(folder)
    return home.health.examine(_MOST_PROBLEMS), home.installation.status()


def list_projects(site: Site, query: Query) -> Page:
    """The projects, and the folders that belong to none."""
    if not site.home.has_archive():
        return Page("empty.html", "Projects", {})
    found = site.kept.find(describe_projects, site.home.folder).value
    return Page("projects.html", "Projects", {"found": found})


def list_settings(site: Site, query: Query) -> Page:
    """Every setting; with a name and a value in the address, the question whether to change it."""
    found = site.home.settings.describe_all()
    asked = None
    if query.text("setting"):
        asked = site.home.settings.find(query.text("heading"), query.text("setting"))
    return Page("settings.html", "Settings", {"found": found, "asked": asked, "value": query.text("value")})


def show_health(site: Site, query: Query) -> Page:
    """What `preheat status` and `preheat admin doctor` say."""
    home = site.home
    examined = site.kept.find(examine_machine, home.folder).value
    report, installed = examined if examined is not None else (None, None)
    values = {"report": report, "installed": installed, "daemon": home.daemon.status(), "folder": home.folder}
    return Page("health.html", "Health", values)
