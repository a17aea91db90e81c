"""Our items in the lists of another program's YAML settings file: planning to add or remove them while every other byte stays.

Knows no agent and writes nothing: `plans` carries the plans out. A change that is not safe is refused with the line; every
change is parsed again and checked before it is returned.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import yaml

from preheat.agents.hooks import ListEntry
from preheat.errors import UserError
from preheat.installing.ledger import digest_of, find_entry
from preheat.installing.plans import FilePlan, decode_text, read_bytes

# Parsing.
Keys = Sequence[str]


class Node(NamedTuple):
    """A value and its position in the text."""

    kind: Literal["mapping", "list", "scalar", "alias"]
    start: int
    end: int
    """The end of its last character; for an empty value the place after the colon of its key."""
    line: int
    flow: bool = False
    text: str = ""
    """The value of a scalar."""
    anchor: bool = False
    parts: tuple["Node", ...] = ()
    """Of a list its items, of a mapping its keys and values in turn."""

    @property
    def is_unwritten(self) -> bool:
        return self.kind == "scalar" and self.start == self.end

    @property
    def is_null(self) -> bool:
        """Empty, `~` or `null`."""
        return self.kind == "scalar" and self.text.lower() in ("", "~", "null")

    def pairs(self) -> list[tuple["Node", "Node"]]:
        return list(zip(self.parts[::2], self.parts[1::2], strict=True))


def parse_yaml(text: str, path: str) -> Node | None:
    """The document; None where there is nothing in it. Raises UserError with the line."""
    try:
        events: list[Any] = list(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = mark.line + 1 if mark else 1
        raise _refusal(path, line, problem.problem or "it is no YAML") from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise _refusal(path, line, "a character stands there that YAML does not allow") from None
    starts = [event for event in events if isinstance(event, yaml.DocumentStartEvent)]
    if len(starts) > 1:
        second: Any = starts[1].start_mark
        raise _refusal(path, second.line + 1, "a second document begins there; only one is understood")
    inner = [event for event in events if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent)]
    try:
        return _build(inner, 0)[0] if inner else None
    except RecursionError:
        raise _refusal(path, 1, "it is nested too deeply") from None


def _build(events: list[Any], at: int) -> tuple[Node, int]:
    event: Any = events[at]
    start, line = event.start_mark.index, event.start_mark.line + 1
    stop = event.end_mark.index
    kind: Literal["mapping", "list"] = "mapping" if isinstance(event, yaml.MappingStartEvent) else "list"
    if isinstance(event, yaml.AliasEvent):
        return Node("alias", start, stop, line), at + 1
    anchor, value = event.anchor is not None, getattr(event, "value", "")
    if isinstance(event, yaml.ScalarEvent):
        return Node("scalar", start, stop, line, text=value, anchor=anchor), at + 1
    parts: list[Node] = []
    at += 1
    while not isinstance(events[at], yaml.CollectionEndEvent):
        part, at = _build(events, at)
        parts.append(part)
    flow = bool(event.flow_style)
    # The parser puts the end of a block at the next token, behind comments that do not belong to the block.
    end = events[at].end_mark.index if flow or not parts else parts[-1].end
    return Node(kind, start, end, line, flow, anchor=anchor, parts=tuple(parts)), at + 1


def load_yaml(text: str, path: str) -> Any:
    """Load the document. Raises UserError with the line."""
    parse_yaml(text, path)
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 1
        raise _refusal(path, line, problem.problem or "it is no YAML") from None
    except (ValueError, RecursionError) as problem:  # a date that is none, for one
        raise _refusal(path, 1, str(problem)) from None


# Finding.
class KeyPath(NamedTuple):
    """How far a path of keys leads into a document."""

    node: Node
    """The value at the last key that exists."""
    depth: int
    """How many of the keys exist."""
    key: Node | None = None


def _find(root: Node, keys: Keys, path: str) -> KeyPath:
    node, key = root, None
    for depth, name in enumerate(keys):
        if node.is_null:
            return KeyPath(node, depth, key)
        label = ".".join(keys[:depth]) or "the document"
        _refuse_shared(node, label, path)
        if node.kind != "mapping":
            raise _refusal(path, node.line, f"`{label}` should hold names and values and does not")
        named = [pair for pair in node.pairs() if pair[0].text == name]
        if len(named) > 1:
            raise _refusal(
                path, named[1][0].line, f"`{name}` stands there a second time (first in line {named[0][0].line})"
            )
        if not named:
            merged = next((pair[0] for pair in node.pairs() if pair[0].text == "<<"), None)
            if merged is not None:
                raise _refusal(path, merged.line, f"`{label}` takes its values from elsewhere (`<<`)")
            return KeyPath(node, depth, key)
        key, node = named[0]
    return KeyPath(node, len(keys), key)


def _refuse_shared(node: Node, label: str, path: str) -> None:
    if node.kind == "alias" or node.anchor:
        raise _refusal(path, node.line, f"`{label}` is shared with another place (`&` and `*`)")


def _find_list(root: Node, keys: Keys, path: str) -> KeyPath:
    found = _find(root, keys, path)
    if found.depth == len(keys):
        _refuse_shared(found.node, ".".join(keys), path)
        if found.node.kind != "list" and not found.node.is_null:
            raise _refusal(path, found.node.line, f"`{'.'.join(keys)}` is no list")
    return found


def items_at(value: Any, keys: Keys) -> list[Any]:
    """The list at a path of keys in a loaded document; empty where there is none."""
    for name in keys:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def count_present_keys(value: Any, keys: Keys) -> int:
    """How many of the keys exist in a loaded document."""
    for depth, name in enumerate(keys):
        if not isinstance(value, dict) or name not in value:
            return depth
        value = value[name]
    return len(keys)


# Adding.
def add_item(text: str, path: str, keys: Keys, item: Any) -> str:
    """The text with one more item at the end of a list; missing keys and a missing list are created."""
    before = load_yaml(text, path)
    changed = _insert_item(text, path, keys, item)
    _check(changed, path, _value_with(before, keys, item), keys)
    return changed


def _value_with(value: Any, keys: Keys, item: Any) -> Any:
    if not keys:
        return [*(value or []), item]
    inner = value or {}
    return {**inner, keys[0]: _value_with(inner.get(keys[0]), keys[1:], item)}


def _insert_item(text: str, path: str, keys: Keys, item: Any) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    root = parse_yaml(text, path)
    if root is None or root.is_unwritten:
        return _end_line(text, end) + _block(keys, item, "", end)
    found = _find_list(root, keys, path)
    node, rest = found.node, keys[found.depth :]
    if node.kind == "scalar":
        return _add_to_null(text, found, keys, item, end)
    if not rest:
        if node.flow:
            return _add_to_flow(text, node, _inline(item))
        indent = _indent(text, node.start)
        return _insert_lines(text, node.end, f"{indent}- {_inline(item)}", end)
    if node.flow:
        return _add_to_flow(text, node, f"{rest[0]}: {_flow(rest[1:], item)}")
    indent = _indent(text, node.start)
    return _insert_lines(text, node.end, _block(rest, item, indent, end).rstrip("\r\n"), end)


def _add_to_null(text: str, found: KeyPath, keys: Keys, item: Any, end: str) -> str:
    """The text with the item put behind a key whose value is empty, `~` or `null`."""
    node, rest = found.node, keys[found.depth :]
    if not node.is_unwritten or found.key is None:
        return text[: node.start] + _flow(rest, item) + text[node.end :]
    indent = _indent(text, found.key.start)
    inner = _block(rest, item, indent + "  ", end) if rest else f"{indent}  - {_inline(item)}"
    return _insert_lines(text, node.end, inner.rstrip("\r\n"), end)


def _add_to_flow(text: str, node: Node, added: str) -> str:
    if not node.parts:
        return f"{text[: node.start + 1]}{added}{text[node.start + 1 :]}"
    at = node.parts[-1].end
    return f"{text[:at]}, {added}{text[at:]}"


def _block(keys: Keys, item: Any, indent: str, end: str) -> str:
    lines = [f"{indent}{'  ' * depth}{name}:" for depth, name in enumerate(keys)]
    return end.join([*lines, f"{indent}{'  ' * len(keys)}- {_inline(item)}", ""])


def _flow(keys: Keys, item: Any) -> str:
    """A list with one item, in the mappings that lead to it, within a line."""
    inner = f"[{_inline(item)}]"
    for name in reversed(keys):
        inner = f"{{{name}: {inner}}}"
    return inner


def _inline(item: Any) -> str:
    """An item within a line: a plain word as it is, everything else as JSON, which is YAML too."""
    return item if isinstance(item, str) and item.isalpha() else json.dumps(item, ensure_ascii=False)


def _insert_lines(text: str, at: int, lines: str, end: str) -> str:
    """The text with lines inserted after the line that holds a position (before it, where the position begins a line)."""
    if at and text[at - 1] == "\n":
        return f"{text[:at]}{lines}{end}{text[at:]}"
    line_end = text.find("\n", at)
    if line_end < 0:
        return f"{text}{end}{lines}{end}"
    return f"{text[: line_end + 1]}{lines}{end}{text[line_end + 1 :]}"


def _end_line(text: str, end: str) -> str:
    return text if not text or text.endswith("\n") else text + end


def _indent(text: str, at: int) -> str:
    return " " * (at - (text.rfind("\n", 0, at) + 1))


# Removing.
def remove_items(text: str, path: str, keys: Keys, ours: Callable[[Any], bool], made: int | None = None) -> str:
    """The text without our items of a list. A list that becomes empty stays as `[]`; keys from number `made` on were created for
    our items and are removed too where they hold nothing else."""
    while any(ours(item) for item in items_at(load_yaml(text, path), keys)):
        text = _remove_one(text, path, keys, ours, made)
    return text


def _remove_one(text: str, path: str, keys: Keys, ours: Callable[[Any], bool], made: int | None) -> str:
    before = load_yaml(text, path)
    listed = items_at(before, keys)
    index = next(at for at, item in enumerate(listed) if ours(item))
    root = parse_yaml(text, path)
    if root is None:
        return text
    node = _find_list(root, keys, path).node
    rest = [*listed[:index], *listed[index + 1 :]]
    if rest:
        changed, wanted = _cut_item(text, node, index), _value_replaced(before, keys, rest)
    else:
        depth = _own_depth(before, keys, made)
        changed = (
            _cut_key(text, root, keys, depth, path) if depth is not None else _empty_list(text, node, keys, root, path)
        )
        wanted = _value_replaced(before, keys, []) if depth is None else _value_without(before, keys[: depth + 1])
    _check(changed, path, wanted, keys)
    return changed


def _own_depth(value: Any, keys: Keys, made: int | None) -> int | None:
    """The number of the topmost key that was created for our items and holds nothing else."""
    if made is None:
        return None
    found = None
    for depth in reversed(range(made, len(keys))):
        holder = value
        for name in keys[: depth + 1]:
            holder = holder[name]
        if depth < len(keys) - 1 and len(holder) > 1:
            break
        found = depth
    return found


def _cut_item(text: str, node: Node, index: int) -> str:
    gone = node.parts[index]
    if node.flow:
        if index + 1 < len(node.parts):
            return text[: gone.start] + text[node.parts[index + 1].start :]
        return text[: node.parts[index - 1].end] + text[gone.end :]
    return _without_lines(text, gone.start, gone.end)


def _without_lines(text: str, start: int, end: int) -> str:
    begin = text.rfind("\n", 0, start) + 1
    finish = end if end and text[end - 1] == "\n" else text.find("\n", end) + 1
    return text[:begin] + (text[finish:] if finish > 0 else "")


def _empty_list(text: str, node: Node, keys: Keys, root: Node, path: str) -> str:
    if node.flow:
        return f"{text[: node.start]}[]{text[node.end :]}"
    key = _find(root, keys, path).key
    at = text.index(":", key.end) + 1 if key is not None else node.start
    return f"{text[:at]} []{_without_lines(text[at:], node.start - at, node.end - at)}"


def _cut_key(text: str, root: Node, keys: Keys, depth: int, path: str) -> str:
    holder = _find(root, keys[:depth], path).node
    found = _find(root, keys[: depth + 1], path)
    key, value = found.key, found.node
    if key is None:
        return text
    if not holder.flow:
        return _without_lines(text, key.start, value.end)
    index = next(at for at, pair in enumerate(holder.pairs()) if pair[0] is key or pair[0].start == key.start)
    pairs = holder.pairs()
    if index + 1 < len(pairs):
        return text[: key.start] + text[pairs[index + 1][0].start :]
    if index:
        return text[: pairs[index - 1][1].end] + text[value.end :]
    return text[: key.start] + text[value.end :]


def _value_replaced(value: Any, keys: Keys, rest: list[Any]) -> Any:
    return {**value, keys[0]: _value_replaced(value[keys[0]], keys[1:], rest)} if keys else rest


def _value_without(value: Any, keys: Keys) -> Any:
    if len(keys) == 1:
        return {name: inner for name, inner in value.items() if name != keys[0]}
    return {**value, keys[0]: _value_without(value[keys[0]], keys[1:])}


# Checking.
def _check(text: str, path: str, wanted: Any, keys: Keys) -> None:
    """Raise UserError if the changed text does not load as the wanted value: the person must change such a file."""
    try:
        loaded = load_yaml(text, path)
    except UserError:
        loaded = ...
    if not _same(loaded, wanted):
        raise UserError(
            f"`{path}` is written in a way that `{'.'.join(keys)}` cannot be changed in for certain; nothing was changed. "
            "Change it by hand, then run this again"
        )


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; all ways to write an empty value are equal, and so are two NaN."""
    if not one and not other and one is not ... and one not in (0, "") and other not in (0, ""):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and (one == other or repr(one) == repr(other))


def _refusal(path: str, line: int, why: str) -> UserError:
    return UserError(f"`{path}`, line {line}: {why}; repair it first, nothing was changed")


# Planning.
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
