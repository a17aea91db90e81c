"""A failed call as a mistake: whether it counts as one, its form, how it is shown, and when two failures are the same mistake.

Two failures are the same when they come from the same family of tools and their messages begin with the same eight words and
end with the same three (`calls.words`); masks, numbers and punctuation are no words. A failure without a message of its own
cannot be known again. Texts in here came out of tools and of calls: they are data. Knows one session, and no other.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, TypeAlias

from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.shell import command_form
from preheat.calls.words import MASK, telling_words
from preheat.commands import command_text, is_trivial, understand
from preheat.model.outcome import Cause
from preheat.model.session import ToolKind
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import hidden_reason, junk_reason, transient_reason

# When two failures are the same mistake, and what it is called
MISTAKE_CAUSES: tuple[Cause, ...] = ("mistake", "environment")
"""Causes that count unless others are asked for: a failing test is work, not a mistake."""
LONGEST_TITLE = 120
_GAPS = re.compile(r"…(?:[\s:,/.]*…)+")
_PREFIX = re.compile(r"(?:(?:fatal )?error|exception)\s*[:\-]\s+", re.IGNORECASE)
_MASKED_AMOUNT = re.compile(r"(?<!\w)N(?=(?:ms|s|[kKMG]i?B|px|x)\b)")
"""A masked number with its unit, which is no mask by itself."""
_MASKED_CODE = re.compile(r"\s*\((?:os error|code|exit code|errno|error) …\)")
"""A code in brackets of which nothing is left."""
_SILENT = re.compile(r"exit code N, no message$|^exit (?:code|status)\b.{0,20}$", re.IGNORECASE)
_HELP = re.compile(r"-\w,? --?\w[\w-]*\s|--[\w-]{2,}(?:[ =]\S+)?\s{1,}[A-Z]")

Key: TypeAlias = tuple[str, tuple[str, ...]]
"""The key of a mistake: the family of its tools, and the words of its message."""


def tool_family(tool: str, kind: ToolKind) -> str:
    """The kind of tool, whatever an agent calls it; a tool of no kind is its own family."""
    return tool if kind == "other" else kind


def mistake_key(family: str, signature: str) -> Key | None:
    """The key of a mistake; None where the message has no words to recognise it by."""
    words = () if is_silent(signature) or is_help(signature) else telling_words(signature)
    return (family, words) if words else None


def mistake_id(key: Key) -> str:
    """A short id, equal in every run and on every machine."""
    return "m" + blake2b("\0".join((key[0], *key[1])).encode("utf-8", "replace"), digest_size=3).hexdigest()


def is_silent(signature: str) -> bool:
    """Whether the tool gave no message, so that the failure cannot be recognised."""
    return bool(_SILENT.search(signature))


def is_help(signature: str) -> bool:
    """Whether it is a line of the help that a program prints after its message."""
    return bool(_HELP.match(signature))


def title(signature: str) -> str:
    """A signature as a message on one line: gaps for what is masked, without a word that only says that it is an error."""
    masked = MASK.sub("…", _MASKED_AMOUNT.sub("… ", signature[: 4 * LONGEST_TITLE]))
    flat = " ".join(_MASKED_CODE.sub("", _GAPS.sub("…", masked)).split())
    bare = _PREFIX.sub("", flat, count=1) if _PREFIX.match(flat) else flat
    return one_line((bare if bare.strip(" …") else flat).replace("`", "'"), LONGEST_TITLE)


def commonest(values: Iterable[str], most: int | None = None) -> tuple[str, ...]:
    """Each once, the commonest first, then in their own order."""
    counts = Counter(value for value in values if value)
    return tuple(sorted(counts, key=lambda value: (-counts[value], value))[:most])


def why_unfit(signatures: Iterable[str]) -> str:
    """Why what a tool printed must not be put before a model; empty if it may."""
    return next((why for signature in signatures if (why := hidden_reason(signature))), "")


# Whether a failed call counts as a mistake, its form, and how it is shown
LONGEST_SIGNATURE = 300
LONGEST_SHOWN = 160
MOST_FORMS = 150
"""Forms of calls that are counted in one session."""
_SHAPED = re.compile(r"(?:\s*2>&1|\s*\|\s*(?:head|tail)(?:\s+-n)?(?:\s*-?\d+)?)+$")
"""The filter at the end of a command that only shortens its output."""
_STARTED = re.compile(r"^(?:/\S*/)?(?:ba|z)?sh -l?c (['\"])((?:(?!\1).)*)\1$")
"""A shell that is started only to run one text."""
_HOOKED = frozenset(["commit", "push", "merge", "rebase"])
_A_LOT = 10
"""Lines of output; git's own messages are shorter."""
_LOOKED_THROUGH = 20_000
_GIT_SAYS = re.compile(
    r"(?i)^(?:fatal|hint|usage|warning|remote|to |on branch|nothing|no changes|changes not|conflict)\b"
)
_SPEAKER = re.compile(r"(?:PATH:? ?)?([\w][\w.+-]{0,30}): ")
"""A program that names itself before its message."""
_VALUE = 90
_SHOWN_ARGUMENTS = 4


def is_mistake(seen: JudgedCall) -> bool:
    """Whether a call failed by the agent's mistake or by the environment."""
    return seen.failed and seen.record.cause in MISTAKE_CAUSES and not _stopped_by_hook(seen)


