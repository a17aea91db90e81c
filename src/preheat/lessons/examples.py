"""Examples: real calls that worked, worth showing to a new session with their real results. Knows no score of other lessons.

Noted is a call that worked at the first try, on evidence that can be relied on, with arguments that mean something in another
session. Kept are those whose form several sessions used, or whose form often goes wrong, and that say something that a model
does not know anyway: a project's own command, a tool of the project, a flag.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import log2
from typing import Any, NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.calls.intent import Intent, intent_of
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.placeholders import without_number
from preheat.calls.shell import command_form
from preheat.commands import CHECKS, command_text, understand
from preheat.lessons.call_facts import describe_tool_call
from preheat.lessons.learner import SessionNotes
from preheat.lessons.typed_commands import split_commands
from preheat.mistakes.command_difference import STARTING
from preheat.model.lesson import Evidence, Example, Lesson, Scope, Support, lesson_id, select_evidence
from preheat.safe_text.cleanup import CONTROL, ESCAPES, one_line
from preheat.safe_text.reasons import danger_reason, hidden_reason, junk_reason

MOST = 20
HALF_LIFE = 90.0
LONGEST_RESULT = 600
"""Letters of a result that are kept: its beginning and its end."""
_HEAD = 400
_GAP = "\n[…]\n"
_MOST_NOTED = 40
_MOST_FORMS = 150
_LONGEST_TEXT, _LONGEST_ARGUMENTS = 200, 500
_LARGEST, _DEEPEST = 2.0**53, 4
"""Of a number (every JSON reader has it exactly) and of arguments within arguments."""
_SURE = 0.9
_KINDS = frozenset(["shell", "other"])
"""Searches, reads and edits are left out: each is about one case, and every agent's program explains these tools."""
_KNOWN_PURPOSES = frozenset(["list", "read", "search", "edit", "poll", "other", "network"])
"""Purposes that every model knows commands for."""
_KNOWN_PROGRAMS = frozenset(["git", "python", "python3", "node", "bash", "sh", "kill", "pkill"])
_HOME = re.compile(r"\$\{?HOME\b|%USERPROFILE%|\$env:USERPROFILE", re.IGNORECASE)
_SIDE_EFFECT_WORDS = frozenset(
    [
        "accept", "add", "approve", "assign", "book", "buy", "cancel", "change", "charge", "close", "create",
        "delete", "deploy", "disable", "drop", "edit", "email", "enable", "grant", "invite", "kick", "merge",
        "message", "modify", "move", "order", "pay", "payment", "post", "publish", "purchase", "push", "reboot",
        "reject", "remove", "rename", "reserve", "reset", "resume", "return", "revoke", "schedule", "send", "set",
        "share", "submit", "suspend", "terminate", "transfer", "update", "upload", "withdraw", "write",
    ]
)  # fmt: skip
"""Words in the name of a tool that does something to the world: no model is to be shown how, in case it does it again."""
_PRIVATE = re.compile(r"(?i)passw|secret|token|credential|api_?key|e?mail|phone|iban|card|address|\bssn\b|birth")
"""Names of arguments that hold what is a person's own."""
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LOOKED_AT = 3000
"""Letters at each end of a result that are looked at: what lies between them is never shown."""
_FAILING, _FAILING_CALLS = 0.15, 5
"""A form fails often if this share of its calls, and at least so many calls, were mistakes."""
_USUAL, _USUAL_IF_FAILING = 0.25, 0.1
"""The share of the sessions that used a form, below which it is weak. Measured over the six projects: of forms that a quarter
to all of the earlier sessions used, later sessions used six in ten; of rarer ones one in eight."""
_PER_SORT = 3
"""Examples of one tool and purpose; more would repeat these."""
_UNSEEN = re.compile(f"{ESCAPES.pattern}|{CONTROL.pattern}")


class Candidate(msgspec.Struct, frozen=True):
    """A call that might be shown."""

    form: str
    tool: str
    kind: str
    purpose: str
    arguments: dict[str, Any]
    result: str
    seq: int
    at: float | None
    same: str
    """Equal for two calls that did exactly the same."""
    plain: bool
    """One command and nothing around it."""


