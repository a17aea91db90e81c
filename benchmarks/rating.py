"""Sheets for people (or models) who rate stretches of sessions: is the agent stuck in a loop here?

`python -m benchmarks.rating FOLDER OUT SOURCE…` draws two sets from the named sources of a folder of data. Set 1: stretches where
the loop signal or a much looser rule speaks, drawn by stratum, for precision. Set 2: stretches of six calls and more without
progress, drawn at random, for recall. Writes one sheet for each set, and `items.jsonl`, which says where each item is and with
what chance it was drawn. Raters see the sheets and `RULES` only, neither rule nor stratum. With `--collect ANSWERS ANSWERS` the
answers of two raters become `labels/loops-rated.jsonl`.
"""

import argparse
import json
import os
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.real import real_sessions
from preheat.app.analysis.assessment import assess
from preheat.commands import understand
from preheat.live.events import events_of
from preheat.live.signal import ByPhase, Thresholds
from preheat.live.state import START, fold, reading
from preheat.model.live import CallEvent, LiveEvent, PromptEvent
from preheat.model.outcome import FAILURES
from preheat.model.session import Session, ToolCall, pair_calls_with_results

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rating_rules.md")
"""What the raters are told."""
_SEED = 20261118
_GAP, _MOST, _BEFORE, _AFTER = 6, 20, 4, 4
"""Calls between two firings that belong to one stretch, calls of a stretch at most, calls shown before it and after it."""
_LEAST = 6
_TARGET = {
    "rule": 40, "near rule": 24, "same failure": 12, "failing check": 12, "many failures": 10, "same call": 8, "same output": 6,
}  # fmt: skip
"""Items of set 1 by stratum, in the order in which a stretch is assigned to one."""
_RANDOM = 40
_KEPT = ("source", "session", "first", "last", "stratum", "chance")
"""What is kept of an item beside its labels."""
_NEAR = Thresholds(
    loop_repeats=ByPhase(2, 2, 2, 2, 2), loop_cycles=ByPhase(2, 2, 2, 2, 2), loop_rereads=3,
)  # fmt: skip
"""The signal's own rule, one round earlier."""


class Stretch(NamedTuple):
    """Calls of a session from `first` to `last`, by their place."""

    source: str
    session: str
    first: int
    last: int
    stratum: str


class ReadSession(NamedTuple):
    """A session with its events and the places of its calls."""

    source: str
    key: str
    session: Session
    events: list[LiveEvent]
    places: dict[str, int]


