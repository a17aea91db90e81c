"""Pieces of shell syntax: quotes, here-documents and redirections. Knows no program."""

import re
from functools import lru_cache
from typing import NamedTuple

# Quotes
_PIECES = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\$'((?:[^'\\]|\\.)*)'|\\(.)|([^'"\\$]+|.)""", re.DOTALL)
_IN_DOUBLE = re.compile(r'\\([$`"\\])')


def unquote(source: str) -> str:
    """A word as the program gets it, as far as it is literal: `$x` and `$(…)` stay as they are written.

    A backslash before a letter or digit stays too: it is more often part of a Windows path than an escape.
    """
    if "'" not in source and '"' not in source and "\\" not in source:
        return source
    quote = source[0]  # most words are quoted as a whole
    if (quote == "'" or (quote == '"' and "\\" not in source)) and source.find(quote, 1) == len(source) - 1:
        return source[1:-1]
    return "".join(map(_piece, _PIECES.finditer(source)))


def _piece(match: re.Match[str]) -> str:
    single, double, ansi, escaped, bare = match.groups()
    if bare is not None:
        return bare
    if single is not None:
        return single
    if double is not None:
        return _IN_DOUBLE.sub(r"\1", double.replace("\\\n", "")) if "\\" in double else double
    if ansi is not None:
        return ansi
    return "" if escaped == "\n" else f"\\{escaped}" if escaped.isalnum() else escaped


# Here-documents
_START = re.compile(r"""(?<!<)<<(-?)[ \t]*(?:'([^'\n]{1,100})'|"([^"\n]{1,100})"|\\?([A-Za-z_][\w.-]{0,99}))""")
_MISSES = 50
"""Signs of a here-document without an end after which no more are looked for: each costs a look at the whole text."""
PLACE = "/dev/heredoc/"
_PUT = re.compile(rf"< {PLACE}([0-9]{{1,6}}) ")


class Heredoc(NamedTuple):
    """A here-document that was taken out of a text."""

    operator: str
    body: str
    """Its lines, each with its line break."""
    end: str
    """Its last line."""


def without_heredocs(text: str) -> tuple[str, tuple[Heredoc, ...]]:
    """The text with `< /dev/heredoc/N` for each here-document, and these. One without its last line stays."""
    if "<<" not in text or "\n" not in text:
        return text, ()
    found: list[Heredoc] = []
    pieces: list[str] = []
    done = position = misses = 0
    while misses < _MISSES and (first := _START.search(text, position)):
        line_end = text.find("\n", first.end())
        if line_end < 0:
            break
        body = line_end
        for start in _START.finditer(text, first.start(), line_end):
            end = _end(text, body, start[2] or start[3] or start[4], bool(start[1]))
            if end is None:
                misses += 1
                continue
            pieces += text[done : start.start()], f"< {PLACE}{len(found)} "
            done = start.end()
            found.append(Heredoc(start[0], text[body + 1 : end[0] + 1], text[end[0] + 1 : end[1]]))
            body = end[1]
        if body > line_end:
            pieces.append(text[done:line_end])
            done = body
        position = body
    pieces.append(text[done:])
    return "".join(pieces), tuple(found)


def _end(text: str, start: int, word: str, indented: bool) -> tuple[int, int] | None:
    """Where the last line of a here-document begins, with the line break before it, and where it ends."""
    if indented:
        last = _indented_line(word).search(text, start)
        return last.span() if last else None
    line = f"\n{word}"
    at = text.find(line, start)
    while at >= 0 and not text.startswith("\n", at + len(line)) and at + len(line) < len(text):
        at = text.find(line, at + 1)
    return (at, at + len(line)) if at >= 0 else None


@lru_cache(maxsize=64)
def _indented_line(word: str) -> re.Pattern[str]:
    return re.compile(rf"\n\t*{re.escape(word)}(?=\n|\Z)")


def with_heredocs(text: str, heredocs: tuple[Heredoc, ...]) -> str:
    """What `without_heredocs` took out of a part of a text, put back: a quoted script is data too."""
    if PLACE not in text:
        return text
    lines: list[str] = []
    done: set[int] = set()
    for line in text.split("\n"):
        numbers = {int(put[1]) for put in _PUT.finditer(line) if int(put[1]) < len(heredocs)}
        for number in sorted(numbers):
            line = line.replace(f"< {PLACE}{number} ", heredocs[number].operator)
        lines.append(line)
        lines += [heredocs[number].body + heredocs[number].end for number in sorted(numbers - done)]
        done |= numbers
    return "\n".join(lines)


# Redirections
def writes_file(descriptor: str, operator: str, target: str) -> bool:
    """Whether it puts the command's output into a file. Errors alone and devices do not count."""
    if ">" not in operator or descriptor not in ("", "1", "&"):
        return False
    return not target.startswith("/dev/") and target.lower() not in ("nul", "$null") and not target.isdecimal()


def heredoc_at(target: str, heredocs: tuple[Heredoc, ...]) -> str | None:
    """The body of the here-document that an input redirection reads."""
    number = target[len(PLACE) :]
    if not target.startswith(PLACE) or len(number) > 6 or not number.isdecimal() or int(number) >= len(heredocs):
        return None
    return heredocs[int(number)].body
