"""Our items in the lists of another program's YAML settings file: planning to add or remove them.

Knows no agent and writes nothing: `plans` carries the plans out.
"""

from collections.abc import Sequence
from typing import Any

from preheat.agents.ways import ListEntry
from preheat.installing.ledger import digest_of, find_entry
from preheat.installing.plans import FilePlan, decode_text, read_bytes
from preheat.installing.yamltext import add_item, count_present_keys, items_at, load_yaml, remove_items


def load_yaml_settings(path: str) -> dict[str, Any]:
    """The contents of a YAML settings file; empty where there is none. Raises UserError with the line where it is malformed."""
    found = load_yaml(decode_text(read_bytes(path), path), path)
    return found if isinstance(found, dict) else {}


def holds_our_item(item: ListEntry, settings: dict[str, Any]) -> bool:
    """Whether our item is in its list."""
    return any(item.is_ours(each) for each in items_at(settings, item.keys))


def find_forbidding_list(item: ListEntry, settings: dict[str, Any]) -> str:
    """The dotted name of a list that forbids the item; empty where none does."""
    for keys in item.forbidding_lists:
        if any(item.is_ours(each) for each in items_at(settings, keys)):
            return ".".join(keys)
    return ""


def plan_items(
    agent: str, path: str, wanted: Sequence[ListEntry], others: Sequence[ListEntry], folder: str
) -> FilePlan:
    """Plan a file that holds exactly the wanted items of ours. Raises UserError."""
    before = read_bytes(path)
    text = decode_text(before, path)
    events = tuple(item.keys[-1] for item in wanted if isinstance(item.value, dict))
    settings = load_yaml_settings(path)
    is_complete = all(_is_installed(item, settings) and not find_forbidding_list(item, settings) for item in wanted)
    if is_complete and not any(holds_our_item(item, settings) for item in others):
        return FilePlan(agent, path, "nothing", before, before, installs=True, events=events)
    known = find_entry(folder, path)
    was = _text_before_us(path, before, folder)
    base = _without_ours(text, path, [*wanted, *others], dict(known.keys) if known else {}) if was is None else was
    after, keys = base, {}
    for item in wanted:
        for forbids in item.forbidding_lists:
            after = remove_items(after, path, forbids, item.is_ours)
        keys[".".join(item.keys)] = count_present_keys(load_yaml(after, path), item.keys)
        after = add_item(after, path, item.keys, item.value)
    return FilePlan(
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
    known = find_entry(folder, path)
    if known is None or before is None or digest_of(before) != known.after:
        return None
    if not known.existed:
        return ""
    was = read_bytes(known.backup) if known.backup else None
    return decode_text(was, path) if was is not None else None


def _is_installed(item: ListEntry, settings: dict[str, Any]) -> bool:
    ours = [each for each in items_at(settings, item.keys) if item.is_ours(each)]
    return ours == [item.value]


def _without_ours(text: str, path: str, our_items: Sequence[ListEntry], keys: dict[str, int]) -> str:
    for item in our_items:
        made = keys.get(".".join(item.keys))
        text = remove_items(text, path, item.keys, item.is_ours, made)
    return text


def plan_item_removal(agent: str, path: str, our_items: Sequence[ListEntry], folder: str) -> FilePlan | None:
    """Plan removing all our items from a file; None where it holds none. Raises UserError."""
    before = read_bytes(path)
    if before is None:
        return None
    known = find_entry(folder, path)
    was = _text_before_us(path, before, folder)
    if was is not None and known is not None:
        return (
            FilePlan(agent, path, "restore", before, was.encode())
            if known.existed
            else FilePlan(agent, path, "delete", before, None)
        )
    text, settings = decode_text(before, path), load_yaml_settings(path)
    if not any(holds_our_item(item, settings) for item in our_items):
        return None
    rest = _without_ours(text, path, our_items, dict(known.keys) if known else {})
    if known is not None and not known.existed and not load_yaml(rest, path) and "#" not in rest:
        return FilePlan(agent, path, "delete", before, None)
    return FilePlan(agent, path, "change", before, rest.encode())
