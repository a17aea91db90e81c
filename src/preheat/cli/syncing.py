"""Brings the archive up to date and says what was done: the whole of `preheat sync` but its options.

No click and no rich in here: a sync that finds one grown session should not pay for them. The work is in `preheat.app`.
"""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from preheat.agents import places_of
from preheat.app import stages as pipeline
from preheat.cli.progress import Display
from preheat.cli.summary import capped, exit_code, problem_lines, report_json, summary_lines
from preheat.cli.text import count
from preheat.errors import NotRecognised, UserError
from preheat.settings import data_folder

if TYPE_CHECKING:
    from preheat.quick import Look


class Named(NamedTuple):
    """What the files and folders that a person named come to."""

    files: list[tuple[str, str]]
    """Agent and path."""
    unrecognised: int
    unreadable: list[str]


def bring_up_to_date(
    agents: tuple[str, ...], files: tuple[str, ...], quiet: bool, as_json: bool, seen: "Look | None" = None
) -> int:
    """Sync the places of these agents, or the named files and folders; the exit code comes back.

    `seen` is what a look at all places has found already.
    """
    named = _named(files, agents) if files else None
    with Display(quiet) as progress:
        report = pipeline.sync(
            data_folder(), agents=agents, files=named.files if named else None, progress=progress, seen_already=seen
        )
    unreadable = named.unreadable if named else []
    if as_json:
        from preheat.cli.screen import print_json

        more = {"unrecognised_files": named.unrecognised, "unreadable_files": unreadable} if named else {}
        print_json({**report_json(report), **more})
    elif not quiet:
        _say(pipeline.SyncReport(*report), named)
    for line in [*capped(unreadable), *problem_lines(report)]:
        print(line, file=sys.stderr)
    return max(exit_code(report), 1 if unreadable else 0)


def _say(report: pipeline.SyncReport, named: Named | None) -> None:
    if named and not named.files:
        print("There is no session in what was named.")
    else:
        print("\n".join(summary_lines(report)))
    if named and named.unrecognised:
        print(f"{count(named.unrecognised, 'other file')} passed over: no session of an agent that Preheat knows.")


# What the person named.
def _named(names: tuple[str, ...], agents: tuple[str, ...]) -> Named:
    from preheat.agents.sources import detect

    found = Named([], 0, [])
    for name in names:
        if not os.path.isdir(name):
            agent = detect(name).agent
            if agent not in agents:
                raise UserError(f"`{name}` is a session of {places_of(agent).title}; leave `--agent` away to read it")
            found.files.append((agent, name))
            continue
        for path in _below(name):
            try:
                agent = detect(path).agent
            except NotRecognised:
                found = found._replace(unrecognised=found.unrecognised + 1)
            except UserError as error:
                found.unreadable.append(str(error))
            else:
                if agent in agents:
                    found.files.append((agent, path))
    return found._replace(files=list(dict.fromkeys((agent, os.path.abspath(path)) for agent, path in found.files)))


def _below(folder: str) -> Iterator[str]:
    """Every plain file below a folder; what version control keeps for itself is left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (".git", ".hg", ".svn"))
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.isfile(path):
                yield path
