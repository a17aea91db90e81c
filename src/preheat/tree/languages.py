"""The languages whose symbols are known: endings, the package with the grammar, and the query that names definitions.

The packages are the official ones of each language and work offline. A package that is not installed costs its symbols only.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

_BASH_TAGS = "(function_definition name: (word) @name) @definition.function"
_C_SHARP_TAGS = "\n".join(
    f"({node} name: (identifier) @name) @definition.{kind}"
    for node, kind in (
        ("class_declaration", "class"), ("record_declaration", "class"), ("struct_declaration", "class"),
        ("interface_declaration", "interface"), ("enum_declaration", "type"), ("delegate_declaration", "type"),
        ("method_declaration", "method"), ("constructor_declaration", "method"), ("property_declaration", "constant"),
    )
)  # fmt: skip


class Language(NamedTuple):
    """A language with a grammar."""

    name: str
    endings: tuple[str, ...]
    package: str
    function: str = "language"
    """The function of the package that gives the grammar."""
    tags_of: tuple[str, ...] = ()
    """The packages whose tags queries are used; none: the package's own."""
    tags: str = ""
    """A query for a package that brings none."""


LANGUAGES = (
    Language("python", ("py", "pyi"), "tree_sitter_python"),
    Language("javascript", ("js", "jsx", "mjs", "cjs"), "tree_sitter_javascript"),
    Language("typescript", ("ts", "mts", "cts"), "tree_sitter_typescript", "language_typescript",
             ("tree_sitter_javascript", "tree_sitter_typescript")),
    Language("tsx", ("tsx",), "tree_sitter_typescript", "language_tsx",
             ("tree_sitter_javascript", "tree_sitter_typescript")),
    Language("go", ("go",), "tree_sitter_go"),
    Language("rust", ("rs",), "tree_sitter_rust"),
    Language("java", ("java",), "tree_sitter_java"),
    Language("c", ("c", "h"), "tree_sitter_c"),
    Language("cpp", ("cc", "cpp", "cxx", "hh", "hpp", "hxx"), "tree_sitter_cpp"),
    Language("csharp", ("cs",), "tree_sitter_c_sharp", tags=_C_SHARP_TAGS),
    Language("ruby", ("rb", "rake"), "tree_sitter_ruby"),
    Language("php", ("php",), "tree_sitter_php", "language_php"),
    Language("bash", ("sh", "bash"), "tree_sitter_bash", tags=_BASH_TAGS),
)  # fmt: skip
_WITHOUT_GRAMMAR = {
    "md": "markdown", "markdown": "markdown", "mdx": "markdown", "rst": "rst", "html": "html", "css": "css", "scss": "css",
    "vue": "vue", "svelte": "svelte", "swift": "swift", "kt": "kotlin", "kts": "kotlin", "scala": "scala", "lua": "lua",
    "dart": "dart", "ex": "elixir", "exs": "elixir", "hs": "haskell", "sql": "sql", "toml": "toml", "yaml": "yaml",
    "yml": "yaml", "json": "json", "jsonc": "json", "xml": "xml", "zig": "zig", "proto": "protobuf", "tf": "terraform",
}  # fmt: skip
_BY_ENDING = {ending: language for language in LANGUAGES for ending in language.endings}


class Grammar(NamedTuple):
    """What finds the definitions of one language."""

    parser: "Parser"
    query: "Query"


def language_of(path: str) -> str:
    """The language of a file by its ending; empty if it is not known."""
    ending = os.path.splitext(path)[1][1:].lower()
    known = _BY_ENDING.get(ending)
    return known.name if known else _WITHOUT_GRAMMAR.get(ending, "")


class Grammars:
    """Loads grammars when they are first needed: together they take half a second and some memory."""

    def __init__(self) -> None:
        self._loaded: dict[str, Grammar | None] = {}

    def find(self, path: str) -> Grammar | None:
        """The grammar for a file; None if there is none, or its package is not installed."""
        language = _BY_ENDING.get(os.path.splitext(path)[1][1:].lower())
        if language is None:
            return None
        if language.name not in self._loaded:
            try:
                self._loaded[language.name] = _load(language)
            except (ImportError, AttributeError, ValueError, TypeError):  # not installed, or of another version
                self._loaded[language.name] = None
        return self._loaded[language.name]


def _load(language: Language) -> Grammar:
    import tree_sitter  # noqa: PLC0415 - a machine without it still gets words and paths

    grammar = tree_sitter.Language(getattr(import_module(language.package), language.function)())
    packages = language.tags_of or (language.package,)
    tags = language.tags or "\n".join(import_module(name).TAGS_QUERY for name in packages)
    query = tree_sitter.Query(grammar, tags)
    for number in range(cast(int, query.pattern_count)):  # a property, which its types call a method
        text = tags.encode()[query.start_byte_for_pattern(number) : query.end_byte_for_pattern(number)]
        if b"@definition." not in text:
            query.disable_pattern(number)  # references: words tell those
    query.disable_capture("doc")
    return Grammar(tree_sitter.Parser(grammar), query)
