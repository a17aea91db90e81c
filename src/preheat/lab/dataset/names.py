"""Names that an archive knows: of persons, accounts, machines, organisations, repositories and projects. Knows no file.

Gathered where their place says what they are (the folder of a home, the author of a commit, an address), then looked for
everywhere, whatever their case and whatever joins their parts: `jane.doe`, `Jane Doe`, `JaneDoe` and `jane_doe` are one.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from preheat.lab.dataset.common_words import ACCOUNTS, WORDS
from preheat.lab.dataset.pseudonyms import Sort

_RUN = re.compile(r"(?<!\\)\\++(?:u[0-9a-fA-F]{4}|[nrtbfv])|%[0-9A-Fa-f]{2}|\n\s*\n|[^\W_]+")
_PARTS = re.compile(r"[^\W\d_a-z]+(?![a-z])|[^\W\d_a-z]?[^\W\d_A-Z]+|\d+|[^\W_]+")
_ESCAPE = re.compile(r"(?<!\\)\\++(?:u[0-9a-fA-F]{4}|[nrtbfv])|%[0-9A-Fa-f]{2}")
_WHOLE = re.compile(r"[A-Za-z0-9]+")
_GAP = 3
"""At most so many characters join two parts of a name."""
_BREAK = "\n"
"""Between two paragraphs: no name goes over it."""
_LEAST = 3
"""A shorter name is only known in its place."""

_HOME = re.compile(
    r"(?i:[/\\]users|[/\\]home)[/\\]{1,4}([^/\\\n\"'`:<>|,;()*?\[\]{}$=%&]{1,64})(?=[/\\\s\"'`:,;)\]}]|$)"
)
_SLUG = re.compile(r"(?<!\w)[-_]{1,2}(?:Users|home)[-_]{1,2}([A-Za-z][^\W_]*)")
_EMAIL = re.compile(r"(?<![\w.+%-])([\w.+%-]{1,64})@([A-Za-z][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,24})(?![\w-])")
_ROLES = (
    "author", "committer", "co-authored-by", "signed-off-by", "reviewed-by", "acked-by", "reported-by", "tagger", "maintainer",
)  # fmt: skip
_AUTHOR = re.compile(
    rf"(?i:{'|'.join(_ROLES)})\W{{1,4}}"
    r"([^<>\n\"{}\\]{2,60}?) ?<([^<>\s]{1,80}@[^<>\s]{1,80})>"
)
_NAME_FIELDS = (
    '"username', '"user_name', '"author', '"committer', '"fullname', '"full_name', '"realname', '"real_name', '"displayname',
    '"display_name', '"login', '"assignee', '"account', "user.name", "git_author_name", "git_committer_name",
)  # fmt: skip
_NAMED = re.compile(
    r"\"(?i:user_?name|author(?:_?name)?|committer(?:_?name)?|full_?name|real_?name|display_?name|login|assignee|account)\\*\""
    r"\s*:\s*\\*\"([^\"\\\n]{2,60})\\*\""
    r"|(?i:user\.name|GIT_AUTHOR_NAME|GIT_COMMITTER_NAME)[ =]{1,3}[\"']?([^\"'\n\\;&|$]{2,60})"
)
_VERBS = (
    "modified", "reported", "written", "created", "opened", "assigned", "approved", "reviewed", "authored", "committed", "made",
)  # fmt: skip
_BY = re.compile(
    rf"(?i:{'|'.join(_VERBS)}) (?i:by|to) "
    r"([A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+){1,2})(?!\w)"
)
_REMOTE = re.compile(r"@(?<=[\w.+-]@)([A-Za-z][\w.-]*):([\w.~+-]+)/([\w.+-]+?)(?:\.git)?(?![\w.+-])")
_CLONED = re.compile(r"(?i:https?|ssh|git)://(?:[^\s/@]*@)?([\w.-]+)(?::\d+)?/([\w.~+-]+)/([\w.+-]+?)\.git(?![\w])")
_FORGES = ("github", "gitlab", "bitbucket", "codeberg")
_MENTIONED = re.compile(rf"(?i:{'|'.join(_FORGES)})\.\w+/([A-Za-z0-9][\w-]+)/([A-Za-z0-9][\w.-]+)")
_HOST = re.compile(r"(?<=[a-z])://(?:[^\s/@\"'<>]*@)?([A-Za-z][\w-]*(?:\.[\w-]+)*)")
_PERSON = re.compile(r"[^\W\d_][^\W_]*(?:[ ._'’-]{1,2}[^\W_]+){0,4}[ ._-]?")
"""What somebody may be called; a longer text is a sentence."""
CASELESS_LETTERS = "ıİſ"
"""Letters that a pattern without regard to case takes for `i` or `s`, and `lower` does not."""


class Name(NamedTuple):
    """A name, and what it is a name of."""

    sort: Sort
    text: str


def names_in_heading(project: str, branch: str) -> Iterator[Name]:
    """The names in a session's folder and branch."""
    yield from names_in_text(f"{project}\n")
    parts = [part for part in re.split(r"[\\/]+|__", project) if part]
    for part in parts:
        yield Name("project", part)
    if "/" in branch:
        yield Name("person", branch.partition("/")[0])
        yield Name("name", branch)
    elif "-" in branch:
        yield Name("name", branch)


