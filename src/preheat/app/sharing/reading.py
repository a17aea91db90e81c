"""The file of shared lessons of a clone, as it is now: its lessons in our own words, and why others of it may not be used.

Needs no archive and no state: the repository's own checks call it too.
"""

import os
import time

from preheat.errors import UserError
from preheat.ingest.redact import looks_secret
from preheat.provisioning.lesson_text import describe_lesson
from preheat.shared_file import FILE, Clone, FoundFile, find_clone, find_file
from preheat.sharing.check import CheckedDocument, check_safety
from preheat.sharing.document import Document, read_document

__all__ = ["find_here", "looks_secret", "read_lessons", "require_clone", "require_readable"]


def require_clone(where: str) -> Clone:
    """The clone around a folder. Raises UserError."""
    clone = find_clone(where)
    if clone is None:
        raise UserError(f"`{where}` is in no git repository; lessons are shared in `{FILE}` of one: go into a clone")
    return clone


def find_here(where: str) -> Clone:
    """The clone around a folder, or the folder itself: a check also runs where there is only an export of the files."""
    folder = os.path.realpath(os.path.expanduser(where))
    return find_clone(where) or Clone(folder, folder)


def require_readable(clone: Clone) -> FoundFile:
    """The file of a clone, or none. Raises UserError for what is in its place and may not be read."""
    file = find_file(clone.root)
    if file.fault:
        raise UserError(f"`{FILE}` may not be read: {file.fault}; nothing of it is used")
    return file


def read_lessons(data: bytes, project: str = "") -> tuple[Document, CheckedDocument]:
    """What some bytes say, as they stand and as they may be used."""
    document = read_document(data)
    return document, check_safety(document, describe_lesson, time.time(), looks_secret, project)
