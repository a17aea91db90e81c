"""BuildResumePacket: what the next session of a project needs to go on where the last one ended. Knows no repository on disk.

Of every session a packet is noted; the newest by a person that did some work is the project's. A packet grows stale by days
and by commits: `describe_staleness` says by how much, given what is so now. Texts that a tool printed (signatures) enter only
where they give no orders; the rest of the packet stands without them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from preheat.amounts import format_count
from preheat.calls.intent import Intent, intent_of
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text
from preheat.lessons.call_facts import safe_touches
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.session_end import (
    CheckRun,
    find_check_runs,
    find_git_state,
    find_goal,
    is_housekeeping,
    latest_check_runs,
)
from preheat.model.lesson import DAY, CheckResult, Evidence, Lesson, ResumePacket, Scope, count_support, lesson_id
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import hidden_reason, junk_reason

HALF_LIFE = 3.0
EXPIRES = 14.0
"""Days after the session's end."""
_PEOPLE = frozenset(["human", "unknown"])
_FEWEST_CALLS = 3
_FILES, _CHECKS, _UNVERIFIED, _DEAD_ENDS, _USUAL = 8, 6, 8, 3, 10
_ABANDONED = 2
"""Failures of one intent without a success after which it is a dead end."""
_DOCUMENTS = (".md", ".mdx", ".txt", ".rst", ".adoc")
_BY_FILE = frozenset(["read", "edit", "write"])
"""Kinds of tools whose failures are about the state of one file: nothing that another session would run into."""
_SIGNATURE = 100
_NAMED = 3
_GOAL, _GOAL_OPEN = 140, 220
"""Letters of the task that are shown: of one that is done, fewer."""


class UsualCheck(msgspec.Struct, frozen=True):
    """A check that passed or failed in a session."""

    purpose: str
    command: str


class ResumeNotes(msgspec.Struct, frozen=True):
    """One session as the next one would want to have it."""

    packet: ResumePacket | None
    """None for a session that is not worth going on with."""
    calls: int
    checks: tuple[UsualCheck, ...]
    forms: tuple[str, ...] = ()


def take_notes(seen: JudgedSession) -> ResumeNotes | None:
    """The packet of one session, without what other sessions show."""
    runs = find_check_runs(seen.calls, seen.relative)
    usual = tuple(dict.fromkeys(UsualCheck(run.purpose, run.command) for run in reversed(runs)))[:_USUAL]
    packet = _packet(seen, runs)
    if packet is None and not usual:
        return None
    forms = tuple(dict.fromkeys(run.form for run in latest_check_runs(runs) if run.form))[:_CHECKS]
    return ResumeNotes(packet, len(seen.calls), usual, forms)


def learn(project: str, noted: Sequence[SessionNotes[ResumeNotes]]) -> list[Lesson]:
    """One lesson: the newest packet, with the command to begin with."""
    if not project:
        return []
    ended = [(each.ended_at, each.session, each) for each in noted if each.ended_at is not None]
    ended = [each for each in ended if each[2].notes.packet is not None]
    if not ended:
        return []
    at, session, newest = max(ended, key=lambda each: each[:2])
    packet = newest.notes.packet
    assert packet is not None  # noqa: S101  (chosen above)
    if is_clean(packet) and is_housekeeping(packet.goal):  # nor anything of an older one: it was seen to
        return []
    packet = msgspec.structs.replace(packet, next_command=_next_command(packet, noted))
    evidence = (Evidence(session, None, at, text=one_line(packet.goal)),)
    scope = Scope(project=project)
    return [
        Lesson(
            id=lesson_id("resume", scope),
            kind="resume",
            scope=scope,
            topic="resume",
            text=_sentence(packet),
            use=packet.next_command,
            signatures=tuple(check.signature for check in packet.checks if check.signature),
            forms=newest.notes.forms,
            files=packet.files,
            packet=packet,
            support=count_support(evidence),
            first_seen=newest.started_at,
            last_seen=at,
            half_life=HALF_LIFE,
            expires_at=at + EXPIRES * DAY,
            evidence=evidence,
        )
    ]


def is_clean(packet: ResumePacket) -> bool:
    """Whether the session left nothing behind: checks pass, everything was checked and committed."""
    return packet.committed and not packet.failing and not packet.unverified and all(c.passed for c in packet.checks)


