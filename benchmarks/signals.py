"""What the live signals are worth: how often they speak, whether they foresee a bad end, and how fast they are folded.

Healthy was defined before anything was counted: the end is good (a run with a known result succeeded; else the last check of
the session passed), no more mistakes than the median session makes (as a share of its calls), and no failure three
times. A session without a result and without a check is neither healthy nor not. As the median session makes no mistake at
all, "good end" stands beside it: the same without the second condition. Intervals are over sessions drawn anew.
Known mistakes need something that was learned: they are counted apart, in the later sessions of the shared projects, with
what the earlier ones taught.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np

from benchmarks.endings import Endings, task_of
from benchmarks.foresight import EARLIER, learn_lessons, projects, take_notes
from benchmarks.measuring import table
from benchmarks.real import real_sessions
from preheat.app.analysis.assessment import assess
from preheat.app.live.signals import replay
from preheat.live.advice import PRIORITY, step
from preheat.live.events import events_of
from preheat.live.mistake import index_lessons
from preheat.live.signal import DEFAULTS, check_passed
from preheat.live.state import START, fold, readings
from preheat.model.live import CallEvent, LiveEvent, SignalName, StopEvent
from preheat.model.outcome import FAILURES
from preheat.model.session import Session
from preheat.statistics.intervals import effective_sessions, percentile_interval, ratios_of_draws, resample

SIGNALS = ("loop", "debt", "debt at a stop", "drift", "focus", "pressure", "mistake")
MOMENTS = (0.25, 0.5, 0.75)
MEASURES = ("trust", "loop", "debt", "focus", "drift", "failures so far", "calls so far")
SAME_FAILURE = 3
DEBTS = (("1", 1), ("2", 2), ("3-4", 3), ("5-7", 5), ("8 and more", 8))
_ANY_CHECK, _AFTER_DEBT = "any check: the base rate", "the next after advice on debt"
_JUDGED = FAILURES | {"ok", "empty"}
_RESAMPLES = 2000
_ROUNDS = 5
_BAR = 1.0
"""Advisories per 100 turns that healthy sessions must stay under."""


class WatchedSession(NamedTuple):
    """One session, its events, and what was said in it."""

    source: str
    agent: str
    id: str
    task: str
    """Runs of one task are alike and are drawn together."""
    good: bool | None
    """Its known result."""
    mistakes: float
    good_end: bool | None
    worst_failure: int
    """How often the most frequent failure came."""
    events: list[LiveEvent]
    turns: int
    said: Counter[str]


def run(quick: bool, data: str = "") -> dict[str, Any]:
    sessions = _gather_sessions(not quick, data)
    speed = _speed([each.events for each in sessions])
    sessions = [_watch(each) for each in sessions]
    middle = median(each.mistakes for each in sessions if each.turns)
    print(f"\nhealthy: mistakes at most {100 * middle:.1f} % of calls (the median session)\n")
    result = {"speed": speed, "median_mistakes": middle, "rates": _rates(sessions, middle)}
    if not quick:
        print("\nwith what the earlier sessions of the project taught:\n")
        result["with_lessons"] = _with_lessons(middle, data)
    print("\nhow often a check fails that runs while source files are unverified\n")
    result["checks"] = _count_failed_checks(sessions)
    print("\nwhat foresees a bad end: AUC with 95 % over tasks drawn anew; 0.5 is a coin\n")
    result["endings"] = _foresee_endings(sessions)
    return result


# Sessions.
def _gather_sessions(projects: bool, data: str) -> list[WatchedSession]:
    endings = Endings(data)
    return [_prepare(real.source, real.session, endings.of(real)) for real in real_sessions(projects, data)]


def _prepare(source: str, session: Session, good: bool | None) -> WatchedSession:
    found = assess(session)
    events = events_of(session, found.records)
    calls = [event for event in events if isinstance(event, CallEvent)]
    checks = [check_passed(event) for event in calls if event.checks and event.status != "unknown"]
    failures = Counter(event.signature for event in calls if event.status in FAILURES and event.signature)
    return WatchedSession(
        source=source,
        agent=session.agent,
        id=session.id,
        task=task_of(session),
        good=good,
        mistakes=sum(event.cause == "mistake" for event in calls) / max(1, len(calls)),
        good_end=good if good is not None else (checks[-1] if checks else None),
        worst_failure=max(failures.values(), default=0),
        events=events,
        turns=0,
        said=Counter(),
    )


def _watch(session: WatchedSession) -> WatchedSession:
    state, advisories = START, Counter[str]()
    for event in session.events:
        state, advisory = step(state, event)
        if advisory is not None:
            advisories[_name(advisory.signal, event)] += 1
    return session._replace(turns=state.turn, said=advisories)


def _name(signal: SignalName, event: LiveEvent) -> str:
    return "debt at a stop" if signal == "debt" and isinstance(event, StopEvent) else signal


def is_healthy(session: WatchedSession, middle: float) -> bool:
    return ended_well(session) and session.mistakes <= middle


def ended_well(session: WatchedSession) -> bool:
    return session.good_end is True and session.worst_failure < SAME_FAILURE


# How often something is said.
def _rates(sessions: Sequence[WatchedSession], middle: float) -> dict[str, Any]:
    groups: dict[str, list[WatchedSession]] = {"all": list(sessions)}
    for each in sessions:
        groups.setdefault(each.source.removeprefix("projects: "), []).append(each)
    rows = [["sessions of", "n", "turns", "said", "per 100 turns", "95 %", "silent", *SIGNALS]]
    result: dict[str, Any] = {}
    for part, chosen in _parts(groups, middle):
        turns = sum(each.turns for each in chosen)
        if turns < 100:
            continue
        result[part] = _rate(chosen)
        rows.append(_row(part, result[part]))
    table(rows)
    over = [part for part, found in result.items() if part.startswith(("healthy", "good")) and found["per_100"] >= _BAR]
    print(f"\nhealthy sessions or good ends at {_BAR:g} or more per 100 turns: {', '.join(over) or 'none'}")
    return result


def _parts(groups: dict[str, list[WatchedSession]], middle: float) -> Iterable[tuple[str, list[WatchedSession]]]:
    for name, group in groups.items():
        yield name, group
    for name, group in groups.items():
        yield f"healthy, {name}", [each for each in group if is_healthy(each, middle)]
    for name, group in groups.items():
        yield f"good end, {name}", [each for each in group if ended_well(each)]
    ended = [each for each in groups["all"] if each.good_end is not None]
    yield "bad end, all", [each for each in ended if not each.good_end]


def _rate(sessions: Sequence[WatchedSession]) -> dict[str, Any]:
    counts = np.array([[each.said.total(), each.turns] for each in sessions], dtype=np.float64)
    advisories, turns = counts.sum(axis=0)
    draws = resample(counts, _RESAMPLES)
    found = percentile_interval(ratios_of_draws(draws[:, 0], draws[:, 1]), effective_sessions(counts[:, 1]))
    low, high = found if found is not None else (0.0, 0.0)
    if not advisories:  # nothing to draw from: the rule of three
        high = 3 / turns
    by_signal: Counter[str] = sum((each.said for each in sessions), Counter())
    return {
        "sessions": len(sessions), "turns": int(turns), "said": int(advisories), "per_100": float(100 * advisories / turns),
        "interval": [float(100 * low), float(100 * high)], "silent": sum(not each.said for each in sessions) / len(sessions),
        "by_signal": {name: float(100 * by_signal[name] / turns) for name in SIGNALS},
    }  # fmt: skip


def _row(name: str, found: dict[str, Any]) -> list[str]:
    low, high = found["interval"]
    return [
        name, f"{found['sessions']:,}", f"{found['turns']:,}", f"{found['said']:,}", f"{found['per_100']:.2f}",
        f"{low:.2f}-{high:.2f}", f"{found['silent']:.0%}", *(f"{found['by_signal'][name]:.2f}" for name in SIGNALS),
    ]  # fmt: skip


def _with_lessons(middle: float, data: str) -> dict[str, Any]:
    """The later sessions of each project, watched with what was learned from the earlier ones, and without."""
    rows = [["sessions of", "n", "turns", "said", "per 100 turns", "95 %", "silent", *SIGNALS]]
    all_of: dict[bool, list[WatchedSession]] = {False: [], True: []}
    for source, sessions in projects(data).items():
        cut = int(len(sessions) * EARLIER)
        lessons = learn_lessons(source.partition("__")[2], take_notes(sessions[:cut]))
        for session in sessions[cut:]:
            index = index_lessons(lessons, session.session.started_at or sessions[cut - 1].session.ended_at or 0.0)
            plain = _prepare(source, session.session, None)
            all_of[False].append(_watch(plain))
            line = replay(session.session, index)
            advisories = Counter(
                _name(advisory.signal, moment.event) for moment in line.moments for advisory in moment.advisories
            )
            all_of[True].append(plain._replace(turns=line.turns, said=advisories))
    result: dict[str, Any] = {}
    for taught, watched in all_of.items():
        for name, chosen in (
            ("later", watched),
            ("healthy, later", [each for each in watched if is_healthy(each, middle)]),
        ):
            if not any(each.turns for each in chosen):
                continue
            part = f"{name}, {'with' if taught else 'without'} lessons"
            result[part] = _rate(chosen)
            rows.append(_row(part, result[part]))
    table(rows)
    return result


# What foresees a bad end.
def _foresee_endings(sessions: Sequence[WatchedSession]) -> dict[str, Any]:
    runs = [each for each in sessions if each.good is not None and each.turns]
    values = [_values(each.events) for each in runs]
    rows = [["runs", "n", "bad", "tasks", "at", *MEASURES]]
    result: dict[str, Any] = {}
    for agent in sorted({each.agent for each in runs}):
        chosen = [(each, value) for each, value in zip(runs, values, strict=True) if each.agent == agent]
        bad = np.array([not each.good for each, _ in chosen])
        tasks = [each.task for each, _ in chosen]
        for moment in MOMENTS:
            found = {
                name: _auc_with_bounds(np.array([value[moment][name] for _, value in chosen]), bad, tasks)
                for name in MEASURES
            }
            result.setdefault(agent, {"runs": len(chosen), "bad": int(bad.sum())})[f"{moment:.0%}"] = found
            cells = [_format_auc(found[name]) for name in MEASURES]
            rows.append([agent, str(len(chosen)), str(bad.sum()), str(len(set(tasks))), f"{moment:.0%}", *cells])
    table(rows)
    return result


def _values(events: Sequence[LiveEvent]) -> dict[float, dict[str, float]]:
    """Every measure after a share of the events, so turned that more should be worse."""
    at = {round(moment * len(events)): moment for moment in reversed(MOMENTS)}
    state, failures, calls = START, 0, 0
    found: dict[float, dict[str, float]] = {}
    for number, event in enumerate(events, 1):
        state = fold(state, event)
        if isinstance(event, CallEvent):
            calls += 1
            failures += event.status in FAILURES
        if number in at:
            values = {reading.signal: reading.value for reading in readings(state)}
            found[at[number]] = {
                "trust": 100 - values["trust"], "loop": values["loop"], "debt": values["debt"], "focus": 100 - values["focus"],
                "drift": values["drift"], "failures so far": failures, "calls so far": calls,
            }  # fmt: skip
    earliest = min(found)
    return {moment: found.get(moment, found[earliest]) for moment in MOMENTS}


def auc(values: "np.ndarray[Any, Any]", bad: "np.ndarray[Any, Any]") -> float:
    """The chance that a bad run has more of it than a good one; a tie counts half. NaN without both."""
    ones, others = values[bad], values[~bad]
    if not len(ones) or not len(others):
        return float("nan")
    above = (ones[:, None] > others[None, :]).mean()
    return float(above + (ones[:, None] == others[None, :]).mean() / 2)


def _auc_with_bounds(
    values: "np.ndarray[Any, Any]", bad: "np.ndarray[Any, Any]", tasks: Sequence[str]
) -> dict[str, Any]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, task in enumerate(tasks):
        places[task].append(place)
    groups = [np.array(group) for group in places.values()]
    random = np.random.default_rng(1)
    draws = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([groups[place] for place in random.integers(0, len(groups), len(groups))])
        draws.append(auc(values[chosen], bad[chosen]))
    found = percentile_interval(np.array(draws), len(groups))
    constant = bool((values == values[0]).all())
    return {"auc": auc(values, bad), "interval": list(found or (0.0, 1.0)), "constant": constant}


def _format_auc(found: dict[str, Any]) -> str:
    low, high = found["interval"]
    return "the same for all" if found["constant"] else f"{found['auc']:.2f} ({low:.2f}-{high:.2f})"


# What an unverified file is worth.
def _count_failed_checks(sessions: Sequence[WatchedSession]) -> dict[str, Any]:
    """How often a check fails: any (the base rate), by how many files were unverified when it ran, and the next one after debt
    would have been advised in the middle of a session, where that is switched on."""
    counts = {name: np.zeros((len(sessions), 2)) for name in (_ANY_CHECK, *(name for name, _ in DEBTS), _AFTER_DEBT)}
    talkative = msgspec.structs.replace(DEFAULTS, advise=PRIORITY)
    for place, session in enumerate(sessions):
        state, was_advised = START, False
        for event in session.events:
            unverified = len(state.debt.files)
            state, advisory = step(state, event, talkative)
            if isinstance(event, CallEvent) and event.checks and event.status in _JUDGED:
                found = [not check_passed(event), 1]
                counts[_ANY_CHECK][place] += found
                if not unverified:
                    continue
                counts[next(name for name, least in reversed(DEBTS) if unverified >= least)][place] += found
                if was_advised:
                    counts[_AFTER_DEBT][place] += found
                    was_advised = False
            was_advised = was_advised or (advisory is not None and advisory.signal == "debt")
    rows = [["files unverified", "checks", "failed", "95 %"]]
    result: dict[str, Any] = {}
    for name, failed_of_all in counts.items():
        failed, checks = failed_of_all.sum(axis=0)
        if not checks:
            continue
        draws = resample(failed_of_all, _RESAMPLES)
        low, high = percentile_interval(
            ratios_of_draws(draws[:, 0], draws[:, 1]), effective_sessions(failed_of_all[:, 1])
        ) or (
            0.0,
            1.0,
        )
        result[name] = {"checks": int(checks), "failed": float(failed / checks), "interval": [low, high]}
        rows.append([name, f"{checks:,.0f}", f"{failed / checks:.0%}", f"{low:.0%}-{high:.0%}"])
    table(rows)
    return result


# How fast.
def _speed(sessions: Sequence[list[LiveEvent]]) -> dict[str, Any]:
    """Events a second: the fold the first time and again, and decoding the same events from JSON."""
    number = sum(map(len, sessions))
    plain = [[msgspec.json.encode(event) for event in events] for events in sessions]
    decoder = msgspec.json.Decoder(LiveEvent)

    def folded() -> None:
        for events in sessions:
            state = START
            for event in events:
                state = fold(state, event)

    def decoded() -> None:
        for texts in plain:
            for text in texts:
                decoder.decode(text)

    first = _timed(folded)
    again = [(_timed(folded), _timed(decoded)) for _ in range(_ROUNDS)]
    rows = [["events", "what", "events/s, best", "range", "of one core's time"]]
    result: dict[str, Any] = {"events": number}
    for name, times in {
        "fold, first time": [first],
        "fold, warm": [one for one, _ in again],
        "floor: decode the same events": [other for _, other in again],
    }.items():
        wall = [number / seconds for seconds, _ in times]
        processor = max(number / used for _, used in times)
        result[name] = {"best": max(wall), "worst": min(wall), "processor": processor}
        rows.append(
            [f"{number:,}", name, f"{max(wall):,.0f}", f"{min(wall):,.0f}-{max(wall):,.0f}", f"{processor:,.0f}"]
        )
    table(rows)
    return result


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the clock, and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor
