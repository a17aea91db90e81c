"""Items in the lists of a settings file in YAML that is somebody else's: what putting ours in or taking them out would do to it.

Knows no agent. Only plans; `plans` carries them out, as for every other settings file.
"""

from collections.abc import Sequence
from typing import Any

from preheat.agents.ways import Item
from preheat.installing.ledger import digest, entry
from preheat.installing.plans import Plan, contents, text_of
from preheat.installing.yamltext import first_missing, items, value_of, with_item, without_items


def settings_of(path: str) -> dict[str, Any]:
    """What a settings file says; empty where there is none. Raises UserError with the line where it is malformed."""
    found = value_of(text_of(contents(path), path), path)
    return found if isinstance(found, dict) else {}


def holds(item: Item, settings: dict[str, Any]) -> bool:
    """Whether ours is in its list."""
    return any(item.ours(each) for each in items(settings, item.keys))


def forbidden(item: Item, settings: dict[str, Any]) -> str:
    """A list that forbids it, by its keys; empty where none does."""
    for keys in item.not_in:
        if any(item.ours(each) for each in items(settings, keys)):
            return ".".join(keys)
    return ""


def placing(agent: str, path: str, wanted: Sequence[Item], others: Sequence[Item], folder: str) -> Plan:
    """What having exactly the wanted ones of ours in a file would do. Raises UserError."""
    before = contents(path)
    text = text_of(before, path)
    events = tuple(item.keys[-1] for item in wanted if isinstance(item.item, dict))
    settings = settings_of(path)
    fine = all(_exactly(item, settings) and not forbidden(item, settings) for item in wanted)
    if fine and not any(holds(item, settings) for item in others):
        return Plan(agent, path, "nothing", before, before, installs=True, events=events)
    known = entry(folder, path)
    was = _before_us(path, before, folder)
    base = _without(text, path, [*wanted, *others], dict(known.keys) if known else {}) if was is None else was
    after, keys = base, {}
    for item in wanted:
        for forbids in item.not_in:
            after = without_items(after, path, forbids, item.ours)
        keys[".".join(item.keys)] = first_missing(value_of(after, path), item.keys)
        after = with_item(after, path, item.keys, item.item)
    return Plan(
        agent,
        path,
        "create" if before is None else "change",
        before,
        after.encode(),
        installs=True,
        events=events,
        clean=base == text,
        keys=keys,
    )


def _before_us(path: str, before: bytes | None, folder: str) -> str | None:
    """The file as it was before us, where nobody has changed it since and we still have it."""
    known = entry(folder, path)
    if known is None or before is None or digest(before) != known.after:
        return None
    if not known.existed:
        return ""
    was = contents(known.backup) if known.backup else None
    return text_of(was, path) if was is not None else None


def _exactly(item: Item, settings: dict[str, Any]) -> bool:
    ours = [each for each in items(settings, item.keys) if item.ours(each)]
    return ours == [item.item]


def _without(text: str, path: str, all_of_them: Sequence[Item], keys: dict[str, int]) -> str:
    for item in all_of_them:
        made = keys.get(".".join(item.keys))
        text = without_items(text, path, item.keys, item.ours, made)
    return text


def removal(agent: str, path: str, all_of_them: Sequence[Item], folder: str) -> Plan | None:
    """What taking all of ours out of a file would do; None where nothing of ours is in it. Raises UserError."""
    before = contents(path)
    if before is None:
        return None
    known = entry(folder, path)
    was = _before_us(path, before, folder)
    if was is not None and known is not None:
        return (
            Plan(agent, path, "restore", before, was.encode())
            if known.existed
            else Plan(agent, path, "delete", before, None)
        )
    text, settings = text_of(before, path), settings_of(path)
    if not any(holds(item, settings) for item in all_of_them):
        return None
    rest = _without(text, path, all_of_them, dict(known.keys) if known else {})
    if known is not None and not known.existed and not value_of(rest, path) and "#" not in rest:
        return Plan(agent, path, "delete", before, None)
    return Plan(agent, path, "change", before, rest.encode())
