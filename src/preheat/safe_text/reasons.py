"""Why a text is unfit to be kept or shown to a model; every function gives the reason, empty if the text is fit.

A text may hide characters, imitate other letters, do harm as a command, or belong to one machine, moment or run. Whether it gives
orders is not asked: what is handed on goes through slots (`slots`, `sentences`), whatever it says.
Heavier than `cleanup`: it loads the command parser. Knows no session.
"""

import re
import unicodedata

from preheat.commands.dangers import risky_part, ruinous_part
from preheat.safe_text.cleanup import BLANK, lower_if_plain, one_line
from preheat.safe_text.paths import HOME
from preheat.text_cache import cache_short_texts

_TEMPORARY = re.compile(
    r"(?i)(?<![\w.])(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)(?:/|\b)|[\\/]temp[\\/]|\$\{?TMPDIR|%TEMP%|\bmktemp\b"
)
_TEMPORARY_HINTS = ("tmp", "temp", "var/folders", "dev/shm")
"""Texts of which a lower-case text has one if `_TEMPORARY` can match in it."""
_ONE_TIME = (
    (re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"), "an id of one run"),
    (re.compile(r"(?<![\w.])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?![\w])"), "a hash"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d|\b1[5-9]\d{8}(?:\d{3})?\b|\b20\d{12}\b"), "a moment in time"),
    (re.compile(r"\bREDACTED"), "a secret was in it"),
    (
        re.compile(r"(?i)\b(?:kill|wait)\s+(?:-\w+\s+)*\d+|\bpid[= ]\d+|/proc/\d+|\blocalhost:\d{5}\b"),
        "a process or port of one run",
    ),
)
_ONE_TIME_WITHOUT_DIGITS = (_ONE_TIME[0], _ONE_TIME[3])
_DIGIT = re.compile(r"\d")
_INVISIBLE = BLANK | {"\u034f"}
"""Invisible characters that their Unicode category does not show."""
_MIXABLE_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_LOOKALIKE_SCRIPTS = ("FULLWIDTH", "MATHEMATICAL", "CIRCLED", "SQUARED", "PARENTHESIZED")
_SHORTEST_MIX = 4
"""Shorter words such as `μs` and `Δx` may mix scripts."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?|ssh|git)://(?:[^\s/@]*@)?(?P<host>\[[^\]]*\]|[^\s/:'\"`<>()?#,]+)")
_LOCAL_HOST = re.compile(
    r"(?i)^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|(?:[\w-]+\.)*example\.(?:com|org|net)|\$.*)$"
)


@cache_short_texts
def transient_reason(text: str) -> str:
    """Why a text is valid in one session only; empty if it is not."""
    small = lower_if_plain(text)
    if (small is None or any(part in small for part in _TEMPORARY_HINTS)) and _TEMPORARY.search(text):
        return "a temporary folder"
    for pattern, why in _ONE_TIME if _DIGIT.search(text) else _ONE_TIME_WITHOUT_DIGITS:
        if pattern.search(text):
            return why
    return ""


def foreign_reason(text: str) -> str:
    """Why a text with relative paths belongs to one machine; empty if it does not."""
    return "a path of one machine" if HOME.search(text) or re.search(r"(?:^|[\s\"'=(])~[\\/]", text) else ""


def danger_reason(text: str) -> str:
    """Why a command must not be recommended, however often it worked; empty if it may."""
    found = risky_part(text)
    return f"a command that may do harm: `{one_line(found, 60)}`" if found else ""


def junk_reason(text: str) -> str:
    """Why a command or an argument is not worth keeping; empty if it is."""
    if not text.strip():
        return "nothing"
    return transient_reason(text) or foreign_reason(text)


def hidden_reason(text: str) -> str:
    """The first kind of invisible characters in a text: joiners, direction marks, tags, controls."""
    if text.isascii() and text.isprintable():
        return ""
    for letter in text:
        if letter in "\n\t" or " " <= letter <= "~":
            continue
        category = unicodedata.category(letter)
        if category == "Cc":
            return "control characters"
        if category in ("Cf", "Co", "Cs") or letter in _INVISIBLE or "\U000e0100" <= letter <= "\U000e01ef":
            return f"hidden characters (U+{ord(letter):04X})"
    return ""


def spell_out(text: str) -> str:
    """A whole text with invisible characters written out."""
    return "".join(map(_spell_out_letter, text))


def _spell_out_letter(letter: str) -> str:
    if letter == "\n":
        return "⏎"
    return f"<U+{ord(letter):04X}>" if hidden_reason(letter) or not letter.isprintable() else letter


def lookalike_reason(text: str) -> str:
    """A word with letters that only look like others; empty without one."""
    if text.isascii():
        return ""
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in word}
        if scripts & set(_LOOKALIKE_SCRIPTS) or (
            len(word) >= _SHORTEST_MIX and len(scripts & set(_MIXABLE_SCRIPTS)) > 1
        ):
            return f"letters that look like others in `{word[:30]}`"
    return ""


def destruction_reason(text: str) -> str:
    """A command that deletes, overwrites or runs what it fetches; empty without one."""
    found = ruinous_part(text)
    return f"a destructive command: `{found[:60]}`" if found else ""


def address_reason(text: str) -> str:
    """An address of another machine; empty without one."""
    for found in _ADDRESS.finditer(text):
        if not _LOCAL_HOST.match(found["host"]):
            return f"an address: `{found['host'][:60]}`"
    return ""
