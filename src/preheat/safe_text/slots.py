"""The types of slots in sentences for a model, each with a grammar: a slot holds a token of its type, or nothing.

`SLOTS[type](text)` gives the token that may be handed on, with `…`, `TEXT` or `URL` for the parts that may not, and an empty text
where nothing may. What it gives it also accepts unchanged. No phrase is looked for: characters, structure and lengths decide,
so a text in any language is treated the same. Commands and errors have modules of their own. Light: a session's start loads it.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from preheat.safe_text.words import CUT, MOST_UNKNOWN, count_unknown, cut_name, has_plain_letters, words_of

Fit = Callable[[str], str]
"""Gives the part of a text that may be in a slot; empty if there is none."""

# Paths
_LONGEST_PATH = 160
_COMPONENT = re.compile(r"[\w.@+~,=%#*?\[\](){}!$:…-]{1,80}")
_SEPARATOR = re.compile(r"([\\/]+)")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}$")
_ENDING_WORDS = 2
"""Words of a path of which the beginning is left out, besides its ending."""
_PATH_ROOM = MOST_UNKNOWN
"""Words that are not known in a whole path."""


@lru_cache(maxsize=4096)
def fit_path(text: str, room: int = _PATH_ROOM) -> str:
    """A path: components of name characters without blanks. Folders before the last ones are left out where the words of the
    whole could be a sentence, and a component that could be one by itself ends early."""
    text = text.strip()
    if not text or len(text) > 4 * _LONGEST_PATH or not text.isprintable():
        return ""
    pieces = _SEPARATOR.split(text)
    names, separators = [_fit_component(each) for each in pieces[::2]], pieces[1::2]
    if not any(name.strip(f"{CUT}.~") for name in names):
        return text if re.fullmatch(r"[./~\\]+", text) and len(text) < 20 else ""
    last = max(place for place, name in enumerate(names) if name)
    first = 0
    if CUT in names[:last] or _count_in_all(names) > max(room, _count_in_all(names[last:])):
        first = last  # a part of the path: so few words that they say where it ends, and nothing else
        while first > 0 and names[first - 1] != CUT and _count_words(names[first - 1 :]) <= _ENDING_WORDS:
            first -= 1
    shown = "".join(
        name + separator[:1] for name, separator in zip(names[first:], [*separators[first:], ""], strict=True)
    )
    path = shown if first == 0 else f"{CUT}{separators[first - 1][:1]}{shown}"
    return path if len(path) <= _LONGEST_PATH and path.strip(f"{CUT}./\\") else ""


_FILE_ROOM = 4
"""Words that are not known in the path of a file that exists: real paths have more of them than what a session typed."""


def fit_file(text: str) -> str:
    """The path of a file that exists now: as any path, with more room for words over the whole of it, not in one component.
    Empty where the file's own name had to be cut: nobody finds it by the rest."""
    path = fit_path(text, _FILE_ROOM)
    return "" if CUT in path.rpartition("/")[2] else path


def _count_words(names: list[str]) -> int:
    """The words of several components, known or not, without the ending of the last."""
    return len(words_of(" ".join((*names[:-1], _ENDING.sub("", names[-1])))))


def _count_in_all(names: list[str]) -> int:
    """The unknown words of several components; a word that comes again counts once."""
    return sum(count_unknown(word) for word in {word for name in names for word in words_of(name)})


def _fit_component(name: str) -> str:
    if not name:
        return ""
    if not _COMPONENT.fullmatch(name) or not has_plain_letters(name):
        return CUT
    ending = _ENDING.search(name)
    return cut_name(name[: ending.start()]) + ending[0] if ending else cut_name(name)


