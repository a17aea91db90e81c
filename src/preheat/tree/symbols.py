"""The symbols of a file: definitions by the grammar of its language, headings of documents by their lines. Knows no index."""

import re
from typing import TYPE_CHECKING

from preheat.model.tree import Symbol, SymbolKind
from preheat.tree.languages import Grammars, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_BYTES = 400_000
"""Of a file that is parsed: the largest that people write; a parser takes about 0.1 s for it."""
MOST_SYMBOLS = 500
_LONGEST_NAME = 120
_DEEPEST = 7
"""Levels of the syntax tree below which definitions are local ones: a method of a class in a namespace is on the sixth."""
_KINDS: dict[str, SymbolKind] = {
    "class": "class", "struct": "class", "function": "function", "method": "function", "macro": "function",
    "interface": "interface", "trait": "interface", "module": "module", "namespace": "module", "package": "module",
    "type": "type", "enum": "type", "union": "type", "constant": "constant", "variable": "constant", "field": "constant",
    "property": "constant",
}  # fmt: skip
_PLAIN = bytes(byte if byte < 128 else ord("x") for byte in range(256))
"""Scanners of grammars can crash the process on letters outside ASCII (tree-sitter-bash issue 337): they are given the same
number of plain ones, and the names are read from the file as it is."""
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+])\1{2,}\s*$")


class SymbolReader:
    """Finds the symbols of files; keeps the grammars that it has loaded."""

    def __init__(self) -> None:
        self._grammars = Grammars()

    def read(self, path: str, data: bytes) -> list[Symbol]:
        """The symbols of a file in their order; none of a file without a known language, or of a very large one."""
        if len(data) > MOST_BYTES:
            return []
        language = language_of(path)
        if language in ("markdown", "rst"):
            return _read_headings(data.decode("utf-8", "replace").splitlines(), language)
        return self._parse(path, data)

    def _parse(self, path: str, data: bytes) -> list[Symbol]:
        grammar = self._grammars.find(path)
        if grammar is None:
            return []
        from tree_sitter import QueryCursor  # noqa: PLC0415 - there is a grammar, so it is installed and loaded

        tree = grammar.parser.parse(data.translate(_PLAIN))
        found: dict[int, Symbol] = {}
        cursor = QueryCursor(grammar.query, match_limit=256)
        cursor.set_max_start_depth(_DEEPEST)
        for _, captures in cursor.matches(tree.root_node):
            symbol = _read_symbol(captures, data)
            if symbol is not None and len(found) < MOST_SYMBOLS:
                found.setdefault(captures["name"][0].start_byte, symbol)
        return [found[at] for at in sorted(found)]


def _read_symbol(captures: "dict[str, list[Node]]", data: bytes) -> Symbol | None:
    names = captures.get("name")
    for kind in captures:
        if kind.startswith("definition."):
            break
    else:
        return None
    if not names:
        return None
    name = data[names[0].start_byte : names[0].end_byte].decode("utf-8", "replace")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return None
    whole = captures[kind][0]
    return Symbol(name, _KINDS.get(kind[11:], "other"), whole.start_point[0] + 1, whole.end_point[0] + 1)


def _read_headings(lines: list[str], language: str) -> list[Symbol]:
    """The headings of a document, each with the lines below it up to the next one of its level."""
    found = _markdown_headings(lines) if language == "markdown" else _rst_headings(lines)
    symbols: list[Symbol] = []
    for number, (line, level, title) in enumerate(found[:MOST_SYMBOLS]):
        last = next((other - 1 for other, its_level, _ in found[number + 1 :] if its_level <= level), len(lines))
        symbols.append(Symbol(title[:_LONGEST_NAME], "heading", line, max(line, last)))
    return symbols


def _markdown_headings(lines: list[str]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    fence = ""
    for number, line in enumerate(lines, 1):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1][:3]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)) and heading[2].isprintable():
            found.append((number, len(heading[1]), heading[2]))
    return found


def _rst_headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """Titles with a line of one mark below them; the marks give the levels in the order in which they appear."""
    found: list[tuple[int, int, str]] = []
    marks: list[str] = []
    for number in range(1, len(lines)):
        title, line = lines[number - 1].strip(), lines[number].rstrip()
        if title and len(line) >= len(title) and _UNDERLINE.match(line) and not _UNDERLINE.match(title):
            if line[0] not in marks:
                marks.append(line[0])
            if title.isprintable():
                found.append((number, marks.index(line[0]) + 1, title))
    return found