def describe_staleness(
    packet: ResumePacket, now: float, head_now: str = "", commits_since: int | None = None, branch_now: str = ""
) -> str:
    """How old a packet is, in one line; what is not known (empty, None) is left out."""
    parts = []
    if packet.ended_at is not None:
        parts.append(_age(now - packet.ended_at))
    if commits_since:
        parts.append(format_count(commits_since, "commit"))
    notes = [f"{' and '.join(parts)} old"] if parts else []
    if packet.head and head_now and not _same_commit(packet.head, head_now):
        notes.append(f"HEAD was {packet.head[:8]}, is {head_now[:8]}")
    if packet.branch and branch_now and packet.branch != branch_now:
        notes.append(f"branch was {packet.branch}, is {branch_now}")
    return "; ".join(notes)


def render_packet(packet: ResumePacket, staleness: str = "") -> list[str]:
    """The packet in a few short lines; `staleness` says how old it is."""
    clean = is_clean(packet)
    lines = [f"Last session here ({staleness}):" if staleness else "Last session here:"]
    lines.append(f'asked: "{one_line(packet.goal, _GOAL if clean else _GOAL_OPEN)}"')
    if clean:
        at = f" at {packet.head[:8]}" if packet.head else ""
        on = f" on {packet.branch}" if packet.branch else ""
        lines.append(f"ended clean: {'checks passed and ' if packet.checks else ''}the work was committed{at}{on}")
        return lines
    failing = [check for check in packet.checks if not check.passed]
    passing = [f"`{each.command}`" for each in packet.checks if each.passed and len(each.command) <= _SIGNATURE]
    lines += [f"failing: `{check.command}`{_quote_signature(check.signature)}" for check in failing[:2]]
    if passing and not failing:
        lines.append(f"passed: {', '.join(passing[:2])}")
    if packet.unverified:
        lines.append(f"edited and not checked since: {_names(packet.unverified)}")
    others = [path for path in packet.files if path not in packet.unverified]
    if others and len(packet.unverified) < _NAMED:
        lines.append(f"worked on: {_names(others)}")
    lines += [f"gave up: {each}" for each in packet.dead_ends[:2]]
    if packet.next_command and not failing:
        lines.append(f"next: `{packet.next_command}`")
    if packet.branch or packet.head:
        where = " at ".join(filter(None, (packet.branch, packet.head[:8])))
        lines.append(f"left {where}{', committed' if packet.committed else ''}")
    return lines


def describe(lessons: Sequence[Lesson]) -> str:
    packets = [lesson.packet for lesson in lessons if lesson.packet is not None]
    if not packets:
        return "no session to go on with"
    clean = sum(map(is_clean, packets))
    return (
        f"{format_count(len(packets), 'packet')} to go on with: {clean} ended clean, {len(packets) - clean} "
        "left something open"
    )


def _packet(seen: JudgedSession, runs: list[CheckRun]) -> ResumePacket | None:
    session = seen.session
    ended_at = session.ended_at
    by_person = session.starter in _PEOPLE and session.relation != "subagent"
    if not seen.root or not by_person or ended_at is None or len(seen.calls) < _FEWEST_CALLS:
        return None
    edited, read = _touched_files(seen)
    git = find_git_state(seen.calls, session.branch)
    goal = find_goal([message.text for message in seen.human_messages()], seen.relative)
    if not goal or not (edited or runs or git.commit_seq >= 0):
        return None
    passed = max((run.seq for run in runs if run.passed), default=-1)
    states = latest_check_runs(runs)[:_CHECKS]
    checks = tuple(CheckResult(run.command, run.passed, _safe_signature(run.signature), run.at) for run in states)
    unverified = [path for path, (_, last) in edited.items() if last > passed and not path.endswith(_DOCUMENTS)]
    return ResumePacket(
        session=seen.key,
        goal=goal,
        checks=checks,
        failing=next((check.signature for check in checks if not check.passed), ""),
        unverified=tuple(sorted(unverified, key=lambda path: (-edited[path][1], path))[:_UNVERIFIED]),
        files=(*_rank_files(edited), *_rank_files(read))[:_FILES],
        dead_ends=_dead_ends(seen),
        branch=git.branch,
        head=git.head,
        ended_at=ended_at,
        committed=git.commit_seq > max((last for _, last in edited.values()), default=-1) and git.commit_seq >= 0,
    )


