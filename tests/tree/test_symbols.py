"""Definitions and headings are found with their lines, in every language with a grammar."""

import pytest

from preheat.tree.languages import LANGUAGES, Grammars, language_of
from preheat.tree.symbols import MOST_BYTES, MOST_SYMBOLS, SymbolReader

EXAMPLES = {
    "a.py": ("class Cart:\n    def add(self):\n        pass\n", {("Cart", 1, 3), ("add", 2, 3)}),
    "a.js": ("class Cart {\n  add() {\n  }\n}\n", {("Cart", 1, 4), ("add", 2, 3)}),
    "a.ts": (
        "export interface Cart {\n  size: number;\n}\nexport function add(a: number) {\n}\n",
        {("Cart", 1, 3), ("add", 4, 5)},
    ),
    "a.tsx": ("export function Cart() {\n  return <b/>;\n}\n", {("Cart", 1, 3)}),
    "a.go": ("package x\ntype Cart struct {\n}\nfunc (c *Cart) Add() {\n}\n", {("Cart", 2, 3), ("Add", 4, 5)}),
    "a.rs": ("pub struct Cart {\n}\nimpl Cart {\n    pub fn add(&self) {\n    }\n}\n", {("Cart", 1, 2), ("add", 4, 5)}),
    "a.java": ("class Cart {\n  void add() {\n  }\n}\n", {("Cart", 1, 4), ("add", 2, 3)}),
    "a.c": ("struct Cart {\n  int size;\n};\nint add(int a) {\n  return a;\n}\n", {("Cart", 1, 3)}),
    "a.cpp": ("class Cart {\n  void add() {\n  }\n};\n", {("Cart", 1, 4)}),
    "a.cs": ("class Cart {\n  void Add() {\n  }\n}\n", {("Cart", 1, 4), ("Add", 2, 3)}),
    "a.rb": ("class Cart\n  def add\n  end\nend\n", {("Cart", 1, 4), ("add", 2, 3)}),
    "a.php": ("<?php\nclass Cart {\n  function add() {\n  }\n}\n", {("Cart", 2, 5), ("add", 3, 4)}),
    "a.sh": ("add() {\n  echo\n}\n", {("add", 1, 3)}),
    "a.md": (
        "# Cart\n\n```\n# no heading\n```\n\n## Adding ##\n\ntext\n# Next\n",
        {("Cart", 1, 9), ("Adding", 7, 9), ("Next", 10, 10)},
    ),
    "a.rst": ("Cart\n====\n\nAdding\n------\ntext\n", {("Cart", 1, 6), ("Adding", 4, 6)}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_symbols_are_found_with_their_lines(name: str) -> None:
    text, expected = EXAMPLES[name]
    found = {(symbol.name, symbol.first_line, symbol.last_line) for symbol in SymbolReader().read(name, text.encode())}
    assert expected <= found


def test_every_language_has_an_example_and_an_installed_grammar() -> None:
    grammars = Grammars()
    assert {language_of(name) for name in EXAMPLES} >= {language.name for language in LANGUAGES}
    assert all(grammars.find(f"x.{ending}") is not None for language in LANGUAGES for ending in language.endings)


def test_without_its_grammar_a_file_has_no_symbols_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tree_sitter_python", None)
    assert SymbolReader().read("a.py", b"def f(): pass\n") == []


def test_letters_outside_ascii_are_kept_in_names_and_crash_no_parser() -> None:
    text = "def größe(wert):\n    return 'é' * 3\n\nclass 車:\n    pass\n"
    assert [symbol.name for symbol in SymbolReader().read("a.py", text.encode())] == ["größe", "車"]
    assert SymbolReader().read("a.sh", "größe() { echo é; }\n".encode())


@pytest.mark.parametrize("data", [b"\xff\xfe\0\0", b"def (((((\n" * 500, b"{" * 20_000, b"", b"\0" * 100])
@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_no_code_fails_nothing(name: str, data: bytes) -> None:
    assert isinstance(SymbolReader().read(name, data), list)


def test_the_symbols_of_a_file_and_its_size_are_bounded() -> None:
    many = "".join(f"def f{number}(): pass\n" for number in range(2 * MOST_SYMBOLS)).encode()
    assert len(SymbolReader().read("a.py", many)) == MOST_SYMBOLS
    assert SymbolReader().read("a.py", b"def f(): pass\n" + b"#" * MOST_BYTES) == []
