"""Mutated sessions of every reader: bytes, lines and structures changed, cut, repeated, nested, and spliced between agents.

Each is read, detected and analysed here, one after the other, under an alarm; then many lie in one folder beside sound ones for
the real `sync`, `learn` and `warm start`. No exception, no hang, and the sound files are as if they lay there alone.
"""

import json
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from preheat.agents import AGENTS, reader_of
from preheat.agents.sources import detect, open_source, read
from preheat.app.analysis.one_pass import analyse
from preheat.errors import UserError
from tests.attacks.attack import AttackResult, Progress, Size, guard, own_peak
from tests.attacks.processes import Home
from tests.shared import FIXTURES, SHARED, fixture_files
from tests.waiting import HUNG

MUTANTS: dict[Size, int] = {"small": 4, "full": 60}
"""Mutants of each file."""
FILES: dict[Size, int] = {"small": 2, "full": 6}
"""Files of each agent, and of each folder of the corpus."""
LARGEST = 300_000
"""Bytes of a file that is mutated: a larger one shows nothing more and takes longer."""
SECONDS_PER_FILE = 60
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 2**70, 1e308, float("nan"), "", "\x00", "\ud800", "x" * 5000, [], {}, [[]], {"": {}}, ["a", 1, None],
    "2026-13-45T99:99:99Z", "../../../../etc/passwd", "[31m", "role", {"role": {}},
)  # fmt: skip


class Specimen(NamedTuple):
    """A sound file and the agent that it is of."""

    agent: str
    path: str


class _HungError(BaseException):
    """A file took too long. A BaseException, so that nothing swallows it."""


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """Mutate the recorded sessions of all readers, and those of the shared corpus where it is."""
    result = AttackResult()
    progress = Progress("mutations")
    chance = random.Random(seed)
    specimens = find_specimens(size)
    contents = [_read_bytes(specimen.path) for specimen in specimens]
    kept = os.path.join(folder, "mutants")
    os.makedirs(kept)
    for number, (specimen, content) in enumerate(zip(specimens, contents, strict=True)):
        for turn in range(MUTANTS[size]):
            progress(f"{specimen.agent}, file {number} of {len(specimens)}, mutant {turn}")
            name, mutate = chance.choice(MUTATIONS)
            data = mutate(content, chance.choice(contents), chance)
            path = os.path.join(kept, f"{number}-{turn}", os.path.basename(specimen.path).removesuffix(".zst"))
            os.makedirs(os.path.dirname(path))
            with open(path, "wb") as stream:
                stream.write(data)
            source = os.path.relpath(specimen.path, FIXTURES)
            _read_and_analyse(result, specimen, path, f"seed {seed}: {name} of {source}, mutant {number}-{turn}")
    progress("sync of all")
    _sync_all(result, specimens, kept, Home(os.path.join(folder, "machine")), seed)
    progress.clear()
    result.figures |= {"readers": len({each.agent for each in specimens}), "files": len(specimens)}
    result.figures["MB at most (reading)"] = round(own_peak() / 1e6)
    return result


def find_specimens(size: Size) -> list[Specimen]:
    found = []
    for agent in AGENTS:
        names = [os.path.join(FIXTURES, name) for name in fixture_files(agent)]
        small = [name for name in names if os.path.getsize(name) < LARGEST]
        found += [Specimen(agent, name) for name in small[: FILES[size]]]
    if size == "full":
        found += list(_corpus_specimens(FILES[size]))
    return found


def _corpus_specimens(most: int) -> Iterator[Specimen]:
    """Real sessions, where they lie beside the checkout; they are read there and only their mutants are written."""
    corpus = os.path.join(SHARED, "corpus")
    for place in sorted(os.listdir(corpus)) if os.path.isdir(corpus) else ():
        taken = 0
        for above, _, names in sorted(os.walk(os.path.join(corpus, place))):
            for name in sorted(names):
                path = os.path.join(above, name)
                if taken >= most or os.path.getsize(path) > LARGEST:
                    continue
                try:
                    agent = detect(path).agent
                except UserError:
                    continue
                taken += 1
                yield Specimen(agent, path)


def _read_bytes(path: str) -> bytes:
    with open_source(path) as stream:
        return stream.read()


def _read_and_analyse(result: AttackResult, specimen: Specimen, path: str, reproduction: str) -> None:
    """By the reader that its name promises, and by the one that its content does."""
    with guard(result, f"{reproduction}: reading", UserError), _alarm():
        for session in read(path, reader_of(specimen.agent)):
            assert all(problem.file for problem in session.problems)
            analyse(session)
    with guard(result, f"{reproduction}: detection", UserError), _alarm():
        detect(path)


