"""The files of the demonstration: a small project and recorded sessions on it, placed as if somebody had worked there lately.

Knows nothing of what is shown of them. The recordings name a folder and times of their own; both are replaced, because lessons
fade with time and belong to a folder.
"""

import os
import re
import shutil
import time
from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import NamedTuple

from preheat.errors import UserError

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
    with as_file(files("preheat").joinpath("samples")) as samples:
        sessions = os.path.join(samples, "sessions")
        if not os.path.isdir(sessions):
            raise UserError(
                "the sessions of the demonstration are missing from this installation; install Preheat again"
            )
        shutil.copytree(os.path.join(samples, "shop"), project)
        os.makedirs(target)
        names = sorted(os.listdir(sessions))
        for number, name in enumerate(names):
            days = len(names) - number
            _place(os.path.join(sessions, name), os.path.join(target, name), project, time.time() - days * _DAY)
        for name in ("cold", "warm"):
            _place(
                os.path.join(samples, "ninth", f"{name}.jsonl"),
                os.path.join(folder, f"{name}.jsonl"),
                project,
                time.time(),
            )
    return DemoFiles(project, target, os.path.join(folder, "cold.jsonl"), os.path.join(folder, "warm.jsonl"))


def _place(source: str, target: str, project: str, began: float) -> None:
    """Copy a session so that it worked in this folder and began at this time."""
    with open(source, encoding="utf-8") as stream:
        text = stream.read().replace(RECORDED_FOLDER, project)
    by = began - _read_time(_TIME.findall(text)[0])
    text = _TIME.sub(lambda found: _write_time(_read_time(found[0]) + by), text)
    text = _SECONDS.sub(lambda found: f"{found[1]}{int(found[2]) + round(by)}", text)
    text = _MILLISECONDS.sub(lambda found: f"{found[1]}{int(found[2]) + round(by * 1000)}", text)
    with open(target, "w", encoding="utf-8") as stream:
        stream.write(text)


def _read_time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _write_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
