"""One shell word without its quotes. Knows nothing of what the word is for."""

import re

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
