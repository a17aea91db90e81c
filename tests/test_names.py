"""Names of functions and modules are plain English: a function is a verb or the noun that it returns, never a bare participle."""

import ast
import os
import re
from collections.abc import Iterator

import pytest

import preheat

SOURCE = os.path.dirname(preheat.__file__)
IRREGULAR = frozenset(
    (
        "told", "said", "shown", "given", "owed", "kept", "seen", "drawn", "held", "went", "found", "made", "known", "meant",
        "spoken", "left", "begun", "taken", "written", "lost", "sent", "brought", "thought", "caught", "taught", "felt", "dealt",
        "understood", "stood", "spent", "built", "chosen", "grown", "hidden", "bound",
    )
)  # fmt: skip
VERBS = frozenset(("feed", "need", "speed", "embed", "put", "bind", "_sed", "seed"))
"""Words that look like participles and are verbs or nouns; `_sed` is the program."""
METAPHORS = frozenset(
    ("lots", "standing", "instead", "moments", "glance", "hooking", "proving", "owed", "warming", "seen")
)
"""Names that modules had and that nobody could guess the content from."""


def functions() -> Iterator[tuple[str, str]]:
    for path in modules():
        with open(path, encoding="utf-8") as stream:
            tree = ast.parse(stream.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_property(node):
                yield os.path.relpath(path, SOURCE), node.name


def _is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(each) for each in function.decorator_list)


def modules() -> list[str]:
    return [
        os.path.join(folder, name) for folder, _, names in os.walk(SOURCE) for name in names if name.endswith(".py")
    ]


def is_participle(name: str) -> bool:
    word = name.strip("_")
    return (
        name not in VERBS and word not in VERBS and (word in IRREGULAR or re.fullmatch(r"[a-z]+ed", word) is not None)
    )


@pytest.mark.parametrize(
    ("name", "expected"), [("told", True), ("_quoted", True), ("feed", False), ("find_named", False)]
)
def test_a_participle_is_recognised(name: str, expected: bool) -> None:
    assert is_participle(name) is expected


def test_no_function_is_named_by_a_participle() -> None:
    assert [f"{path}: {name}" for path, name in functions() if is_participle(name)] == []


def test_no_module_is_named_by_a_metaphor() -> None:
    names = {os.path.basename(path).removesuffix(".py") for path in modules()}
    assert names & METAPHORS == set()
