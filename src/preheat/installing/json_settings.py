"""Our hooks in the text of a JSON settings file, with or without comments: adding and removing them.

Knows no agent and no files: text in, text out. Everything of others stays, to the byte.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from preheat.agents.hooks import agent_of_hook
from preheat.errors import UserError

# Parsing JSON with comments.
_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_DEEPEST = 200


class Malformed(ValueError):  # noqa: N818 - reads as a sentence where it is raised
    """The text is no JSON; `line` says where."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.line = line


class Node(NamedTuple):
    """A value and its position in the text."""

    kind: Literal["object", "array", "plain"]
    start: int
    end: int
    value: Any
    members: tuple["Member", ...] = ()
    """Of an object its members; of an array its items, without names."""

    def member(self, name: str) -> "Member | None":
        """The last member of that name: it is the one that counts."""
        return next((member for member in reversed(self.members) if member.name == name), None)


class Member(NamedTuple):
    """A member of an object or an item of an array, with its name."""

    name: str
    start: int
    node: Node


def parse(text: str) -> Node:
    """The document. Raises Malformed."""
    at = _skip_blank(text, 0)
    node = _parse_value(text, at, 0)
    end = _skip_blank(text, node.end)
    if end != len(text):
        raise Malformed("something follows the end of the document", line_of(text, end))
    return node


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _skip_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _parse_value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise Malformed("it is nested too deeply", line_of(text, at))
    opening = text[at : at + 1]
    if opening in ("{", "["):
        return _parse_container(text, at, depth)
    found = _STRING.match(text, at) or _WORD.match(text, at)
    if not found:
        raise Malformed(f"`{opening or 'the end'}` stands where a value should", line_of(text, at))
    return Node("plain", at, found.end(), _decode_plain(text, found))


def _decode_plain(text: str, found: "re.Match[str]") -> Any:
    try:
        return json.loads(found[0])
    except ValueError:
        raise Malformed(f"`{found[0][:40]}` is no value", line_of(text, found.start())) from None


def _parse_container(text: str, begin: int, depth: int) -> Node:
    is_object = text[begin] == "{"
    closing = "}" if is_object else "]"
    members: list[Member] = []
    at = _skip_blank(text, begin + 1)
    while text[at : at + 1] != closing:
        member = _parse_member(text, at, depth) if is_object else _parse_item(text, at, depth)
        members.append(member)
        at = _skip_blank(text, member.node.end)
        if text[at : at + 1] == ",":
            at = _skip_blank(text, at + 1)
        elif text[at : at + 1] != closing:
            what = "the document ends" if at >= len(text) else f"`{text[at]}` stands"
            raise Malformed(f"{what} where a comma or `{closing}` should be", line_of(text, at))
    value = {each.name: each.node.value for each in members} if is_object else [each.node.value for each in members]
    return Node("object" if is_object else "array", begin, at + 1, value, tuple(members))


def _parse_member(text: str, at: int, depth: int) -> Member:
    found = _STRING.match(text, at)
    colon = _skip_blank(text, found.end()) if found else at
    if not found or text[colon : colon + 1] != ":":
        what = "the document ends" if at >= len(text) else f"`{text[at : at + 20].splitlines()[0]}` stands"
        raise Malformed(f'{what} where `"name":` should be', line_of(text, at))
    return Member(str(_decode_plain(text, found)), at, _parse_value(text, _skip_blank(text, colon + 1), depth + 1))


def _parse_item(text: str, at: int, depth: int) -> Member:
    return Member("", at, _parse_value(text, at, depth + 1))