@contextmanager
def _alarm() -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise _HungError(f"over {SECONDS_PER_FILE} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, SECONDS_PER_FILE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _sync_all(result: AttackResult, specimens: list[Specimen], kept: str, home: Home, seed: int) -> None:
    """The real commands over all mutants, with sound files among them."""
    sound = os.path.join(kept, "sound")
    alone = Home(os.path.join(home.root, "alone"))
    for number, specimen in enumerate(each for each in specimens if each.path.startswith(FIXTURES)):
        if reader_of(specimen.agent).framing(specimen.path) != "lines":
            continue  # a database or a tree has files beside it
        os.makedirs(os.path.join(sound, str(number)))
        shutil.copy(specimen.path, os.path.join(sound, str(number)))
    expected = _synced_sessions(result, alone, sound, seed)
    found = _synced_sessions(result, home, kept, seed)
    lost = {path for path in expected if path not in found}
    result.check(not lost, f"seed {seed}: sound files beside mutants were not read: {sorted(lost)[:3]}")
    for words in (("learn", "--quiet"), ("warm", "start", "--task", "fix the tests"), ("doctor",), ("mistakes",)):
        done = home.run(*words, seconds=2 * HUNG)
        result.tried += 1
        result.check(
            done.returncode in (0, 1, 2) and b"Traceback" not in done.stderr,
            f"seed {seed}: preheat {' '.join(words)} after the sync: {done.stderr.decode('utf-8', 'replace')[-400:]}",
        )


def _synced_sessions(result: AttackResult, home: Home, place: str, seed: int) -> set[str]:
    """The keys of all sessions in the archive after a sync of a folder."""
    done = home.run("sync", "--json", place, seconds=4 * HUNG)
    words = done.stderr.decode("utf-8", "replace")
    result.tried += 1
    result.check(
        done.returncode in (0, 1) and "Traceback" not in words, f"seed {seed}: sync of mutants: {words[-400:]}"
    )
    listed = home.run("sessions", "list", "--json", "--limit", "100000")
    try:
        return {str(each["key"]) for each in json.loads(listed.stdout)}
    except (ValueError, KeyError, TypeError) as error:
        result.broken.append(f"seed {seed}: sessions list --json after a sync: {error!r} {listed.stderr[-300:]!r}")
        return set()


# The mutations: of bytes, lines and JSON structures.
def _flip_bytes(data: bytes, other: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 20)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(data: bytes, other: bytes, chance: random.Random) -> bytes:
    begin = chance.choice((0, chance.randrange(len(data) + 1)))
    return data[begin : begin + chance.randrange(len(data) + 1)]


def _insert_bytes(data: bytes, other: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    junk = chance.choice(
        (b"\0" * 100, b"\xff\xfe", b"\r\n" * 50, b"\n" * 1000, b"{" * 500, b"[" * 3000, b'"', b"\\", b"\xed\xa0\x80")
    )
    return data[:place] + junk + data[place:]


def _repeat_lines(data: bytes, other: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    place = chance.randrange(len(lines))
    return b"".join((*lines[:place], *[lines[place]] * chance.randint(2, 40), *lines[place:]))


def _mix_lines(data: bytes, other: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(line for line in lines if chance.random() < 0.9)


def _splice(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The beginning of one agent's file, and lines of another's in it."""
    own, foreign = data.splitlines(keepends=True), other.splitlines(keepends=True)
    place = chance.randrange(len(own) + 1)
    return b"".join((*own[:place], *foreign[: chance.randint(1, 10)], *own[place:]))


def _nest(data: bytes, other: bytes, chance: random.Random) -> bytes:
    depth = chance.choice((50, 500, 5_000, 200_000))
    return b'{"a":' * depth + (data.strip() or b"1") + b"}" * depth + b"\n"


def _change_structure(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """One or more values in the JSON of a file replaced by values of another type, removed, or put elsewhere."""
    lines = data.split(b"\n")
    places = [0] if _load(data) is not None else [place for place, line in enumerate(lines) if _load(line) is not None]
    if not places:
        return _flip_bytes(data, other, chance)
    if _load(data) is not None:
        lines = [data]
    for place in chance.sample(places, min(len(places), chance.randint(1, 5))):
        lines[place] = _dump(_change_value(_load(lines[place]), chance))
    return b"\n".join(lines)


def _load(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _change_value(value: Any, chance: random.Random) -> Any:
    """Walk to a random place and change what is there."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        if chance.random() < 0.1:
            return {**{key: kept for key, kept in value.items() if key != name}}
        return {**value, name: _change_value(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        if chance.random() < 0.1:
            return value * chance.randint(2, 4)
        return [*value[:place], _change_value(value[place], chance), *value[place + 1 :]]
    return chance.choice((*ODD_VALUES, [value], {"type": value}))


Mutate = Callable[[bytes, bytes, random.Random], bytes]
MUTATIONS: tuple[tuple[str, Mutate], ...] = (
    ("flip_bytes", _flip_bytes),
    ("cut", _cut),
    ("insert_bytes", _insert_bytes),
    ("repeat_lines", _repeat_lines),
    ("mix_lines", _mix_lines),
    ("splice", _splice),
    ("nest", _nest),
    *(("change_structure", _change_structure),) * 6,
)
"""Structures are changed most often: readers check bytes and lines in one place, and structures everywhere."""
