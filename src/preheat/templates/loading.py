"""Reads a template from bytes of any version of the format. Knows no store.

Any bytes give a valid template or a `UserError` that says in one line what is wrong.
"""

import os
from collections.abc import Callable
from math import isfinite

import msgspec

from preheat.errors import UserError
from preheat.model.template import TEMPLATE_FORMAT, Template
from preheat.templates.digest import canonical_json
from preheat.templates.names import check_name
from preheat.templates.seeds import Raw, is_seed, upgrade_seed

LARGEST = 10_000_000
"""The largest file, in bytes: twenty times the largest template of real sessions."""


UPGRADES: dict[int, Callable[[Raw], Raw]] = {0: upgrade_seed}
"""By format version: the function that upgrades to the next version. None is ever removed."""


def load_template(data: bytes, where: str) -> Template:
    """The template in a file; `where` names the file in messages."""
    return make_template(decode_object(data, where), where)


def decode_object(data: bytes, where: str) -> Raw:
    """The JSON object in a file."""
    if len(data) > LARGEST:
        raise too_large_error(where)
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"`{where}` cannot be read as JSON ({error}); get a fresh copy of it") from error
    if not isinstance(raw, dict):
        raise UserError(f"`{where}` is no template: it holds no JSON object")
    return raw


def make_template(raw: Raw, where: str) -> Template:
    """The template in a JSON object, upgraded to the present format."""
    version = version_of(raw, where)
    try:
        while version < TEMPLATE_FORMAT:
            raw = UPGRADES[version](raw)
            version += 1
        template = msgspec.convert({**raw, "format": TEMPLATE_FORMAT}, Template)
        canonical_json(template)  # raises if it could not be written again
    except (msgspec.ValidationError, UserError, RecursionError, OverflowError, ValueError) as error:
        raise UserError(f"`{where}` is no template: {error}") from error
    _check(template, where)
    return template


def version_of(raw: Raw, where: str) -> int:
    """The format version of a file; 0 for files of the first implementations."""
    version = raw.get("format")
    if version is None and is_seed(raw):
        return 0
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UserError(f"`{where}` is no template: it does not say its format")
    if version > TEMPLATE_FORMAT:
        raise UserError(
            f"`{where}` is of format {version}, from a newer Preheat; this one reads up to {TEMPLATE_FORMAT}: update Preheat"
        )
    return version


def read_file(path: str) -> bytes:
    """The bytes of a file. Raises UserError if it is too large."""
    if os.path.isfile(path) and os.path.getsize(path) > LARGEST:
        raise too_large_error(path)
    with open(path, "rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise too_large_error(path)
    return data


def too_large_error(where: str) -> UserError:
    return UserError(f"`{where}` is larger than {LARGEST // 1_000_000} MB, which no template is")


def _check(template: Template, where: str) -> None:
    """Check what the types do not guarantee. Raises UserError."""
    try:
        check_name(template.name)
    except UserError as error:
        raise UserError(f"`{where}` is no template: {error}") from error
    seen: set[str] = set()
    for lesson in template.lessons:
        if not lesson.id or lesson.id in seen:
            raise UserError(f"`{where}` is no template: its lessons have no ids of their own (`{lesson.id}`)")
        if lesson.example is not None and not lesson.example.arguments:
            raise UserError(f"`{where}` is no template: the example `{lesson.id}` has no arguments")
        if not all(map(isfinite, (lesson.score, lesson.half_life, lesson.cost_seconds))):
            raise UserError(f"`{where}` is no template: `{lesson.id}` has a number that is none")
        seen.add(lesson.id)
