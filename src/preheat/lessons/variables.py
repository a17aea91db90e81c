"""Which environment variables commands asked for and did not find: names only. Knows no file on disk."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.files import changed_files
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
    is_set: bool = False
    """Whether a later call that set it passed."""


class SessionVariables(NamedTuple):
    """One session, as `learn_variables` wants it."""

    session: str
    missing: Sequence[MissingVariable]


def find_missing_variables(seen: JudgedSession) -> tuple[MissingVariable, ...]:
    """The variables for want of which commands of a session stopped; not one of which a program only warns, nor one without
    which the same command passed later."""
    found: dict[str, MissingVariable] = {}
    unneeded: set[str] = set()
    filled_in: set[str] = set()  # a file of the environment was changed since
    went_on: set[str] = set()  # a check found something else too: it did not stop for want of this
    for each in seen.calls:
        if each.call.kind in ("edit", "write") and _ENVIRONMENT.search(changed_files(each.call)):
            filled_in.update(found)
        if each.call.kind != "shell" or each.result is None:
            continue
        text = seen.relative(command_text(each.call.input))
        if each.worked and found:
            for name, missing in found.items():
                is_same = bool(missing.command) and missing.command in text
                if is_same and (name in filled_in or re.search(rf"\b{name}=", text)):
                    found[name] = msgspec.structs.replace(missing, is_set=True)
                elif is_same and not missing.is_set:
                    unneeded.add(name)
        if not each.failed:
            continue
        for name in _names_that_stopped(each.result.text[-_END:]):
            if name not in found and f"{name}=" not in text:
                commands = split_commands(text)
                found[name] = MissingVariable(name, commands[0].text if commands else "", each.record.seq, each.call.at)
                went_on |= {name} if each.record.cause == "finding" else set()
    return tuple(
        missing for name, missing in found.items() if name not in unneeded and (missing.is_set or name not in went_on)
    )[:10]


_ENVIRONMENT = re.compile(r"(?:^|[/\n])\.(?:env|envrc|dev\.vars)[\w.-]*(?:\n|$)")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_WARNING = re.compile(r"(?i)\bwarn(?:ing)?\b|\bnotice\b|\boptional\b|\bdeprecat|▲|⚠")
_QUOTED_CODE = re.compile(r"^\s*(?:\d+ \||at |>? *\d+:)")


def _names_that_stopped(end: str) -> list[str]:
    """The variables that the lines of an output call missing; a warning, or a line of code that it quotes, says none."""
    if "_" not in end or not _ABOUT.search(end):
        return []
    lines = [
        line for line in _COLOUR.sub("", end).splitlines() if not _WARNING.search(line) and not _QUOTED_CODE.match(line)
    ]
    names = (match["name1"] or match["name2"] for line in lines for match in _MISSING.finditer(line))
    return [name for name in dict.fromkeys(names) if not _NO_VARIABLES.search(name)]


def _commands(usual: dict[str, list[tuple[str, MissingVariable]]], names: Sequence[str]) -> list[str]:
    """The commands that missed a variable, as they were typed."""
    typed = (missing.command for name in names for _, missing in usual[name])
    return list(dict.fromkeys(each for each in typed if each and _SCRIPT.match(each)))[:5]


def learn_variables(project: str, sessions: Sequence[SessionVariables]) -> list[Lesson]:
    """One lesson on the variables that two sessions or more missed, or one that then set them and went on."""
    by_name: dict[str, list[tuple[str, MissingVariable]]] = {}
    for each in sessions:
        for missing in each.missing:
            by_name.setdefault(missing.name, []).append((each.session, missing))
    usual = {
        name: cases
        for name, cases in by_name.items()
        if len({session for session, _ in cases}) > 1 or any(missing.is_set for _, missing in cases)
    }
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
