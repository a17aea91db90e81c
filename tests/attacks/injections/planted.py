"""The attack with injections: payloads planted in whole sessions, and what of them is handed out afterwards.

Knows nothing of the grammar of our sentences: it looks for the payloads' own words.
"""

import re

from preheat.app import Preheat
from preheat.app.learning import learn
from preheat.model.listing import SessionFilter
from tests.attacks.attack import AttackResult, Size
from tests.attacks.injections.payloads import PAYLOADS, choose
from tests.attacks.injections.planting import plant_everywhere
from tests.attacks.injections.surfaces import encoded, pieces, runs, surfaces
from tests.ingest.machine import Machine

HARMLESS = "quartz"
"""Planted in the same places, to know what is said whatever was planted."""
SIZES: dict[Size, int] = {"small": 4, "full": len(PAYLOADS)}


class Attacked:
    """A machine with sessions about several payloads, each in a project of its own."""

    def __init__(self, machine: Machine, projects: dict[str, str]) -> None:
        self.home = Preheat(machine.folder)
        self.projects = projects
        """The folder of each payload's project, by the payload's text."""

    def session_in(self, project: str) -> str:
        found = [each for each in self.home.archive.sessions(SessionFilter()) if each.project == project]
        return found[0].session if found else ""


def plant(root: str, texts: list[str]) -> Attacked:
    """A machine with sessions in which each text stands everywhere, synced and learned from."""
    machine = Machine(root)
    projects = {text: plant_everywhere(machine.home, text, number) for number, text in enumerate(texts)}
    machine.sync()
    learn(machine.folder)
    return Attacked(machine, projects)


def find_leaks(attacked: Attacked) -> list[str]:
    """Where words of a payload are handed out in a row, each with the surface and the payload."""
    known: set[tuple[str, ...]] = set()
    harmless = attacked.projects[HARMLESS]
    for _, text in surfaces(attacked.home, harmless, attacked.session_in(harmless)):
        known |= runs(text)
    found = []
    for payload, project in attacked.projects.items():
        order = re.sub(r"<[^>]*>|alert\(1\)", " ", payload)
        wanted, dense, long = runs(order) - known, pieces(payload), encoded(payload)
        for surface, text in surfaces(attacked.home, project, attacked.session_in(project)):
            shown = runs(text) & wanted or pieces(text) & dense or encoded(text) & long
            if shown or re.search("<(?:script|system)", text):
                found.append(f"{surface}: {payload!r}: {shown}")
    return found


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    texts = [each.text for each in choose(SIZES[size], seed)]
    attacked = plant(folder, [HARMLESS, *texts])
    result = AttackResult(tried=len(texts), figures={"payloads": len(texts)})
    result.broken += find_leaks(attacked)
    return result
