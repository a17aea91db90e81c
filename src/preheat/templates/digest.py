"""The digest of a template version: the hash of its canonical JSON. Knows no file."""

import json
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from preheat.model.template import Template, TemplateOrigin


def canonical_json(value: Any) -> bytes:
    """Canonical JSON (sorted keys, UTF-8, no blanks): equal values give equal bytes."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:
        # Half a character out of a broken transcript: no JSON has a place for it.
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.json.encode(msgspec.json.decode(text), order="sorted")


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def have_same_content(one: Template, other: Template) -> bool:
    """Whether two templates have the same content, apart from their time, parent and extraction."""
    first, second = (
        canonical_json(replace(each, created_at=None, parent=None, extraction=TemplateOrigin()))
        for each in (one, other)
    )
    return first == second