# Changing the text.
def append_member(text: str, container: Node, name: str, value: Any) -> str:
    """The text with one more member (or item, where the name is empty) at the end of a container, laid out like the rest."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    before = container.members[-1] if container.members else None
    label = f"{json.dumps(name, ensure_ascii=False)}: " if name else ""
    if before is not None and "\n" not in text[container.start : before.start]:
        cut = before.node.end
        return f"{text[:cut]}, {label}{_dump(value)}{text[cut:]}"
    outer = _indent(text, container.start)
    inner = _indent(text, before.start) if before is not None else outer + unit
    body = _dump(value, unit).replace("\n", line_end + inner)
    added = f"{line_end}{inner}{label}{body}"
    if before is None:
        # Comments between the brackets stay, before the new member.
        kept = text[container.start + 1 : container.end - 1].rstrip()
        return f"{text[: container.start + 1]}{kept}{added}{line_end}{outer}{text[container.end - 1 :]}"
    # Comments after the last member stay with it; a trailing comma is used for the new one.
    cut = before.node.end
    rest = text[cut : container.end - 1]
    comma = _skip_blank(text, cut)
    kept = ("" if text[comma : comma + 1] == "," else ",") + rest.rstrip()
    return f"{text[:cut]}{kept}{added}{rest[len(rest.rstrip()) :]}{text[container.end - 1 :]}"


def remove_member(text: str, container: Node, index: int) -> str:
    """The text without one member or item of a container."""
    members = container.members
    gone = members[index]
    if index + 1 < len(members):
        return text[: gone.start] + text[members[index + 1].start :]
    after = _skip_blank(text, gone.node.end)
    end = after + 1 if text[after : after + 1] == "," else gone.node.end
    if index > 0:
        before = members[index - 1].node.end
        between = text[before : gone.start]
        comma = _skip_blank(text, before) - before
        return text[:before] + (between[:comma] + between[comma + 1 :]).rstrip() + text[end:]
    return text[: gone.start].rstrip() + text[end:].lstrip()


def _dump(value: Any, unit: str | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit)


def _indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line that holds a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


# Our hooks.
HOOKS = "hooks"


def parse_settings(text: str, path: str) -> Node:
    """Parse the settings; an empty file has none. Raises UserError with the line where they are malformed."""
    if _is_empty(text):
        return Node("object", 0, len(text), {})
    try:
        node = parse(text)
    except Malformed as problem:
        raise UserError(f"`{path}`, line {problem.line}: {problem}; repair it first, nothing was changed") from None
    if node.kind != "object":
        raise UserError(f"`{path}` holds no object; nothing was changed")
    return node


def _is_empty(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


def add_hooks(text: str, path: str, entries: Mapping[str, list[dict[str, Any]]], beside: Mapping[str, Any]) -> str:
    """The settings with our entries at the ends of the lists, because some programs refer to other entries by position."""
    if _is_empty(text):
        return _new_settings(entries, beside)
    for name, value in beside.items():
        if parse_settings(text, path).member(name) is None:
            text = append_member(text, parse_settings(text, path), name, value)
    if parse_settings(text, path).member(HOOKS) is None:
        return append_member(text, parse_settings(text, path), HOOKS, dict(entries))
    for event, groups in entries.items():
        hooks = _hooks_node(text, path)
        if hooks.member(event) is None:
            text = append_member(text, hooks, event, groups)
            continue
        for group in groups:
            text = append_member(text, _list_node(text, path, event), "", group)
    return text


def _new_settings(entries: Mapping[str, list[dict[str, Any]]], beside: Mapping[str, Any]) -> str:
    text = "{\n}\n"
    for name, value in (*beside.items(), (HOOKS, dict(entries))):
        text = append_member(text, parse(text), name, value)
    return text


def _hooks_node(text: str, path: str) -> Node:
    found = parse_settings(text, path).member(HOOKS)
    if found is None or found.node.kind != "object":
        line = line_of(text, found.start) if found else 1
        raise UserError(f"`{path}`, line {line}: `hooks` is no object; repair it first, nothing was changed")
    return found.node


def _list_node(text: str, path: str, event: str) -> Node:
    found = _hooks_node(text, path).member(event)
    if found is None or found.node.kind != "array":
        line = line_of(text, found.start) if found else 1
        raise UserError(f"`{path}`, line {line}: `hooks.{event}` is no list; repair it first, nothing was changed")
    return found.node


def remove_hooks(text: str, path: str, agent: str) -> str:
    """The settings without our hooks for an agent; lists and groups that held nothing else go with them."""
    while (shorter := _remove_one(text, path, agent)) is not None:
        text = shorter
    return text


def _remove_one(text: str, path: str, agent: str) -> str | None:
    whole = parse_settings(text, path)
    at = _index(whole, lambda member: member.name == HOOKS and _holds(member.node, agent))
    if at is None:
        return None
    chain = [(whole, at)]
    while True:
        node, index = chain[-1]
        inner = node.members[index].node
        if agent_of_hook(inner.value) == agent:
            break
        found = _index(inner, lambda member: _holds(member.node, agent))
        if found is None:
            return None
        chain.append((inner, found))
    # Remove the containers above too, as long as they hold nothing else: a group's matcher goes with its last hook.
    while len(chain) > 1 and _empty_without(chain[-1], chain[-2]):
        chain.pop()
    return remove_member(text, *chain[-1])


def _empty_without(inner: tuple[Node, int], outer: tuple[Node, int]) -> bool:
    node, _ = inner
    if len(node.members) == 1:
        return True
    # A group is an object with a list `hooks`; its other members only say when that list applies.
    container, _ = outer
    return node.kind == "object" and container.kind == "array" and node.member(HOOKS) is not None


def _index(node: Node, wanted: Callable[[Member], bool]) -> int | None:
    return next((at for at in reversed(range(len(node.members))) if wanted(node.members[at])), None)


def _holds(node: Node, agent: str) -> bool:
    return agent_of_hook(node.value) == agent or any(_holds(member.node, agent) for member in node.members)


def hooked_events(value: Any, agent: str) -> tuple[str, ...]:
    """The events for which settings call us."""
    hooks = value.get(HOOKS) if isinstance(value, dict) else None
    if not isinstance(hooks, dict):
        return ()
    return tuple(event for event, listed in hooks.items() if _mentions(listed, agent))


def _mentions(value: Any, agent: str) -> bool:
    if isinstance(value, list):
        return any(_mentions(each, agent) for each in value)
    return isinstance(value, dict) and (agent_of_hook(value) == agent or _mentions(value.get(HOOKS), agent))
