"""The page that says what a published dataset is, how it was made and what it is not good for. Knows no archive.

The headings follow "Datasheets for Datasets"; what only the publishing person knows is marked as theirs to fill in.
"""

from collections.abc import Mapping
from typing import NamedTuple

from preheat.lab.dataset.trajectories import Texts

_TO_FILL = "**(to be filled in by whoever publishes this)**"
_TEXTS: dict[Texts, str] = {
    "none": "No text that a person, a model or a tool wrote is in them: messages, arguments and outputs are empty.",
    "masked": "Texts are masked: every sign is an `x`, so only the lengths of words and lines are left.",
    "anonymised": (
        "Texts are in them, with pseudonyms for what the patterns and the known names found. **What somebody said in their "
        "own words can still tell who they are.** Read a sample before you pass this on."
    ),
}


class DatasetFacts(NamedTuple):
    """What a datasheet tells in numbers."""

    version: str = ""
    least: int = 3
    sessions: int = 0
    unreadable: int = 0
    without_project: int = 0
    projects: int = 0
    calls: int = 0
    agents: Mapping[str, int] = {}
    """Sessions by agent."""
    rows: Mapping[str, int] = {}
    """By file."""
    trajectories: int | None = None
    """None if none were asked for."""
    empty: int = 0
    """Sessions without a message, of which there is no trajectory."""
    texts: Texts = "none"
    names: int = 0
    """Names that were looked for."""
    replaced: Mapping[str, int] = {}
    left_out: Mapping[str, int] = {}
    """Different things that too few projects have, by sort."""
    lessons_left_out: Mapping[str, int] = {}


def write_datasheet(facts: DatasetFacts) -> str:
    """The page, as Markdown."""
    parts = (
        "# Datasheet: how coding agents fared, session by session\n", _motivation(), _composition(facts), _collection(),
        _preprocessing(facts), _uses(), _distribution(), _maintenance(facts),
    )  # fmt: skip
    return "\n".join(parts)


def _motivation() -> str:
    return f"""\
## Motivation

Made to study how reliably coding agents use their tools: how often a call fails, why, whether that changes within a session,
and what mends it. Who made it, for whom and with whose money: {_TO_FILL}
"""


def _composition(facts: DatasetFacts) -> str:
    agents = _table(("agent", "sessions"), facts.agents)
    files = _table(("file", "rows"), facts.rows)
    trajectories = "There are no trajectories in it."
    if facts.trajectories is not None:
        trajectories = (
            f"`trajectories/` has {facts.trajectories:,} sessions as ATIF v1.7, one file each"
            f" ({facts.empty:,} have no message and no trajectory). {_TEXTS[facts.texts]}"
        )
    return f"""\
## Composition

{facts.sessions:,} sessions with {facts.calls:,} tool calls, from {facts.projects:,} projects; {facts.without_project:,} sessions
name no project. It is all that the publishing person chose from an archive, not a sample of anything larger. Sessions of one
project hang together: use `project` to keep them together in any interval. `schema.json` says what each field means.

{agents}
{files}
{trajectories}

Outcomes of calls are judged by rules, not by people; `rungs` says on what evidence. {facts.unreadable:,} sessions could not be
read and are not in it.
"""


def _collection() -> str:
    return (
        """\
## Collection process

The agents' programs recorded their own sessions on their users' machines in the course of work. Nobody was asked to do
anything for the dataset, and no model was asked to judge anything. Times are not told; every trajectory begins on the same day.
Whether everybody whose work is in it agreed to its publication: """
        + _TO_FILL
        + "\n"
    )


def _preprocessing(facts: DatasetFacts) -> str:
    replaced = _table(("replaced", "times"), facts.replaced)
    left_out = _table(("left out or made general", "different ones"), facts.left_out)
    lessons = _table(("lessons left out because", "lessons"), facts.lessons_left_out)
    enough = f"**{facts.least} project{'s' * (facts.least != 1)}** {'has' if facts.least == 1 else 'have'} them"
    return f"""\
## Preprocessing, cleaning, labelling

- Secrets were taken out when the sessions were read, and looked for again here.
- Sessions, projects, lessons and templates go by pseudonyms, keyed with a random salt that is not part of the dataset.
- Paths, addresses, machines, e-mails, ids, phone numbers, dates and tickets were replaced by what they are; so were
  {facts.names:,} names that the archive knows (persons, accounts, organisations, repositories, projects, branches).
- A tool that no agent's program brings along, a model, a version, a form of a command, a message of an error and a lesson are
  told only if at least {enough}. Otherwise they are left out, cut to a beginning that enough projects
  share, or called `other`. Folders of one name count as one project.
- Titles, branches, problems of reading and records beside the conversation are not told at all.
- Every file was then searched for anything of that kind; the export would have failed on a finding.

{replaced}
{left_out}
{lessons}
"""


def _uses() -> str:
    return """\
## Uses

Fit for: rates of errors and mistakes by agent, tool and position; how failures are mended; what shorter histories keep. Not fit
for: ranking models (their tasks differ, and people choose them), ranking people, or finding out who somebody is. Trying to
identify a person, a company or a repository in it is not a use.
"""


def _distribution() -> str:
    return f"""\
## Distribution

Licence: {_TO_FILL}

Where it can be had, from when on, and under whose terms the recorded programs stand: {_TO_FILL}
"""


def _maintenance(facts: DatasetFacts) -> str:
    return f"""\
## Maintenance

Made by `preheat admin dataset export`, version {facts.version}. Who answers questions and takes requests to remove something:
{_TO_FILL}

`preheat admin dataset check FOLDER` looks through it once more; `manifest.json` has the digest of every other file but this page.
"""


def _table(heading: tuple[str, str], values: Mapping[str, int]) -> str:
    if not values:
        return ""
    rows = "\n".join(f"| {name} | {number:,} |" for name, number in values.items())
    return f"| {heading[0]} | {heading[1]} |\n|---|---|\n{rows}\n"
