"""LearnRepairPatterns: one lesson for each repair that recurs. Knows no archive; what a repair is, is decided in `mistakes`."""

import re
from collections import defaultdict
from collections.abc import Sequence

from preheat.amounts import format_count
from preheat.lessons.learner import Learner, SessionNotes
from preheat.mistakes.difference import Difference, describe_difference
from preheat.mistakes.failure import commonest, is_help, names_subcommand, title, why_unfit
from preheat.mistakes.repair import (
    Case,
    Origin,
    RepairKey,
    certainty_of,
    choose_examples,
    distinct_tries,
    files_of,
    list_cases,
    name_failing_call,
    repair_key,
)
from preheat.mistakes.tries import RepairNotes, take_notes
from preheat.model.lesson import (
    Evidence,
    Lesson,
    LessonStatus,
    Scope,
    Support,
    count_support,
    lesson_id,
    select_evidence,
)

HALF_LIFE = 90.0
MOST_SIGNATURES = 12
MOST_FORMS = 8
_ABOUT_FORM = frozenset(["prefix", "program", "told", "option"])
"""Differences for which the form of the failed call is what is wrong, and so a call of that form that works speaks against."""


_PATH = re.compile(r"(?:^|[\s'\"=])(?![-/])[\w.@-]+/[\w.@-]+|\bcd (?!PATH\b)[\w.]")
"""A path below a project, or a folder that is gone to."""


def _names_place(words: Sequence[str]) -> bool:
    """Whether a repair of several projects names a folder or a file of one: nobody else's business, and of no use to them."""
    return any(_PATH.search(word) for word in words)


def learn(project: str, sessions: Sequence[SessionNotes[RepairNotes]]) -> list[Lesson]:
    """The repairs that recur, and as weak ones those that were clean once. Without a project only what holds in several."""
    groups: defaultdict[RepairKey, list[Case]] = defaultdict(list)
    for case in list_cases(
        (Origin(noted.session, noted.agent, noted.project), mistake)
        for noted in sorted(sessions, key=lambda noted: (noted.started_at or 0.0, noted.session))
        for mistake in noted.notes.mistakes
    ):
        groups[repair_key(case)].append(case)
    lessons = []
    for key, alike in groups.items():
        status = certainty_of(distinct_tries(alike), general=project == "")
        if status is not None:
            lessons.append(_lesson(project, key, alike, status, sessions))
    return sorted(lessons, key=lambda lesson: lesson.id)


def _lesson(
    project: str, key: RepairKey, alike: list[Case], status: LessonStatus, sessions: Sequence[SessionNotes[RepairNotes]]
) -> Lesson:
    tries = distinct_tries(alike)
    good = [case for case in tries if case.tried.ran]
    difference, mistake = good[0].difference, good[0].mistake
    signatures = commonest((case.mistake.signature for case in alike if case.tried.ran), MOST_SIGNATURES)
    evidence = [_evidence(case) for case in tries]
    support = _with_contradictions(count_support(evidence), difference, good, sessions)
    avoid, use = choose_examples(good)
    use = "" if difference.kind == "outside" else use  # the same call
    error = next((title(signature) for signature in signatures if not is_help(signature)), "")
    scope = _scope(project, good)
    words = (avoid, use, error, difference.was, difference.now)
    unfit = why_unfit(signatures) or ("it names a place of one project" if not project and _names_place(words) else "")
    doubted = support.calls_against >= support.calls_for
    times = [case.mistake.at for case in alike if case.mistake.at is not None]
    once = {(case.origin.session, case.mistake.seq): case.mistake for case in alike}.values()
    return Lesson(
        id=lesson_id("repair", Scope(project=project), *key),
        kind="repair",
        scope=scope,
        topic=mistake.family,
        text=_text(good, avoid, use, error, support),
        use=use,
        avoid=avoid,
        error=error,
        difference=describe_difference(difference),
        signatures=signatures,
        forms=_forms(difference, good),
        files=files_of(difference, good),
        support=support,
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(evidence),
        cost_seconds=sum(each.seconds for each in once),
        cost_tokens=sum(each.tokens for each in once),
        status="quarantined" if unfit else "weak" if doubted else status,
        why=unfit
        or ("it failed as often as it worked" if doubted else "seen in one session" if status == "weak" else ""),
    )


def _evidence(case: Case) -> Evidence:
    return Evidence(
        session=case.origin.session,
        seq=case.tried.seq,
        at=case.mistake.at,
        against=not case.tried.ran,
        text=case.tried.worked or case.tried.form,
    )


def _with_contradictions(
    support: Support, difference: Difference, good: Sequence[Case], sessions: Sequence[SessionNotes[RepairNotes]]
) -> Support:
    """The support, with calls of the failed form that worked counted against the repair, where the form is said to be wrong."""
    forms = {case.mistake.started for case in good} - {case.tried.form for case in good}
    if difference.kind not in _ABOUT_FORM or not difference.was or "/" in difference.was:
        return support
    forms = {form for form in forms if set(difference.was.split()) <= set(form.split())}
    avoid, _ = choose_examples(good)
    if difference.kind == "option" and names_subcommand(avoid):
        forms = {avoid}  # calls of its form may be of other subcommands, which know the option
    counts = [sum(noted.notes.ran.get(form, 0) for form in forms) for noted in sessions]
    return Support(
        support.calls_for,
        support.sessions_for,
        support.calls_against + sum(counts),
        support.sessions_against + sum(count > 0 for count in counts),
    )


def _scope(project: str, good: Sequence[Case]) -> Scope:
    """The scope of a repair: a tool belongs to its agent, a command to every agent, unless only one agent ever failed with it."""
    agents = {case.origin.agent for case in good}
    tools = {case.mistake.tool for case in good}
    own = good[0].mistake.family != "shell" or good[0].difference.kind == "fewer"
    is_outside = good[0].difference.kind == "outside"  # a sandbox belongs to its agent
    return Scope(
        agent=agents.pop() if len(agents) == 1 and (own or not project or is_outside) else "",
        project=project,
        tool=tools.pop() if len(tools) == 1 and own else "",
    )


def _forms(difference: Difference, good: Sequence[Case]) -> tuple[str, ...]:
    """The forms of a repair: the tool, or the commands that failed and worked; none where a single file is what is wrong."""
    if difference.kind == "without" and files_of(difference, good):
        return ()
    if good[0].mistake.family != "shell" or difference.kind == "fewer":
        return commonest((case.mistake.tool for case in good), MOST_FORMS)
    return commonest((form for case in good for form in (case.mistake.form, case.tried.form)), MOST_FORMS)


def _text(good: Sequence[Case], avoid: str, use: str, error: str, support: Support) -> str:
    difference = good[0].difference
    total = support.calls_for + support.calls_against
    often = f"{support.calls_for} of {total} times" if total > 1 else "once"
    example = f": `{use}`" if avoid and use else ""
    complaint = f" with `{error}`" if error else ""
    return (
        f"`{avoid or name_failing_call(good)}` fails{complaint}; {describe_difference(difference)} it "
        f"works{example} ({often})."
    )


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    usable = [lesson for lesson in lessons if lesson.status == "active"]
    mended = sum(lesson.support.calls_for for lesson in usable)
    more = len(lessons) - len(usable)
    return (
        f"{format_count(len(usable), 'repair')} of {format_count(mended, 'mistake')}, {more} more seen once or doubtful"
    )


LEARN_REPAIR_PATTERNS = Learner(
    "LearnRepairPatterns", 7, RepairNotes, take_notes, learn, is_general=True, describe=describe
)
