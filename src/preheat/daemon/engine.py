"""From a hook's payload to its answer: read the event, journal it, fold it into the session, and say at most one text.

Holds the order of these steps, the events that are ignored, and the rule that nothing is answered before it is on disk. What each
step does is in `app.live.hooks`. Knows no agent, no socket and no clock.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.app.live.hooks import HandedContext, Hooks, LiveState
from preheat.app.live.running import RunningSession
from preheat.daemon.assignments import PendingAssignments
from preheat.daemon.journal import Journal, JournalError
from preheat.daemon.sessions import Sessions
from preheat.daemon.time_limit import Overrun, TimeLimit
from preheat.daemon.timing import HandlingTimes, SessionKey
from preheat.model.experiment import AssignmentRecord
from preheat.model.live import (
    ADVISORY_OPEN,
    Advisory,
    CallEvent,
    HookAnswer,
    HookEvent,
    JournalEntry,
    LiveEvent,
    strip_marks,
)
from preheat.model.session import PREHEAT_RUN

ORIENTATION_SECONDS = 0.15
"""Seconds that naming the files of a prompt may take; after that none are named."""
EVENT_SECONDS = 0.05
"""Seconds that one event may take; after that it is answered with nothing and taken again later."""
RETRY_SECONDS = 1.0
"""Seconds of computing that an event may take the second time. Not of the clock: on a busy machine that would give up events
that are not to blame."""
DUPLICATE_SECONDS = 2.0
"""Seconds within which the same hook event counts as a duplicate: the hook is installed in two places."""
_MOST_FIRED = 1_000
_SAME_HOOK = {"after_tool": "after", "tool_failed": "after"}
_CARRIERS = frozenset(["prompt", "before_tool", "after_tool", "tool_failed"])
"""Events whose answer may bring the context of a session whose start got none."""
_IGNORED = frozenset(["subagent_start", "subagent_stop", "other"])


class HookResult(NamedTuple):
    """The result of a hook event."""

    answer: bytes = b""
    event: HookEvent | None = None
    """Set if the answer takes longer: the caller gets it from `answer_start` or `answer_end`."""
    task: str = ""
    deferred: HookEvent | None = None
    """Set if nothing was done: the event is to be taken in later."""


NO_ANSWER = HookResult()


class Engine:
    """Takes hook events of all running sessions."""

    def __init__(self, live: str, hooks: Hooks, limit: TimeLimit | None = None) -> None:
        self._hooks = hooks
        self._limit = limit or TimeLimit()
        self.journal = Journal(os.path.join(live, "journal"))
        self.sessions = Sessions(os.path.join(live, "sessions"))
        self._pending = PendingAssignments(hooks.store_assignments)
        missing = self._pending.collect(self.journal.replay(self.journal.flushed))  # not in the files of sessions yet
        self.rebuilt = self.sessions.rebuild(missing, hooks.apply)
        self._fired: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self.context_size: Callable[[str, str], tuple[int | None, int | None]] = lambda agent, session: (None, None)
        """Gives tokens in the context and the size of the window, by agent and session, where they are known."""
        self.last_session: RunningSession | None = None
        """The session of the last event."""
        self.last_key: SessionKey | None = None
        """Agent and id of the last event's session, also where nothing was recorded."""
        self.times = HandlingTimes()
        self.last_events: dict[str, dict[str, str | float]] = {}
        """The last event of each agent."""
        self.troubles: dict[str, str] = {}
        """Descriptions of present problems, by their kind; removed when solved."""
        self.counts = {
            "events": 0,
            "advisories": 0,
            "withheld": 0,
            "contexts": 0,
            "orientations": 0,
            "refused": 0,
            "held": 0,
            "twice": 0,
            "overruns": 0,
            "failures": 0,
            "deferred": 0,
            "dropped": 0,
        }
        self._store_assignments(())

    def handle(self, agent: str, payload: bytes, at: float) -> bytes:
        """The answer to a hook, computed at once."""
        result = self.take_event(agent, payload, at)
        if result.event is None:
            return result.answer
        if result.event.name == "session_end":
            return self.answer_end(result.event, self._hooks.describe_score(result.event))
        return self.answer_start(result.event, self._hooks.choose_context(result.event, result.task))

    def take_event(
        self,
        agent: str,
        payload: bytes,
        at: float,
        seconds: float = EVENT_SECONDS,
        awaited: bool = True,
        is_late: Callable[[HookEvent], bool] | None = None,
    ) -> HookResult:
        """Take a hook event in, and give its answer; the answer is empty if nobody waits for it (not `awaited`).

        `is_late` says whether an event should wait; then it comes back as `deferred`. What comes before a call never does: the
        agent waits for that answer, and a person may have asked to refuse the call.
        Raises Overrun if it took too long; nothing has changed then.
        """
        self.last_session = self.last_key = None
        try:
            self._hooks.load_agent(agent)
            with self._limit(seconds, of_computing=not awaited):
                event = self._hooks.read(agent, payload, at)
            if event is None or not event.session:
                return NO_ANSWER
            if event.tool:
                self._hooks.load_judge()
            if awaited and event.name == "before_tool" and (why := self._refusal(event, seconds)):
                return HookResult(self._refuse(event, why, at))
            if event.subagent or event.name in _IGNORED:
                return NO_ANSWER
            self.last_key = (event.agent, event.session)
            if is_late is not None and event.name != "before_tool" and is_late(event):
                return HookResult(deferred=event)
            result = self._take_known(event, at, seconds, awaited)
            self.counts["events"] += 1  # not earlier: an event that takes too long comes again
            return result
        except JournalError as error:
            self.troubles["journal"] = f"events cannot be journaled ({error}); agents get no advice until they can"
            return NO_ANSWER
        except Overrun:
            self.counts["overruns"] += 1
            raise
        except Exception as error:  # noqa: BLE001 - an agent must not notice an error of Preheat
            self.counts["failures"] += 1
            self.troubles["failure"] = f"an event of `{agent}` could not be handled: {type(error).__name__}: {error}"[
                :300
            ]
            return NO_ANSWER

    def _take_known(self, event: HookEvent, at: float, seconds: float, awaited: bool) -> HookResult:
        self.last_events[event.agent] = {"at": at, "event": event.host_event or event.name, "session": event.session}
        running = self.sessions.get(event.agent, event.session)
        if running.by_preheat:
            return NO_ANSWER
        entry = self._entry(event, running, at)
        if event.prompt.lstrip().startswith(PREHEAT_RUN):
            self._record(running, msgspec.structs.replace(entry, own=True))
            return NO_ANSWER
        if event.prompt.lstrip().startswith(ADVISORY_OPEN):
            return NO_ANSWER  # some programs pass the text that held a stop on as a prompt
        if not awaited and event.name == "session_start":
            running = self._note_context_due(event, running, at)
        if self._is_duplicate(running, entry.key, at, event.call_id != "" or not awaited):
            self.counts["twice"] += 1
            return NO_ANSWER
        with self._limit(seconds, of_computing=not awaited):
            entry, answer, state = self._respond(event, running, entry, awaited)
        if awaited and state is not None:
            answer = self._with_short_output(event, answer, state, seconds)
        with self._limit(seconds, of_computing=not awaited):
            encoded = self._hooks.write(event, answer) if answer is not None else b""
        wants_context = awaited and self._wants_context(event, running, answer)
        if awaited and event.name == "prompt" and answer is None and not wants_context:
            entry, text = self._with_named_files(event, running, entry)
            answer = HookAnswer(context=text) if text else None
            encoded = self._hooks.write(event, answer) if answer is not None else encoded
        entry = self._with_receipt(event, running, entry, answer if encoded else None)
        if wants_context:
            entry = self._with_assignment(event, running, entry)
        if entry.events or entry.advisory or entry.assignments or entry.orientation:
            self._record(running, entry, state)
        self._note_fired(running, _key(event), at)
        self._count_holds(event, running, entry)
        self.counts["advisories"] += entry.advisory is not None
        self.counts["withheld"] += entry.withheld is not None
        if wants_context:
            return HookResult(encoded, event, event.prompt or " ".join(running.words))
        if awaited and self._wants_score(event):
            return HookResult(encoded, event)
        return HookResult(encoded)

    def _respond(
        self, event: HookEvent, running: RunningSession, entry: JournalEntry, awaited: bool
    ) -> tuple[JournalEntry, HookAnswer | None, LiveState | None]:
        """The journal entry, the answer, and the new state if it was computed. Pure: it may be interrupted at any time."""
        state = running.state
        carries = awaited and event.name in _CARRIERS and self._hooks.can_carry(event)
        if event.name == "before_tool":
            return self._respond_before_call(event, running, entry, awaited, carries)
        events = tuple(self._with_context_size(each, event) for each in self._hooks.live_events(event))
        advisory = None
        for each in events:
            state, advisory = self._hooks.step(state, each, event, running)
        entry = msgspec.structs.replace(entry, events=events)
        if event.name == "stop" and awaited and advisory is not None:
            return self._respond_to_stop(event, running, entry, advisory, state)
        if event.name == "stop" and awaited and (line := self._hooks.describe_receipt(event, running)):
            return msgspec.structs.replace(entry, is_reported=True), HookAnswer(person=line), state
        if advisory is not None and not carries:  # not counted as given: the state is folded again without it
            return msgspec.structs.replace(entry, undelivered=advisory), None, None
        if not awaited:
            return entry, None, None
        if event.name == "before_compaction":  # for programs that take context there
            is_due = True if self._hooks.loses_context(event) else None
            answer = HookAnswer(context=self._hooks.resume_packet(running))
            return msgspec.structs.replace(entry, context_due=is_due), answer, state
        if advisory is None:
            advisory = self._hooks.overdue_advice(running, events, state, event) if carries else None
            if advisory is None:
                return entry, None, state
            state = self._hooks.record_advice(state, advisory)
        entry = self._with_advice_assignment(event, running, msgspec.structs.replace(entry, advisory=advisory))
        return entry, HookAnswer(context=advisory.text) if entry.advisory else None, state

    def _respond_before_call(
        self, event: HookEvent, running: RunningSession, entry: JournalEntry, awaited: bool, carries: bool
    ) -> tuple[JournalEntry, HookAnswer | None, LiveState | None]:
        """Before a call: why it fails here, as a text or by holding the call once; else advice that waits. What can be neither
        said nor held is found again after the call, if it fails."""
        key, state = _call_key(event), running.state
        advisory = self._hooks.advise_before_call(state, event, running) if awaited else None
        holds = advisory is not None and key not in running.held_calls and self._hooks.may_hold(event, advisory)
        if advisory is not None and holds:
            advisory = self._hooks.word_hold(advisory)
        elif not carries:
            advisory = None
        elif advisory is None and carries:
            advisory = self._hooks.overdue_advice(running, (), state, event)
        entry = msgspec.structs.replace(entry, advisory=advisory, key="", call_id="")
        entry = self._with_advice_assignment(event, running, entry)
        if entry.advisory is None and entry.withheld is None:
            return entry, None, None
        has_own_id = event.call_id and not _TIME.fullmatch(event.call_id)
        entry = msgspec.structs.replace(entry, planned_call=event.call_id if has_own_id else f"tool {event.tool}")
        if entry.advisory is None:
            return entry, None, None
        if holds:
            return msgspec.structs.replace(entry, held_call=key), HookAnswer(block=entry.advisory.text), None
        return entry, HookAnswer(context=entry.advisory.text), None

    def _respond_to_stop(
        self, event: HookEvent, running: RunningSession, entry: JournalEntry, advisory: Advisory, state: LiveState
    ) -> tuple[JournalEntry, HookAnswer | None, LiveState | None]:
        """At a stop, context would make the agent continue: the person is told, or the stop is held where the person asked for
        that. Where the program does neither, the advisory waits for the next prompt."""
        plain, counted = strip_marks(advisory.text), msgspec.structs.replace(entry, advisory=advisory)
        if self._hooks.choices.hold_stop and not event.stop_again and not running.stop_held:
            answer = HookAnswer(block=advisory.text, person=plain)
            if self._hooks.write(event, answer):
                return msgspec.structs.replace(counted, held=True), answer, state
        if self._hooks.can_tell_person(event):
            return counted, HookAnswer(person=plain), state
        return msgspec.structs.replace(entry, undelivered=advisory), None, None

    # Random assignment.
    def _with_assignment(self, event: HookEvent, running: RunningSession, entry: JournalEntry) -> JournalEntry:
        """The entry with an assignment for a session that has none, so that it is on disk before any context is given."""
        known = running.assigned
        if known is None and event.parent:
            known = self.sessions.get(event.agent, event.parent).assigned
        found = self._hooks.assign_session(event, known, running.state.calls > 0)
        if found is None or running.assigned is not None:
            return entry
        return msgspec.structs.replace(entry, assignments=(*entry.assignments, found))

    def _with_advice_assignment(self, event: HookEvent, running: RunningSession, entry: JournalEntry) -> JournalEntry:
        """The entry with its advisory shown or withheld at random; never for the line at a stop, nor for a refusal."""
        if entry.advisory is None:
            return entry
        root = running.assigned.root if running.assigned is not None else ""
        assignment = self._hooks.assign_advice(event, entry.advisory, root)
        if assignment is None:
            return entry
        entry = msgspec.structs.replace(entry, assignments=(*entry.assignments, assignment))
        return entry if assignment.shown else msgspec.structs.replace(entry, advisory=None, withheld=entry.advisory)

    def _with_receipt(
        self, event: HookEvent, running: RunningSession, entry: JournalEntry, answer: HookAnswer | None
    ) -> JournalEntry:
        """The entry with what the answer puts into the model's context, and whether a held call came again."""
        tokens = self._hooks.count_tokens(answer) if answer is not None else 0
        passed = ""
        if running.held_calls and entry.events and (key := _call_key(event)) in running.held_calls:
            passed = key
        return msgspec.structs.replace(entry, tokens=tokens, passed_call=passed) if tokens or passed else entry

    def _with_context_size(self, event: LiveEvent, hook: HookEvent) -> LiveEvent:
        """A call with the context size from the transcript: hooks do not give it."""
        if not isinstance(event, CallEvent) or event.context_tokens is not None:
            return event
        tokens, window = self.context_size(hook.agent, hook.session)
        return event if tokens is None else msgspec.structs.replace(event, context_tokens=tokens, context_window=window)

    # The files that a prompt needs.
    def _with_named_files(
        self, event: HookEvent, running: RunningSession, entry: JournalEntry, told: Sequence[str] = ()
    ) -> tuple[JournalEntry, str]:
        """The entry with the files and facts that are named with a prompt, and the text that the agent gets; empty if finding
        them takes too long. `told`: lessons that it gets with its context at the same time."""
        try:
            with self._limit(ORIENTATION_SECONDS):
                found = self._hooks.name_files(event, running, told)
        except Overrun:
            self.counts["overruns"] += 1
            return entry, ""
        if found is None:
            return entry, ""
        assignments = entry.assignments if found.assignment is None else (*entry.assignments, found.assignment)
        self.counts["orientations" if found.shown else "withheld"] += 1
        return msgspec.structs.replace(entry, orientation=found.paths, assignments=assignments), found.shown

    # Only where the person asked for it: refusals and shorter outputs.
    def _refusal(self, event: HookEvent, seconds: float) -> str:
        """Why a call is refused, or an empty text. Holds for subagents too, and for every repetition of the call."""
        if self._hooks.choices.block == "never":
            return ""
        unsaved = self.sessions.get(event.agent, event.session).progress.unsaved
        with self._limit(seconds):
            return self._hooks.refusal(event, unsaved)

    def _refuse(self, event: HookEvent, why: str, at: float) -> bytes:
        """The answer to a refused call. It is refused even if it cannot be journaled."""
        running = self.sessions.get(event.agent, event.session)
        self.counts["refused"] += 1
        entry = JournalEntry(at=at, agent=event.agent, session=event.session, hook=event.name, refused=why)
        try:
            self._record(running, entry)
        except JournalError as error:
            self.troubles["journal"] = f"events cannot be journaled ({error})"
        return self._hooks.write(event, HookAnswer(block=why))

    def _count_holds(self, event: HookEvent, running: RunningSession, entry: JournalEntry) -> None:
        """Count a call that is held, and what came of one that was held before and came again."""
        if entry.held_call and entry.advisory is not None:
            self.counts["held"] += 1
            self._hooks.count_hold(event, entry.advisory, entry.held_call)
            return
        call = next((each for each in entry.events if isinstance(each, CallEvent)), None)
        if call is not None and entry.passed_call:
            self._hooks.holds.count_passed(entry.passed_call, call.status in ("ok", "empty"))

    def _with_short_output(
        self, event: HookEvent, answer: HookAnswer | None, state: LiveState, seconds: float
    ) -> HookAnswer | None:
        """The answer with a shorter output; unchanged if shortening takes too long."""
        if not self._hooks.choices.shorten_output or event.name != "after_tool":
            return answer
        try:
            with self._limit(seconds):
                output = self._hooks.shorten_output(event, state.phase.phase)
        except Overrun:
            return answer
        return answer if output is None else msgspec.structs.replace(answer or HookAnswer(), output=output)

    # The context at the start of a session, and the line at its end.
    def _wants_context(self, event: HookEvent, running: RunningSession, answer: HookAnswer | None) -> bool:
        if event.name == "session_start":
            return True
        if running.context_due and answer is None and event.name in _CARRIERS:
            return self._hooks.can_carry(event)
        # Some programs have no hook at the start, or take no context there; some mark a prompt as not the first.
        return event.name == "prompt" and event.source != "resume" and not running.context and not running.words

    def _wants_score(self, event: HookEvent) -> bool:
        """Whether a session ends and its program can show a line to the person."""
        return event.name == "session_end" and self._hooks.write(event, HookAnswer(person="?")) != b""

    def _note_context_due(self, event: HookEvent, running: RunningSession, at: float) -> RunningSession:
        """Note that the answer to the start of a session did not reach the agent: it comes with the next event that can carry
        it."""
        if running.context_due or self._still_has_context(event, running):
            return running
        self._record(running, JournalEntry(at=at, agent=event.agent, session=event.session, context_due=True))
        return self.sessions.get(event.agent, event.session)

    def _still_has_context(self, event: HookEvent, running: RunningSession) -> bool:
        """Whether a session goes on with a history that holds the context which it began with."""
        return event.source == "resume" and bool(running.context) and self._hooks.keeps_context(event.agent)

    def put_off_context(self, event: HookEvent) -> bytes:
        """The answer where the context was not found in time: nothing. It comes with the next event; a second delay gives it up,
        so that no agent waits at every event."""
        running = self.sessions.get(event.agent, event.session)
        is_due = event.name == "session_start" or not running.context_due
        if running.context_due != is_due:
            entry = JournalEntry(at=event.at or 0.0, agent=event.agent, session=event.session, context_due=is_due)
            with suppress(JournalError):
                self._record(running, entry)
        return b""

    def answer_end(self, event: HookEvent, line: str) -> bytes:
        """The answer at the end of a session."""
        return self._hooks.write(event, HookAnswer(person=line)) if line else b""

    def answer_start(self, event: HookEvent, context: HandedContext | None) -> bytes:
        """The answer at the start of a session, with its context."""
        running = self.sessions.get(event.agent, event.session)
        assignments = context.records if context is not None else ()
        if self._still_has_context(event, running):
            context = None
        is_compacted = event.source == "compact" or running.was_compacted
        parts = [self._hooks.resume_packet(running)] if is_compacted else []
        parts += [context.text] if context is not None else []
        messages = context.messages if context is not None else ()
        has_context = any(parts) or bool(messages)
        entry = JournalEntry(at=event.at or 0.0, agent=event.agent, session=event.session, assignments=assignments)
        if event.name == "prompt":  # the context comes with the prompt: so do its files
            entry, named = self._with_named_files(event, running, entry, context.told if context is not None else ())
            parts.append(named)
        text = "\n".join(part for part in parts if part)
        is_empty = not text and not messages
        if is_empty and not entry.assignments and not running.context_due:
            return b""
        entry = msgspec.structs.replace(
            entry,
            context=context.id if context is not None else "",
            told=context.told if context is not None else (),
            context_due=False if running.context_due else None,
        )
        answer = HookAnswer(context=text, messages=messages)
        try:
            self._record(running, msgspec.structs.replace(entry, tokens=self._hooks.count_tokens(answer)))
        except JournalError:
            return b""
        if is_empty:
            return b""
        self.counts["contexts"] += has_context
        return self._hooks.write(event, answer)

    # The journal and the sessions.
    def record_transcript_events(self, running: RunningSession, events: list[LiveEvent], at: float) -> None:
        """Record events from the transcript that no hook reported."""
        now = self.sessions.get(running.agent, running.session)
        source = HookEvent(agent=now.agent, session=now.session, name="tool_failed", cwd=now.cwd)
        state, advisory = now.state, None
        for each in events:
            state, advisory = self._hooks.step(state, each, source)
        entry = JournalEntry(
            at=at, agent=now.agent, session=now.session, hook="transcript", events=tuple(events), undelivered=advisory
        )
        try:
            self._record(now, entry)
        except JournalError:
            return  # the next look at the transcript finds them again

    def _record(self, running: RunningSession, entry: JournalEntry, folded: LiveState | None = None) -> None:
        written = self.journal.append(self.times.add_to(entry))
        if entry.assignments:
            self._store_assignments(entry.assignments)
        self.last_session = self._hooks.apply(running, written, folded)
        self.sessions.put(self.last_session)
        self.troubles.pop("journal", None)

    def _store_assignments(self, assignments: Sequence[AssignmentRecord]) -> None:
        if trouble := self._pending.store(assignments):
            self.troubles["assignments"] = trouble
        else:
            self.troubles.pop("assignments", None)

    def _entry(self, event: HookEvent, running: RunningSession, at: float) -> JournalEntry:
        return JournalEntry(
            at=at,
            agent=event.agent,
            session=event.session,
            hook=event.name,
            key=_key(event),
            call_id=event.call_id,
            cwd=event.cwd if event.cwd != running.cwd else "",
            transcript=event.transcript if event.transcript != running.transcript else "",
            model=event.model if event.model != running.model else "",
        )

    def _is_duplicate(self, running: RunningSession, key: str, at: float, ever: bool) -> bool:
        """Whether the same hook event came within `DUPLICATE_SECONDS` seconds, or `ever`."""
        before = self._fired.get((running.agent, running.session, key))
        return (before is not None and abs(at - before) < DUPLICATE_SECONDS) or (ever and key in running.event_keys)

    def _note_fired(self, running: RunningSession, key: str, at: float) -> None:
        name = (running.agent, running.session, key)
        self._fired[name] = at
        self._fired.move_to_end(name)
        if len(self._fired) > _MOST_FIRED:
            self._fired.popitem(last=False)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?")
"""What stands for the id of a call where a program gives none: the time of the hook, which is another one after the call."""


def _call_key(event: HookEvent) -> str:
    """A key that is equal when the same call comes again."""
    fields = (event.session, event.cwd, event.tool, event.arguments)
    return blake2b(msgspec.json.encode(fields), digest_size=8).hexdigest()


def _key(event: HookEvent) -> str:
    """A key that is equal for duplicates of a hook event."""
    if event.call_id:
        return f"{_SAME_HOOK.get(event.name, event.name)}:{event.call_id}"
    fields = (event.source, event.prompt, event.tool, event.arguments, event.result, event.is_error)
    hashed = blake2b(msgspec.json.encode(fields), digest_size=8).hexdigest()
    return f"{_SAME_HOOK.get(event.name, event.name)}:{hashed}"
