"""One session's proficiency markers as a row: what was measured, counted. Knows no archive and no text.

Built in two steps: `measure_session` makes the row with real names; `publish_row` replaces them once it is known which may be
published.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.rows import OTHER, CallCounts, SessionRow, Share, Shortened
from preheat.model.outcome import FAILURES, JUDGED
from preheat.model.profile import CallRecord, Rate, SessionProfile
from preheat.model.session import Session

FIFTHS = 5


class LiveMeasures(NamedTuple):
    """What other stages measured of a session."""

    phases: Mapping[str, int]
    phase_changes: int
    scores: Mapping[str, float | None]
    rules: Mapping[str, int]
    shortened: Mapping[str, Shortened]


def measure_session(
    session: Session, profile: SessionProfile, records: Sequence[CallRecord], watched: LiveMeasures
) -> SessionRow:
    """The row of a session with its real names, not fit for publishing yet."""
    work = [record for record in records if not record.bookkeeping]
    return SessionRow(
        session=session.id,
        project=session.project,
        parent=session.parent,
        relation=session.relation,
        agent=session.agent,
        agent_version=session.version,
        model=session.model,
        starter=session.starter,
        messages=profile.messages,
        prompts=profile.prompts,
        calls=profile.calls,
        bookkeeping_calls=profile.bookkeeping_calls,
        compactions=profile.compactions,
        seconds=profile.seconds,
        tokens=profile.tokens,
        context_peak=profile.context_peak,
        context_window=profile.context_window,
        all=count_calls(work),
        error_rate=profile.errors.value,
        mistake_rate=profile.mistakes.value,
        fifths=tuple(map(count_calls, split_in_fifths(work))),
        statuses=_in_order(profile.statuses),
        causes=_in_order(profile.causes),
        rungs=_in_order(profile.rungs),
        kinds=_group_records(work, lambda record: record.kind),
        activities=_group_records(work, lambda record: record.activity),
        tools=_group_records(work, lambda record: record.tool),
        proficiency_gain=profile.proficiency_gain,
        slope=profile.slope,
        slope_low=profile.slope_low,
        slope_high=profile.slope_high,
        recovery=_share(profile.recovery),
        recovery_calls=profile.recovery_calls,
        repeats=_share(profile.repeats),
        repeated_failures=_share(profile.repeated_failures),
        rereads=_share(profile.rereads),
        lost_seconds=profile.lost_seconds,
        lost_tokens=profile.lost_tokens,
        dominant_tool_type=profile.dominant_tool_type,
        user_style=profile.user.style,
        prompt_length=profile.user.average_length,
        questions=profile.user.questions,
        commands=profile.user.commands,
        phases=_in_order(watched.phases),
        phase_changes=watched.phase_changes,
        scorecard=dict(watched.scores),
        safety_rules=_in_order(watched.rules),
        compression=dict(watched.shortened),
        proficiency=profile.proficiency,
    )


class PublishedNames(NamedTuple):
    """The published name of each project, tool, model and version."""

    project: Callable[[str], str]
    """A project's pseudonym by its folder; empty where it is none."""
    tool: Callable[[str], str]
    model: Callable[[str], str]
    version: Callable[[str, str], str]
    """By agent and version."""


def publish_row(row: SessionRow, pseudonyms: Pseudonyms, names: PublishedNames, parents: frozenset[str]) -> SessionRow:
    """The row with published names; a parent that is not in the dataset is left out."""
    tools: dict[str, CallCounts] = {}
    for name, each in row.tools.items():
        published = names.tool(name) or OTHER
        tools[published] = add_counts(tools[published], each) if published in tools else each
    parent = f"{row.agent}:{row.parent}" if row.parent else ""
    return replace(
        row,
        session=pseudonyms.pseudonym("session", f"{row.agent}:{row.session}"),
        project=names.project(row.project or "") or None,
        parent=pseudonyms.pseudonym("session", parent) if parent in parents else None,
        agent_version=names.version(row.agent, row.agent_version),
        model=names.model(row.model),
        tools=_in_order(tools),
    )


def count_calls(records: Iterable[CallRecord]) -> CallCounts:
    """Some calls, counted."""
    listed = list(records)
    judged = [record for record in listed if record.status in JUDGED]
    failed = [record for record in judged if record.status in FAILURES]
    return CallCounts(len(listed), len(judged), len(failed), sum(record.cause == "mistake" for record in failed))


def add_counts(one: CallCounts, other: CallCounts) -> CallCounts:
    return CallCounts(
        one.calls + other.calls, one.judged + other.judged, one.errors + other.errors, one.mistakes + other.mistakes
    )


def split_in_fifths(records: Sequence[CallRecord]) -> list[Sequence[CallRecord]]:
    """The calls in five stretches of nearly the same length, in their order."""
    ends = [round(number * len(records) / FIFTHS) for number in range(FIFTHS + 1)]
    return [records[start:end] for start, end in pairwise(ends)]


def _group_records(records: Iterable[CallRecord], by: Callable[[CallRecord], str]) -> Any:
    groups: dict[str, list[CallRecord]] = {}
    for record in records:
        groups.setdefault(by(record), []).append(record)
    return {name: count_calls(groups[name]) for name in sorted(groups)}


def _share(rate: Rate) -> Share:
    return Share(rate.count, rate.total)


def _in_order(values: Mapping[Any, Any]) -> Any:
    return {name: values[name] for name in sorted(values)}