def draw(folder: str, out: str, sources: Sequence[str]) -> None:
    """Draws both sets and writes the sheets."""
    sessions = {each.key: each for each in _read(folder, sources)}
    chance = random.Random(_SEED)
    loose = [stretch for each in sessions.values() for stretch in _find_loose(each)]
    still = [stretch for each in sessions.values() for stretch in _find_without_progress(each)]
    groups: defaultdict[str, list[Stretch]] = defaultdict(list)
    for stretch in loose:
        groups[stretch.stratum].append(stretch)
    chosen: list[tuple[str, Stretch, float]] = []
    for name, number in _TARGET.items():
        group = groups[name]
        drawn = chance.sample(group, min(number, len(group)))
        chosen += [("1", stretch, len(drawn) / len(group)) for stretch in drawn]
    drawn = chance.sample(still, min(_RANDOM, len(still)))
    chosen += [("2", stretch, len(drawn) / len(still)) for stretch in drawn]
    chance.shuffle(chosen)
    os.makedirs(out, exist_ok=True)
    shutil.copyfile(RULES, os.path.join(out, "RULES.md"))
    items = []
    for name in ("1", "2"):
        with open(os.path.join(out, f"sheet-{name}.txt"), "w", encoding="utf-8") as stream:
            for number, (_, stretch, share) in enumerate((each for each in chosen if each[0] == name), 1):
                item = f"{name}-{number:03}"
                items.append({"id": item, **stretch._asdict(), "chance": round(share, 4)})
                stream.write(f"==== {item} ====\n{_show(sessions[stretch.session], stretch)}\n\n")
    with open(os.path.join(out, "items.jsonl"), "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(item) + "\n" for item in items)
    print({name: (len(group), min(len(group), _TARGET[name])) for name, group in groups.items()}, len(still))


def _read(folder: str, sources: Sequence[str]) -> Iterator[ReadSession]:
    for real in real_sessions(data=folder):
        if real.source.removeprefix("projects: ") in sources:
            session = real.session
            places = {call.call_id: place for place, (call, _) in enumerate(pair_calls_with_results(session))}
            key = f"{session.agent}:{session.id}"
            yield ReadSession(real.source, key, session, events_of(session, assess(session).records), places)


# Set 1: where a rule speaks, or a much looser one.
def _find_loose(read: ReadSession) -> Iterator[Stretch]:
    fired: dict[int, str] = {}
    order = list(_TARGET)
    for place, name in _fire(read):
        if place not in fired or order.index(name) < order.index(fired[place]):
            fired[place] = name
    for group in _group(sorted(fired)):
        stratum = min((fired[place] for place in group), key=order.index)
        yield Stretch(read.source, read.key, max(0, group[0] - _LEAST), group[-1], stratum)


def _group(places: Sequence[int]) -> Iterator[list[int]]:
    group: list[int] = []
    for place in places:
        if group and (place - group[-1] > _GAP or place - group[0] > _MOST - _LEAST):
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _fire(read: ReadSession) -> Iterator[tuple[int, str]]:
    state, before, before_near = START, ("", 0.0), ("", 0.0)
    calls: list[CallEvent] = []
    for event in read.events:
        state = fold(state, event)
        if isinstance(event, PromptEvent):
            calls = []
        if not isinstance(event, CallEvent) or event.call_id not in read.places:
            continue
        calls.append(event)
        place = read.places[event.call_id]
        loop = reading(state, "loop")
        if loop.fired and (loop.cause, loop.value) != before:
            yield place, "rule"
        before = (loop.cause, loop.value)
        near = reading(state, "loop", _NEAR)
        if near.fired and (near.cause, near.value) != before_near:
            yield place, "near rule"
        before_near = (near.cause, near.value)
        if event.polling:
            continue
        for name in _loose_names(event, calls[-20:]):
            yield place, name


def _loose_names(event: CallEvent, recent: Sequence[CallEvent]) -> Iterable[str]:
    failed = event.status in FAILURES
    if _turns(each for each in recent if each.same_call == event.same_call) >= 3:
        yield "same call"
    if failed and event.signature and _turns(each for each in recent if _is_alike(each, event)) >= 3:
        yield "same failure"
    if failed and event.checks and _turns(each for each in recent if each.checks and each.status in FAILURES) >= 3:
        yield "failing check"
    if failed and _turns(each for each in recent[-8:] if each.status in FAILURES) >= 4:
        yield "many failures"
    if _turns(each for each in recent if each.form == event.form and each.same_result == event.same_result) >= 3:
        yield "same output"


def _turns(calls: Iterable[CallEvent]) -> int:
    return len({each.turn or each.call_id for each in calls})


def _is_alike(one: CallEvent, other: CallEvent) -> bool:
    return one.status in FAILURES and one.tool == other.tool and one.signature[:40] == other.signature[:40]


# Set 2: six calls and more without progress.
def _find_without_progress(read: ReadSession) -> Iterator[Stretch]:
    known: set[str] = set()
    group: list[int] = []
    trouble = 0
    for event in read.events:
        if isinstance(event, CallEvent) and event.call_id in read.places and not event.polling:
            if not _makes_progress(event, known):
                group.append(read.places[event.call_id])
                trouble += event.status in FAILURES
                continue
        elif not isinstance(event, PromptEvent):
            continue
        if len(group) >= _LEAST and trouble:
            yield Stretch(read.source, read.key, group[0], min(group[-1], group[0] + _MOST), "without progress")
        group, trouble = [], 0
    if len(group) >= _LEAST and trouble:
        yield Stretch(read.source, read.key, group[0], min(group[-1], group[0] + _MOST), "without progress")


def _makes_progress(event: CallEvent, known: set[str]) -> bool:
    """Whether a call works and does something for the first time: a new file, a check that passes, a commit."""
    if event.status in FAILURES or event.status not in ("ok", "empty"):
        return False
    new = [path for path in event.files if path not in known]
    known.update(new)
    commits = event.activity == "shell:vcs" and any(
        "commit" in each.words for each in understand(event.summary).commands
    )
    return bool(new) or commits or (bool(event.checks) and not event.failing)


# The text of an item.
def _show(read: ReadSession, stretch: Stretch) -> str:
    pairs = list(pair_calls_with_results(read.session))
    verdicts = {event.call_id: event for event in read.events if isinstance(event, CallEvent)}
    first, last = max(0, stretch.first - _BEFORE), min(len(pairs), stretch.last + 1 + _AFTER)
    turns = Counter(call.response for call, _ in pairs[first:last] if call.response)
    letters = {turn: chr(97 + number % 26) for number, turn in enumerate(t for t, count in turns.items() if count > 1)}
    prompts = _prompts(read.session, pairs, first, last)
    lines = []
    for place in range(first, last):
        if place == stretch.first:
            lines.append("---- stretch ----")
        lines += prompts.get(place, ())
        call, result = pairs[place]
        inside = stretch.first <= place <= stretch.last
        letter = f" {letters[call.response]}" if call.response in letters else ""
        lines.append(f"[{place}{letter}] {call.tool} {_shorten_input(call, 330 if inside else 110)}")
        if (event := verdicts.get(call.call_id)) and event.status in FAILURES:
            lines.append("    (taken for a failure)")
        lines.append("    -> " + _shorten(result.text if result else "(no result)", 230 if inside else 80))
        if place == stretch.last:
            lines.append("---- end ----")
    return "\n".join(lines)


def _prompts(session: Session, pairs: Sequence[Any], first: int, last: int) -> dict[int, list[str]]:
    """The prompts of people, by the place of the call they come before."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    place = 0
    for event in session.events:
        if isinstance(event, ToolCall):
            place += 1
        elif getattr(event, "origin", "") == "human" and first < place < last:
            found[place].append("PROMPT: " + _shorten(getattr(event, "text", ""), 240))
    return found


def _shorten_input(call: ToolCall, most: int) -> str:
    values = [value for value in call.input.values() if value not in (None, "", [], {})]
    each = max(80, most // max(1, len(values)))
    parts = [f"{name}={_shorten(str(value), each if len(values) > 1 else most)}" for name, value in call.input.items()]
    return _shorten(" ".join(parts), most + 80)


def _shorten(text: str, most: int) -> str:
    text = " ⏎ ".join(line.strip() for line in text.strip().splitlines() if line.strip())
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


# The answers.
def collect(items: str, one: str, other: str) -> list[dict[str, Any]]:
    """The labels of two raters beside each item, by reference only. Raises SystemExit if a rater left an item out."""
    answers = []
    for path in (one, other):
        with open(path, encoding="utf-8") as stream:
            answers.append({each["id"]: each for each in json.load(stream)})
    with open(items, encoding="utf-8") as stream:
        drawn = [json.loads(line) for line in stream]
    found = []
    for item in drawn:
        if missing := [number for number, given in enumerate(answers, 1) if item["id"] not in given]:
            raise SystemExit(f"benchmarks.rating: rater {missing[0]} left out {item['id']}")
        labels = {f"rater_{number}": bool(given[item["id"]]["loop"]) for number, given in enumerate(answers, 1)}
        found.append({"set": item["id"][0], **{name: item[name] for name in _KEPT}, **labels})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.rating", description=__doc__)
    parser.add_argument("--collect", nargs=2, metavar="ANSWERS", help="the files of both raters: write their labels")
    parser.add_argument("folder", help="of data; with --collect, the file `items.jsonl`")
    parser.add_argument("out", help="the folder for sheets; with --collect, the file for labels")
    parser.add_argument("sources", nargs="*")
    options = parser.parse_args()
    if options.collect:
        found = collect(options.folder, *options.collect)
        with open(options.out, "w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(each) + "\n" for each in found)
    else:
        draw(options.folder, options.out, options.sources)


if __name__ == "__main__":
    main()