class FormUse(msgspec.Struct, frozen=True):
    """How often calls of one form worked in a session."""

    tool: str
    form: str
    worked: int
    mistakes: int = msgspec.field(name="misuse")
    """Stored under the name that version 0.1.0 gave it."""
    first: int
    """The place of the first that worked among the session's calls; -1 if none did."""


class ExampleNotes(msgspec.Struct, frozen=True):
    candidates: tuple[Candidate, ...]
    forms: tuple[FormUse, ...]


class _Group(NamedTuple):
    """All that is known of one form of one agent's tool."""

    agent: str
    tool: str
    form: str
    candidates: list[tuple[str, Candidate]]
    """With the sessions that they come from."""
    uses: list[tuple[SessionNotes[ExampleNotes], FormUse]]


def take_notes(seen: JudgedSession) -> ExampleNotes | None:
    """The calls of a session that might be shown, the shortest of each form, and how often each form worked."""
    found: dict[tuple[str, str], Candidate] = {}
    calls_by_form: defaultdict[tuple[str, str], list[JudgedCall]] = defaultdict(list)
    failed: set[Intent] = set()
    for each in seen.calls:
        if each.call.kind not in _KINDS:
            continue
        aim, form = intent_of(each.call), _form(each)
        if form:
            calls_by_form[each.call.tool, form].append(each)
        if each.failed and each.record.cause != "finding":
            failed.add(aim)
        elif form and aim not in failed:
            before = found.get((each.call.tool, form))
            one = _candidate(seen, each, form, before)
            if one is not None and (before is None or _candidate_rank(one) < _candidate_rank(before)):
                found[one.tool, form] = one
    candidates = sorted(found.values(), key=lambda one: (one.kind == "shell", one.seq))[:_MOST_NOTED]
    forms = [_form_use(tool, form, calls) for (tool, form), calls in calls_by_form.items()]
    if not forms:
        return None
    forms.sort(key=lambda use: ((use.tool, use.form) not in found, -use.mistakes, -use.worked, use.tool, use.form))
    return ExampleNotes(tuple(candidates), tuple(forms[:_MOST_FORMS]))


def learn(project: str, noted: Sequence[SessionNotes[ExampleNotes]]) -> list[Lesson]:
    """The examples of a project, the most telling first, few of each sort."""
    if not project:
        return []
    sessions = Counter(session.agent for session in noted)
    scored = [(_value(group), group) for group in _groups(noted)]
    scored.sort(key=lambda each: (-each[0], each[1].agent, each[1].tool, each[1].form))
    sorts: Counter[tuple[str, str, str]] = Counter()
    lessons: dict[str, Lesson] = {}
    for value, group in scored:
        if value <= 0 or len(lessons) >= MOST:
            break
        chosen = _choose_candidate(group)
        sort = (group.agent, group.tool, chosen.purpose)
        if sorts[sort] < _PER_SORT or chosen.kind != "shell":
            sorts[sort] += 1
            lesson = _lesson(project, group, chosen, sessions[group.agent])
            lessons.setdefault(lesson.id, lesson)
    return list(lessons.values())


def _form(each: JudgedCall) -> str:
    """The form that calls are grouped by, with the programs that start it: one starter may work where another fails."""
    if each.call.kind == "shell":
        text = command_text(each.call.input)
        main, form = understand(text).main, command_form(text)
        started = [name for name in main.wrappers if name not in STARTING] if main is not None and form else []
        return " ".join((*started, form))
    return f"{each.call.tool}({', '.join(sorted(each.call.input))})"


