"""A page as one file that needs nothing else and can be handed on: by the same templates, redacted. Knows no server."""

import os
from collections.abc import Mapping

from preheat.errors import UserError
from preheat.files import write_atomically
from preheat.web.pages import PAGES
from preheat.web.query import Query
from preheat.web.render import make_file
from preheat.web.site import Site

FILE_PAGES = {
    "home": "/", "sessions": "/sessions", "session": "/session", "compare": "/compare", "mistakes": "/mistakes",
    "mistake": "/mistake", "lessons": "/lessons", "effect": "/effect", "projects": "/projects", "settings": "/settings",
    "health": "/health",
}  # fmt: skip
"""The pages that can be files, by name. `live` is none: it would be old at once."""


def write_page(folder: str, name: str, parameters: Mapping[str, str], path: str) -> int:
    """Write a page of an archive to a file, and return its size in bytes. Raises UserError."""
    query = Query(FILE_PAGES[name], parameters)
    site = Site(folder, patience=None, makes_files=True)
    try:
        make = next(each.make for each in PAGES if each.path == query.path)
        html = make_file(site.render(make(site, query), query))
    finally:
        site.close()
    content = html.encode("utf-8", "replace")
    try:
        write_atomically(path, content, like=path)
    except OSError as error:
        raise UserError(f"`{os.path.abspath(path)}` cannot be written: {error.strerror or error}") from error
    return len(content)
