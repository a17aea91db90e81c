"""Lessons about what commands need in a project: the folder they run in, an option, a package runner, a missing program.

Knows no single session's calls: it concludes over the notes of `command_use`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.amounts import format_count
from preheat.commands.words import name_set
from preheat.lessons.command_lessons import HALF_LIFE, MOST_FORMS, MOST_SIGNATURES
from preheat.lessons.command_use import Missing, SessionCommands, Tally, Use, group_by_way, home_folders
from preheat.lessons.replacements import is_place
from preheat.lessons.starters import PACKAGE_MANAGERS, find_starters
from preheat.mistakes.failure import commonest
from preheat.model.lesson import Evidence, Lesson, LessonStatus, Scope, count_support, lesson_id, select_evidence
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import hidden_reason

_RUNNERS = (
    frozenset(("npm", "pnpm", "yarn", "bun")),
    frozenset(("pip", "uv", "poetry", "pipenv", "pdm", "conda")),
)
_CLEAR = 0.8
_SCARCE = 0.25
_OPTION = re.compile(r"(?<=\s)(--?[A-Za-z][\w-]*)(?:=\S*)?")
_TARGET = re.compile(r"(?<=\s)(?:\./)?([\w.@-]+(?:/[\w.@-]+)+|[\w-]+/)(?=\s|$)")


class _Case(NamedTuple):
    """Something that a session's call did not find."""

    source: SessionCommands
    missing: Missing


def learn_needs(project: str, sessions: Sequence[SessionCommands]) -> list[Lesson]:
    """What commands need to work here."""
    scope = Scope(project=project)
    return [
        *_learn_folders(scope, sessions),
        *_learn_kept_folders(scope, sessions),
        *_learn_missing_programs(scope, sessions),
        *_learn_patterns(scope, sessions),
        *_learn_starters(scope, sessions),
        *_learn_options(scope, sessions),
        *_learn_runners(scope, sessions),
    ]


