"""Finds the mistakes that sessions make again and again, what they cost, and how they are usually put right.

Knows nothing of where failures are kept.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from preheat.calls.shell import command_form, common_beginning
from preheat.commands import understand
from preheat.commands.understand import is_look
from preheat.mistakes.failure import (
    LONGEST_TITLE,
    MISTAKE_CAUSES,
    Key,
    commonest,
    mistake_id,
    mistake_key,
    title,
    tool_family,
)
from preheat.mistakes.repair import Origin, usual_alternative, usual_repair
from preheat.mistakes.tries import MistakenCall
from preheat.model.mistake import Mistake, MistakeCost, Mistakes, Occurrence, Repair, Wait
from preheat.model.outcome import CAUSES, Cause
from preheat.model.profile import FailureFact
from preheat.model.session import ToolKind
from preheat.safe_text.cleanup import one_line

NotesOf: TypeAlias = Callable[[str], Mapping[int, MistakenCall]]
"""By the key of a session: its mistakes with what was tried after them, by their place among its calls."""


AlternativesOf: TypeAlias = Callable[[str], Mapping[int, str]]
"""By the key of a session: the form of the command that was used instead of a failed one, by the place of the failed one."""


def _no_alternatives(_session: str) -> Mapping[int, str]:
    return {}


def _no_notes(_session: str) -> Mapping[int, MistakenCall]:
    return {}


def find_mistakes(
    failures: Iterable[FailureFact],
    *,
    by: MistakeCost = "calls",
    min_sessions: int = 2,
    causes: Sequence[Cause] = MISTAKE_CAUSES,
    notes_of: NotesOf = _no_notes,
    alternatives_of: AlternativesOf = _no_alternatives,
) -> Mistakes:
    """The failures that at least `min_sessions` sessions met: what a person can mend first, and of these the most expensive.

    `notes_of` gives what is known of the tries after the failures of a session; without it no repair is known. `alternatives_of`
    gives the commands that others were given up for: where no try at the same thing was the repair, these are.
    """
    groups: defaultdict[Key, list[FailureFact]] = defaultdict(list)
    total = unnamed = 0
    for failure in failures:
        if failure.cause is None or failure.cause not in causes or failure.bookkeeping:
            continue
        total += 1
        key = mistake_key(tool_family(failure.tool, failure.kind), failure.signature)
        if key is None:
            unnamed += 1
        else:
            groups[key].append(failure)
    found = [
        _mistake(key, group, notes_of, alternatives_of)
        for key, group in groups.items()
        if len({failure.key for failure in group}) >= min_sessions
    ]
    found.sort(key=lambda each: (not each.mendable, *_rank(each, by), each.id))
    return Mistakes(
        by=by,
        min_sessions=min_sessions,
        causes=tuple(causes),
        mistakes=tuple(found),
        calls=sum(each.calls for each in found),
        seconds=sum(each.seconds for each in found),
        tokens=sum(each.tokens for each in found),
        failures=total,
        unnamed=unnamed,
        sessions=len({session for each in found for session in each.sessions}),
    )


def _rank(mistake: Mistake, by: MistakeCost) -> tuple[float, ...]:
    costs = {"calls": float(mistake.calls), "minutes": mistake.seconds, "tokens": float(mistake.tokens)}
    return (-costs.pop(by), -float(len(mistake.sessions)), *(-cost for cost in costs.values()))


_AGENTS_OWN = frozenset(["read", "edit", "write", "search", "plan", "delegate", "web"])
"""Families of tools that an agent brings: how it uses them is its own affair."""
_ABSENT = re.compile(r"(?i)no such file|does not exist|cannot access")
_NAMED = re.compile(r"(?:^|[\s:])([\w.+-]{1,30}): ")
"""A program that names itself in a message."""
_REMOVALS = frozenset(["rm", "rmdir", "unlink"])
_LONGEST_COMMAND = 60
_MOST_VARIANTS = 5


def _forms(family: str, group: list[FailureFact], known: Sequence[MistakenCall | None]) -> list[str]:
    """The form of command of each call; none of other tools."""
    if family != "shell":
        return []
    return [
        mistake.form if mistake is not None else command_form(failure.summary)
        for failure, mistake in zip(group, known, strict=True)
    ]


def _command_of(forms: Sequence[str]) -> str:
    """The form of command that at least half of these calls have; empty if none has."""
    if not forms:
        return ""
    form, times = min(Counter(forms).items(), key=lambda item: (-item[1], item[0]))
    return form if form and 2 * times >= len(forms) else ""


def _only_looks(command: str) -> bool:
    """Whether a form of command only shows files."""
    main = understand(command).main if command else None
    return main is not None and is_look(main)


def _is_mendable(family: str, cause: Cause, signature: str, forms: Sequence[str], repair: Repair | None) -> bool:
    """Whether a person can mend it. Not how an agent uses its own tools, and not what it looked for, or wanted to remove, where
    nothing is: by most of the calls, or by a program that the message names."""
    if repair is not None:
        return cause == "environment" or family not in _AGENTS_OWN
    looks = 2 * sum(map(_only_looks, forms)) >= len(forms) > 0
    if _ABSENT.search(signature) is not None:
        removes = 2 * sum(form.partition(" ")[0] in _REMOVALS for form in forms) >= len(forms) > 0
        if looks or removes or any(_only_looks(f"{name} x") for name in _NAMED.findall(signature)):
            return False
    return cause == "environment" or (family not in _AGENTS_OWN and not looks)


def _typed_command(command: str, forms: Sequence[str], summaries: Sequence[str]) -> str:
    """The command of the title as it was typed: how the calls of the usual form begin; where that is one call's alone, or none
    is usual, how all of the commonest program do, if that is in at least half of the calls."""
    calls = list(zip(forms, summaries, strict=True))
    mine = [call for call in calls if call[0] == command]
    if command and (len(mine) > 1 or len(calls) == 1):
        return common_beginning(mine) or command
    programs = Counter(program for form in forms if (program := form.partition(" ")[0]))
    if not programs:
        return command
    program, times = min(programs.items(), key=lambda item: (-item[1], item[0]))
    if times < 2 or 2 * times < len(calls):
        return command
    return common_beginning([call for call in calls if call[0].partition(" ")[0] == program]) or f"{program} …"


def _name(command: str, family: str, message: str) -> str:
    """`npm test: Missing script …`, by the command that a person would type; its name is not said twice. Of another tool the
    message alone, unless that begins with a gap."""
    program = command.partition(" ")[0]
    if not command:
        return one_line(f"{family}: {message}", LONGEST_TITLE) if message.startswith("…") else message
    if command == f"{program} …" and message.endswith(f": {program}"):
        return message
    return one_line(f"{command}: {message.removeprefix(f'{program}: ').removeprefix('…: ')}", LONGEST_TITLE)


def _command_that_failed(command: str, repair: Repair | None) -> str:
    """The command for the title: where the very same works once something is left out, what failed is the whole of it."""
    is_right = repair is not None and repair.failed and repair.worked == command
    return repair.failed if repair is not None and is_right and len(repair.failed) <= _LONGEST_COMMAND else command


def _mistake(key: Key, group: list[FailureFact], notes_of: NotesOf, alternatives_of: AlternativesOf) -> Mistake:
    known = [notes_of(failure.key).get(failure.seq) for failure in group]
    causes = Counter(failure.cause for failure in group if failure.cause is not None)
    signatures = commonest(failure.signature for failure in group)
    times = [failure.at for failure in group if failure.at is not None]
    forms = _forms(key[0], group, known)
    command = _command_of(forms)
    repair = usual_repair(
        (Origin(failure.key, failure.agent, failure.project), mistake)
        for failure, mistake in zip(group, known, strict=True)
        if mistake is not None
    )
    instead = [""] * len(group)
    if repair is None and command:
        instead = [alternatives_of(failure.key).get(failure.seq, "") for failure in group]
        repair = usual_alternative(command, [(each.key, form) for each, form in zip(group, instead, strict=True)])
        instead = [form if repair is not None and form == repair.instead else "" for form in instead]
    cause = max(CAUSES, key=lambda cause: causes[cause])
    typed = _typed_command(command, forms, [failure.summary for failure in group]) if forms else ""
    failed = _command_that_failed(command, repair)
    command, typed = failed, typed if failed == command else failed
    message, *variants = dict.fromkeys(map(title, signatures))
    return Mistake(
        id=mistake_id(key),
        title=_name(typed, key[0], message),
        message=message,
        variants=tuple(variants[:_MOST_VARIANTS]),
        command=command,
        mendable=_is_mendable(key[0], cause, signatures[0], forms, repair),
        family=key[0],
        cause=cause,
        signatures=signatures,
        tools=commonest(failure.tool for failure in group),
        calls=len(group),
        sessions=commonest(failure.key for failure in group),
        seconds=sum(failure.lost_seconds for failure in group),
        tokens=sum(failure.lost_tokens for failure in group),
        agents=commonest(failure.agent for failure in group),
        projects=commonest(failure.project for failure in group if failure.project),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        recovered=sum(
            failure.recovered_in is not None or bool(form) or (mistake is not None and _was_repaired(mistake))
            for failure, mistake, form in zip(group, known, instead, strict=True)
        ),
        repair=repair,
        occurrences=tuple(map(_occurrence, group, instead)),
    )


def _was_repaired(mistake: MistakenCall) -> bool:
    """Whether one of the tries was a right call, also one with findings, which the record's recovery leaves out."""
    return any(tried.ran for tried in mistake.tries)


def _occurrence(failure: FailureFact, instead: str) -> Occurrence:
    return Occurrence(
        session=failure.key,
        seq=failure.seq,
        at=failure.at,
        tool=failure.tool,
        summary=failure.summary,
        seconds=failure.lost_seconds,
        tokens=failure.lost_tokens,
        recovered_in=failure.recovered_in,
        repair=failure.repair_summary or instead,
    )


# What waited for a person.
def add_up_waits(denied: Iterable[tuple[str, str, ToolKind, str, float | None]]) -> tuple[Wait, ...]:
    """What waited for a person, by form of call, the longest and most frequent first. Given as key of the session, tool, kind,
    summary and seconds."""
    groups: defaultdict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for session, tool, kind, summary, seconds in denied:
        form = command_form(summary) if kind == "shell" else tool
        if form:
            groups[form].append((session, seconds or 0.0, summary if kind == "shell" else ""))
    found = [
        Wait(
            command=common_beginning([(form, summary) for _, _, summary in group]) or form,
            calls=len(group),
            sessions=len({session for session, _, _ in group}),
            seconds=sum(seconds for _, seconds, _ in group),
        )
        for form, group in groups.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.seconds, -each.calls, each.command)))
