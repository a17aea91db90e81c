"""The machine: projects and how sessions belong to them, every setting, and whether everything works."""

from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_MOST_PROBLEMS = 20


def list_projects(site: Site, query: Query) -> Page:
    """The projects, and the folders that belong to none."""
    if not site.home.has_archive():
        return Page("empty.html", "Projects", {})
    found = site.kept.find("projects", site.home.projects.describe_all).value
    return Page("projects.html", "Projects", {"found": found})


def list_settings(site: Site, query: Query) -> Page:
    """Every setting; with a name and a value in the address, the question whether to change it."""
    found = site.home.settings.describe_all()
    asked = None
    if query.text("setting"):
        asked = site.home.settings.find(query.text("heading"), query.text("setting"))
    return Page("settings.html", "Settings", {"found": found, "asked": asked, "value": query.text("value")})


def show_health(site: Site, query: Query) -> Page:
    """What `preheat status` and `preheat doctor` say."""
    home = site.home
    report = site.kept.find("health", lambda: home.health.examine(_MOST_PROBLEMS)).value
    installed = site.kept.find("installed", home.installation.status).value
    values = {"report": report, "installed": installed, "daemon": home.daemon.status(), "folder": home.folder}
    return Page("health.html", "Health", values)
