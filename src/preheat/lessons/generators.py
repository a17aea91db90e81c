"""What sessions changed before they generated code: the sources of a generator. Knows no file on disk.

A generator is run after its source was changed; what several sessions changed shortly before is that source, given as a folder
and an ending.
"""

import re
from collections import Counter
from collections.abc import Sequence
from posixpath import dirname, splitext
from typing import NamedTuple

import msgspec

from preheat.calls.files import changed_files
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text
from preheat.commands.sources import is_code, is_source
from preheat.lessons.typed_commands import TypedCommand, split_commands
from preheat.model.lesson import Evidence, Lesson, Scope, count_support, lesson_id, select_evidence
from preheat.safe_text.reasons import hidden_reason, junk_reason

HALF_LIFE = 120.0
GENERATING = re.compile(
    r"(?:^|[\s:._-])(?:gen|generate|codegen|render)(?:$|[\s:._-])|\b(?:protoc|sqlc|buf|prisma|graphql-codegen|openapi-typescript)\b"
)
_OTHERWISE = re.compile(
    r"\b(?:xcodegen|tuist)\b|\b(?:key|keygen|secret|password|token|changelog|report|test)\b|\brender_|--help"
)
_NEAR = 12
"""Files that were changed before a generator ran, at most."""
_MOST = 10
_USUAL = 0.6
"""The share of a generator's runs before which a source must have been changed."""


class GeneratorRun(msgspec.Struct, frozen=True, gc=False):
    """A generator that a session ran, and what it had changed before."""

    command: str
    folder: str
    changed: tuple[str, ...]
    seq: int
    at: float | None = None


class SessionGenerators(NamedTuple):
    """One session, as `learn_sources` wants it."""

    session: str
    runs: Sequence[GeneratorRun]


def find_generator_runs(seen: JudgedSession) -> tuple[GeneratorRun, ...]:
    """The generators that a session ran with success, each with the files that were changed since the last one."""
    found: list[GeneratorRun] = []
    changed: dict[str, None] = {}
    for each in seen.calls:
        if each.call.kind in ("edit", "write") and each.worked:
            changed |= dict.fromkeys(seen.relative(path) for path in changed_files(each.call).splitlines() if path)
        elif each.call.kind == "shell" and each.worked and (command := _generator_of(seen, each)) is not None:
            if changed:
                near = tuple(path for path in list(changed)[-_NEAR:] if _may_be_source(path))
                found.append(GeneratorRun(command.text, command.folder, near, each.record.seq, each.call.at))
            changed = {}
    return tuple(found[-_MOST:])


def _may_be_source(path: str) -> bool:
    """Whether something may be made of a file: it lies in the project, and is no test."""
    return not path.startswith(("/", "..")) and (is_source(path) or not is_code(path))


def _generator_of(seen: JudgedSession, each: JudgedCall) -> TypedCommand | None:
    text = command_text(each.call.input)
    if not GENERATING.search(text):
        return None
    for command in split_commands(seen.relative(text)):
        is_generator = GENERATING.search(command.text) and not _OTHERWISE.search(command.text)
        if is_generator and command.purpose in ("run", "other", "build", "package") and not junk_reason(command.text):
            return command
    return None


def learn_sources(project: str, sessions: Sequence[SessionGenerators]) -> list[Lesson]:
    """A lesson for each generator before which several sessions changed files of one folder and ending."""
    by_command: dict[tuple[str, str], list[tuple[str, GeneratorRun]]] = {}
    for each in sessions:
        for run in each.runs:
            by_command.setdefault((run.folder, run.command), []).append((each.session, run))
    found = []
    for (folder, command), runs in sorted(by_command.items()):
        source = _usual_source(runs)
        if source:
            found.append(_lesson(project, folder, command, source, runs))
    return found


def join_sources(commands: Sequence[Lesson], sources: Sequence[Lesson]) -> list[Lesson]:
    """The lessons on commands, those on generators with their sources; and the sources of generators that have none."""
    by_use = {each.use: each.details["source"] for each in sources}
    joined = [
        msgspec.structs.replace(each, details=each.details | {"about": "generate", "source": by_use.pop(each.use)})
        if each.topic == "generate" and each.use in by_use
        else each
        for each in commands
    ]
    return [*joined, *(each for each in sources if each.use in by_use)]


def _usual_source(runs: Sequence[tuple[str, GeneratorRun]]) -> str:
    """The folder and ending of what was changed before most runs, in two sessions or more; empty if there is none."""
    counted: Counter[str] = Counter()
    sessions: dict[str, set[str]] = {}
    for session, run in runs:
        for place in {_place_of(path) for path in run.changed} - {""}:
            counted[place] += 1
            sessions.setdefault(place, set()).add(session)
    usual = [place for place, count in counted.items() if count >= _USUAL * len(runs) and len(sessions[place]) > 1]
    return min(usual, key=lambda place: (-counted[place], -place.count("/"), place), default="")


def _place_of(path: str) -> str:
    """A file as what is like it: `schema/*.graphql`."""
    folder, ending = dirname(path), splitext(path)[1]
    place = f"{folder}/*{ending}" if folder else f"*{ending}"
    return place if ending and not hidden_reason(place) else ""


def _lesson(project: str, folder: str, command: str, source: str, runs: Sequence[tuple[str, GeneratorRun]]) -> Lesson:
    scope = Scope(project=project)
    use = f"cd {folder} && {command}" if folder else command
    evidence = [
        Evidence(session, run.seq, run.at, not any(_place_of(path) == source for path in run.changed), command)
        for session, run in runs
    ]
    times = [run.at for _, run in runs if run.at is not None]
    support = count_support(evidence)
    return Lesson(
        id=lesson_id("convention", scope, "source", use),
        kind="convention",
        scope=scope,
        topic="generate",
        text=f"`{use}` is run after `{source}` was changed ({support.calls_for} of {len(runs)} times).",
        use=use,
        details={"about": "generate", "source": source},
        support=support,
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(evidence),
    )
