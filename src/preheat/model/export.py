"""The formats in which sessions are exported for other programs, and what was written. Frozen values."""

from typing import Literal, NamedTuple, TypeAlias

ExportForm: TypeAlias = Literal["atif", "jsonl", "openai", "raw"]

EXPORT_SUFFIXES: dict[ExportForm, str] = {"atif": ".json", "jsonl": ".jsonl", "openai": ".chat.json", "raw": ".raw"}
"""The suffix of its files, by format."""


class ExportedFile(NamedTuple):
    """A session that was written to a file."""

    session: str
    path: str
    bytes: int


class ExportResult(NamedTuple):
    """The files of an export, and the sessions that were not written."""

    files: list[ExportedFile]
    left_out: list[str]
    """For each session that was not written: why."""