def names_in_text(text: str) -> Iterator[Name]:
    """The names that their place in a text gives away."""
    small = text.lower()
    unusual = not text.isascii() and any(letter in text for letter in CASELESS_LETTERS)
    for place in PLACES:
        if unusual or all(any(word in small for word in words) for words in place.words):
            for found in place.pattern.finditer(text):
                yield from place.names(found)


def _account(found: re.Match[str]) -> Iterator[Name]:
    account = found[1].strip()
    # Up to the next slash a name may have blanks in it; without one it ends at the first.
    whole = found.string[found.end() : found.end() + 1] in ("/", "\\")
    yield Name("person", account if whole else account.split(" ")[0])


def _author(found: re.Match[str]) -> Iterator[Name]:
    if not _is_role(found[2].partition("@")[0]):
        yield from _person(found[1])


def _remote(found: re.Match[str]) -> Iterator[Name]:
    yield from _machine(found[1])
    yield Name("repository", found[2])
    yield Name("repository", found[3])


def _repository_names(found: re.Match[str]) -> Iterator[Name]:
    yield Name("repository", f"{found[1]}/{found[2].removesuffix('.git')}")


def _machine(host: str) -> Iterator[Name]:
    """A machine by its whole name, and within its organisation by the first part of it."""
    yield Name("host", host)
    labels = host.split(".")
    if len(labels) > 2:
        yield Name("host", labels[0])


def _address(box: str, domain: str) -> Iterator[Name]:
    """Whose it is, and of which organisation."""
    yield Name("host", domain)
    box = box.rpartition("+")[2] if "noreply" in domain else box.partition("+")[0]
    if not _is_role(box):
        yield from _person(box)
    labels = domain.split(".")
    if len(labels) > 1:
        yield Name("name", labels[-2] if labels[-2] not in ("co", "com", "ac") else labels[0])


def _person(text: str) -> Iterator[Name]:
    text = text.strip(" .,'\"")
    if not _PERSON.fullmatch(text):
        return
    yield Name("person", text)
    parts = [part for part in re.split(r"[\s._-]+", text) if part]
    if len(parts) > 1:
        yield from (Name("person", part) for part in parts if part.isalpha() and len(part) >= _LEAST)


def _is_role(box: str) -> bool:
    return box.lower() in ACCOUNTS or "bot" in box.lower()


class _Place(NamedTuple):
    """Where names stand, and whose they are there."""

    pattern: re.Pattern[str]
    names: Callable[[re.Match[str]], Iterator[Name]]
    words: tuple[tuple[str, ...], ...]
    """A text that the pattern finds anything in has one of each of these, whatever its case: texts that have not, which are
    nearly all, are passed over ten times as fast."""


PLACES: tuple[_Place, ...] = (
    _Place(_HOME, _account, (("/users", "\\users", "/home", "\\home"),)),
    _Place(_SLUG, lambda found: iter((Name("person", found[1]),)), (("-users", "_users", "-home", "_home"),)),
    _Place(_EMAIL, lambda found: _address(found[1], found[2]), (("@",),)),
    _Place(_AUTHOR, _author, (("@",), _ROLES)),
    _Place(_BY, lambda found: _person(found[1]), (tuple(f"{verb} {by} " for verb in _VERBS for by in ("by", "to")),)),
    _Place(_NAMED, lambda found: _person(found[1] or found[2]), (_NAME_FIELDS,)),
    _Place(_REMOTE, _remote, (("@",), (":",))),
    _Place(_CLONED, _remote, (("://",), (".git",))),
    _Place(_HOST, lambda found: _machine(found[1]), (("://",),)),
    _Place(_MENTIONED, _repository_names, (tuple(f"{forge}." for forge in _FORGES),)),
)


