"""What a person lets a machine push: the level of each project, and whether the person has seen what that means. Pure."""

from hashlib import blake2b

from preheat.model.pushed import list_pushed_fields
from preheat.model.team import Level, PushedField

_REMOTE = "remote:"
_HIGHER: dict[Level, tuple[Level, ...]] = {
    "nothing": (),
    "derived": ("derived",),
    "transcripts": ("derived", "transcripts"),
}


def default_level(key: str) -> Level:
    """The level of a project that nobody said anything of, by its key: one that others can have, too, because it has a remote."""
    return "derived" if key.startswith(_REMOTE) else "nothing"


def repository_of(key: str, name: str) -> str:
    """What the team knows a project by: its remote; without one its name, never its folder."""
    return key.removeprefix(_REMOTE) if key.startswith(_REMOTE) else f"local:{name}"


def fields_at(level: Level) -> tuple[PushedField, ...]:
    """Every field that is pushed at a level."""
    return tuple(each for each in list_pushed_fields() if each.level in _HIGHER[level])


def hash_fields(level: Level) -> str:
    """A hash of the fields of a level: a person agrees to these, and is asked again when there are others."""
    text = "\n".join(f"{each.table}.{each.name}" for each in fields_at(level))
    return blake2b(text.encode(), digest_size=8).hexdigest()


def is_agreed(level: Level, fields: str) -> bool:
    """Whether the fields that a person agreed to, by their hash, are exactly those of the level."""
    return fields == hash_fields(level)
