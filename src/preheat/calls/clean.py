"""Keeps junk out of lessons and advice: what belongs to one machine, moment or run, secrets, and texts that give orders.

Knows no session. `relative` mends; the others give a reason why a text is unfit, or nothing.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from preheat.commands.dangers import risky
from preheat.commands.memory import remembered

_HOME = re.compile(
    r"(?i)(?<![\w.])(?:/(?:Users|home)/[^/\s\"'`:]+|/root|[A-Z]:[\\/]Users[\\/][^\\/\s\"'`:]+)(?=[\\/\s\"'`:]|$)"
)
_OTHER_SIGNS = "\u0130\u0131\u017f\u212a"
"""What regular expressions take for an i, an s or a k."""
_IN_HOMES = ("/home/", "/root", "users/", "users\\")
"""What a text must have in small letters for `_HOME` to be in it."""
_WORKTREE = re.compile(r"[\\/]\.(?:[\w-]+[\\/])?worktrees[\\/].*$")
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
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\U000e0000-\U000e007f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
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


class _Roots(NamedTuple):
    """The ways in which the folders of a session may be written."""

    pattern: "re.Pattern[str]"
    """The longest first."""
    small: tuple[str, ...]
    """In small letters, to know at a glance whether a text has any; nothing where that cannot be told so."""


@lru_cache(maxsize=256)
def _roots(root: str, folder: str) -> _Roots | None:
    names = {name.rstrip("/\\") for name in (root, folder, _WORKTREE.sub("", folder)) if len(name.rstrip("/\\")) > 3}
    for name in list(names):
        if "\\" in name:  # the same folder as other shells write it, and as it stands in a quoted text
            names.update((name.replace("\\", "/"), name.replace("\\", "\\\\")))
            if name[1:2] == ":":
                drive = f"/{name[0].lower()}{name[2:]}".replace("\\", "/")
                names.update((drive, f"/mnt{drive}", f"/cygdrive{drive}"))
    if not names:
        return None
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.-])(?i:{either})(?:(?P<below>[\\/]+)(?=[\w.@\[({{*~-])|[\\/]*(?![\w.-]))")
    plain = all(name.isascii() for name in names)
    return _Roots(pattern, tuple(name.lower() for name in names) if plain else ())


@remembered
def relative(text: str, root: str, folder: str = "") -> str:
    """A text whose paths begin at the project, and at `~` where they lie elsewhere in a person's home."""
    if not text:
        return text
    found = _roots(root, folder)
    small = _small(text)
    if found is not None and (small is None or not found.small or any(name in small for name in found.small)):
        text = found.pattern.sub(_below, text)
        small = None
    if small is not None and not any(part in small for part in _IN_HOMES):
        return text
    return _HOME.sub("~", text)


def _below(match: "re.Match[str]") -> str:
    return "" if match["below"] else "."


def _small(text: str) -> str | None:
    """A text in small letters, in which every spelling of a plain word can be found; None where it has a sign that stands for
    a plain letter, too."""
    return text.lower() if text.isascii() or not any(sign in text for sign in _OTHER_SIGNS) else None


@remembered
def transient(text: str) -> str:
    """Why a text means nothing in another session; empty if it may."""
    small = _small(text)
    if (small is None or any(part in small for part in _IN_TEMPORARY)) and _TEMPORARY.search(text):
        return "a temporary folder"
    for pattern, why in _ONE_TIME if _DIGIT.search(text) else _ONE_TIME_WITHOUT_DIGITS:
        if pattern.search(text):
            return why
    return ""


def foreign(text: str) -> str:
    """Why a text (already made relative) belongs to one machine; empty if it does not."""
    return "a path of one machine" if _HOME.search(text) or re.search(r"(?:^|[\s\"'=(])~[\\/]", text) else ""


@remembered
def orders(text: str) -> str:
    """Why a text that came out of a tool must not be put before a model; empty if it may."""
    plain = text.isascii()
    if not (plain and text.isprintable()):
        if _HIDDEN.search(text):
            return "hidden characters"
        if _CONTROL.search(text):
            return "control characters"
    if not plain:
        text = unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKE)
    small = _small(text)
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


def one_line(text: str, most: int = 160) -> str:
    """A text on one line, without what a terminal would obey, and not longer than `most`."""
    text = text[: 8 * most]
    if not (text.isascii() and text.isprintable()):
        text = _HIDDEN.sub("", _CONTROL.sub(" ", text))
    elif len(text) <= most and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"