class Names:
    """The names that are looked for. `vocabulary` are words of tools and programs, which a person may be called but no folder
    is known by; `reserved` are words that every export has, and no name at all."""

    def __init__(self, found: Iterable[Name], vocabulary: Iterable[str] = (), reserved: Iterable[str] = ()) -> None:
        self._reserved = frozenset(word.lower() for word in reserved) | WORDS | ACCOUNTS
        self._common = self._reserved.union(word.lower() for word in vocabulary)
        self._known: dict[str, list[tuple[tuple[str, ...], Sort]]] = {}
        entries: dict[tuple[str, ...], Sort] = {}
        for sort, text in sorted(set(found)):
            for parts in _spellings(text):
                if self._is_telling(sort, parts):
                    entries.setdefault(parts, sort)
        for parts, sort in entries.items():
            self._known.setdefault(parts[0], []).append((parts, sort))
        for spellings in self._known.values():
            spellings.sort(key=lambda each: (-len(each[0]), each[0]))
        self.count = len(entries)

    def _is_telling(self, sort: Sort, parts: tuple[str, ...]) -> bool:
        """Whether a name says anything of anybody, wherever it stands."""
        if not parts or sum(map(len, parts)) < _LEAST or len(parts) > 12:
            return False
        words = [part for part in parts if not part.isdigit() and len(part) > 1]
        common = self._reserved if sort == "person" else self._common
        return any(word not in common for word in words)

    def _may_contain(self, text: str) -> bool:
        """Whether a word of it begins any name: told much sooner than where."""
        if not text.isascii():
            return True
        text = (
            _ESCAPE.sub(lambda found: f" {found[0][-1]}", text) + _ESCAPE.sub(" ", text)
            if _ESCAPE.search(text)
            else text
        )
        words = {*map(str.lower, _WHOLE.findall(text)), *map(str.lower, _PARTS.findall(text))}
        return not self._known.keys().isdisjoint(words)  # goes over the words, which are few, and not over the names

    def find(self, text: str) -> Iterator[tuple[int, int, Sort, str]]:
        """Every name in a text: where, what it is a name of, and its usual spelling. Of two that overlap the longer."""
        if not self._known or not self._may_contain(text):
            return
        done = 0
        pieces = list(_pieces(text))
        for place, (start, _, word) in enumerate(pieces):
            if start < done or word not in self._known:
                continue
            for parts, sort in self._known[word]:
                end = _name_end(pieces, place, parts)
                if end is not None:
                    yield start, end, sort, "".join(parts)
                    done = end
                    break


def _spellings(text: str) -> set[tuple[str, ...]]:
    """A name as its parts, and as one word."""
    parts = tuple(word for _, _, word in _pieces(text))
    joined = "".join(parts)
    return {parts, (joined,)} if len(parts) > 1 and len(joined) > 5 else {parts}


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text with their places: `JaneDoe` is two, `\\njane` may be one or have an escape before it."""
    for found in _RUN.finditer(text):
        run = found[0]
        if run[0] == "\\" and run[-2] == "\\":  # the letter of an escape may begin a word
            following = _RUN.match(text, found.end() - 1)
            if following is not None and following[0][:1].isalnum():
                yield following.start(), following.end(), _plain(following[0])
            continue
        if run[0] in "\\%":
            continue
        if run[0] == "\n":
            yield found.start(), found.end(), _BREAK
            continue
        parts = list(_PARTS.finditer(run))
        if len(parts) > 1:
            whole = _plain(run)
            yield found.start(), found.end(), whole
            begin = found.start()
            yield from ((begin + part.start(), begin + part.end(), _plain(part[0])) for part in parts)
        else:
            yield found.start(), found.end(), _plain(run)


def _name_end(pieces: list[tuple[int, int, str]], place: int, parts: tuple[str, ...]) -> int | None:
    """Where a name ends that begins at this piece; None if it is not there."""
    _, end, _ = pieces[place]
    at = place + 1
    for wanted in parts[1:]:
        while at < len(pieces) and (
            pieces[at][0] < end or (pieces[at][2] not in (wanted, _BREAK) and pieces[at][0] - end <= _GAP)
        ):
            at += 1
        if at >= len(pieces) or pieces[at][2] != wanted or pieces[at][0] - end > _GAP:
            return None
        end = pieces[at][1]
        at += 1
    return end


def _plain(word: str) -> str:
    """Without regard to case and accents."""
    if word.isascii():
        return word.lower()
    flat = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in flat if not unicodedata.combining(letter))
