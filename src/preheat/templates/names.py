"""Names of templates, addresses of versions (`name`, `name@3fa2`, `name@-1`), and the digest of a version. Knows no file."""

import json
import re
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from preheat.errors import UserError
from preheat.model.template import Template, TemplateOrigin

LONGEST = 64
FEWEST_LETTERS = 4
"""The fewest letters of a digest that address a version."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?<!\.)")
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
"""Names of devices on Windows, with any ending."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


class Address(NamedTuple):
    """A name and a version of it; without digest and `back` the current one."""

    name: str
    digest: str = ""
    """The beginning of a digest."""
    back: int = 0
    """The number of versions before the current one."""


def check_name(name: str, whose: str = "a template") -> str:
    """The name, if it is valid; also for other things that are stored by name. Raises UserError."""
    if len(name) > LONGEST or not _NAME.fullmatch(name) or _DEVICES.fullmatch(name):
        shown = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
        raise UserError(
            f"`{shown}` cannot be {whose}'s name; letters, digits, `-`, `_` and `.` can, at most {LONGEST}, "
            "beginning with a letter or digit"
        )
    return name


def make_name(text: str) -> str:
    """A valid name made of any text, such as a project's name."""
    name = _UNFIT.sub("-", text.replace("\\", "/").rstrip("/").rpartition("/")[2]).strip("-._")[:LONGEST].strip("-._")
    return f"{name}-template"[:LONGEST] if _DEVICES.fullmatch(name) else name or "template"


def parse_address(text: str) -> Address:
    """The address that `name`, `name@digest` or `name@-1` means. Raises UserError."""
    name, at, version = text.partition("@")
    check_name(name)
    if not at:
        return Address(name)
    if re.fullmatch(r"-\d{1,4}", version):
        return Address(name, back=int(version[1:]))
    if re.fullmatch(r"[0-9a-fA-F]{1,64}", version):
        if len(version) < FEWEST_LETTERS:
            raise UserError(f"`{version}` is too short for a digest: give at least {FEWEST_LETTERS} letters of it")
        return Address(name, digest=version.lower())
    raise UserError(f"`{text}` is no version; write `{name}@3fa2` (the beginning of a digest) or `{name}@-1`")


# The digest of a version.
def canonical_json(value: Any) -> bytes:
    """Canonical JSON (sorted keys, UTF-8, no blanks): equal values give equal bytes."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:
        # Half a character out of a broken transcript: no JSON has a place for it.
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.json.encode(msgspec.json.decode(text), order="sorted")


def digest_of(data: bytes) -> str:
    """The digest of a version, by its canonical JSON."""
    return sha256(data).hexdigest()


def have_same_content(one: Template, other: Template) -> bool:
    """Whether two templates have the same content, apart from their time, parent and extraction."""
    first, second = (
        canonical_json(replace(each, created_at=None, parent=None, extraction=TemplateOrigin()))
        for each in (one, other)
    )
    return first == second
