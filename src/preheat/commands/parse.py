"""Shell text to its shape, by a real parser. Knows no program: words are words.

What the parser cannot read still gives the commands that it found around the error.
"""

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from preheat.commands.plain import parse_plain
from preheat.commands.syntax import Heredoc, heredoc_at, unquote, with_heredocs, without_heredocs, writes_file
from preheat.commands.values import Compound, Item, Script, Simple, Token, group_tokens

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST = 8192
"""Characters that are parsed, here-documents not counted. Of 17,000 recorded commands none was longer, and the parser's
time on hostile text grows with the square of the length: 0.4 s at this one."""

DEEPEST = 40
"""Nested groups and substitutions that are followed."""

_SEPARATORS = {
    ";": ";",
    "&": "&",
    "!": "!",
    "&&": "&&",
    "||": "||",
    "|": "|",
    "|&": "|",
    ";;": ";",
    ";&": ";",
    ";;&": ";",
}
_THROUGH = frozenset(
    ("program", "list", "pipeline", "ERROR", "do_group", "redirected_statement", "negated_command", "heredoc_redirect")
)
_BARE = frozenset(
    ("test_command", "variable_assignment", "variable_assignments", "declaration_command", "unset_command")
)
_COMPOUND = frozenset((
    "subshell", "if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement",
    "function_definition", "compound_statement",
))  # fmt: skip
_SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
_NO_WORDS = frozenset(("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect", "ERROR"))


_ASCII = bytes(byte if byte < 128 else ord("x") for byte in range(256))
"""The parser's scanner can crash the process on letters outside ASCII (tree-sitter-bash issue 337): it is given the same
number of plain ones, and the words are read from the text as it is."""


@cache
def _parser() -> "Parser":
    import tree_sitter  # noqa: PLC0415 - most commands never need it, and it costs more to load than all the rest
    import tree_sitter_bash  # noqa: PLC0415 - likewise

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(text: str) -> tuple[Script, bool]:
    """The shape of a text, and whether all of it was understood."""
    stripped, heredocs = without_heredocs(text) if "<<" in text else (text, ())
    script = parse_plain(stripped, heredocs)
    return (script, True) if script is not None else parse_fully(stripped, heredocs)


def parse_fully(stripped: str, heredocs: tuple[Heredoc, ...]) -> tuple[Script, bool]:
    """The shape of a text whose here-documents were taken out, always by the parser."""
    source = stripped[:LONGEST].encode("utf-8", "replace")
    root = _parser().parse(source.translate(_ASCII)).root_node
    reading = _Reading(source, heredocs)
    script = reading.script([root], 0)
    complete = not root.has_error and not reading.cut and len(stripped) <= LONGEST
    if not script and not complete:
        words = tuple(stripped[:LONGEST].split("\n", 1)[0].split())
        script = group_tokens([Simple(words)]) if words else ()
    return script, complete