def _candidate(seen: JudgedSession, each: JudgedCall, form: str, before: Candidate | None) -> Candidate | None:
    """A call that might be shown; None where it is unfit, or one from before is better."""
    if each.record.status != "ok" or each.record.confidence < _SURE or each.result is None or not each.call.input:
        return None
    purpose = text = ""
    plain = True
    if each.call.kind == "shell":
        text = command_text(each.call.input)
        understood = understand(text)
        main, purpose, plain = understood.main, understood.purpose, len(understood.commands) == 1
        if main is None or understood.masked or purpose in _KNOWN_PURPOSES or main.program in _KNOWN_PROGRAMS:
            return None
        text = seen.relative(text)
        if len(text) > _LONGEST_TEXT or "\n" in text or len(split_commands(text)) != 1 or without_number(text) != text:
            return None
        if before is not None and (not plain, len(text), -each.record.seq) >= _candidate_rank(before):
            return None  # before its result is looked at, which takes long
    elif _has_side_effects(each) or any("://" in value for value in each.call.input.values() if isinstance(value, str)):
        return None  # an address is what the call was about that time
    arguments = _clean_arguments(seen, each.call.input)
    result = _shorten_result(seen, each.result.text) if arguments else ""
    if not result:
        return None
    same = text or msgspec.json.encode(arguments, order="sorted").decode()
    return Candidate(
        form, each.call.tool, each.call.kind, purpose, arguments, result, each.record.seq, each.call.at, same, plain
    )  # fmt: skip


def _has_side_effects(each: JudgedCall) -> bool:
    """Whether a tool changes something outside of the project, or takes private arguments."""
    parts = {part.lower() for part in _NAME_PARTS.findall(each.call.tool.rpartition("__")[2])}
    return not _SIDE_EFFECT_WORDS.isdisjoint(parts) or any(map(_PRIVATE.search, each.call.input))


def _clean_arguments(seen: JudgedSession, raw: dict[str, Any]) -> dict[str, Any]:
    """A tool's own arguments, all of them, with paths that begin at the project; empty where they are unfit."""
    cleaned = _clean_value(seen, raw)
    encoded = "" if cleaned is None else msgspec.json.encode(cleaned).decode()
    if not isinstance(cleaned, dict) or len(encoded) > _LONGEST_ARGUMENTS:
        return {}
    return cleaned


def _clean_value(seen: JudgedSession, value: Any, depth: int = 0) -> Any:
    """The value with relative paths, or None where it is unfit or null."""
    if isinstance(value, str):
        text = seen.relative(value)
        if len(text) > _LONGEST_TEXT or junk_reason(text) or _HOME.search(text):
            return None
        return None if hidden_reason(text.replace("\n", " ")) or danger_reason(text) else text
    if isinstance(value, bool | int | float):
        return value if abs(value) < _LARGEST else None
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        cleaned = [_clean_value(seen, each, depth + 1) for each in value]
        return None if None in cleaned else cleaned
    if isinstance(value, dict) and depth < _DEEPEST:
        whole = {str(name): _clean_value(seen, each, depth + 1) for name, each in value.items()}
        return None if None in whole.values() else whole
    return None


def _shorten_result(seen: JudgedSession, text: str) -> str:
    """A result's beginning and end; empty where there is none, or where it reads like an instruction."""
    whole = len(text) <= 2 * _LOOKED_AT
    parts = [text] if whole else [text[:_LOOKED_AT], text[-_LOOKED_AT:]]
    shown = [_without_signs(seen.relative(part)).strip() for part in parts]
    head, tail = shown[0], shown[-1]
    if not whole or len(head) > LONGEST_RESULT:
        head, tail = head[:_HEAD].rstrip(), tail[-(LONGEST_RESULT - _HEAD - len(_GAP)) :].lstrip()
        head = f"{head}{_GAP}{tail}"
    return "" if hidden_reason(head.replace("\n", " ")) else head


def _without_signs(text: str) -> str:
    """Without what a terminal obeys."""
    return _UNSEEN.sub("", text) if CONTROL.search(text) else text


def _form_use(tool: str, form: str, calls: Iterable[JudgedCall]) -> FormUse:
    worked = [each.record.seq for each in calls if each.ran]
    mistakes = sum(1 for each in calls if each.failed and each.record.cause == "mistake")
    return FormUse(tool, form, len(worked), mistakes, min(worked, default=-1))


