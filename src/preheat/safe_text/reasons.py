"""Why a text is unfit to be kept or to be put before a model; empty where it is fit. Knows no session.

It may give orders, hide something, look like another text, do harm as a command, or belong to one machine, moment or run.
"""

import re
import unicodedata

from preheat.commands.dangers import risky, ruinous
from preheat.memory import remembered
from preheat.safe_text.letters import BLANK, CONTROL, HIDDEN, in_small_letters, one_line
from preheat.safe_text.paths import HOME

_TEMPORARY = re.compile(
    r"(?i)(?<![\w.])(?:/private)?/(?:tmp|var/folders|var/tmp|dev/shm)(?:/|\b)|[\\/]temp[\\/]|\$\{?TMPDIR|%TEMP%|\bmktemp\b"
)
_IN_TEMPORARY = ("tmp", "temp", "var/folders", "dev/shm")
"""What a text must have in small letters for `_TEMPORARY` to be in it."""
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
_ORDER_TEXTS = (
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your|system)\b"
    r"|\b(?:you (?:must|should|are now|have to|need to|will now)|(?:as an?|dear) (?:ai|assistant|agent|llm|language model))\b"
    r"|\b(?:system|developer) (?:prompt|message|instruction)s?\b|<\/?(?:system|instructions?|important|admin|developer)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention|reveal|ask)\b.{0,30}\b(?:user|human|person|anyone)\b"
    r"|\b(?:please|now|next|then|instead),? (?:run|execute|call|send|post|upload|delete|write|install|download|email|curl)\b"
    r"|\b(?:important|attention|note to (?:ai|agent|assistant|self)|new instructions?)\s*[:!]"
    r"|\bcurl\b[^|\n]{0,200}\|\s*(?:ba|z)?sh\b|\b(?:exfiltrat|jailbreak)"
)
_ORDERS, _ORDERS_IN_SMALL = re.compile(f"(?is){_ORDER_TEXTS}"), re.compile(f"(?s){_ORDER_TEXTS}")
"""The second is for a text in small letters, and several times as fast."""
_HINTS = (
    "ignore", "disregard", "forget", "override", "you ", "as a", "dear ", "system ", "developer ", "<", "do not ", "don't ",
    "never ", "please", "now", "next", "then", "instead", "important", "attention", "note to ", "instruction", "curl",
    "exfiltrat", "jailbreak",
)  # fmt: skip
"""A text that gives orders has one of these in small letters: most texts are told from those without a long look."""
_NAMED_HINTS = _HINTS[:4]
_NAMED_ORDERS = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions)\b"
)
"""For names of files and branches, whose words are joined by anything: only what no file is called by chance."""
_JOINTS = re.compile(r"[\W_]+")
_LOOK_ALIKE = str.maketrans("асеіјорѕухАВЕНІЈКМОРЅТХαιορυν", "aceijopsyxABEHIJKMOPSTXaiopuv")
"""Letters of other scripts that look like Latin ones."""
_INVISIBLE = BLANK | {"\u034f"}
"""What is invisible by its category needs no list."""
_JOINED = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_LOOKALIKE = ("FULLWIDTH", "MATHEMATICAL", "CIRCLED", "SQUARED", "PARENTHESIZED")
_SHORTEST_MIX = 4
"""`μs` and `Δx` mix scripts too."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?|ssh|git)://(?:[^\s/@]*@)?(?P<host>\[[^\]]*\]|[^\s/:'\"`<>()?#,]+)")
_OWN = re.compile(
    r"(?i)^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|(?:[\w-]+\.)*example\.(?:com|org|net)|\$.*)$"
)


@remembered
def transient(text: str) -> str:
    """Why a text means nothing in another session; empty if it may."""
    small = in_small_letters(text)
    if (small is None or any(part in small for part in _IN_TEMPORARY)) and _TEMPORARY.search(text):
        return "a temporary folder"
    for pattern, why in _ONE_TIME if _DIGIT.search(text) else _ONE_TIME_WITHOUT_DIGITS:
        if pattern.search(text):
            return why
    return ""


def foreign(text: str) -> str:
    """Why a text (already made relative) belongs to one machine; empty if it does not."""
    return "a path of one machine" if HOME.search(text) or re.search(r"(?:^|[\s\"'=(])~[\\/]", text) else ""


@remembered
def orders(text: str) -> str:
    """Why a text that came out of a tool must not be put before a model; empty if it may."""
    plain = text.isascii()
    if not (plain and text.isprintable()):
        if HIDDEN.search(text):
            return "hidden characters"
        if CONTROL.search(text):
            return "control characters"
    if not plain:
        text = unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKE)
    small = in_small_letters(text)
    if small is None:
        found = _NAMED_ORDERS.search(_JOINTS.sub(" ", text)) or _ORDERS.search(text)
    elif not any(hint in small for hint in _HINTS):
        found = None
    else:
        named = any(hint in small for hint in _NAMED_HINTS) and _NAMED_ORDERS.search(_JOINTS.sub(" ", text))
        found = named or _ORDERS_IN_SMALL.search(small)
    return "it reads like an instruction" if found else ""


def dangerous(text: str) -> str:
    """Why a command must not be shown as one that works, however often it did; empty if it may. An agent that was tricked into
    it five times has made no convention."""
    found = risky(text)
    return f"a command that may do harm: `{one_line(found, 60)}`" if found else ""


def junk(text: str) -> str:
    """Why a command or an argument is not worth keeping; empty if it is."""
    if not text.strip():
        return "nothing"
    return transient(text) or foreign(text)


def hidden(text: str) -> str:
    """Characters that a person does not see and a model reads: joiners, direction marks, tags, controls."""
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
    """A text, whole, with everything that would not be seen written out."""
    return "".join(map(_visible, text))


def _visible(letter: str) -> str:
    if letter == "\n":
        return "⏎"
    return f"<U+{ord(letter):04X}>" if hidden(letter) or not letter.isprintable() else letter


def mixed(text: str) -> str:
    """Words written with letters that only look like others."""
    if text.isascii():
        return ""
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in word}
        if scripts & set(_LOOKALIKE) or (len(word) >= _SHORTEST_MIX and len(scripts & set(_JOINED)) > 1):
            return f"letters that look like others in `{word[:30]}`"
    return ""


def destructive(text: str) -> str:
    """Commands that delete, overwrite or run what they fetch."""
    found = ruinous(text)
    return f"a destructive command: `{found[:60]}`" if found else ""


def addressed(text: str) -> str:
    """Addresses elsewhere."""
    for found in _ADDRESS.finditer(text):
        if not _OWN.match(found["host"]):
            return f"an address: `{found['host'][:60]}`"
    return ""