class _Reading:
    """One walk over one tree."""

    def __init__(self, source: bytes, heredocs: tuple[Heredoc, ...]) -> None:
        self.source = source
        self.heredocs = heredocs
        self.cut = False

    def script(self, nodes: "list[Node]", depth: int) -> Script:
        if depth > DEEPEST:
            self.cut = True
            return ()
        tokens: list[Token] = []
        self.emit(nodes, tokens, depth)
        return group_tokens(tokens)

    def text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def word(self, node: "Node") -> str:
        return unquote(with_heredocs(self.text(node), self.heredocs))

    def emit(self, nodes: "list[Node]", tokens: list[Token], depth: int) -> None:
        """Commands and operators below some nodes, in the order of the text."""
        waiting = nodes[::-1]
        while waiting:
            node = waiting.pop()
            kind = node.type
            if kind == "command":
                tokens += self.command(node, depth)
            elif kind in _SEPARATORS:
                tokens.append(_SEPARATORS[kind])
            elif kind in _THROUGH:
                waiting += node.children[::-1]
            elif kind == "file_redirect":
                self.redirect(node, tokens, depth)
            elif kind in _COMPOUND:
                tokens.append(self.compound(node, kind, depth + 1))
            elif kind in _BARE:
                tokens.append(Simple(self.bare(node, kind), inner=self.substitutions(node, depth)))

    def bare(self, node: "Node", kind: str) -> tuple[str, ...]:
        """The words of a command that the parser does not call a command."""
        if kind == "test_command":
            return (self.text(node.children[0]), *map(self.text, node.named_children))
        if kind in ("declaration_command", "unset_command"):
            return tuple(map(self.word, node.children))
        return ()

    def command(self, node: "Node", depth: int) -> list[Simple]:
        """A command; several where the parser took a line break for a space, as it does after some quotes."""
        found: list[Simple] = []
        words: list[str] = []
        redirected: tuple[bool, str | None] = (False, None)
        inner = self.substitutions(node, depth)
        end = word_end = node.start_byte
        for child in node.children:
            if _breaks(self.source[end : child.start_byte]):
                found.append(Simple(tuple(words), *redirected, inner))
                words, redirected, inner = [], (False, None), ()
            end = child.end_byte
            if child.type == "file_redirect":
                redirected = self.redirection(child, redirected)
            elif child.type not in _NO_WORDS:
                word = self.word(child)
                if words and child.start_byte == word_end:
                    words[-1] += word  # one word that the parser took for two
                elif word or words:
                    words.append(word)
                word_end = end
        if words or inner:
            found.append(Simple(tuple(words), *redirected, inner))
        return found

    def redirection(self, node: "Node", before: tuple[bool, str | None]) -> tuple[bool, str | None]:
        """Whether output goes into a file, and the here-document, with one more redirection."""
        writes, heredoc = before
        operator, descriptor, target = "", "", ""
        for child in node.children:
            if child.type == "file_descriptor":
                descriptor = self.text(child)
            elif not operator and not child.is_named:
                operator = child.type
            elif not target:
                target = unquote(self.text(child))
        if operator == "<":
            heredoc = heredoc_at(target, self.heredocs) or heredoc
        return writes or writes_file(descriptor, operator, target), heredoc

    def stray(self, node: "Node") -> tuple[str, ...]:
        """Arguments behind a redirection (`git 2>/dev/null tag -l`), which the parser counts among its targets."""
        targets = [child for child in node.named_children if child.type != "file_descriptor"]
        return tuple(self.word(child) for before, child in pairwise(targets) if child.start_byte > before.end_byte)

    def redirect(self, node: "Node", tokens: list[Token], depth: int) -> None:
        """A redirection belongs to the command before it."""
        last = tokens[-1] if tokens else None
        if isinstance(last, Simple):
            redirection = self.redirection(node, (last.writes, last.heredoc))
            inner = last.inner + self.substitutions(node, depth)
            tokens[-1] = Simple(last.words + self.stray(node), *redirection, inner)
        elif isinstance(last, Compound):
            writes = self.redirection(node, (last.writes, None))[0]
            tokens[-1] = Compound(last.kind, last.parts, last.name, writes)

    def compound(self, node: "Node", kind: str, depth: int) -> Item:
        children = node.children
        if kind == "compound_statement" and children and children[0].type == "((":
            return Simple(("((",), inner=self.substitutions(node, depth))
        if kind == "if_statement":
            return Compound("branches", self.branches(children, depth))
        if kind == "case_statement":
            arms = [(True, self.script(child.children, depth)) for child in children if child.type == "case_item"]
            return Compound("branches", tuple(arms))
        if kind == "function_definition":
            name = next((self.text(child) for child in children if child.type == "word"), "")
            return Compound("function", ((True, self.script(children, depth)),), name)
        if kind in ("subshell", "compound_statement"):
            return Compound("group", ((True, self.script(children, depth)),))
        body = [child for child in children if child.type == "do_group"]
        head = [child for child in children if child.type != "do_group"]
        asked = self.script(head, depth) if kind == "while_statement" else self.sources(head, depth)
        parts = (*((False, script) for script in ((asked,) if asked else ())), (True, self.script(body, depth)))
        return Compound("loop" if kind == "while_statement" else "each", parts)

    def branches(self, children: "list[Node]", depth: int) -> tuple[tuple[bool, Script], ...]:
        """Conditions and bodies of an `if` in order; an `elif` holds its own, an `else` only a body."""
        parts: list[tuple[bool, Script]] = []
        nodes: list[Node] = []
        decides = False

        def close() -> None:
            script = self.script(nodes, depth)
            if script:
                parts.append((decides, script))
            nodes.clear()

        for child in children:
            if child.type in ("then", "else", "fi"):
                close()
                decides = True
            elif child.type in ("elif_clause", "else_clause"):
                close()
                parts += self.branches(child.children, depth + 1)
            else:
                nodes.append(child)
        close()
        return tuple(parts)

    def sources(self, nodes: "list[Node]", depth: int) -> Script:
        """What a `for` runs to get its words."""
        return tuple(statement for node in nodes for script in self.substitutions(node, depth) for statement in script)

    def substitutions(self, node: "Node", depth: int) -> tuple[Script, ...]:
        source = self.source[node.start_byte : node.end_byte]
        if b"$(" not in source and b"`" not in source and b"<(" not in source and b">(" not in source:
            return ()
        found: list[Script] = []
        waiting = [node]
        while waiting:
            child = waiting.pop()
            if child.type not in _SUBSTITUTIONS:
                waiting += child.children[::-1]
            elif script := self.script(child.children, depth + 1):
                found.append(script)
        return tuple(found)


def _breaks(gap: bytes) -> bool:
    return b"\n" in gap and b"\n" in gap.replace(b"\\\n", b"")
