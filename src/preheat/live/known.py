"""What earlier sessions know of mistakes, small enough to be looked up at every call: by the words of an error, and by the
command that should not be run. Knows no state and no archive: lessons come in.

Only what would help is in here. A lesson that rests on one session, is doubted, or whose error says itself what to do, is not.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from preheat.calls.vocabulary import told_words
from preheat.calls.words import telling_words
from preheat.live.results import plain_command
from preheat.model.lesson import Lesson
from preheat.safe_text.letters import one_line

_FEWEST_SESSIONS, _FEWEST_TO_WARN = 2, 3
"""Sessions that a lesson rests on: before anything has failed more is asked of it. Seen in one project: all four warnings
from a lesson of two sessions were for commands that then counted as good, all eleven from one of eight were right."""
_SHARE = 0.75
_CODE, _ERROR = 90, 80
_TOKEN = re.compile(r"""&&|\|\||[;|&\n()]|(?:[^\s'"\\;|&()]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""")
_OPERATORS = frozenset(["&&", "||", ";", "|", "&", "\n", "(", ")"])
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_ANY = frozenset(["N", "NAME", "PATH", "PACKAGE", "VALUE", "FOLDER", "FILE"])
"""Words of a lesson's command that stand for whatever is in their place."""
_REST = "…"
_SPECIFIC = frozenset(["command", "program", "tool"])
"""Walls that a dead end may be about; that a file is not there, its error says itself."""
_LEAST_STEM = 4

Pattern = tuple[str, ...]


class Hint(msgspec.Struct, frozen=True, gc=False):
    """A lesson, as far as a running session needs it."""

    lesson: str
    text: str
    """What to say: facts with their numbers."""
    agent: str = ""
    programs: tuple[str, ...] = ()
    """Whose failures it is about: tools, or the first words of commands."""
    avoid: Pattern = ()
    use: Pattern = ()
    exact: bool = False
    """Only the very command in `avoid` is meant: one that goes on may be the repair."""
    only: bool = False
    """It is about the command in `avoid` and no other."""
    plain: bool = False
    """It only says how a tool is used, which an agent finds out by itself as a rule: worth a word when it did not."""


class Known(msgspec.Struct, frozen=True):
    """What is known of mistakes."""

    errors: dict[str, tuple[Hint, ...]] = {}
    """By the telling words of an error."""
    avoided: dict[str, tuple[Hint, ...]] = {}
    """By the first word of a command that fails."""


NOTHING = Known()


def known(lessons: Iterable[Lesson], now: float) -> Known:
    """The index of some lessons: those that may be handed out at a moment and would help."""
    errors: dict[str, dict[str, Hint]] = {}
    avoided: dict[str, dict[str, Hint]] = {}
    for lesson in sorted(lessons, key=_best_first):
        hint = _hint(lesson) if _sound(lesson, now) else None
        if hint is None:
            continue
        for signature in lesson.signatures or (lesson.error,):
            if words := error_words(signature):
                errors.setdefault(words, {}).setdefault(hint.lesson, hint)
        if hint.use and len(hint.avoid) > 1 and lesson.support.sessions_for >= _FEWEST_TO_WARN:
            avoided.setdefault(hint.avoid[0], {}).setdefault(hint.lesson, hint)
    return Known(
        {words: tuple(hints.values()) for words, hints in errors.items()},
        {word: tuple(hints.values()) for word, hints in avoided.items()},
    )


@lru_cache(maxsize=1024)
def error_words(signature: str) -> str:
    """What an error is looked up by; empty for one that says nothing."""
    return " ".join(telling_words(signature))


def after(index: Known, words: str, program: str, command: str, agent: str = "", again: bool = False) -> Hint | None:
    """What is known of a failure: by its words, the tool or program that failed, and the command, if it was one; `again`
    where the same failure came just before."""
    for hint in index.errors.get(words, ()) if words else ():
        if hint.plain and not again:
            continue
        if hint.agent and agent and hint.agent != agent:
            continue
        if program not in hint.programs and not _runs(hint.avoid, command):
            continue
        if hint.only and hint.avoid and not _runs(hint.avoid, command):
            continue
        if not (hint.use and _runs(hint.use, command)):  # the very repair failed: it does not hold here
            return hint
    return None


def before(index: Known, command: str, agent: str = "") -> Hint | None:
    """What is known of a command that is about to run."""
    if not index.avoided or not command:
        return None
    for piece in pieces(command):
        for hint in index.avoided.get(piece[0], ()):
            if (hint.agent and agent and hint.agent != agent) or (hint.exact and len(piece) != len(hint.avoid)):
                continue
            if _fits(hint.avoid, piece) and not _mended(hint, piece):
                return hint
    return None


def pieces(command: str) -> Iterator[list[str]]:
    """The simple commands of a shell text as words, without quotes and what is set before them."""
    piece: list[str] = []
    for token in _TOKEN.findall(plain_command(command[:4096])):
        if token in _OPERATORS:
            if piece:
                yield piece
            piece = []
        elif piece or not _ASSIGNED.match(token):
            piece.append(_unquoted(token))
    if piece:
        yield piece


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def _runs(pattern: Pattern, command: str) -> bool:
    return bool(pattern) and any(_fits(pattern, piece) for piece in pieces(command))


def _fits(pattern: Pattern, piece: list[str]) -> bool:
    """Whether a command begins as the pattern does."""
    for place, word in enumerate(pattern):
        if word == _REST:
            return True
        if place >= len(piece) or (word != piece[place] and (word not in _ANY or piece[place].startswith("-"))):
            return False
    return True


def _mended(hint: Hint, piece: list[str]) -> bool:
    """Whether a command has what the repair adds."""
    added = [word for word in hint.use if word not in hint.avoid and word not in _ANY]
    return bool(added) and all(word in piece for word in added) and not set(hint.avoid) - set(hint.use)


# Lessons.
def _best_first(lesson: Lesson) -> tuple[int, float, str]:
    return _ORDER.get(lesson.kind, 9), -lesson.support.confidence, lesson.id


_ORDER = {"repair": 0, "convention": 1, "dead_end": 2}


def _sound(lesson: Lesson, now: float) -> bool:
    share = lesson.support.share
    return (
        lesson.usable(now)
        and lesson.kind in _ORDER
        and lesson.support.sessions_for >= _FEWEST_SESSIONS
        and (share is None or share >= _SHARE)
    )


def _hint(lesson: Lesson) -> Hint | None:
    typed = lesson.use if lesson.use and f"`{lesson.use}`" in lesson.text else ""
    said = _SAYS[lesson.kind](lesson, typed)
    if not said:
        return None
    avoid = next(pieces(lesson.avoid), []) if _one_command(lesson.avoid) else []
    use = next(pieces(typed), []) if _one_command(typed) else []
    return Hint(
        lesson=lesson.id,
        text=f"{said} (lesson {lesson.id}).",
        agent=lesson.scope.agent,
        programs=tuple(sorted({form.split(" ")[0] for form in lesson.forms if form})),
        avoid=tuple(avoid),
        use=tuple(use),
        exact=not set(avoid) - set(use),
        only=lesson.kind != "repair",
        plain=not use and lesson.kind == "repair",
    )


def _one_command(text: str) -> bool:
    return bool(text) and "\n" not in text and len(list(pieces(text))) == 1 and "(" not in text


def _repaired(lesson: Lesson, typed: str) -> str:
    failed = lesson.avoid or next(iter(lesson.forms), "")
    if not failed or not (typed or lesson.difference) or _says_itself(lesson):
        return ""
    error = f" with {_quoted(lesson.error)}" if lesson.error else ""
    worked = f"{_code(typed)} worked" if typed else f"{lesson.difference.rstrip(', ')}, it worked"
    return f"{_code(failed)} fails here{error}; {worked} {_often(lesson)}"


def _agreed(lesson: Lesson, typed: str) -> str:
    """A convention: how it is done here, and how it is not."""
    if not (lesson.avoid and typed):
        return ""
    error = f" with {_quoted(lesson.error)}" if lesson.error else ""
    return f"{_code(lesson.avoid)} fails here{error}; {_code(typed)} worked {_often(lesson)}"


def _given_up(lesson: Lesson, typed: str) -> str:
    """A dead end."""
    if lesson.topic not in _SPECIFIC or not lesson.avoid:
        return ""
    error = f", with {_quoted(lesson.error)}" if lesson.error else ""
    instead = f"; {_code(lesson.use)} was used instead" if lesson.use else ""
    often = f"{lesson.support.calls_for} times in {lesson.support.sessions_for} earlier sessions"
    return f"{_code(lesson.avoid)} failed all {often}{error}{instead}"


_SAYS = {"repair": _repaired, "convention": _agreed, "dead_end": _given_up}


def _often(lesson: Lesson) -> str:
    support = lesson.support
    total = support.calls_for + support.calls_against
    return f"{support.calls_for} of {total} times in {support.sessions_for} earlier sessions"


def _says_itself(lesson: Lesson) -> bool:
    """Whether the error names the repair: who reads it needs no other to say so."""
    wanted = {_stem(word) for word in told_words(lesson.difference)}
    error = {_stem(word) for signature in (lesson.error, *lesson.signatures[:1]) for word in told_words(signature)}
    return bool(wanted) and wanted <= error


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word


def _code(text: str) -> str:
    return f"`{one_line(text, _CODE)}`"


def _quoted(text: str) -> str:
    return '"' + one_line(text, _ERROR).replace('"', "'") + '"'
