"""Lessons about which commands work in a project, by purpose, and which variants of them fail. Knows no single session's calls.

One lesson for each aspect of a way that several sessions used: the command as it is usually typed, how often it ran, and what
was tried for the same purpose and failed. A failing test is no failure of the command.
"""

import re
from collections.abc import Sequence
from statistics import median

from preheat.amounts import format_count
from preheat.calls.placeholders import without_tests
from preheat.lessons.command_use import (
    ENOUGH_CALLS,
    ENOUGH_SESSIONS,
    Aspect,
    SessionCommands,
    Tally,
    aspect_of,
    aspect_rank,
    failing_forms,
    group_by_way,
    home_folders,
    split_aspects,
    usual_command,
)
from preheat.model.lesson import Evidence, Lesson, LessonStatus, Scope, Support, lesson_id, select_evidence
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import hidden_reason, junk_reason

HALF_LIFE = 120.0
MOST_FORMS = 6
MOST_SIGNATURES = 8
_VARIANTS = 2
_VARIANT_WORDS = {
    "test": "tests run with",
    "build": "the build runs with",
    "lint": "linting runs with",
    "typecheck": "types are checked with",
    "format": "code is formatted with",
    "package": "packages are handled with",
}
_VAGUE = frozenset(("run", "other", "package"))
"""Vague purposes: two commands with one of these may have nothing in common, so more sessions must support each."""
_MORE_SESSIONS = 3
_FEW_SESSIONS = 6
"""With fewer sessions the newest third is too small to compare."""
_RARE = 0.1
"""Share of the sessions that ran anything; what fewer used, the next one will hardly need."""
_MISSED = 3.0
"""Sessions that would have used it as before; that none did is no chance then (5 %)."""
_OBVIOUS = frozenset(("go mod", "node", "bash", "sh"))


def learn_commands(project: str, sessions: Sequence[SessionCommands]) -> list[Lesson]:
    """What works here, and what does not, for each purpose."""
    scope = Scope(project=project)
    found: list[tuple[Aspect, list[Tally]]] = []
    broken: list[tuple[str, str, Tally]] = []
    for (purpose, way), uses in group_by_way(sessions).items():
        whole = Tally(uses)
        if whole.is_failing:
            broken.append((purpose, uses[0].used.core, whole))
            continue
        for number, aspect in enumerate(split_aspects(purpose, way, uses)):
            found.append((aspect, [] if number else failing_forms(uses)))
    found.sort(key=lambda item: aspect_rank(item[0]))
    for purpose, core, tally in broken:
        _attach(found, purpose, core, tally)
    homes = home_folders(sessions)
    lessons = (
        _lesson(scope, aspect, variants, _status(aspect, sessions, _successor(aspect, found, len(sessions))), homes)
        for aspect, variants in found
    )
    return [lesson for lesson in lessons if lesson is not None]


def _attach(found: list[tuple[Aspect, list[Tally]]], purpose: str, core: str, tally: Tally) -> None:
    """Adds a failing way as a variant of the working one: the same core with another starter, or the usual way of its purpose."""
    same = [item for item in found if item[0].core == core and item[0].tally.is_working]
    if not same and purpose not in _VAGUE:
        same = [item for item in found if item[0].purpose == purpose and item[0].tally.is_working]
    if same:
        same[0][1].append(tally)


def _successor(aspect: Aspect, found: Sequence[tuple[Aspect, list[Tally]]], sessions: int) -> str:
    """The way that replaced this one in the newest sessions: `pnpm test` after `npm test`."""
    if sessions < _FEW_SESSIONS or aspect.tally.newest(sessions).ran:
        return ""
    for other, _ in found:
        same = other.purpose == aspect.purpose and other.way != aspect.way and _task(other.core) == _task(aspect.core)
        if same and _task(aspect.core) and other.tally.newest(sessions).ran >= ENOUGH_CALLS:
            return other.way
    return ""


