"""Hostile settings, templates and lessons: files that a person was handed, or that something damaged.

Every command ends with one of its exit codes and a line that names what is wrong; none shows a traceback, and an imported
template is never in use before its review.
"""

import os
import random
import subprocess
from pathlib import Path

from preheat.app import Preheat
from preheat.errors import PreheatError
from tests.attacks.attack import AttackResult, Progress, Size, guard
from tests.attacks.mutations import MUTATIONS
from tests.attacks.processes import Home
from tests.state import home_0_1_0
from tests.waiting import HUNG

TEMPLATES: dict[Size, int] = {"small": 60, "full": 3_000}
COMMANDS: dict[Size, int] = {"small": 5, "full": 80}
SETTINGS = (
    b"[live]\nblock = 7\n", b"live = 3\n", b"[live\n", b"\xff\xfe\x00", b"[live]\nunknown = true\n", b"a = " + b"[" * 20_000,
    b"[live]\nloop_repeats = 1e400\n", b"[live]\nloop_repeats = -9223372036854775809\n", b"[live]\n" + b"a.b" * 5_000 + b"=1\n",
    b'[live]\nstart_as = "\\u0000"\n', b"live = " + b'{a=' * 5_000, b"[[live]]\n[[live]]\n", b"\n" * 1_000_000, b"",
)  # fmt: skip
"""Settings that are wrong; a sound daemon and every command go on with the defaults, and say so."""
WORDS = (
    ("doctor",),
    ("sync", "--quiet"),
    ("status",),
    ("warm", "list"),
    ("lessons", "list"),
    ("experiment", "status"),
    ("replay", "x"),
)


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """Import mutated templates, and run commands with hostile settings."""
    result = AttackResult()
    chance = random.Random(seed)
    _import_templates(result, folder, chance, size, seed)
    _run_with_settings(result, folder, chance, size, seed)
    result.figures |= {"templates": TEMPLATES[size], "commands": COMMANDS[size]}
    return result


def _import_templates(result: AttackResult, folder: str, chance: random.Random, size: Size, seed: int) -> None:
    progress = Progress("files")
    place = os.path.join(folder, "library")
    home_0_1_0.home(Path(place))
    library = Preheat(place).library
    names = library.names()
    exported = os.path.join(folder, "exported.json")
    library.export(names[0], path=exported)
    with open(exported, "rb") as stream:
        sound = stream.read()
    before = {name: library.find(name).digest for name in names}
    for number in range(TEMPLATES[size]):
        progress(f"template {number}")
        kind, mutate = chance.choice(MUTATIONS)
        path = os.path.join(folder, "theirs.json")
        with open(path, "wb") as stream:
            stream.write(mutate(sound, sound, chance))
        with guard(result, f"seed {seed}: {kind} of a template, number {number}", PreheatError):
            imported = library.import_file(path, "theirs" if chance.random() < 0.8 else "")
            library.review(imported.template.name)
    after = {name: library.find(name).digest for name in names}
    result.check(before == after, f"seed {seed}: an import changed a template in use: {before} {after}")
    result.check(
        "theirs" not in {each.name for each in library.templates()},
        f"seed {seed}: an imported template is in use without a review",
    )
    progress.clear()


def _run_with_settings(result: AttackResult, folder: str, chance: random.Random, size: Size, seed: int) -> None:
    progress = Progress("files")
    home = Home(os.path.join(folder, "settings"))
    chosen = [(settings, chance.choice(WORDS)) for settings in (*SETTINGS, *SETTINGS)]
    chance.shuffle(chosen)
    for number in range(COMMANDS[size]):
        settings, words = (
            chosen[number % len(chosen)] if number < len(chosen) else (_mutant(chance), chance.choice(WORDS))
        )
        progress(f"preheat {' '.join(words)}")
        with open(os.path.join(home.folder, "settings.toml"), "wb") as stream:
            stream.write(settings)
        with guard(result, f"seed {seed}: settings {settings[:60]!r}", subprocess.SubprocessError):
            done = home.run(*words, seconds=HUNG)
            words_of_error = done.stderr.decode("utf-8", "replace")
            result.check(
                done.returncode in (0, 1, 2) and "Traceback" not in words_of_error,
                f"seed {seed}: preheat {' '.join(words)} with settings {settings[:60]!r}: {words_of_error[-300:]}",
            )
    progress.clear()


def _mutant(chance: random.Random) -> bytes:
    sound = b'[live]\nblock = "critical"\nhold_stop = true\nstart_as = "text"\nshorten_output = false\n'
    _, mutate = chance.choice(MUTATIONS)
    return mutate(sound, sound, chance)
