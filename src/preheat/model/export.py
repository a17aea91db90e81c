"""The forms in which sessions are written for other programs, and what was written. Frozen values."""

from typing import Literal, NamedTuple, TypeAlias

ExportForm: TypeAlias = Literal["atif", "jsonl", "openai", "raw"]

ENDINGS: dict[ExportForm, str] = {"atif": ".json", "jsonl": ".jsonl", "openai": ".chat.json", "raw": ".raw"}
"""By form: how its files end."""


class ExportedFile(NamedTuple):
    """A session in a file."""

    session: str
    path: str
    bytes: int


class Exported(NamedTuple):
    """What became of several sessions."""

    files: list[ExportedFile]
    left_out: list[str]
    """Why, of each that was not written."""
