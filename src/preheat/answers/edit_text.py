"""Text to edit that is not in its file: the closest lines as they stand now, and how they differ. Pure.

Reads the arguments of edits (old and new text, several of them, or a patch) by their usual names. Names lines by number; never
hands on a line.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import blake2b
from typing import Any, NamedTuple

from preheat.answers import sentences
from preheat.answers.history import History
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts, is_below
from preheat.calls.files import file_of
from preheat.model.session import ToolCall

_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text")
_NEW = ("new_string", "newString", "new_str", "newText", "new_text")
_ALL = ("replace_all", "replaceAll")
_PATCHES = ("text", "patchText", "patch", "input")
_PATCH_FILE = re.compile(r"^\*\*\* (Update|Add|Delete) File: ([^\n]+)$")
_MARKED = "REDACTED"
"""In a text from which a secret was taken: it cannot be compared with the file."""
_MOST_WANTED, _MOST_LINES = 400, 20_000
_TELLING = 4
_LEAST_SHARE = 0.5
_CLOSE_LINE = 0.75
_MOST_COMPARED = 3_000
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "`": "'"})


class TextEdit(NamedTuple):
    """One replacement in a file."""

    path: str
    old: str
    new: str
    everywhere: bool = False
    by_lines: bool = False
    """White space at the ends of lines does not count, as in a patch."""


class Closest(NamedTuple):
    """The lines of a file that are closest to a text, from 1."""

    first: int
    last: int
    how: str
    differs_at: int


def read_edits(call: PlannedCall) -> list[TextEdit]:
    """The replacements that an edit would make, in order; none where its arguments are of another form."""
    path = file_of(ToolCall(line=1, call_id="", tool=call.tool, kind=call.kind, input=call.arguments))
    several = call.arguments.get("edits")
    if isinstance(several, list):
        return [edit for each in several if isinstance(each, dict) and (edit := _read_edit(path, each))]
    if edit := _read_edit(path, call.arguments):
        return [edit]
    patch = next((value for name in _PATCHES if isinstance(value := call.arguments.get(name), str) and value), "")
    return _read_patch(patch) if "*** Begin Patch" in patch else []


def _read_edit(path: str, arguments: Mapping[str, Any]) -> TextEdit | None:
    old = next((value for name in _OLD if isinstance(value := arguments.get(name), str)), "")
    new = next((value for name in _NEW if isinstance(value := arguments.get(name), str)), None)
    if not path or not old or new is None:
        return None
    return TextEdit(path, old, new, any(arguments.get(name) is True or arguments.get(name) == "true" for name in _ALL))


def _read_patch(patch: str) -> list[TextEdit]:
    """A replacement for each hunk of a patch that updates a file."""
    found: list[TextEdit] = []
    path = ""
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if path and old:
            found.append(TextEdit(path, "\n".join(old), "\n".join(new), by_lines=True))
        old.clear()
        new.clear()

    for line in patch.splitlines():
        if line.startswith("*** "):
            close()
            header = _PATCH_FILE.match(line)
            path = header[2].strip() if header and header[1] == "Update" else ""
        elif line.startswith("@@"):
            close()
        elif path:
            if line[:1] != "+":
                old.append(line[1:])
            if line[:1] != "-":
                new.append(line[1:])
    close()
    return found


def check_edit(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """What is wrong with an edit that is about to be made. Where nothing in the file is like the text, the agent may see another
    file than we do: then nothing is said before."""
    found = explain_edit(call, files, history, facts)
    return found if found is not None and found.is_certain else None


def explain_edit(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """What is wrong with an edit, by the text of its file as it is now; None if nothing is, or that is not known."""
    if call.kind != "edit":
        return None
    texts: dict[str, str | None] = {}
    for edit in read_edits(call):
        path = call.absolute(edit.path)
        if not path or _MARKED in edit.old or _MARKED in path or len(edit.old) > 100_000:
            return None
        if path not in texts:
            texts[path] = _plain(files.read_text(path))
        text = texts[path]
        if text is None:
            return None
        old, new = _plain(edit.old) or "", _plain(edit.new) or ""
        if answer := _check(call, edit, path, text, old, new, files, facts):
            return answer
        texts[path] = text.replace(old, new, -1 if edit.everywhere else 1)
    return None


def _check(
    call: PlannedCall,
    edit: TextEdit,
    path: str,
    text: str,
    old: str,
    new: str,
    files: ProjectFiles,
    facts: SessionFacts,
) -> Answer | None:
    shown = call.show(path)
    digest = blake2b(old.encode("utf-8", "replace"), digest_size=6).hexdigest()
    about = f"{path} {digest}"
    if edit.by_lines:
        return None if _has_lines(text, old) else _not_found(path, shown, about, text, old, new, files, facts)
    if old == new:
        return None  # the tool says so itself
    if old not in text:
        if old.translate(_QUOTES) in text.translate(_QUOTES):
            return None  # some programs take these for the same
        return _not_found(path, shown, about, text, old, new, files, facts)
    times = text.count(old)
    if times > 1 and not edit.everywhere:
        first = text.index(old)
        second = text.index(old, first + 1)
        lines = [1 + text.count("\n", 0, place) for place in (first, second)]
        said = sentences.SEVERAL_PLACES.write(path=shown, times=f"{times} times", first=lines[0], second=lines[1])
        return Answer("edit text", said, about, tuple(f"{line}-{line + old.count(chr(10))}" for line in lines))
    return None


def _not_found(
    path: str, shown: str, about: str, text: str, old: str, new: str, files: ProjectFiles, facts: SessionFacts
) -> Answer | None:
    closest = find_closest(text.split("\n"), old.strip("\n").split("\n"))
    first = _find_made(text, old, new, closest)
    if first:
        said = sentences.ALREADY_CHANGED.write(path=shown, first=first)
        return Answer("edit text", said, about, (f"{first}-{first + new.count(chr(10))}",))
    relative = path[len(files.root) :].lstrip("/") if is_below(path, files.root) else ""
    times = facts.edits.get(relative, 0) if relative else 0
    edits = "" if not times else "once" if times == 1 else f"{times} times"
    if closest is None:
        return Answer("edit text", sentences.TEXT_GONE.write(path=shown), about, is_certain=False)
    sentence = sentences.CLOSEST_LINE if closest.first == closest.last else sentences.CLOSEST_LINES
    said = sentence.write(
        path=shown, first=closest.first, last=closest.last, how=closest.how, at=closest.differs_at or None, edits=edits
    )
    return Answer("edit text", said, about, (f"{closest.first}-{closest.last}",))


def _find_made(text: str, old: str, new: str, closest: Closest | None) -> int:
    """The line from which on the new text stands already, once and where the old one would; 0 if it does not."""
    if len(new.strip()) <= _TELLING * 4 or new.strip() in old or text.count(new) != 1:
        return 0
    first = 1 + text.count("\n", 0, text.index(new))
    last = first + new.count("\n")
    return first if closest is None or (closest.first <= last and first <= closest.last) else 0


def _plain(text: str | None) -> str | None:
    return None if text is None else text.replace("\r\n", "\n")


def _has_lines(text: str, wanted: str) -> bool:
    """Whether lines occur in a text, white space at their ends aside."""
    lines = [line.strip() for line in text.split("\n")]
    sought = [line.strip() for line in wanted.split("\n")]
    while sought and not sought[-1]:
        sought.pop()
    if not sought:
        return True
    starts = (place for place, line in enumerate(lines) if line == sought[0])
    return any(lines[start : start + len(sought)] == sought for start in starts)


def find_closest(lines: Sequence[str], wanted: Sequence[str]) -> Closest | None:
    """The lines that are closest to those wanted: where most of them stand in the same order; None if nothing is close."""
    if len(lines) > _MOST_LINES or len(wanted) > _MOST_WANTED:
        return None
    plain = [_squeeze(line) for line in lines]
    sought = [_squeeze(line) for line in wanted]
    start = _anchor(plain, sought)
    if start is None:
        start = _closest_line(plain, sought)
    if start is None:
        return None
    first, last = max(0, start), min(len(lines), start + len(wanted))
    there = lines[first:last]
    differing = (place for place, pair in enumerate(zip(there, wanted, strict=False)) if pair[0] != pair[1])
    at = next(differing, None)
    return Closest(first + 1, max(first + 1, last), _describe(there, wanted), first + 1 + at if at is not None else 0)


def _squeeze(line: str) -> str:
    return "".join(line.split()).translate(_QUOTES).lower()


def _anchor(plain: Sequence[str], sought: Sequence[str]) -> int | None:
    """Where the wanted text would begin, by the place that most of its telling lines agree on."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(plain):
        if len(line) >= _TELLING:
            places.setdefault(line, []).append(number)
    votes: Counter[int] = Counter()
    telling = 0
    for number, line in enumerate(sought):
        if len(line) < _TELLING:
            continue
        telling += 1
        for place in places.get(line, ())[:50]:
            votes[place - number] += 1
    if not votes:
        return None
    # A line more or less in between shifts the rest: neighbouring offsets count as one.
    best = max(
        votes, key=lambda start: (sum(votes[start + shift] for shift in (-2, -1, 0, 1, 2)), votes[start], -start)
    )
    agreed = sum(votes[best + shift] for shift in (-2, -1, 0, 1, 2))
    return best if agreed >= max(1, telling * _LEAST_SHARE) else None


