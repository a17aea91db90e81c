"""What an agent's real program does with the texts that hooks give it, moment by moment: by what the scripted model received.

Every event is answered with a text of its own, and the requests show where it went. Knows no agent.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from preheat.app.live.holds import HoldCount, Holds
from preheat.app.live.receipts import collect_receipts
from preheat.model.live import HookAnswer, HookEvent
from preheat.model.receipt import Receipts
from preheat.testing.hooks import ListeningDaemon
from preheat.testing.model_server import Reply
from tests.daemon.builders import daemon
from tests.programs.machines import MACHINES, Conversation, Machine

COMMAND, OUTPUT = "printf out-%d 42", "out-42"
"""A command, and what only its result has."""


_AFTER_BROKEN_CALL = 2
"""The number of the first request that has the result of the call whose tool fails."""


class ObservedMoments(NamedTuple):
    """The fields of `Moments`, as far as the model's log tells; the words are the same."""

    start: str
    prompt: str
    before_call: str
    after_call: str
    failure: str
    resume: str
    compaction: str


def observe(agent: str, folder: Path) -> ObservedMoments:
    """Run an agent's program three times: a session, the same one resumed, and one that is compacted."""
    data = str(folder / "data")
    os.makedirs(data)
    machine = MACHINES[agent](folder / "machine", data)
    machine.install()
    with ListeningDaemon(data, agent, lambda event: HookAnswer(context=text_of(event))) as daemon:
        replies = [[machine.shell(COMMAND)], [machine.broken_call()], [machine.shell("echo good")]]
        first = machine.run("Look around.", [*(Reply(calls=calls) for calls in replies), Reply("Done.")])
        events = daemon.events
        resumed = machine.run("Go on.", [Reply("Yes.")], resume=first.session)
        later = daemon.events[len(events) :]
        compacted = machine.run_compacted("Count.")
        last = daemon.events[len(events) + len(later) :]
    prompt = _reach_request(first, events, "prompt")
    return ObservedMoments(
        start=_reach_request(first, events, "session_start"),
        prompt=prompt if prompt != "unreported" else _reach_request(resumed, later, "prompt"),
        before_call=_reach_result(first, events, "before_tool"),
        after_call=_reach_result(first, events, "after_tool"),
        failure=_reach_failure(first, events, machine),
        resume=_find_kept_start(resumed, events, later),
        compaction=_find_compaction(compacted, last),
    )


def text_of(event: HookEvent) -> str:
    """The text that answers an event: another one for each."""
    return f"Marked {event.name} {event.source or ''}{event.call_id} of {event.session}."


def _reach_request(seen: Conversation, events: list[HookEvent], name: str) -> str:
    found = next((event for event in events if event.name == name), None)
    if found is None:
        return "unreported"
    return "request" if seen.first_with(text_of(found)) == 0 else "never"


def _reach_result(seen: Conversation, events: list[HookEvent], name: str) -> str:
    """`request` would be a text that is before the model while the call has not run."""
    found = next((event for event in events if event.name == name), None)
    at = seen.first_with(text_of(found)) if found is not None else None
    if at is None:
        return "unreported" if found is None else "never"
    return "result" if OUTPUT in seen.requests[at] else "request"


def _reach_failure(seen: Conversation, events: list[HookEvent], machine: Machine) -> str:
    tool = machine.broken_call().name
    found = next((each for each in events if each.tool == tool and each.name in ("tool_failed", "after_tool")), None)
    if found is None:
        return "unreported"
    has_text = [text_of(found) in request for request in seen.requests]
    if not any(has_text):
        return "never"
    return "result" if all(has_text[_AFTER_BROKEN_CALL:]) else "later"


def _find_kept_start(resumed: Conversation, events: list[HookEvent], later: list[HookEvent]) -> str:
    """Whether the start's text is sent again; where it is not, one that is given at the resumption must come through."""
    start = next(event for event in events if event.name == "session_start")
    if text_of(start) in resumed.requests[0]:
        return "kept"
    again = next((event for event in later if event.source == "resume"), None)
    return "lost" if again is not None and text_of(again) in resumed.requests[0] else "lost for good"


def _find_compaction(seen: Conversation, events: list[HookEvent]) -> str:
    last = seen.requests[-1]
    starts = {event.source: event for event in events if event.name == "session_start"}
    if text_of(starts["startup"]) in last:
        return "kept"
    if "compact" in starts:
        return "start" if text_of(starts["compact"]) in last else "lost"
    names = [event.name for event in events]
    if "before_compaction" not in names:
        return "lost"
    after = events[names.index("before_compaction") :]
    return "next" if any(event.name == "after_tool" and text_of(event) in last for event in after) else "lost"


# What the model received of a call that is known to fail
GUESS, THERE = "src/cart.py", "src/shop/cart.py"
_TELLING = re.compile(r"preheat-advisory|No such file")
_SENTENCE = re.compile(r"(preheat-advisory(?:>|&gt;)).*?((?:<|&lt;)/preheat-advisory)")
_QUOTED_LINES = 4


class ObservedCall(NamedTuple):
    """The lines that say why a call fails or that it did, as the model received them after each of two equal calls."""

    first: list[str]
    second: list[str]
    receipts: Receipts
    """What Preheat counted of it."""
    held: HoldCount

    @property
    def words(self) -> dict[str, list[str]]:
        """The lines after both calls."""
        return {"first": self.first, "again": self.second}


def observe_guess(agent: str, folder: Path, hold: bool) -> ObservedCall:
    """Run an agent's program with a real daemon: its model shows a file twice that lies elsewhere, and then the right one."""
    data = str(folder / "data")
    os.makedirs(data)
    settings = f"[experiment]\nholdout = 0\n[live]\norientation = false\nhold = {str(hold).lower()}\n"
    Path(data, "settings.toml").write_text(settings)
    machine = MACHINES[agent](folder / "machine", data)
    there = Path(machine.project, THERE)
    there.parent.mkdir(parents=True)
    there.write_text("x = 1\n")
    machine.install()
    commands = ("ls", f"cat {GUESS}", f"cat {GUESS}", f"cat {THERE}")
    script = [*(Reply(calls=[machine.shell(command)]) for command in commands), Reply("Done.")]
    with daemon(data):
        seen = machine.run("Look at the cart.", script)
    new = [_new_lines(seen.requests[n - 1], seen.requests[n]) for n in (2, 3)]
    counts = list(Holds(data).counts.values())
    return ObservedCall(new[0], new[1], collect_receipts(data), counts[0] if counts else HoldCount())


def without_sentences(words: dict[str, list[str]]) -> dict[str, list[str]]:
    """The lines without our own sentence in them: how the program wraps it is what is recorded."""
    return {name: [_SENTENCE.sub(r"\1…\2", line) for line in lines] for name, lines in words.items()}


def _new_lines(before: str, after: str) -> list[str]:
    """The telling lines that a request has and the one before it had not, in their order."""
    old = list(_lines_in(json.loads(before)))
    found = []
    for line in _lines_in(json.loads(after)):
        if line in old:
            old.remove(line)
        elif _TELLING.search(line):
            found.append(line)
    return found[:_QUOTED_LINES]


def _lines_in(value: Any) -> Iterator[str]:
    """The lines of all texts in a value; of texts that are JSON those in them."""
    if isinstance(value, str):
        yield from (line.strip() for line in value.splitlines())
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _lines_in(each)