def _task(core: str) -> str:
    """The task that a runner runs, without the runner."""
    return core.partition(" ")[2].removeprefix("run ")


def _lesson(
    scope: Scope,
    aspect: Aspect,
    variants: list[Tally],
    judged: tuple[LessonStatus, str],
    homes: dict[str, str],
) -> Lesson | None:
    tally = aspect.tally
    if tally.sessions < ENOUGH_SESSIONS and aspect.purpose in _VAGUE:
        return None
    single = all(aspect_of(aspect.purpose, form).startswith("single") for form in tally.forms)
    use = usual_command(tally.texts(), homes.get(aspect.core.partition(" ")[0]), single)
    if aspect.purpose == "test":
        use = without_tests(use, aspect.core.split())
    if not use or junk_reason(use) or tally.ran < ENOUGH_CALLS or not tally.is_working or aspect.core in _OBVIOUS:
        return None
    shown, avoid, signatures = _describe_variants(variants, use)
    status, why = judged
    begins = "single tests run with" if single else _VARIANT_WORDS.get(aspect.purpose, "in use here:")
    total, details = tally.ran + tally.failed, _details(aspect, single, use)
    counted = f"{tally.passed} of {total} calls passed" if "passed" in details else f"{tally.ran} of {total} calls ran"
    text = f"{begins} `{use}` ({counted}, {format_count(tally.sessions, 'session')})"
    return Lesson(
        id=lesson_id("convention", scope, "command", aspect.purpose, aspect.way, aspect.name),
        kind="convention",
        scope=scope,
        topic=_topic_of(aspect),
        details=details,
        text="; ".join((text[0].upper() + text[1:], *shown)) + ".",
        use=use,
        avoid=avoid,
        error=signatures[0] if signatures else "",
        signatures=signatures,
        forms=tally.forms[:MOST_FORMS],
        support=support(tally),
        first_seen=first_seen(tally),
        last_seen=last_seen(tally),
        half_life=HALF_LIFE,
        evidence=select_evidence(
            (*evidence(tally), *(each for variant in variants for each in evidence(variant, bad=True)))
        ),
        status=status,
        why=why,
    )


_GENERATING = re.compile(r"(?:^|[\s:._-])(?:gen|generate|codegen|render)(?:$|[\s:._-])")
_INSTALLING = re.compile(r"^(?:\S+ )*(?:install|sync|ci)$")
_SLOW = 5.0
_LONG_LIMIT = 180.0


def _topic_of(aspect: Aspect) -> str:
    """The topic of a lesson: the purpose, or the kind of fact that its command shows."""
    if aspect.purpose in ("run", "other") and _GENERATING.search(aspect.core):
        return "generate"
    if aspect.purpose == "package" and _INSTALLING.match(aspect.core) and "…" not in aspect.core:
        return "setup"
    return aspect.purpose


def _details(aspect: Aspect, single: bool, use: str) -> dict[str, str]:
    """What a check is called, how long it takes, and which time limit its calls were given, where that is long."""
    topic = _topic_of(aspect)
    if topic in ("setup", "generate"):
        return {"about": topic} if " -" not in use and "NAME" not in use else {}
    if topic not in _VARIANT_WORDS or topic == "package" or (topic == "build" and " -o " in use):
        return {}
    found = {"about": "one test" if single else "one test file" if topic == "test" and _names_file(use) else topic}
    found["passed"] = str(aspect.tally.passed)
    seconds = [value for each in aspect.tally.uses for value in each.used.seconds]
    limits = [value for each in aspect.tally.uses for value in each.used.limits]
    if len(seconds) >= ENOUGH_CALLS and (usual := median(seconds)) >= _SLOW:
        found["duration"] = f"{usual:.0f} s" if usual < 120 else f"{usual / 60:.0f} min"
    if len(limits) >= ENOUGH_CALLS and (limit := median(limits)) >= _LONG_LIMIT:
        found["timeout"] = f"{limit / 60:.0f} min"
    return found