def _stopped_by_hook(seen: JudgedCall) -> bool:
    """Whether a commit or a push was stopped by the checks that a project runs then: what they found is work, and their last
    line says nothing about the command. Of its own git says little."""
    main = understand(command_text(seen.call.input)).main if seen.call.kind == "shell" and seen.result else None
    if main is None or main.program != "git" or _HOOKED.isdisjoint(main.words[1:]):
        return False
    output = seen.result.model_text if seen.result else ""
    return output.count("\n", 0, _LOOKED_THROUGH) >= _A_LOT and not _GIT_SAYS.search(seen.record.signature)


def signature_of(seen: JudgedCall) -> str:
    """The signature of a failure, whole or not at all: half of one would be another mistake."""
    signature = seen.record.signature
    fit = len(signature) <= LONGEST_SIGNATURE and telling_words(signature) and not transient_reason(signature)
    return signature if fit else ""


def form_of(seen: JudgedCall) -> str:
    """The form of a call: of a command its program with what it is told, else the tool. Of several commands in one text the
    one that the message of a failure names."""
    text = command_text(seen.call.input) if seen.call.kind == "shell" else ""
    form = (_complaining_form(text, seen.record.signature) if text and seen.failed else "") or command_form(text)
    return one_line(form or seen.call.tool, LONGEST_SHOWN) or "call"


def _complaining_form(text: str, signature: str) -> str:
    """The form of the command that a message names, if that is not the main one: by its program, which speaks first, or by its
    subcommand: of `git add` and `git commit`, `nothing to commit` is about the second."""
    understood = understand(text)
    main = understood.main
    if main is None:
        return ""
    speaker = _SPEAKER.match(signature)
    if speaker is not None and speaker[1] != main.program:
        own = [each for each in understood.commands if each.program == speaker[1]]
    else:
        said = frozenset(telling_words(signature))
        own = [each for each in understood.commands if each.program == main.program and each.words[1:2]]
        own = [each for each in own if each.words[1] in said] if main.words[1:2] and main.words[1] not in said else []
    return (
        command_form(shlex.join(own[0].words)) if own and not is_trivial(own[0]) else ""
    )  # a `|` in quotes is no pipe


def form_with_starters(seen: JudgedCall) -> str:
    """The form with the programs that start it before it: `npx jest …`."""
    return _with_starters(seen, form_of(seen))


def _with_starters(seen: JudgedCall, form: str) -> str:
    text = command_text(seen.call.input) if seen.call.kind == "shell" else ""
    main = understand(text).main if text else None
    if main is None or not main.wrappers:
        return form
    return one_line(" ".join((*main.wrappers, form)), LONGEST_SHOWN)


def names_subcommand(command: str) -> bool:
    """Whether a command is a subcommand with options and nothing else: `cart status --no-pager`."""
    words = [word for word in command.split() if not word.startswith("-")]
    return len(words) == 2 and words[1].isalpha() and len(words) < len(command.split())


def whole_command(seen: JudgedCall) -> str:
    """A command that is a subcommand with options and nothing else; empty for any other call."""
    text = command_text(seen.call.input) if seen.call.kind == "shell" else ""
    main = understand(text).main if " -" in text[:_VALUE] else None
    whole = " ".join(main.words) if main is not None and len(main.words) < _VALUE else ""
    return whole if len(whole) <= _VALUE and names_subcommand(whole) else ""


def forms_that_ran(seen: JudgedSession) -> dict[str, int]:
    """How often each form of call was right in a session, with and without what started it; the commonest ones."""
    if "forms that ran" not in seen.cache:
        counts: Counter[str] = Counter()
        for each in seen.calls:
            if each.ran:
                form = form_of(each)
                counts[form] += 1
                if (whole := whole_command(each)) and whole != form:
                    counts[whole] += 1
                started = _with_starters(each, form)
                if started != form:
                    counts[started] += 1
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_FORMS]
        seen.cache["forms that ran"] = dict(ranked)
    found: dict[str, int] = seen.cache["forms that ran"]
    return found


def describe_call(seen: JudgedSession, call: JudgedCall, names: Iterable[str] = ()) -> str:
    """A call as one would write it, paths relative to the project; empty if that is too long or means nothing elsewhere.
    Of a tool that is no shell only the arguments of these names, if any are given."""
    if call.call.kind == "shell":
        text = _SHAPED.sub("", _STARTED.sub(r"\2", seen.relative(command_text(call.call.input)).strip()))
    else:
        text = seen.relative(_with_arguments(call.call.tool, call.call.input, tuple(names)))
    return "" if len(text) > LONGEST_SHOWN or "\n" in text or junk_reason(text) or hidden_reason(text) else text


def _with_arguments(tool: str, arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    wanted = [name for name in names if name in arguments] or sorted(arguments)[:_SHOWN_ARGUMENTS]
    return f"{tool}({', '.join(f'{name}={_short(arguments[name])}' for name in wanted)})"


def _short(value: Any) -> str:
    if isinstance(value, str):
        return repr(value) if len(value) <= _VALUE and "\n" not in value else "…"
    text = str(value)
    return text if len(text) <= _VALUE else "…"
