"""Python scripts that hold calls: an agent's tool that runs Python in which the model calls its other tools as functions.

Runs nothing. Knows no agent: which functions are tools, and how their parameters are called, comes from whoever reads one. What
such a script prints is one text, so that of several calls it cannot be told which result belongs to which.
"""

import ast
import warnings
from collections.abc import Mapping
from typing import Any

from preheat.agents.javascript import HOLE, UNKNOWN
from preheat.agents.scripts import Script, ScriptCall

_LONGEST = 200_000
_MOST_CALLS = 50
_CONTAINERS = (ast.List, ast.Tuple, ast.Dict)
_STATED = (ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.BinOp, *_CONTAINERS)


def read_python_script(text: str, tools: Mapping[str, tuple[str, ...]]) -> Script:
    """The calls of a script to `tools`, which have these parameters; never raises."""
    if len(text) > _LONGEST or not any(f"{tool}(" in text for tool in tools):
        return Script((), ())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a stranger's script
            tree = ast.parse(text)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _tool_of(node) in tools]
        found.sort(key=lambda node: (node.lineno, node.col_offset))
        values = _bound_values(tree)
        calls = tuple(_read_call(node, tools[_tool_of(node)], values) for node in found[:_MOST_CALLS])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Script((), ())
    return Script(calls, (0,) if len(calls) == 1 else None)


def _tool_of(call: ast.Call) -> str:
    function = call.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _bound_values(tree: ast.Module) -> dict[str, Any]:
    """The values of names that are bound once, to a literal."""
    stores: dict[str, int] = {}
    for node in ast.walk(tree):
        bound = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
        bound = node.arg if isinstance(node, ast.arg) else bound
        stores[bound] = stores.get(bound, 0) + 1
    values: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and stores[target.id] == 1:
                values[target.id] = _value_of(statement.value, values)
    return values


def _read_call(call: ast.Call, parameters: tuple[str, ...], values: dict[str, Any]) -> ScriptCall:
    named = [*zip(parameters, call.args, strict=False), *((each.arg or "", each.value) for each in call.keywords)]
    found = {name: _value_of(node, values) for name, node in named}
    known = {name: value for name, value in found.items() if name and value is not UNKNOWN}
    return ScriptCall(_tool_of(call), known, all(_is_stated(node, values) for _, node in named))


def _is_stated(node: ast.expr, values: dict[str, Any]) -> bool:
    """Whether the text states every part of a value."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr)]
    return all(
        isinstance(part, _STATED) or (isinstance(part, ast.Name) and values.get(part.id, UNKNOWN) is not UNKNOWN)
        for part in parts
    )


def _value_of(node: ast.expr, values: dict[str, Any]) -> Any:
    """The value that a text states; a computed part of a text is a hole."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, bytes | complex) and node.value is not ...:
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id, UNKNOWN)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part, values) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_value_of(side, values) for side in (node.left, node.right)]
        if any(isinstance(side, str) for side in sides):
            return "".join(side if isinstance(side, str) else f"${{{HOLE}}}" for side in sides)
    if isinstance(node, _CONTAINERS):
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            return UNKNOWN
    return UNKNOWN


def _text_of(part: ast.expr, values: dict[str, Any]) -> str:
    inner = part.value if isinstance(part, ast.FormattedValue) else part
    value = _value_of(inner, values)
    if isinstance(value, str | int | float):
        return str(value)
    return f"${{{inner.id if isinstance(inner, ast.Name) else HOLE}}}"
