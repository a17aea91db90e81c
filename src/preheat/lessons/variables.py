"""Which environment variables commands asked for and did not find: names only. Knows no file on disk."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.judged import JudgedSession
from preheat.commands import command_text
from preheat.lessons.typed_commands import split_commands
from preheat.model.lesson import Evidence, Lesson, Scope, count_support, lesson_id, select_evidence

HALF_LIFE = 120.0
_NAME = r"(?P<name{}>[A-Z][A-Z0-9]*_[A-Z0-9_]{{1,40}})"
_MISSING = re.compile(
    r"(?i:missing|required|undefined|unset|must set|please set|is not defined in|expected)\b(?:(?![.\n]).){0,60}?\b"
    + _NAME.format(1)
    + r"|\b"
    + _NAME.format(2)
    + r"\b[`'\"]?(?: environment variable)?"
    r"(?i:(?: is| was| must be|:| env\w*)* (?:not set|missing|required|unset|undefined|not defined|must be set|not found))"
)
_ABOUT = re.compile(r"(?i)env|variable|credential|config|set|missing|required")
_END = 3000
_SCRIPT = re.compile(r"\S+(?: (?:run|exec|-m|--filter \S+))* [A-Za-z][\w:./@-]*")
"""A program with its subcommand or script."""
_NO_VARIABLES = re.compile(r"^(?:ERR|E2E|HTTP|NPM|TS|MODULE|ENOENT|ERROR)_|_ERR(?:OR)?$")


class MissingVariable(msgspec.Struct, frozen=True, gc=False):
    """A variable that a failed call asked for."""

    name: str
    command: str
    seq: int
    at: float | None = None


class SessionVariables(NamedTuple):
    """One session, as `learn_variables` wants it."""

    session: str
    missing: Sequence[MissingVariable]


def find_missing_variables(seen: JudgedSession) -> tuple[MissingVariable, ...]:
    """The variables that failed commands of a session named as missing."""
    found: dict[str, MissingVariable] = {}
    for each in seen.calls:
        if each.call.kind != "shell" or not each.failed or each.result is None:
            continue
        end = each.result.text[-_END:]
        if "_" not in end or not _ABOUT.search(end):
            continue
        for match in _MISSING.finditer(end):
            name = match["name1"] or match["name2"]
            if name not in found and not _NO_VARIABLES.search(name):
                commands = split_commands(seen.relative(command_text(each.call.input)))
                found[name] = MissingVariable(name, commands[0].text if commands else "", each.record.seq, each.call.at)
    return tuple(found.values())[:10]


def _commands(usual: dict[str, list[tuple[str, MissingVariable]]], names: Sequence[str]) -> list[str]:
    """The commands that missed a variable, each as far as it names what it runs."""
    begun = (_SCRIPT.match(missing.command) for name in names for _, missing in usual[name])
    return list(dict.fromkeys(each[0] for each in begun if each))[:5]


def learn_variables(project: str, sessions: Sequence[SessionVariables]) -> list[Lesson]:
    """One lesson on the variables that two sessions or more missed."""
    by_name: dict[str, list[tuple[str, MissingVariable]]] = {}
    for each in sessions:
        for missing in each.missing:
            by_name.setdefault(missing.name, []).append((each.session, missing))
    usual = {name: cases for name, cases in by_name.items() if len({session for session, _ in cases}) > 1}
    if not usual:
        return []
    names = sorted(usual, key=lambda name: (-len(usual[name]), name))[:8]
    evidence = [
        Evidence(session, missing.seq, missing.at, False, missing.command, failed=True)
        for name in names
        for session, missing in usual[name]
    ]
    scope = Scope(project=project)
    times = [each.at for each in evidence if each.at is not None]
    return [
        Lesson(
            id=lesson_id("convention", scope, "variable"),
            kind="convention",
            scope=scope,
            topic="variable",
            text=f"Variables that must be set: {', '.join(f'`{name}`' for name in names)}.",
            details={"about": "variables", "names": ",".join(names), "commands": "\n".join(_commands(usual, names))},
            support=count_support(evidence),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            half_life=HALF_LIFE,
            evidence=select_evidence(evidence),
        )
    ]