def _names_file(use: str) -> bool:
    if re.search(r"(?:^|\s)go test\b", use):  # it tests packages
        return False
    return re.search(r"\sPATH\b|\.\w{1,5}(?:\s|$)", use) is not None


def _describe_variants(variants: list[Tally], use: str) -> tuple[list[str], str, tuple[str, ...]]:
    """What fails instead, in words, the foremost of it, and the messages. What reads like an order does not enter."""
    words: list[str] = []
    avoid = ""
    signatures: list[str] = []
    for tally in sorted(variants, key=lambda each: (-each.failed_sessions, -each.failed, each.forms, each.signatures)):
        text = usual_command(tally.texts(failing=True))
        clean = [each for each in tally.signatures if not hidden_reason(each)]
        if not text or junk_reason(text) or text == use or (tally.signatures and not clean):
            continue
        signatures += clean
        if len(words) < _VARIANTS:
            message = f": `{one_line(clean[0], 80)}`" if clean else ""
            words.append(f"`{text}` does not (failed {tally.failed} of {tally.failed + tally.ran} times{message})")
            avoid = avoid or text
    return words, avoid, tuple(dict.fromkeys(signatures))[:MOST_SIGNATURES]


def _status(aspect: Aspect, sessions: Sequence[SessionCommands], successor: str) -> tuple[LessonStatus, str]:
    tally, newest = aspect.tally, aspect.tally.newest(len(sessions))
    if newest.ran + newest.failed >= 2 and newest.share < 0.5:
        return "retired", f"failed {newest.failed} of {newest.failed + newest.ran} times in the newest sessions"
    if tally.sessions < ENOUGH_SESSIONS:
        return "weak", "seen in one session only"
    if not tally.passed:  # that it starts does not show that it is right
        return "weak", "seen in no call that passed"
    if aspect.purpose in _VAGUE and tally.sessions < _MORE_SESSIONS:
        return "weak", "seen in two sessions only"
    if successor:
        return "weak", f"not used in the newest sessions, which use `{successor}`"
    # Only sessions with an occasion count: those that ran anything for the same purpose.
    working = [each.position for each in sessions if any(used.purpose == aspect.purpose for used in each.commands.used)]
    if tally.sessions < _RARE * len(working):
        return "weak", f"used in {tally.sessions} of {len(working)} sessions with an occasion only"
    first = len(sessions) - len(sessions) // 3
    recent = sum(place >= first for place in working)
    expected = recent * tally.sessions / max(1, len(working) - recent)
    if not newest.ran and expected >= _MISSED:
        return "weak", f"not used in the newest {recent} sessions, where about {expected:.0f} would have"
    return "active", ""


def support(tally: Tally) -> Support:
    return Support(tally.ran, tally.sessions, tally.failed, tally.failed_sessions)


def first_seen(tally: Tally) -> float | None:
    return min((use.source.at for use in tally.uses if use.source.at is not None), default=None)


def last_seen(tally: Tally) -> float | None:
    return max((use.used.last for use in tally.uses if use.used.ran_count and use.used.last is not None), default=None)


def evidence(tally: Tally, bad: bool = False) -> list[Evidence]:
    """The calls that a tally rests on; with `bad` its failures speak for the lesson (a variant that fails), else against."""
    found: list[Evidence] = []
    for use in tally.uses:
        used, session = use.used, use.source.session
        text = (used.texts or used.failing or ((used.form, 0),))[0][0]
        wrong = (used.failing or ((used.form, 0),))[0][0]
        if not bad:
            found += (Evidence(session, seq, used.last, False, one_line(text)) for seq in used.seqs[-2:])
        found += (
            Evidence(session, seq, used.last, not bad, one_line(wrong), failed=True) for seq in used.bad_seqs[-2:]
        )
    return found
