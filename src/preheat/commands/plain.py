"""Shell text to its shape without the parser, for the common plain forms. Knows no program.

Plain are words, quotes without substitutions, `$name`, assignments, pipes, `&&`, `||`, `;`, `&`, line breaks, comments on lines
of their own, here-documents and redirections of files. Every other sign gives None: then the parser is asked. For what is
plain, both give the same (a property test holds that).
"""

import re
import sys
from functools import lru_cache

from preheat.commands.syntax import PLACE, Heredoc, heredoc_at, unquote, with_heredocs, writes_file
from preheat.commands.values import Script, Simple, Token, group_tokens

LONGEST = 4096
"""Characters; what is longer is rarely plain."""
_SHORT = 40
"""Characters of a command whose words are remembered: `cd app` and `tail -5` come again."""

_CONTROL = r"\x00-\x08\x0b-\x1f"
_VALUE = r"\$(?:[A-Za-z_]|\{\w+\}|\?(?=[\s|;&\"]|$))"
_BARE = r"[A-Za-z0-9_./:,@%+^*?~-][A-Za-z0-9_./:,@%+^*?=~-]*+"
_DOUBLE = rf"""\"(?:[^"$`\\{_CONTROL}]++|\\[^`\n{_CONTROL}]|{_VALUE})*+\""""
_ESCAPED = r"(?:[A-Za-z0-9_./*-]|\\[;().*|])++"
_WORD = rf"""(?:(?:{_BARE}|{_VALUE}|'[^'{_CONTROL}]*+'|{_DOUBLE})++|{_ESCAPED}|\{{\}})"""
_GAP = r"[ \t]*+(?:\\\n[ \t]*+)*+"
_WORD_ENDS = r"(?=[\s|;&]|$)"
_REDIRECT = rf"(?<=\s)[012&]?(?:>>?|<)(?:&[12]|{_GAP}{_WORD})(?=[\s|;]|$)"
_RELIABLE = sys.version_info >= (3, 11, 5)
"""Before, Python matches some of these possessive repetitions wrongly, so that every text goes to the parser there."""
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
_REDIRECTS = re.compile(rf"(?<=\s)([012&]?)(>>?|<)(?:&[12]|{_GAP}({_WORD}))(?=[\s|;]|$)")
_WORDS_ONLY = re.compile(r"[A-Za-z0-9_./:,@%+^*?~ \t-]*+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=(?=.)")
_DECLARED = re.compile(r"[A-Za-z_]\w*(?:=.+)?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_./~][^@+^%*?=,:\\'\"$]*+|['\"$][^@+^%*?=,\\]*+")
"""A first word that the parser takes as a program's name."""
_RESERVED = frozenset((
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "in",
    "coproc", "time", "{}",
))  # fmt: skip
_JOINING = frozenset(("&&", "||", "|"))
_DECLARING = frozenset(("declare", "typeset", "export", "readonly", "local", "unset", "unsetenv"))


def words_only(text: str) -> tuple[str, ...]:
    """The words of a text that is one command without any sign of the shell's; nothing for every other text."""
    if len(text) > LONGEST or not _WORDS_ONLY.fullmatch(text):
        return ()
    words = tuple(text.split())
    return words if words and words[0] not in _DECLARING and _names_program(words[0]) else ()


def parse_plain(text: str, heredocs: tuple[Heredoc, ...] = ()) -> Script | None:
    """The shape of a plain text, its here-documents taken out; None for every other text."""
    if len(text) > LONGEST or not _RELIABLE:
        return None
    tokens: list[Token] = []
    position, end = 0, len(text)
    operator: str | None = None
    while position < end:
        match = _COMMAND.match(text, position)
        if match is None:
            return None
        position = match.end()
        source, redirects, after = match.group("words", "redirects", "operator")
        if source is None:
            continue
        operator = after
        command = _simple(source, redirects, heredocs)
        if command is None:
            return None
        tokens.append(command)
        if operator:
            tokens.append(";" if operator == "\n" else operator)
    if operator in _JOINING:
        return None
    return group_tokens(tokens)


def _simple(source: str, redirects: str, heredocs: tuple[Heredoc, ...]) -> Simple | None:
    """One command out of its words and its redirections."""
    words = _words(source, heredocs) if heredocs or len(source) > _SHORT else _remembered_words(source)
    if words is None or not redirects:
        return None if words is None else Simple(words)
    redirected = _read_redirects(redirects)
    if redirected is None or not words or words[0] in _DECLARING or words[-1] == "-":
        return None
    heredoc: str | None = None
    for target in redirected[1]:
        heredoc = heredoc_at(target, heredocs) or heredoc
    return Simple(words, redirected[0], heredoc)


@lru_cache(maxsize=256)
def _read_redirects(redirects: str) -> tuple[bool, tuple[str, ...]] | None:
    """Whether output goes into a file, and the files that are read."""
    writes = False
    read: list[str] = []
    for descriptor, operator, written in _REDIRECTS.findall(redirects):
        if not written:  # `2>&1`
            if operator != ">" or descriptor == "&":
                return None
        elif operator == "<":
            if descriptor:
                return None
            read.append(unquote(written))
        else:
            writes = writes or writes_file(descriptor, operator, unquote(written))
    return writes, tuple(read)


@lru_cache(maxsize=256)
def _names_program(word: str) -> bool:
    """Whether a first word is a program's name to the parser too."""
    return word not in _RESERVED and _NAME.fullmatch(word) is not None


def _words(source: str, heredocs: tuple[Heredoc, ...] = ()) -> tuple[str, ...] | None:
    """The words of a command without the assignments before it; None where the parser would read them differently."""
    quoted = "'" in source or '"' in source or "\\" in source
    words = _WORDS.findall(source) if quoted else source.split()
    if quoted and "\\\n" in words[0]:
        return None
    first = 0
    while "=" in words[first] and _ASSIGNMENT.match(words[first]):
        first += 1
        if first == len(words):
            return ()
    program = words[first]
    if not _names_program(program):
        return None
    if program in _DECLARING and not all(map(_DECLARED.fullmatch, words[first + 1 :])):
        return None
    if heredocs and PLACE in source:
        words = [with_heredocs(word, heredocs) for word in words]
    if quoted:
        words = [unquote(word) for word in words]
    return tuple(words[first:]) if words[first] else None


_remembered_words = lru_cache(maxsize=1024)(_words)