# Names
_NAME = re.compile(r"[\w.@+:/-]{1,80}", re.ASCII)
_WORD = re.compile(r"[A-Za-z][\w.+-]{0,39}", re.ASCII)
_FLAG = re.compile(r"-{1,2}[A-Za-z0-9?][\w.-]{0,48}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")
_NUMBER = re.compile(r"[+-]?\d[\d,]{0,14}(?:\.\d{1,6})?(?:e[+-]?\d{1,3})?%?")
_COUNT_WORD = re.compile(r"once|twice|\d{1,9} times")
_DURATION = re.compile(
    r"(?:less than an |about )?\d{0,9}(?:\.\d)? ?(?:ms|s|min|h|hours?|days?|seconds?|minutes?)(?: \d{1,2} ?(?:s|min))?"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?")
_SESSION = re.compile(r"[A-Za-z0-9_:.#/@-]{1,120}")
_RANDOM = re.compile(r"(?<![A-Za-z0-9])(?:[0-9a-fA-F]{4,}|(?=\w*\d)(?=\w*[A-Z])[A-Za-z0-9]{20,})(?![A-Za-z0-9])")
_HEX = re.compile(r"[0-9a-f]{4,64}")
_HOST = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d{1,5})?")
_PLACEHOLDER = re.compile(r"(?:NAME|PATH|VALUE|PACKAGE|FOLDER|TEXT|URL|TEST|FILE|N|ID|PORT)s?")


def _fit_pattern(pattern: "re.Pattern[str]", room: int | None = MOST_UNKNOWN) -> Fit:
    """A slot for one token that matches, with room for so many unknown words; without a number for any."""

    def fit(text: str) -> str:
        text = text.strip()
        if not pattern.fullmatch(text) or (room is not None and count_unknown(text) > room):
            return ""
        return text

    return fit


fit_name = _fit_pattern(_NAME)
fit_flag = _fit_pattern(_FLAG)
fit_variable = _fit_pattern(_VARIABLE)


def fit_session(text: str) -> str:
    """The id of a session or a call: one token of few words; numbers, hexadecimal and long random parts are none."""
    text = text.strip()
    return text if _SESSION.fullmatch(text) and count_unknown(_RANDOM.sub(" ", text)) <= MOST_UNKNOWN else ""


def fit_project(text: str) -> str:
    """The name of a project: its last two folders at most, as a path."""
    return fit_path(text)


def fit_placeholder(text: str) -> str:
    """A placeholder of ours: `NAME`, `PATH`, `…`."""
    return text if text == CUT or _PLACEHOLDER.fullmatch(text) else ""


def fit_one_of(*texts: str) -> Fit:
    """A slot for one of several texts of ours."""
    known = frozenset(texts)
    return lambda text: text if text in known else ""


def fit_token(text: str) -> str:
    """A value of one word: a name, a date, a number, an id."""
    text = text.strip()
    return _fit_plain_value(text) or fit_name(text) or (fit_path(text) if " " not in text else "")


_fit_number = _fit_pattern(_NUMBER)
_fit_date = _fit_pattern(_DATE, None)
_fit_hex = _fit_pattern(_HEX, None)
_fit_host = _fit_pattern(_HOST, None)


def _fit_plain_value(text: str) -> str:
    hexadecimal = _fit_hex(text) if any(letter.isdigit() for letter in text) else ""
    return _fit_number(text) or _fit_date(text) or hexadecimal or _fit_host(text)


SLOTS: dict[str, Fit] = {
    "path": fit_path,
    "file": fit_file,
    "name": fit_name,
    "tool": fit_name,
    "branch": fit_name,
    "script": fit_name,
    "program": _fit_pattern(_WORD),
    "project": fit_project,
    "flag": fit_flag,
    "variable": fit_variable,
    "number": _fit_number,
    "times": _fit_pattern(_COUNT_WORD, None),
    "duration": _fit_pattern(_DURATION, None),
    "date": _fit_date,
    "commit": _fit_hex,
    "session": fit_session,
    "host": _fit_host,
    "token": fit_token,
    "lesson": _fit_pattern(re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")),
}
"""By the name of the type; `command` and `error` are added by their own modules."""
