"""The fleet as an area of the application: analyse transcripts on a cluster, report on the results, list and publish lessons.

Light: what it needs is an extra of the package, and is imported when a method is called.
"""

from importlib.util import find_spec

from preheat.app.lazy import LazyModule
from preheat.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from preheat.app.fleet import area as _area
    from preheat.model.fleet import FleetLessons, FleetPublication, FleetReport, FleetRun
    from preheat.model.progress import Progress
else:
    _area = LazyModule("preheat.app.fleet.area")

_PARTS = ("ray", "pyarrow", "duckdb")
"""The packages of the extra."""


class Fleet:
    """Runs over the transcripts of many machines."""

    def analyse(
        self,
        source: str,
        destination: str,
        *,
        address: str = "",
        workers: int = 0,
        batch: int = 0,
        most: int = 0,
        memory: int = 0,
        progress: "Progress | None" = None,
    ) -> "FleetRun":
        """Analyse what is new in a folder or bucket on Ray, and bring the results in another one up to date. `most` are the bytes
        of one object, `memory` those that a worker may take."""
        _require_extra()
        chosen = {"batch": batch, "most": most, "memory": memory}
        settings = _area.Settings(address, workers, **{name: value for name, value in chosen.items() if value})
        return _area.analyse(source, destination, settings, progress)

    def report(self, destination: str) -> "FleetReport":
        """What the sessions of a destination come to: by project, agent, model and day, with causes and mistakes."""
        _require_extra()
        return _area.report(destination)

    def lessons(self, destination: str, project: str | None = None) -> "list[FleetLessons]":
        """The lessons that were concluded, by project."""
        _require_extra()
        return _area.lessons(destination, project)

    def publish(self, destination: str, project: str, where: str) -> "FleetPublication":
        """Add the lessons of a project to the file that the repository around a folder shares, for review."""
        _require_extra()
        return _area.publish(destination, project, where)


def _require_extra() -> None:
    """Raise UserError if a package of the extra is missing."""
    missing = [name for name in _PARTS if find_spec(name) is None]
    if missing:
        raise UserError(f"the fleet needs {', '.join(missing)}; install them with: pip install 'preheat[fleet]'")
