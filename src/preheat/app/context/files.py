"""Writes a rendered context to files, never over a file that is not Preheat's unless forced.

Knows no format.
"""

import os

from preheat.errors import UserError
from preheat.files import UMASK_DEFAULT, write_atomically
from preheat.model.rendering import RenderedContext, Renderer
from preheat.model.session import PREHEAT_MARK


def write_rendered(rendered: RenderedContext, renderer: Renderer, output: str, force: bool = False) -> str:
    """Write a rendered context to a file, or to a folder if the format has several files. Returns its path, empty if there was
    nothing to write. Raises UserError if a file of somebody else is in the way, unless forced."""
    if renderer.insert is not None:
        before = _read_text(output)
        after = renderer.insert(before, rendered.text)
        if after == before:
            return output if before else ""
        _save(output, after)
        return output
    if rendered.files:
        if os.path.exists(output) and not os.path.isdir(output):
            raise UserError(f"`{output}` is a file; this form needs a folder")
        for name, text in rendered.files.items():
            path = os.path.join(output, name)
            _check_replaceable(path, force)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _save(path, text)
        return os.path.join(output, next(iter(rendered.files)))
    if not rendered.text:
        return ""
    _check_replaceable(output, force)
    _save(output, rendered.text.rstrip("\n") + "\n")
    return output


def _check_replaceable(path: str, force: bool) -> None:
    """Raise UserError if a folder, or a file that Preheat did not write, is in the way."""
    if os.path.isdir(path):
        raise UserError(f"`{path}` is a folder; name a file in it")
    if not force and (before := _read_text(path)).strip() and PREHEAT_MARK not in before:
        raise UserError(f"`{path}` is there already and not by Preheat; `--force` overwrites it")


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def _save(path: str, text: str) -> None:
    """Write a file whole or not at all."""
    write_atomically(os.path.realpath(path), text.encode("utf-8", "surrogateescape"), mode=UMASK_DEFAULT, like=path)
