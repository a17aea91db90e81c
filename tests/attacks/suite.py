"""The attacks in their order, each by its name. Adding one: a module with a function `attack`, and a line here."""

from tests.attacks import disks, files, floods, hooks, kills, mutations, requests
from tests.attacks.attack import Attack
from tests.attacks.injections import planted

ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("mutations", mutations.attack),
    ("kills", kills.attack),
    ("injections", planted.attack),
    ("floods", floods.attack),
    ("hooks", hooks.attack),
    ("requests", requests.attack),
    ("files", files.attack),
    ("disks", disks.attack),
)