def _closest_line(plain: Sequence[str], sought: Sequence[str]) -> int | None:
    """Where the longest wanted line stands in nearly the same form, if at one place only."""
    number = max(range(len(sought)), key=lambda place: len(sought[place]))
    line = sought[number]
    if len(line) < 2 * _TELLING or len(plain) > _MOST_COMPARED:
        return None
    matcher = SequenceMatcher(None, "", line, autojunk=False)
    scores: list[tuple[float, int]] = []
    for place, other in enumerate(plain):
        if not other or abs(len(other) - len(line)) > len(line) // 2:
            continue
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() >= _CLOSE_LINE and matcher.quick_ratio() >= _CLOSE_LINE:
            scores.append((matcher.ratio(), place))
    scores.sort(reverse=True)
    if not scores or scores[0][0] < _CLOSE_LINE or (len(scores) > 1 and scores[1][0] == scores[0][0]):
        return None
    return scores[0][1] - number


_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the same but for indentation", lambda text: "\n".join(line.lstrip() for line in text.split("\n"))),
    ("the same but for white space", lambda text: "".join(text.split())),
    ("the same but for quotes", lambda text: "".join(text.split()).translate(_QUOTES).replace('"', "'")),
    ("the same but for upper and lower case", lambda text: "".join(text.split()).lower()),
)


def _describe(there: Sequence[str], wanted: Sequence[str]) -> str:
    one, other = "\n".join(there), "\n".join(wanted)
    return next((how for how, form in _FORMS if form(one) == form(other)), "nearly the same")
