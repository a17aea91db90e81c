"""Values for a model as JSON: every text in them fitted to the slot of its field. Knows no tool and no type of value.

A field's name says which slot its texts are for; a field that is not listed holds one token. What no slot may hold becomes `…`.
"""

import re
from collections.abc import Mapping
from typing import Any

from preheat.safe_text import lesson_sentences
from preheat.safe_text.sentences import REGISTERED, fit_slot, rewrite_any
from preheat.safe_text.words import CUT

OURS = ""
"""The kind of a field whose texts are made by Preheat from its own words and numbers."""
SENTENCE = "sentence"
"""The kind of a field that holds a line which one of our sentences wrote."""
PATHS = "paths"
"""The kind of a field that holds paths, separated by commas."""

_LOADED = (lesson_sentences,)
"""Adds its slots when it is imported."""
Kinds = Mapping[str, str | tuple[str, ...]]
"""The slot of each field, by the field's name; the first of several that holds something counts."""

FIELDS: Kinds = {
    "use": "command", "avoid": "command", "recheck": "command", "command": "command", "next_command": "command",
    "forms": "command", "worked": "command", "failed": ("command", "error"), "summary": "command", "repair": "command",
    "evidence": "command", "corrected": "command", "form": ("difference", "command"), "core": "command",
    "error": "error", "errors": "error", "signature": "error", "signatures": "error", "failing": "error", "title": "error",
    "last failure": "error", "difference": "difference", "why": SENTENCE, "cause": "token",
    "path": "path", "paths": "path", "file": "path", "files": "path", "unverified": "path", "folder": "path", "cwd": "path",
    "edited": "path", "removed": "path", "touched": "path", "root": "path", "project": "project", "projects": "project",
    "session": "session", "sessions": "session", "seen_in": "session", "child": "session", "parent": "session",
    "sources": "session", "call_id": "session", "steps": "token", "branch": "branch", "head": "commit",
}  # fmt: skip
"""What fields of lessons, mistakes, events and packets hold."""

_QUOTED = re.compile(r"`([^`\n]*)`")


def fit_fields(value: Any, kinds: Kinds = FIELDS, kind: str | tuple[str, ...] = "token") -> Any:
    """A JSON value with every text fitted to the slot of its field; names of fields too."""
    if isinstance(value, str):
        return fit_text(value, kind)
    if isinstance(value, dict):
        inner = OURS if kind == OURS else "token"
        return {
            name if name in kinds or kind == OURS else fit_slot("token", str(name)) or CUT: fit_fields(
                each, kinds, kinds.get(name, inner)
            )
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [fit_fields(each, kinds, kind) for each in value]
    return value


def fit_text(text: str, kind: str | tuple[str, ...] = "token") -> str:
    """A text fitted to a slot, or to the first of several that holds something; `…` if none does."""
    if kind == OURS or not text:
        return text
    if kind == PATHS:
        return ", ".join(fit_text(each, "path") for each in text.split(", "))
    if kind == SENTENCE:
        return rewrite_any(REGISTERED, text) or CUT
    each_kind = (kind,) if isinstance(kind, str) else kind
    return next(filter(None, (fit_slot(each, text) for each in each_kind)), CUT)


def fit_quotes(message: str, folder: str = "") -> str:
    """A message of ours in which every name in backticks is fitted: it may be somebody else's. What is in `folder`, which is
    Preheat's own, stays as it is."""

    def fit(found: "re.Match[str]") -> str:
        if folder and found[1].startswith(folder):
            return found[0]
        return f"`{fit_text(found[1], ('command', 'path', 'token'))}`"

    return _QUOTED.sub(fit, message)
