"""Mistake: the last failure of a session, and the hint that lessons of earlier sessions give for it.

The state holds what happened in the session. The index of lessons (`KnownMistakes`) is passed in at every look, so that the same
events give the same state whatever was learned since. Knows no archive.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from preheat.calls.words import KEY_MARK, digest_words, telling_words, words_in
from preheat.live import sentences
from preheat.live.results import plain_command
from preheat.live.signal import FoldContext, Signal
from preheat.model.lesson import Lesson, Origin
from preheat.model.live import CallEvent, LiveEvent, SignalReading, StartEvent
from preheat.model.outcome import FAILURES
from preheat.safe_text.cleanup import one_line

# The index of lessons on mistakes: small enough to be looked into at every call.
_FEWEST_SESSIONS, _FEWEST_TO_WARN = 2, 3
"""Sessions that a lesson must rest on; a warning before a command needs more. In one project all four warnings from a lesson of
two sessions were wrong, all eleven from one of eight sessions right."""
_LEAST_SHARE = 0.75
_TOKEN = re.compile(r"""&&|\|\||[;|&\n()]|(?:[^\s'"\\;|&()]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""")
_OPERATORS = frozenset(["&&", "||", ";", "|", "&", "\n", "(", ")"])
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PLACEHOLDERS = frozenset(["N", "NAME", "PATH", "PACKAGE", "VALUE", "FOLDER", "FILE"])
"""Placeholders in a lesson's command, which match any word."""
_REST = "…"
_DEAD_END_TOPICS = frozenset(["command", "program", "tool"])
"""Topics of dead ends that make a hint; that a file is missing, its error already says."""
_LEAST_STEM = 4
_OUTSIDE = "outside of the sandbox"
"""A difference that no agent finds out from the message: said at once."""
_INSTEAD = " instead of "
"""In a difference: after it stands what failed."""

Pattern = tuple[str, ...]


class Hint(msgspec.Struct, frozen=True, gc=False):
    """A lesson, as far as a running session needs it."""

    lesson: str
    text: str
    """The text for the agent: facts with their numbers."""
    agent: str = ""
    programs: tuple[str, ...] = ()
    """The tools, or first words of commands, whose failures it explains."""
    avoid: Pattern = ()
    use: Pattern = ()
    is_exact: bool = False
    """It matches only the whole command in `avoid`: a longer command may be the repair."""
    is_command_specific: bool = False
    """It applies to the command in `avoid` only."""
    is_generic: bool = False
    """It only says how a tool is used, which agents usually find out: given when the failure repeats."""
    origin: Origin = ""
    """How the lesson came, if others learned it."""


class KnownMistakes(msgspec.Struct, frozen=True):
    """The index of lessons on mistakes."""

    by_error: dict[str, tuple[Hint, ...]] = {}
    """By the telling words of an error."""
    by_command: dict[str, tuple[Hint, ...]] = {}
    """By the first word of a command that fails."""


NO_KNOWN_MISTAKES = KnownMistakes()


def index_lessons(lessons: Iterable[Lesson], now: float) -> KnownMistakes:
    """The index of the lessons that may be given at time `now` and would help."""
    errors: dict[str, dict[str, Hint]] = {}
    avoided: dict[str, dict[str, Hint]] = {}
    for lesson in sorted(lessons, key=_sort_key):
        hint = _make_hint(lesson) if _is_sound(lesson, now) else None
        if hint is None:
            continue
        for signature in lesson.signatures or (lesson.error,):
            if words := signature if signature.startswith(KEY_MARK) else error_words(signature):
                errors.setdefault(words, {}).setdefault(hint.lesson, hint)
        if hint.use and len(hint.avoid) > 1 and lesson.support.sessions_for >= _FEWEST_TO_WARN:
            avoided.setdefault(hint.avoid[0], {}).setdefault(hint.lesson, hint)
    return KnownMistakes(
        {words: tuple(hints.values()) for words, hints in errors.items()},
        {word: tuple(hints.values()) for word, hints in avoided.items()},
    )


def drop_origin(index: KnownMistakes, origin: Origin) -> KnownMistakes:
    """The index without hints from lessons that came in one way."""

    def keep(hints: dict[str, tuple[Hint, ...]]) -> dict[str, tuple[Hint, ...]]:
        return {key: tuple(hint for hint in some if hint.origin != origin) for key, some in hints.items()}

    return KnownMistakes(keep(index.by_error), keep(index.by_command))


@lru_cache(maxsize=1024)
def error_words(signature: str) -> str:
    """The key of an error in the index; empty for an error without telling words."""
    return " ".join(telling_words(signature))


def find_hint_after_failure(
    index: KnownMistakes, words: str, program: str, command: str, agent: str = "", repeated: bool = False
) -> Hint | None:
    """The hint for a failure, by its words, the tool or program that failed, and the command, if it was one; `repeated` if
    the same failure occurred just before."""
    known = (*index.by_error.get(words, ()), *index.by_error.get(digest_words(words), ())) if words else ()
    for hint in known:  # lessons of others are found by a digest of the words
        if hint.is_generic and not repeated:
            continue
        if hint.agent and agent and hint.agent != agent:
            continue
        if program not in hint.programs and not _runs_pattern(hint.avoid, command):
            continue
        if hint.is_command_specific and hint.avoid and not _runs_pattern(hint.avoid, command):
            continue
        if not (hint.use and _runs_pattern(hint.use, command)):  # the repair itself failed: it does not work here
            return hint
    return None


def find_hint_before_command(index: KnownMistakes, command: str, agent: str = "") -> Hint | None:
    """The hint for a command that is about to run."""
    if not index.by_command or not command:
        return None
    for piece in split_commands(command):
        for hint in index.by_command.get(piece[0], ()):
            if (hint.agent and agent and hint.agent != agent) or (hint.is_exact and len(piece) != len(hint.avoid)):
                continue
            if (_matches(hint.avoid, piece) or _has_refused_option(hint, piece)) and not _is_repaired(hint, piece):
                return hint
    return None


def split_commands(command: str) -> Iterator[list[str]]:
    """The simple commands of a shell text as words, without quotes and leading assignments."""
    piece: list[str] = []
    for token in _TOKEN.findall(plain_command(command[:4096])):
        if token in _OPERATORS:
            if piece:
                yield piece
            piece = []
        elif piece or not _ASSIGNMENT.match(token):
            piece.append(_strip_quotes(token))
    if piece:
        yield piece


def _strip_quotes(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def _runs_pattern(pattern: Pattern, command: str) -> bool:
    return bool(pattern) and any(_matches(pattern, piece) for piece in split_commands(command))


def _matches(pattern: Pattern, piece: list[str]) -> bool:
    """Whether a command begins with the pattern."""
    for place, word in enumerate(pattern):
        if word == _REST:
            return True
        if place >= len(piece) or (
            word != piece[place] and (word not in _PLACEHOLDERS or piece[place].startswith("-"))
        ):
            return False
    return True


def _has_refused_option(hint: Hint, piece: list[str]) -> bool:
    """Whether a command has the option that a repair leaves out, wherever it stands among others: `status --json --no-pager`."""
    options = [word for word in hint.avoid if word not in hint.use]
    if len(options) != 1 or not options[0].startswith("-") or [word for word in hint.use if word not in hint.avoid]:
        return False
    called = [word for word in piece if not word.startswith("-")]
    return options[0] in piece and _matches(tuple(word for word in hint.use if not word.startswith("-")), called)


def _is_repaired(hint: Hint, piece: list[str]) -> bool:
    """Whether a command already has the words that the repair adds."""
    added = [word for word in hint.use if word not in hint.avoid and word not in _PLACEHOLDERS]
    return bool(added) and all(word in piece for word in added) and not set(hint.avoid) - set(hint.use)


# The hint that a lesson gives.
def _sort_key(lesson: Lesson) -> tuple[int, float, str]:
    return _KIND_ORDER.get(lesson.kind, 9), -lesson.support.confidence, lesson.id


_KIND_ORDER = {"repair": 0, "convention": 1, "dead_end": 2}


def _is_sound(lesson: Lesson, now: float) -> bool:
    share = lesson.support.share
    return (
        lesson.is_usable(now)
        and lesson.kind in _KIND_ORDER
        and lesson.support.sessions_for >= _FEWEST_SESSIONS
        and (share is None or share >= _LEAST_SHARE)
    )


def _make_hint(lesson: Lesson) -> Hint | None:
    typed = lesson.use if lesson.use and f"`{lesson.use}`" in lesson.text else ""
    sentence = _SENTENCES[lesson.kind](lesson, typed)
    if not sentence:
        return None
    avoid = next(split_commands(lesson.avoid), []) if _is_one_command(lesson.avoid) else []
    use = next(split_commands(typed), []) if _is_one_command(typed) else []
    return Hint(
        lesson=lesson.id,
        text=sentence,
        agent=lesson.scope.agent,
        programs=tuple(sorted({form.split(" ")[0] for form in lesson.forms if form})),
        avoid=tuple(avoid),
        use=tuple(use),
        is_exact=not set(avoid) - set(use),
        is_command_specific=lesson.kind != "repair",
        is_generic=not use and lesson.kind == "repair" and lesson.difference != _OUTSIDE,
        origin=lesson.origin,
    )


def _is_one_command(text: str) -> bool:
    return bool(text) and "\n" not in text and len(list(split_commands(text))) == 1 and "(" not in text


def _repair_sentence(lesson: Lesson, typed: str) -> str:
    failed = lesson.avoid or next(iter(lesson.forms), "")
    if not failed or not (typed or lesson.difference) or _error_names_repair(lesson):
        return ""
    is_here = bool(lesson.scope.project)
    if typed:
        sentence = sentences.KNOWN_REPAIR if is_here else sentences.GENERAL_REPAIR
        return sentence.write(use=typed, **_values(lesson))
    sentence = sentences.KNOWN_DIFFERENCE if is_here else sentences.GENERAL_DIFFERENCE
    return sentence.write(difference=lesson.difference.partition(_INSTEAD)[0], **_values(lesson))


def _convention_sentence(lesson: Lesson, typed: str) -> str:
    if not (lesson.avoid and typed):
        return ""
    return sentences.KNOWN_REPAIR.write(use=typed, **_values(lesson))


def _dead_end_sentence(lesson: Lesson, typed: str) -> str:
    if lesson.topic not in _DEAD_END_TOPICS or not lesson.avoid:
        return ""
    times = f"{lesson.support.calls_for} times"
    replaced = sentences.REPLACED_DEAD_END.write(use=lesson.use, times=times, **_values(lesson)) if lesson.use else ""
    return replaced or sentences.KNOWN_DEAD_END.write(times=times, **_values(lesson))


_SENTENCES = {"repair": _repair_sentence, "convention": _convention_sentence, "dead_end": _dead_end_sentence}


def _values(lesson: Lesson) -> dict[str, str | int]:
    support = lesson.support
    return {
        "error": lesson.error,
        "good": support.calls_for,
        "all": support.calls_for + support.calls_against,
        "sessions": support.sessions_for,
        "lesson": lesson.id,
    }


def _error_names_repair(lesson: Lesson) -> bool:
    """Whether the error message already names the repair."""
    wanted = {_stem(word) for word in words_in(lesson.difference)}
    error = {_stem(word) for signature in (lesson.error, *lesson.signatures[:1]) for word in words_in(signature)}
    return bool(wanted) and wanted <= error


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word


# The signal.
_MOST_REMEMBERED = 32
"""Errors that are counted, and given lessons that are remembered."""
_LONGEST = 300
_REPEATED_WITHIN = 10
"""Calls within which the same failure counts as repeated: the agent has not found the repair itself."""


class MistakeState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last failure that was no finding, and how often each failure occurred."""

    words: str = ""
    """The telling words of the error; empty while nothing has failed."""
    signature: str = ""
    program: str = ""
    command: str = ""
    """The shell text, on one line; empty for other tools."""
    call: int = 0
    """The number of the call that failed, counted from 1."""
    calls: int = 0
    times: int = 0
    is_repeated: bool = False
    """The same failure occurred a few calls before."""
    failure_counts: tuple[tuple[str, int, int], ...] = ()
    """For the newest errors: their words, how often they occurred, and the last call."""
    given_lessons: tuple[str, ...] = ()
    """Lessons that were given in this session; each is given once."""

    @property
    def is_fresh(self) -> bool:
        """Whether the last call is the one that failed."""
        return bool(self.words) and self.call == self.calls


def _step(state: MistakeState, event: LiveEvent, context: FoldContext) -> MistakeState:
    if not isinstance(event, CallEvent):
        return MistakeState() if isinstance(event, StartEvent) and event.source in ("startup", "clear") else state
    calls = state.calls + 1
    words = error_words(event.signature) if event.status in FAILURES and event.cause != "finding" else ""
    if not words:
        return MistakeState(
            state.words,
            state.signature,
            state.program,
            state.command,
            state.call,
            calls,
            state.times,
            state.is_repeated,
            state.failure_counts,
            state.given_lessons,
        )
    words = words[:_LONGEST]
    _, times_before, last = next((each for each in state.failure_counts if each[0] == words), ("", 0, 0))
    others = tuple(each for each in state.failure_counts if each[0] != words)
    return MistakeState(
        words=words,
        signature=event.signature[:_LONGEST],
        program=event.form.split(" ")[0][:_LONGEST],
        command=event.summary[:_LONGEST] if event.kind == "shell" else "",
        call=calls,
        calls=calls,
        times=times_before + 1,
        is_repeated=bool(last) and calls - last <= _REPEATED_WITHIN,
        failure_counts=(*others, (words, times_before + 1, calls))[-_MOST_REMEMBERED:],
        given_lessons=state.given_lessons,
    )


def _read(state: MistakeState, context: FoldContext) -> SignalReading:
    """How often the last failure occurred in this session; `read_last_failure` adds what lessons know of it."""
    if not state.is_fresh:
        return SignalReading(signal="mistake", value=0.0, facts={"last call": "did not fail"} if state.calls else {})
    facts = {
        "last failure": one_line(state.signature, 120),
        "of": state.program,
        "times in this session": str(state.times),
    }
    return SignalReading(
        signal="mistake", value=float(state.times), cause=f"failure {state.words}"[:_LONGEST], facts=facts
    )


MISTAKE = Signal("mistake", MistakeState(), _step, _read)


def read_last_failure(
    state: MistakeState, known: KnownMistakes = NO_KNOWN_MISTAKES, agent: str = ""
) -> SignalReading | None:
    """The hint for the failure of the last call; None if it was given already."""
    return read_earlier_failure(state, known, agent) if state.is_fresh else None


def read_earlier_failure(
    state: MistakeState, known: KnownMistakes = NO_KNOWN_MISTAKES, agent: str = ""
) -> SignalReading | None:
    """The hint for the last failure, whatever came after it; None if it was given already."""
    hint = find_hint_after_failure(known, state.words, state.program, state.command, agent, state.is_repeated)
    # Not every agent can be told before a command that it fails here.
    hint = hint or find_hint_before_command(known, state.command, agent)
    return _hint_reading(state, hint, {"last failure": one_line(state.signature, 120), "of": state.program})


def has_hint(state: MistakeState, known: KnownMistakes, agent: str = "", command: str = "") -> bool:
    """Whether a lesson explains the failure of the last call, given before or not, or speaks of its command before it runs."""
    if command and find_hint_before_command(known, command, agent) is not None:
        return True
    return state.is_fresh and (
        find_hint_after_failure(known, state.words, state.program, state.command, agent, state.is_repeated) is not None
    )


def read_planned_command(
    state: MistakeState, known: KnownMistakes, command: str, agent: str = ""
) -> SignalReading | None:
    """The hint for a command that is about to run; None if it was given already."""
    return _hint_reading(
        state, find_hint_before_command(known, command, agent), {"about to run": one_line(command, 120)}
    )


def _hint_reading(state: MistakeState, hint: Hint | None, facts: dict[str, str]) -> SignalReading | None:
    if hint is None or hint.lesson in state.given_lessons:
        return None
    return SignalReading(
        signal="mistake",
        value=float(max(1, state.times)),
        fired=True,
        cause=hint.lesson,
        facts={**facts, "times in this session": str(state.times), "lesson": hint.lesson},
        text=hint.text,
    )


def record_lesson(state: MistakeState, lesson: str) -> MistakeState:
    """The state after a lesson was given."""
    return msgspec.structs.replace(state, given_lessons=(*state.given_lessons, lesson)[-_MOST_REMEMBERED:])
