"""Our items in the lists of another program's YAML settings file: planning to add or remove them.

Knows no agent and writes nothing: `plans` carries the plans out.
"""

from collections.abc import Sequence
from typing import Any

from preheat.agents.ways import Item
from preheat.installing.ledger import digest, entry
from preheat.installing.plans import Plan, contents, text_of
from preheat.installing.yamltext import first_missing, items, value_of, with_item, without_items


def load_yaml_settings(path: str) -> dict[str, Any]:
    """The contents of a YAML settings file; empty where there is none. Raises UserError with the line where it is malformed."""
    found = value_of(text_of(contents(path), path), path)
    return found if isinstance(found, dict) else {}


def holds_our_item(item: Item, settings: dict[str, Any]) -> bool:
    """Whether our item is in its list."""
    return any(item.ours(each) for each in items(settings, item.keys))


def find_forbidding_list(item: Item, settings: dict[str, Any]) -> str:
    """The dotted name of a list that forbids the item; empty where none does."""
    for keys in item.not_in:
        if any(item.ours(each) for each in items(settings, keys)):
            return ".".join(keys)
    return ""


def plan_items(agent: str, path: str, wanted: Sequence[Item], others: Sequence[Item], folder: str) -> Plan:
    """Plan a file that holds exactly the wanted items of ours. Raises UserError."""
    before = contents(path)
    text = text_of(before, path)
    events = tuple(item.keys[-1] for item in wanted if isinstance(item.item, dict))
    settings = load_yaml_settings(path)
    is_complete = all(_is_installed(item, settings) and not find_forbidding_list(item, settings) for item in wanted)
    if is_complete and not any(holds_our_item(item, settings) for item in others):
        return Plan(agent, path, "nothing", before, before, installs=True, events=events)
    known = entry(folder, path)
    was = _text_before_us(path, before, folder)
    base = _without_ours(text, path, [*wanted, *others], dict(known.keys) if known else {}) if was is None else was
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


def _text_before_us(path: str, before: bytes | None, folder: str) -> str | None:
    """The file's text from before we installed, if nobody has changed the file since and the backup is left."""
    known = entry(folder, path)
    if known is None or before is None or digest(before) != known.after:
        return None
    if not known.existed:
        return ""
    was = contents(known.backup) if known.backup else None
    return text_of(was, path) if was is not None else None


def _is_installed(item: Item, settings: dict[str, Any]) -> bool:
    ours = [each for each in items(settings, item.keys) if item.ours(each)]
    return ours == [item.item]


def _without_ours(text: str, path: str, our_items: Sequence[Item], keys: dict[str, int]) -> str:
    for item in our_items:
        made = keys.get(".".join(item.keys))
        text = without_items(text, path, item.keys, item.ours, made)
    return text


def plan_item_removal(agent: str, path: str, our_items: Sequence[Item], folder: str) -> Plan | None:
    """Plan removing all our items from a file; None where it holds none. Raises UserError."""
    before = contents(path)
    if before is None:
        return None
    known = entry(folder, path)
    was = _text_before_us(path, before, folder)
    if was is not None and known is not None:
        return (
            Plan(agent, path, "restore", before, was.encode())
            if known.existed
            else Plan(agent, path, "delete", before, None)
        )
    text, settings = text_of(before, path), load_yaml_settings(path)
    if not any(holds_our_item(item, settings) for item in our_items):
        return None
    rest = _without_ours(text, path, our_items, dict(known.keys) if known else {})
    if known is not None and not known.existed and not value_of(rest, path) and "#" not in rest:
        return Plan(agent, path, "delete", before, None)
    return Plan(agent, path, "change", before, rest.encode())
