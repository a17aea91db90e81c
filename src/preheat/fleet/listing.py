"""What there is to read: the objects of a source, each with the objects that belong to the same session, in batches.

Knows nothing of what is in an object; which objects belong together is known by the agents' places, from the paths alone.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from preheat.agents import AGENTS, places_of
from preheat.fleet.storage import ObjectInfo

_UNSETTLED = 2.0
"""Seconds for which an object may be written again without a new stamp: storage counts in whole seconds."""
_MOST_OBJECTS = 2000
"""Objects of one batch, however small they are."""
_PIECES = ("-wal", "-shm")
"""Endings of the files that SQLite keeps beside a database: parts of that, never an object to read."""


class SourceObject(msgspec.Struct, frozen=True):
    """An object that may hold sessions."""

    path: str
    size: int
    """With the objects that belong to it."""
    stamp: str
    """Of the object and of those that belong to it; empty if they were written a moment ago and may be written again."""
    companions: tuple[tuple[str, int], ...] = ()
    """Path and size of the objects that belong to the same session."""
    known_hash: str = ""
    """The hash of the content when it was read last."""
    copied_calls: dict[str, tuple[int, ...]] = {}
    """Where only these sessions are to be read again, by key: numbers of the calls that count in another session."""


class Names:
    """The paths of a listing, to look up which there are."""

    def __init__(self, infos: Iterable[ObjectInfo]) -> None:
        self.infos = {each.path: each for each in infos}
        self._ordered = sorted(self.infos)

    def __contains__(self, path: object) -> bool:
        return path in self.infos

    def below(self, folder: str) -> Iterator[str]:
        """The paths below a folder, in order."""
        prefix = f"{folder}/"
        for place in range(bisect_left(self._ordered, prefix), len(self._ordered)):
            if not self._ordered[place].startswith(prefix):
                return
            yield self._ordered[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ordered)


def find_objects(infos: Iterable[ObjectInfo], now: float) -> list[SourceObject]:
    """The objects of a listing that was made at a time, by their paths."""
    names = Names(infos)
    finders = [place.companions for place in map(places_of, AGENTS) if place.companions is not None]
    found: list[SourceObject] = []
    for path in names:
        if path.endswith(_PIECES):
            continue
        beside = dict.fromkeys(f"{path}{ending}" for ending in _PIECES[:1] if f"{path}{ending}" in names)
        for find in finders:
            beside.update(dict.fromkeys(find(path, names)))
        together = [names.infos[each] for each in (path, *beside)]
        is_settled = now - max(each.changed_at for each in together) >= _UNSETTLED
        found.append(
            SourceObject(
                path,
                sum(each.size for each in together),
                "+".join(each.stamp for each in together) if is_settled else "",
                tuple((each.path, each.size) for each in together[1:]),
            )
        )
    return found


def choose_new(objects: Iterable[SourceObject], known: Mapping[str, tuple[str, str]]) -> list[SourceObject]:
    """The objects that are new or may have changed; `known` has stamp and hash by path."""
    found = []
    for each in objects:
        stamp, known_hash = known.get(each.path, ("", ""))
        if not each.stamp or each.stamp != stamp:
            found.append(msgspec.structs.replace(each, known_hash=known_hash))
    return found


def make_batches(objects: Sequence[SourceObject], size: int) -> list[list[SourceObject]]:
    """Neighbouring objects together until they have about so many bytes; the largest batches first, so that the last ones
    finish soon."""
    batches: list[list[SourceObject]] = []
    weights: list[int] = []
    for each in objects:
        if not batches or weights[-1] + each.size > size or len(batches[-1]) >= _MOST_OBJECTS:
            batches.append([])
            weights.append(0)
        batches[-1].append(each)
        weights[-1] += each.size
    return [batch for _, batch in sorted(zip(weights, batches, strict=True), key=lambda pair: -pair[0])]
