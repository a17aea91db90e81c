"""Our hooks in the text of a JSON settings file: adding and removing them.

Knows no agent and no files: text in, text out. Everything of others stays, to the byte.
"""

from collections.abc import Callable, Mapping
from typing import Any

from preheat.agents.hooking import agent_of_hook
from preheat.errors import UserError
from preheat.installing.jsonc import Malformed, Member, Node, append_member, line_of, parse, remove_member

HOOKS = "hooks"


def parse_settings(text: str, path: str) -> Node:
    """Parse the settings. Raises UserError with the line where they are malformed."""
    try:
        node = parse(text)
    except Malformed as problem:
        raise UserError(f"`{path}`, line {problem.line}: {problem}; repair it first, nothing was changed") from None
    if node.kind != "object":
        raise UserError(f"`{path}` holds no object; nothing was changed")
    return node


def add_hooks(text: str, path: str, entries: Mapping[str, list[dict[str, Any]]], beside: Mapping[str, Any]) -> str:
    """The settings with our entries at the ends of the lists, because some programs refer to other entries by position."""
    if not text.strip("\ufeff \t\r\n"):
        return _fresh(entries, beside)
    for name, value in beside.items():
        if parse_settings(text, path).member(name) is None:
            text = append_member(text, parse_settings(text, path), name, value)
    if parse_settings(text, path).member(HOOKS) is None:
        return append_member(text, parse_settings(text, path), HOOKS, dict(entries))
    for event, groups in entries.items():
        hooks = _hooks(text, path)
        if hooks.member(event) is None:
            text = append_member(text, hooks, event, groups)
            continue
        for group in groups:
            text = append_member(text, _list(text, path, event), "", group)
    return text


def _fresh(entries: Mapping[str, list[dict[str, Any]]], beside: Mapping[str, Any]) -> str:
    text = "{\n}\n"
    for name, value in (*beside.items(), (HOOKS, dict(entries))):
        text = append_member(text, parse(text), name, value)
    return text


def _hooks(text: str, path: str) -> Node:
    found = parse_settings(text, path).member(HOOKS)
    if found is None or found.node.kind != "object":
        line = line_of(text, found.start) if found else 1
        raise UserError(f"`{path}`, line {line}: `hooks` is no object; repair it first, nothing was changed")
    return found.node


def _list(text: str, path: str, event: str) -> Node:
    found = _hooks(text, path).member(event)
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
