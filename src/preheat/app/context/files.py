"""A context in one form, written to where a person wants it: over what Preheat wrote, never unasked over anything else.

Knows no form.
"""

import os

from preheat.errors import UserError
from preheat.files import AS_USUAL, write_whole
from preheat.model.rendering import Rendered, Renderer
from preheat.model.session import PREHEAT_MARK


def write_rendered(rendered: Rendered, renderer: Renderer, output: str, force: bool = False) -> str:
    """Write what was rendered to a file, or a folder for a form of several; where it is, empty if there was nothing to
    write. Raises UserError where something else stands there, unless forced."""
    if renderer.place is not None:
        before = _contents(output)
        after = renderer.place(before, rendered.text)
        if after == before:
            return output if before else ""
        _save(output, after)
        return output
    if rendered.files:
        if os.path.exists(output) and not os.path.isdir(output):
            raise UserError(f"`{output}` is a file; this form needs a folder")
        for name, text in rendered.files.items():
            path = os.path.join(output, name)
            _refuse(path, force)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _save(path, text)
        return os.path.join(output, next(iter(rendered.files)))
    if not rendered.text:
        return ""
    _refuse(output, force)
    _save(output, rendered.text.rstrip("\n") + "\n")
    return output


def _refuse(path: str, force: bool) -> None:
    """What a person wrote is not lost by a wrong name; what Preheat wrote is replaced."""
    if os.path.isdir(path):
        raise UserError(f"`{path}` is a folder; name a file in it")
    if not force and (before := _contents(path)).strip() and PREHEAT_MARK not in before:
        raise UserError(f"`{path}` is there already and not by Preheat; `--force` overwrites it")


def _contents(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def _save(path: str, text: str) -> None:
    """Whole or not at all."""
    write_whole(os.path.realpath(path), text.encode("utf-8", "surrogateescape"), mode=AS_USUAL, like=path)