def _touched_files(seen: JudgedSession) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The files that were edited, and those that were only read: how often, and where the last time."""
    edited: dict[str, tuple[int, int]] = {}
    read: dict[str, tuple[int, int]] = {}
    for each in seen.calls:
        if not each.worked:
            continue
        for touch in safe_touches(seen, each):
            if touch.how == "removed":
                edited.pop(touch.path, None)
                read.pop(touch.path, None)
                continue
            into = read if touch.how == "read" else edited
            into[touch.path] = (into.get(touch.path, (0, 0))[0] + 1, each.record.seq)
    return edited, {path: count for path, count in read.items() if path not in edited}


def _rank_files(files: dict[str, tuple[int, int]]) -> list[str]:
    return sorted(files, key=lambda path: (-files[path][0], -files[path][1], path))


def _dead_ends(seen: JudgedSession) -> tuple[str, ...]:
    """What the session gave up: intents that failed several times, not by findings, and never worked after."""
    failures: dict[Intent, list[JudgedCall]] = {}
    for each in seen.calls:
        if each.call.kind in _BY_FILE:
            continue
        aim = intent_of(each.call)
        if each.failed and each.record.cause != "finding":
            failures.setdefault(aim, []).append(each)
        elif each.ran:
            failures.pop(aim, None)
    found: list[tuple[int, int, str]] = []
    for calls in failures.values():
        last = calls[-1]
        shown = _show_call(seen, last)
        if len(calls) >= _ABANDONED and shown:
            text = f"{shown} failed {len(calls)} times{_quote_signature(_safe_signature(last.record.signature))}"
            found.append((-len(calls), last.record.seq, text))
    return tuple(text for *_, text in sorted(found)[:_DEAD_ENDS])


def _show_call(seen: JudgedSession, each: JudgedCall) -> str:
    if each.call.kind != "shell":
        return f"`{each.call.tool}`"
    text = seen.relative(command_text(each.call.input))
    return "" if "\n" in text or len(text) > _SIGNATURE or junk_reason(text) else f"`{text}`"


def _next_command(packet: ResumePacket, noted: Iterable[SessionNotes[ResumeNotes]]) -> str:
    """The failing check; else, for edits that nobody checked, the session's own or the one that most sessions here run."""
    failing = next((check.command for check in packet.checks if not check.passed), "")
    if failing or not packet.unverified:
        return failing
    if packet.checks:
        return packet.checks[0].command
    counts = Counter(check for each in noted for check in set(each.notes.checks))
    usual = [check for check, sessions in counts.items() if sessions >= 2]
    if not usual:
        return ""
    most = max(counts[check] for check in usual)
    # A test is preferred to a linter, unless few sessions run it.
    usual.sort(key=lambda each: (each.purpose != "test" or 2 * counts[each] < most, -counts[each], each.command))
    return usual[0].command


def _sentence(packet: ResumePacket) -> str:
    goal = one_line(packet.goal, 120)
    if is_clean(packet):
        return f'The last session ended clean; it was asked: "{goal}".'
    failing = next((f"`{check.command}` failed at its end" for check in packet.checks if not check.passed), "")
    left = len(packet.unverified)
    unverified = f"{format_count(left, 'edited file')} not checked" if left else ""
    state = " and ".join(filter(None, (failing, unverified))) or "nothing was left failing"
    return f'The last session was asked: "{goal}"; {state}.'


def _safe_signature(signature: str) -> str:
    """The signature; empty if it reads like an order to a model."""
    signature = one_line(signature, _SIGNATURE)
    return "" if hidden_reason(signature) else signature


def _quote_signature(signature: str) -> str:
    return f' ("{signature}")' if signature else ""


def _names(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(f"`{path}`" for path in paths[:_NAMED]) + more


def _age(seconds: float) -> str:
    hours = max(0.0, seconds) / 3600
    if hours < 1:
        return "less than an hour"
    if hours < 48:
        return format_count(round(hours), "hour")
    return f"{hours / 24:.0f} days"


def _same_commit(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


BUILD_RESUME_PACKET = Learner("BuildResumePacket", 2, ResumeNotes, take_notes, learn, describe=describe)