def _learn_folders(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """Lessons about programs that find their project in one folder only."""
    for program, folder in home_folders(sessions).items():
        cases = [
            _Case(each, missing) for each in sessions for missing in each.commands.astray if missing.name == program
        ]
        cases = [each for each in cases if each.missing.folder != folder]
        if not cases:
            continue
        uses = [
            Use(each, used)
            for each in sessions
            for used in each.commands.used
            if used.folder == folder and used.core.partition(" ")[0] == program
        ]
        tally = Tally(uses)
        message = _quote_commonest(cases)
        yield _lesson(
            scope,
            "folder",
            (program, folder),
            f"`{program}` runs in `{folder}/` ({tally.ran} of {tally.ran + tally.failed} calls, {tally.sessions} sessions);"
            f" elsewhere it fails ({_times(len(cases))}){message}.",
            _evidence_of(tally.uses) + _evidence_of_cases(cases),
            cases,
            forms=tally.forms[:MOST_FORMS],
            files=(folder,),
            details={"about": "folder", "program": program},
        )


def _learn_kept_folders(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """Lessons about shells that keep their folder from call to call: the same `cd` fails the second time."""
    cases = [_Case(each, missing) for each in sessions for missing in each.commands.stayed]
    if not cases:
        return
    agents = {each.source.agent for each in cases}
    folders = Counter(each.missing.name for each in cases)
    shown = " or ".join(f"`cd {name}`" for name, _ in sorted(folders.items(), key=lambda item: (-item[1], item[0]))[:2])
    yield _lesson(
        scope,
        "folder",
        ("staying",),
        f"The shell keeps its folder from one call to the next: a second {shown} fails"
        f" ({_times(len(cases))}){_quote_commonest(cases)}.",
        _evidence_of_cases(cases),
        cases,
        agent=agents.pop() if len(agents) == 1 else "",
    )  # neither forms nor files: that somebody works in the folder does not say that the `cd` comes twice


_EVERYWHERE = name_set(
    "awk base64 basename bash cat chmod chown cmp comm cp cut date dd df diff dirname du echo env expr false file find fold grep"
    " head hostname id join kill less ln ls mkdir mktemp mv nl od paste printf ps pwd readlink rm rmdir sed seq sh sleep sort"
    " split stat tail tar tee test touch tr true tty uname uniq wc which whoami xargs yes"
)
"""Programs of every system: a session that does not find one has lost its path."""
_LEAST_MISSED = 2


def _learn_missing_programs(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """Lessons about programs that the shell does not find."""
    by_name: dict[str, list[_Case]] = {}
    for each in sessions:
        for missing in each.commands.missing:
            by_name.setdefault(missing.name, []).append(_Case(each, missing))
    for name, cases in sorted(by_name.items()):
        ran = [each for each in sessions if each.commands.programs.get(name)]
        last = max(each.source.position for each in cases)
        # Where its place is known, shells that do find it say nothing against that.
        missed = {each.source.session for each in cases}
        if name in _EVERYWHERE:
            continue
        is_elsewhere = len(missed) > 1 and any(is_place(each.missing.instead) for each in cases)
        if not is_elsewhere and (any(each.position >= last for each in ran) or len(ran) >= len(cases)):
            continue  # it is there now, or on another machine
        against = [Evidence(each.session, None, each.at, True, f"`{name}` ran") for each in ran if not is_elsewhere]
        instead = next(iter(commonest(each.missing.instead for each in cases if each.missing.instead)), "")
        works = f"; `{instead}` works" if instead else ""
        yield _lesson(
            scope,
            "missing",
            (name,),
            f"`{name}` is not there (not found {_times(len(cases))} in {_sessions(cases)}){works}.",
            _evidence_of_cases(cases) + against,
            cases,
            use=instead,
            avoid=name,
            details={"about": "missing", "name": name},
            is_sure=True,
        )


def _learn_patterns(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """A lesson about a shell that refuses patterns which match nothing: one that did, or that is known to be such a shell."""
    cases = [_Case(each, missing) for each in sessions for missing in each.commands.unmatched]
    if not cases:
        known = [
            Evidence(each.session, None, each.at, False, "zsh") for each in sessions if each.commands.shell == "zsh"
        ]
        if known:
            yield _lesson(
                scope, "pattern", ("zsh",), "The shell is `zsh`: a pattern that matches no file fails.", known, [],
                details={"about": "pattern", "seen": ""}, is_sure=True,
            )  # fmt: skip
        return
    yield _lesson(
        scope,
        "pattern",
        ("zsh",),
        f"The shell is `zsh`: a pattern that matches no file fails ({_times(len(cases))} in {_sessions(cases)}).",
        _evidence_of_cases(cases),
        cases,
        details={"about": "pattern", "seen": "yes"},
        is_sure=True,
    )


_OFTEN, _OFTEN_IN_ONE = 3, 5
_HARDLY = 0.1
"""Calls of a package manager by itself, as a share of those by its starter, that are chance."""
_NUMBERED = {"python": "python3", "pip": "pip3"}
"""Programs that many machines have under a name with a number only."""


def _learn_starters(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """Lessons about programs that ran again and again, but never, or hardly ever, by themselves: something else starts them."""
    bare: Counter[str] = Counter()
    for each in sessions:
        bare.update(each.commands.programs)
    missing = {each.name for session in sessions for each in session.commands.missing}
    # What starts others ran by itself, though it counts for them.
    first = {text.partition(" ")[0] for each in sessions for used in each.commands.used for text, _ in used.texts}
    passed = missing | (first - set(bare))
    started: dict[str, dict[str, list[Use]]] = {}
    for each in sessions:
        for used in each.commands.used:
            for text, _ in used.texts[:1]:
                for name, starter in find_starters(text):
                    if name not in passed:
                        started.setdefault(name, {}).setdefault(starter, []).append(Use(each, used))
    for name, ways in sorted(started.items()):
        tallies = {starter: Tally(uses) for starter, uses in ways.items()}
        best = min(tallies, key=lambda starter: (-tallies[starter].ran, starter))
        tally = tallies[best]
        total = sum(other.ran for other in tallies.values())
        is_usual = tally.sessions > 1 and tally.ran >= _OFTEN
        is_alone = not bare[name] and tally.ran >= _OFTEN_IN_ONE
        if bare[name] and (name not in PACKAGE_MANAGERS or bare[name] > _HARDLY * tally.ran):
            continue
        if (is_usual or is_alone) and tally.ran >= _CLEAR * total:
            yield _make_starter_lesson(scope, name, best, tally.ran, _evidence_of(tally.uses), bare[name])
    for name, numbered in _NUMBERED.items():
        having = [each for each in sessions if each.commands.programs.get(numbered)]
        ran = sum(each.commands.programs[numbered] for each in having)
        if name not in bare and name not in missing and len(having) > 1 and ran >= _OFTEN:
            evidence = [Evidence(each.session, None, each.at, False, numbered) for each in having]
            yield _make_starter_lesson(scope, name, numbered, ran, evidence)


def _make_starter_lesson(
    scope: Scope, name: str, use: str, ran: int, evidence: list[Evidence], bare: int = 0
) -> Lesson:
    """`bare`: how often it did run by itself."""
    text = f"`{name}` never ran by itself here; `{use}` did ({ran} times)."
    details = {"about": "missing", "name": name, "started": str(ran)}
    if bare:
        text = f"`{name}` is started as `{use}` here ({ran} of {ran + bare} calls)."
        details["total"] = str(ran + bare)
    return _lesson(scope, "missing", ("started", name), text, evidence, [], use=use, details=details, is_sure=True)


def _learn_options(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """Lessons about options without which a command fails on one target."""
    for (purpose, way), uses in group_by_way(sessions).items():
        if not any(use.used.failing for use in uses):
            continue
        for target in sorted({target for use in uses for text, _ in use.used.failing for target in _targets(text)}):
            option = _needed_option(uses, target)
            if option is None:
                continue
            name, good, bad = option
            example = good[-1][1]
            signatures = [signature for use, _ in bad for signature in use.used.signatures]
            cases = [
                _Case(use.source, Missing(target, seq, signature, use.used.last, text))
                for use, text in bad
                for seq, signature in zip(use.used.bad_seqs, use.used.signatures or ("",), strict=False)
            ]
            yield _lesson(
                scope,
                purpose,
                ("option", way, target, name),
                f"`{way}` needs `{name}` for `{target}`: `{example}` works ({_times(len(good))}), without it it fails"
                f" ({_times(len(bad))}){_quote_commonest(cases)}.",
                [*(Evidence(use.source.session, None, use.used.last, False, text) for use, text in good)],
                cases,
                use=example,
                avoid=bad[-1][1],
                forms=tuple(dict.fromkeys(use.used.form for use, _ in good))[:MOST_FORMS],
                files=(target,),
                signatures=tuple(dict.fromkeys(signatures))[:MOST_SIGNATURES],
            )
            break


_Calls = list[tuple[Use, str]]


def _needed_option(uses: Sequence[Use], target: str) -> tuple[str, _Calls, _Calls] | None:
    """The option that calls on a target have if they worked and lack if they failed, with both groups of calls."""
    good = [(use, text) for use in uses for text, _ in use.used.texts if target in _targets(text)]
    bad = [(use, text) for use in uses for text, _ in use.used.failing if target in _targets(text)]
    for name in sorted({name for _, text in good for name in _OPTION.findall(text)}):
        having = [case for case in good if name in _OPTION.findall(case[1])]
        lacking = [case for case in bad if name not in _OPTION.findall(case[1])]
        scarce = len(good) - len(having) <= _SCARCE * len(lacking)
        enough = len(having) >= 3 and len({use.source.session for use, _ in having}) > 1 and len(lacking) > 1
        if enough and scarce and len(bad) - len(lacking) <= _SCARCE * len(having):
            return name, having, lacking
    return None


def _targets(text: str) -> list[str]:
    return [target.rstrip("/") for target in _TARGET.findall(text)]


def _learn_runners(scope: Scope, sessions: Sequence[SessionCommands]) -> Iterable[Lesson]:
    """A lesson about which of several package runners the project uses."""
    for family in _RUNNERS:
        by_name: dict[str, list[Use]] = {}
        for each in sessions:
            for used in each.commands.used:
                name = used.way.partition(" ")[0]
                if name in family:
                    by_name.setdefault(name, []).append(Use(each, used))
        tallies = {name: Tally(uses) for name, uses in by_name.items()}
        total = sum(tally.ran for tally in tallies.values())
        if not total:
            continue
        name = min(tallies, key=lambda each: (-tallies[each].ran, each))
        tally = tallies[name]
        if tally.ran < 5 or tally.sessions < 2 or tally.ran < _CLEAR * total:
            continue
        failing = sorted(other for other, each in tallies.items() if other != name and each.is_failing)
        others = [
            _Case(use.source, Missing(other, 0, "", use.used.last)) for other in failing for use in by_name[other]
        ]
        more = f"; {', '.join(f'`{other}`' for other in failing)} fails here" if failing else ""
        signatures = [signature for other in failing for signature in tallies[other].signatures]
        yield _lesson(
            scope,
            "runner",
            (name, *sorted(family)),
            f"The package runner is `{name}` ({tally.ran} of {total} calls of such programs, {tally.sessions} sessions){more}.",
            _evidence_of(tally.uses),
            others,
            avoid=failing[0] if failing else "",
            forms=tally.forms[:MOST_FORMS],
            signatures=tuple(each for each in signatures if not hidden_reason(each))[:MOST_SIGNATURES],
        )


def _lesson(
    scope: Scope,
    topic: str,
    key: tuple[str, ...],
    text: str,
    evidence: list[Evidence],
    cases: Sequence[_Case],
    *,
    agent: str = "",
    use: str = "",
    avoid: str = "",
    forms: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    signatures: tuple[str, ...] = (),
    details: dict[str, str] | None = None,
    is_sure: bool = False,
) -> Lesson:
    """`is_sure`: the shell itself said it, and one session is enough."""
    scope = Scope(agent, scope.project)
    found = signatures or tuple(dict.fromkeys(each.missing.signature for each in cases if each.missing.signature))
    sessions = {each.session for each in evidence if not each.against}
    status: LessonStatus = "active" if len(sessions) > 1 or (is_sure and sessions) else "weak"
    times = [each.at for each in evidence if each.at is not None]
    return Lesson(
        id=lesson_id("convention", scope, topic, *key),
        kind="convention",
        scope=scope,
        topic=topic,
        text=text,
        use=use,
        avoid=avoid,
        error=next((each for each in found if not hidden_reason(each)), ""),
        signatures=tuple(each for each in found if not hidden_reason(each))[:MOST_SIGNATURES],
        forms=forms,
        files=files,
        details=details or {},
        support=count_support(evidence),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(evidence),
        status=status,
        why="" if status == "active" else "seen in one session only",
    )


def _quote_commonest(cases: Sequence[_Case]) -> str:
    """The commonest message, if it may be shown."""
    messages = commonest(each.missing.signature for each in cases if not hidden_reason(each.missing.signature))
    return f": `{one_line(messages[0], 80)}`" if messages else ""


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _sessions(cases: Sequence[_Case]) -> str:
    return format_count(len({each.source.session for each in cases}), "session")


def _evidence_of(uses: Sequence[Use]) -> list[Evidence]:
    return [
        Evidence(use.source.session, seq, use.used.last, False, (use.used.texts or ((use.used.form, 0),))[0][0])
        for use in uses
        for seq in use.used.seqs
    ]


def _evidence_of_cases(cases: Sequence[_Case]) -> list[Evidence]:
    return [
        Evidence(each.source.session, each.missing.seq, each.missing.at, False, each.missing.text, failed=True)
        for each in cases
    ]
