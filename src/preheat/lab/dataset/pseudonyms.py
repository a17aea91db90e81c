"""Pseudonyms, and the forms by which what needs one is recognised: addresses, paths, ids, numbers. Knows no name.

The same thing has the same pseudonym throughout an export, and another one in the next: they are keyed by a salt that is not
in the export. Made of consonants only, so that none reads as a word, a number or a hash. The patterns are wide on purpose.
"""

import re
from functools import cache
from hashlib import blake2b
from typing import Literal, TypeAlias, get_args

from preheat.lab.dataset.common_words import ENDINGS, FILES, NO_TICKETS, TOP_LEVELS, WORDS

Sort: TypeAlias = Literal[
    "secret", "url", "email", "path", "file", "host", "ip", "person", "name", "repository", "project", "session", "id",
    "phone", "number", "handle", "ticket", "date", "lesson", "template", "text",
]  # fmt: skip
"""What a pseudonym stands for."""
SORTS: tuple[Sort, ...] = get_args(Sort)

LETTERS = "bcdfghjklmnpqrst"
LENGTH = 10
LEAST_SALT = 16
"""Bytes; a shorter one could be guessed."""


class Pseudonyms:
    """Gives names in the place of names."""

    def __init__(self, salt: bytes) -> None:
        self._key = blake2b(salt, digest_size=32).digest()

    def pseudonym(self, sort: Sort, value: str) -> str:
        """`path-bcdfghjklm`."""
        subject = f"{sort}\0{value}".encode("utf-8", "surrogatepass")
        digest = blake2b(subject, key=self._key, digest_size=LENGTH // 2).digest()
        letters = "".join(LETTERS[byte >> 4] + LETTERS[byte & 15] for byte in digest)
        return f"{sort}-{letters}"


# The forms by which a person, a place or a machine is recognised.
MARK = rf"<(?:{'|'.join(SORTS)})(?:-[{LETTERS}]{{{LENGTH}}})?>(?:/_)*(?:\.[a-z0-9]{{1,8}})?|\[REDACTED:[a-z-]{{1,40}}\]"
"""What an anonymised text has in the place of what was taken out."""

_DEEP = r"(?:\\{1,4}[^\s\"'`<>|*?(),;\\/:]+|/[^\s\"'`<>|*?(),;\\]+)"
_PART = r"(?:[^\s\"'`<>|*?(),;:/\\{}$=&]|\\ )"
_ROOTS = "Users|home|root|private|tmp|var|opt|srv|mnt|media|data|etc|usr|Volumes|workspaces?|Applications|Library"
"""Folders at the top of a disk: a path that begins with one is one, whatever stands before it."""
_ENDING = "|".join(sorted(ENDINGS, key=lambda each: (-len(each), each)))
_TOP = "|".join(sorted(TOP_LEVELS, key=lambda each: (-len(each), each)))
FORMS: dict[str, str] = {
    "mark": MARK,
    "url": r"(?i:\b[a-z][a-z0-9+.-]{1,15}:/{2,3})[^\s\"'`<>\\{}|^]+",
    "repository": r"(?<![\w.+-])[\w.+-]++@[A-Za-z][\w.-]*+:[\w./~+-]++",
    "email": r"(?<![\w.+%-])[\w.+%-]++@[A-Za-z][\w-]*+(?:\.[\w-]++)*+",
    "windows": (
        r"(?<![A-Za-z])[A-Za-z]:[\\/]{1,4}(?i:Users|Documents and Settings)[\\/]{1,4}[^\\/\n\"'`<>|:*?]{1,64}(?=[\\/])"
        rf"(?:{_DEEP})*[\\/]*|(?<![A-Za-z])[A-Za-z]:(?:{_DEEP})+[\\/]*|(?<![\w\\])\\\\[\w.-]{{2,}}(?:\\+[^\s\"'`<>|*?\\]+)+"
    ),
    "home": rf"(?<![\w~])~[\w.-]*(?:/{_PART}*)+|%(?:USERPROFILE|HOME|APPDATA)%[^\s\"'`<>|]*",
    "spaced": rf"(?<![\w.])/(?:Users|home)/[A-Z]\w+ [A-Z]\w+(?:/{_PART}+)+/?",
    "path": rf"(?<![\w.])/(?:{_ROOTS})(?:/{_PART}+)+/?|(?<![\w.<>)\]}}$])(?:/{_PART}+)+/?",
    "slug": r"(?<![\w])[-_]{1,2}(?:Users|home|private|mnt|root)[-_]{1,2}[\w.-]+|(?<![\w])[A-Za-z]--Users-[\w.-]+",
    "id": (
        r"(?<![A-Za-z0-9])(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
        r"|(?=[a-f]*+[0-9])(?=[0-9]*+[a-f])[0-9a-f]{7,}+|(?=[A-F]*+[0-9])(?=[0-9]*+[A-F])[0-9A-F]{12,}+"
        r"|(?<![_-])(?=[A-Za-z_-]*+[0-9]++[A-Za-z_-]++[0-9])(?=[0-9_-]*+[A-Za-z])[A-Za-z0-9_-]{20,}+)(?![A-Za-z0-9])"
    ),
    "date": r"(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)",
    "ip": (
        r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)(?::\d{2,5})?"
        r"|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){3,7}(?::?[0-9a-fA-F]{1,4}){1,4}(?![\w:])"
    ),
    "host": (
        rf"(?<![\w@.-])(?:[\w-]{{1,63}}\.)+(?i:{_TOP})(?![\w-]|\.\w|\()(?::\d{{2,5}})?"
        r"(?:/[^\s\"'`<>\\]*)?"
    ),
    "relative": (
        r"(?<![\w/.@+-])(?:\.{1,2}/|[\w@.+-]++/)(?:[\w@.+%=-]++/)*+[\w@.+%=-]*+"
        rf"|(?<![\w.\\-])(?:[\w.-]++\\{{1,2}})++[\w-]++\.(?:{_ENDING})\b"
    ),
    "file": rf"(?<![\w.+-])[\w.][\w.+-]*\.(?:{_ENDING})(?![\w-]|\()",
    "phone": r"(?<![\w.])(?:\+|00)?\(?\d[\d ().-]{6,22}\d(?![\w]|\.\d)",
    "number": r"(?<![\w.])\d{9,}(?![\w])",
    "handle": r"(?<![\w.@])@[A-Za-z][\w-]{1,38}(?:/[\w.-]+)?",
    "ticket": r"(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![\w])",
}
"""In the order in which they are tried."""

