"""Shell text to its shape without the parser, for the common plain forms. Knows no program.

Plain are words, quotes without substitutions, `$name`, assignments, pipes, `&&`, `||`, `;`, `&`, line breaks, comments on lines
of their own, here-documents and redirections of files. Every other sign gives None: then the parser is asked. For what is
plain, both give the same (a property test holds that).
"""

import re

from preheat.commands.heredocs import Heredoc, with_heredocs
from preheat.commands.quoting import unquoted
from preheat.commands.redirections import heredoc_at, writes_file
from preheat.commands.script import Script, Simple, Token, grouped

LONGEST = 4096
"""Characters; what is longer is rarely plain."""

_CONTROL = r"\x00-\x08\x0b-\x1f"
_VALUE = r"\$(?:[A-Za-z_]|\{\w+\}|\?(?=[\s|;&\"]|$))"
_BARE = r"[A-Za-z0-9_./:,@%+^*?~-][A-Za-z0-9_./:,@%+^*?=~-]*+"
_DOUBLE = rf"""\"(?:[^"$`\\{_CONTROL}]++|\\[^`\n{_CONTROL}]|{_VALUE})*+\""""
_ESCAPED = r"(?:[A-Za-z0-9_./*-]|\\[;().*|])++"
_WORD = rf"""(?:(?:{_BARE}|{_VALUE}|'[^'{_CONTROL}]*+'|{_DOUBLE})++|{_ESCAPED}|\{{\}})"""
_GAP = r"[ \t]*+(?:\\\n[ \t]*+)*+"
_WORD_ENDS = r"(?=[\s|;&]|$)"
_REDIRECT = rf"(?<=\s)([012&]?)(>>?|<)(?:&[12]|{_GAP}({_WORD}))(?=[\s|;]|$)"
_COMMAND = re.compile(
    rf"""[ \t]*+(?:
    (?P<words>{_WORD}{_WORD_ENDS}(?:{_GAP}{_WORD}{_WORD_ENDS})*+)
    (?P<redirects>(?:{_GAP}{_REDIRECT})*+)
    (?:{_GAP}(?P<operator>&&|\|\||[|;\n]|&(?![&>]))|[ \t]*+\Z)
    |\n|(?:^|(?<=\n))\#[^\n{_CONTROL}]*+|\Z)""",
    re.VERBOSE,
)
"""One command with the operator that ends it; or an empty line, or a comment, or nothing more."""
_WORDS = re.compile(f"{_WORD}{_WORD_ENDS}")
_REDIRECTS = re.compile(_REDIRECT)
_WORDS_ONLY = re.compile(r"[A-Za-z0-9_./:,@%+^*?~ \t-]*+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=(?=.)")
_DECLARED = re.compile(r"[A-Za-z_]\w*(?:=.+)?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_./~][^@+^%*?=,:\\'\"$]*+|['\"$][^@+^%*?=,\\]*+")
"""A first word about which the parser has no ideas of its own."""
_RESERVED = frozenset((
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "in",
    "coproc", "time", "{}",
))  # fmt: skip
_DECLARING = frozenset(("declare", "typeset", "export", "readonly", "local", "unset", "unsetenv"))


def words_only(text: str) -> tuple[str, ...]:
    """The words of a text that is one command without any sign of the shell's; nothing for every other text."""
    if len(text) > LONGEST or not _WORDS_ONLY.fullmatch(text):
        return ()
    words = tuple(text.split())
    if not words or words[0] in _RESERVED or words[0] in _DECLARING or not _NAME.fullmatch(words[0]):
        return ()
    return words


def parse_plainly(text: str, heredocs: tuple[Heredoc, ...] = ()) -> Script | None:
    """The shape of a plain text, its here-documents taken out; None for every other text."""
    if len(text) > LONGEST:
        return None
    tokens: list[Token] = []
    position, end = 0, len(text)
    while position < end:
        match = _COMMAND.match(text, position)
        if match is None:
            return None
        position = match.end()
        source, redirects, operator = match.group("words", "redirects", "operator")
        if source is None:
            continue
        command = _simple(source, redirects, heredocs)
        if command is None:
            return None
        tokens.append(command)
        if operator:
            tokens.append(";" if operator == "\n" else operator)
    if tokens and tokens[-1] in ("&&", "||", "|"):
        return None
    return grouped(tokens)


def _simple(source: str, redirects: str, heredocs: tuple[Heredoc, ...]) -> Simple | None:
    """One command out of its words and its redirections."""
    words = _words(source, heredocs)
    if words is None or not redirects:
        return None if words is None else Simple(words)
    if not words or words[0] in _DECLARING or words[-1] == "-":
        return None
    writes = False
    heredoc: str | None = None
    for descriptor, operator, written in _REDIRECTS.findall(redirects):
        if not written:  # `2>&1`
            if operator != ">" or descriptor == "&":
                return None
            continue
        target = unquoted(written)
        if operator == "<":
            if descriptor:
                return None
            heredoc = heredoc_at(target, heredocs) or heredoc
        else:
            writes = writes or writes_file(descriptor, operator, target)
    return Simple(words, writes, heredoc)


def _words(source: str, heredocs: tuple[Heredoc, ...]) -> tuple[str, ...] | None:
    """The words of a command without the assignments before it; None where the parser has its own ideas."""
    quoted = "'" in source or '"' in source or "\\" in source
    words = _WORDS.findall(source) if quoted else source.split()
    if quoted and "\\\n" in words[0]:
        return None
    first = 0
    while _ASSIGNMENT.match(words[first]):
        first += 1
        if first == len(words):
            return ()
    program = words[first]
    if program in _RESERVED or not _NAME.fullmatch(program):
        return None
    if program in _DECLARING and not all(map(_DECLARED.fullmatch, words[first + 1 :])):
        return None
    if heredocs:
        words = [with_heredocs(word, heredocs) for word in words]
    if quoted:
        words = [unquoted(word) for word in words]
    return tuple(words[first:]) if words[first] else None
