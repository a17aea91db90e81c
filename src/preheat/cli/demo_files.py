"""The files of the demonstration: a small project and recorded sessions on it, placed as if somebody had worked there lately.

Knows nothing of what is shown of them. The recordings name a folder and times of their own; both are replaced, because lessons
fade with time and belong to a folder.
"""

import os
import re
import time
from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import NamedTuple

from preheat.errors import UserError
from preheat.files import make_private_folder, read_text, write_atomically

RECORDED_FOLDER = "/home/person/shop"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_SECONDS = re.compile(r'("(?:started_at|completed_at|create_time)":)(\d{10})\b')
_MILLISECONDS = re.compile(r'("(?:started_at|completed_at)_ms":)(\d{13})\b')
_DAY = 86_400.0


class DemoFiles(NamedTuple):
    """Where the demonstration's files are."""

    project: str
    sessions: str
    """The folder with the first eight sessions."""
    cold: str
    """The ninth session, without Preheat."""
    warm: str
    """The ninth session, with Preheat."""


def place_files(folder: str) -> DemoFiles:
    """Copy the project and the sessions below a folder: one session a day, the eighth yesterday."""
    project, target = os.path.join(folder, "shop"), os.path.join(folder, "sessions")
    now = time.time()
    with as_file(files("preheat").joinpath("samples")) as samples:
        sessions = os.path.join(samples, "sessions")
        if not os.path.isdir(sessions):
            raise UserError(
                "the sessions of the demonstration are missing from this installation; install Preheat again"
            )
        shop = os.path.join(samples, "shop")
        for place, _, names in os.walk(shop):
            for name in names:
                path = os.path.join(place, name)
                _write(os.path.join(project, os.path.relpath(path, shop)), read_text(path))
        recorded = sorted(os.listdir(sessions))
        for number, name in enumerate(recorded):
            began = now - (len(recorded) - number) * _DAY
            _write(os.path.join(target, name), _move(read_text(os.path.join(sessions, name)), project, began))
        for name in ("cold.jsonl", "warm.jsonl"):
            _write(os.path.join(folder, name), _move(read_text(os.path.join(samples, "ninth", name)), project, now))
    return DemoFiles(project, target, os.path.join(folder, "cold.jsonl"), os.path.join(folder, "warm.jsonl"))


def _write(path: str, text: str) -> None:
    make_private_folder(os.path.dirname(path))
    write_atomically(path, text.encode())


def _move(text: str, project: str, began: float) -> str:
    """A session as if it had worked in this folder and begun at this time."""
    text = text.replace(RECORDED_FOLDER, project)
    by = began - _read_time(_TIME.findall(text)[0])
    text = _TIME.sub(lambda found: _write_time(_read_time(found[0]) + by), text)
    text = _SECONDS.sub(lambda found: f"{found[1]}{int(found[2]) + round(by)}", text)
    return _MILLISECONDS.sub(lambda found: f"{found[1]}{int(found[2]) + round(by * 1000)}", text)


def _read_time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _write_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