SORT_OF: dict[str, Sort] = {
    "url": "url", "repository": "repository", "email": "email", "windows": "path", "home": "path", "spaced": "path",
    "path": "path", "encoded": "path", "slug": "path", "id": "id", "date": "date", "ip": "ip", "host": "host", "relative": "path",
    "file": "file", "phone": "phone", "number": "number", "handle": "handle", "ticket": "ticket",
}  # fmt: skip

_ENCODED = r"(?P<encoded>%2[Ff](?i:users|home)%2[Ff][\w.%-]++)"
LEAK_FORMS = frozenset(
    ("url", "repository", "email", "windows", "spaced", "path", "encoded", "slug", "id", "ip", "phone", "number")
)
"""What is a leak wherever it stands in an export."""
_DEVICES = re.compile(r"/(?:dev/(?:null|stdin|stdout|stderr|tty)|bin/(?:ba|z|da)?sh|usr/bin/env)?/?$")
_WORD = re.compile(r"[^\W\d_]+")
_DOT_OR_DIGIT = re.compile(r"[.\d]")


@cache
def form_pattern() -> re.Pattern[str]:
    """Everything that is taken out of a text, nowhere but where a word may begin: most places are passed over at once. Every
    part goes on as far as it can and never back, so that no text takes longer than its length."""
    forms = "|".join(f"(?P<{name}>{pattern})" for name, pattern in FORMS.items())
    return re.compile(rf"(?<![A-Za-z0-9])(?:{forms})|{_ENCODED}")


def is_harmless(form: str, text: str) -> bool:
    """Whether a text of this form says nothing of anybody."""
    if form == "mark":
        return True
    if form == "path":
        return _DEVICES.match(text) is not None
    if form == "relative":
        return not _DOT_OR_DIGIT.search(text) and all(
            word.lower() in WORDS or len(word) < 3 for word in _WORD.findall(text)
        )
    if form == "file":
        return text.lower() in FILES
    if form == "ticket":
        return text.partition("-")[0].rstrip("0123456789") in NO_TICKETS
    if form == "phone":
        return sum(letter.isdigit() for letter in text) < 8
    return False


def known_ending(path: str) -> str:
    """`.py` of a path, where it tells a language and nothing else."""
    last = path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    name, dot, found = last.rpartition(".")
    return f".{found.lower()}" if dot and name and found.lower() in ENDINGS else ""


def path_depth(path: str) -> int:
    """How many parts a path has."""
    return len([part for part in re.split(r"[\\/]+", path) if part])