def _groups(noted: Sequence[SessionNotes[ExampleNotes]]) -> list[_Group]:
    groups: dict[tuple[str, str, str], _Group] = {}
    for session in noted:
        for use in session.notes.forms:
            key = (session.agent, use.tool, use.form)
            groups.setdefault(key, _Group(*key, [], [])).uses.append((session, use))
        for one in session.notes.candidates:
            key = (session.agent, one.tool, one.form)
            groups.setdefault(key, _Group(*key, [], [])).candidates.append((session.session, one))
    return [group for group in groups.values() if group.candidates]


def _value(group: _Group) -> float:
    """The value of showing a form: by how many sessions used it, how often it fails, and how particular it is to the project."""
    one = group.candidates[0][1]
    sessions = sum(1 for _, use in group.uses if use.worked)
    fails = _mistake_share(group)
    if fails >= 0.5:
        return 0.0
    own = 1.5 if one.kind == "other" else 1.2 if one.purpose in CHECKS else 1.0
    return log2(1 + sessions) * (1 + 2 * fails) * own


def _mistake_share(group: _Group) -> float:
    """How often calls of a form were a mistake; 0 where there were too few to tell."""
    calls = sum(use.worked + use.mistakes for _, use in group.uses)
    return sum(use.mistakes for _, use in group.uses) / calls if calls >= _FAILING_CALLS else 0.0


def _choose_candidate(group: _Group) -> Candidate:
    """The call of a form that most sessions made in exactly this way; of equals the plainest, then the newest."""
    alike = Counter(one.same for _, one in group.candidates)
    _, chosen = min(
        group.candidates,
        key=lambda each: (-alike[each[1].same], not each[1].plain, len(each[1].same), -(each[1].at or 0.0), each[0]),
    )
    return chosen


def _lesson(project: str, group: _Group, chosen: Candidate, sessions: int) -> Lesson:
    scope = Scope(group.agent, project, group.tool)
    worked = [(session, use) for session, use in group.uses if use.worked]
    against = [use for _, use in group.uses if use.mistakes]
    support = Support(
        sum(use.worked for _, use in worked), len(worked), sum(use.mistakes for use in against), len(against)
    )
    own = [Evidence(session.session, use.first, session.ended_at, text=one_line(group.form)) for session, use in worked]
    shell = chosen.kind == "shell"
    why = _why_weak(group, chosen, len(worked), sessions)
    shown = chosen.same if shell else one_line(chosen.same)
    done = f"`{shown}`" if shell else f"`{chosen.tool}` with `{shown}`"
    total = support.calls_for + support.calls_against
    return Lesson(
        id=lesson_id("example", scope, group.form),
        kind="example",
        scope=scope,
        topic=chosen.purpose or chosen.kind,
        text=f"{done} works; calls {'of this form' if shell else 'with such arguments'} did {support.calls_for} of {total} "
        f"times in {format_count(len(worked), 'session')}.",
        use=chosen.same if shell else "",
        forms=(command_form(chosen.same) if shell else describe_tool_call(chosen.tool, chosen.arguments),),
        example=Example(chosen.tool, chosen.arguments, chosen.result, chosen.kind, group.agent),
        support=support,
        first_seen=min((s.started_at for s, _ in worked if s.started_at is not None), default=None),
        last_seen=max((s.ended_at for s, _ in worked if s.ended_at is not None), default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(own),
        status="weak" if why else "active",
        why=why,
    )


def _why_weak(group: _Group, chosen: Candidate, worked: int, sessions: int) -> str:
    """Why an example is not handed out by itself; empty if it is."""
    usual = _USUAL_IF_FAILING if _mistake_share(group) >= _FAILING else _USUAL
    if worked < 2 or worked < sessions * usual:
        return f"used in {worked} of {sessions} sessions"
    if chosen.kind != "shell" and sum(one.same == chosen.same for _, one in group.candidates) < 2:
        return "no two sessions gave the same arguments"
    return ""


def _candidate_rank(one: Candidate) -> tuple[bool, int, int]:
    return (not one.plain, len(one.same), -one.seq)
