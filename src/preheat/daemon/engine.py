"""From what a hook tells to what it is answered: event, journal, fold, and at most one text.

Knows no agent, no socket and no clock. What each step does is `app.live.hooks`'; here is their order, what is left
alone, and that nothing is answered that is not on disk.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.app.live.hooks import Given, Hooks, LiveState
from preheat.app.live.running import Running
from preheat.daemon.budget import Budget, Overrun
from preheat.daemon.journal import Journal, NotWritten
from preheat.daemon.owed import Owed
from preheat.daemon.sessions import Sessions
from preheat.model.experiment import Lot
from preheat.model.journal import Entry
from preheat.model.live import OPEN, Called, HookAnswer, HookEvent, LiveEvent, without_marks
from preheat.model.session import PREHEAT_RUN

QUICK = 0.05
"""Seconds that one event may take; then nothing is answered, and it is looked at again later."""
LATER = 1.0
"""Seconds that it may take then."""
TWICE = 2.0
"""Seconds within which the same hook, told again, has fired twice: installed in two places."""
_FIRED = 1_000
_AFTER = {"after_tool": "after", "tool_failed": "after"}
_IGNORED = frozenset(["subagent_start", "subagent_stop", "other"])


class Step(NamedTuple):
    """What came of a hook."""

    answer: bytes = b""
    event: HookEvent | None = None
    """If the answer takes longer: it is that of `start`, or of `end`."""
    task: str = ""


NOTHING = Step()


class Engine:
    """All running sessions, and how they go on."""

    def __init__(self, live: str, hooks: Hooks, budget: Budget | None = None) -> None:
        self._hooks = hooks
        self._budget = budget or Budget()
        self.journal = Journal(os.path.join(live, "journal"))
        self.sessions = Sessions(os.path.join(live, "sessions"))
        self._owed = Owed(hooks.keep_lots)
        missing = self._owed.noted(self.journal.replay(self.journal.flushed))  # no session's file has them yet
        self.rebuilt = self.sessions.rebuild(missing, hooks.apply)
        self._fired: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self.full: Callable[[str, str], tuple[int | None, int | None]] = lambda agent, session: (None, None)
        """Tokens before the model and what its window holds, by agent and session, as far as somebody knows."""
        self.touched: Running | None = None
        """The session that the last event was of."""
        self.seen: dict[str, dict[str, str | float]] = {}
        """The last event of each agent."""
        self.trouble: dict[str, str] = {}
        """What goes wrong, by what it is; cleared when it goes well again."""
        self.count = {
            "events": 0,
            "advisories": 0,
            "withheld": 0,
            "contexts": 0,
            "refused": 0,
            "twice": 0,
            "overruns": 0,
            "failures": 0,
        }
        self._keep_lots(())

    def handle(self, agent: str, payload: bytes, at: float) -> bytes:
        """All of it at once: what a hook is answered."""
        step = self.take(agent, payload, at)
        if step.event is None:
            return step.answer
        if step.event.name == "session_end":
            return self.end(step.event, self._hooks.scored(step.event))
        return self.start(step.event, self._hooks.context(step.event, step.task))

    def take(self, agent: str, payload: bytes, at: float, seconds: float = QUICK, answered: bool = True) -> Step:
        """Take a hook in, and say what to answer; nothing is said if nobody waits for the answer (`answered`).

        Raises Overrun if it took too long; nothing has happened then.
        """
        self.touched = None
        try:
            with self._budget(seconds):
                event = self._hooks.read(agent, payload, at)
            if event is None or not event.session:
                return NOTHING
            if answered and event.name == "before_tool" and (why := self._refusal(event, seconds)):
                return Step(self._refused(event, why, at))
            if event.subagent or event.name in _IGNORED:
                return NOTHING
            step = self._known(event, at, seconds, answered)
            self.count["events"] += 1  # not before: one that takes too long comes again
            return step
        except NotWritten as error:
            self.trouble["journal"] = (
                f"events cannot be written down ({error}); nothing is said to the agents until they can"
            )
            return NOTHING
        except Overrun:
            self.count["overruns"] += 1
            raise
        except Exception as error:  # noqa: BLE001 - an agent never waits for, nor hears of, a mistake of ours
            self.count["failures"] += 1
            self.trouble["failure"] = f"an event of `{agent}` could not be handled: {type(error).__name__}: {error}"[
                :300
            ]
            return NOTHING

    def _known(self, event: HookEvent, at: float, seconds: float, answered: bool) -> Step:
        self.seen[event.agent] = {"at": at, "event": event.told_as or event.name, "session": event.session}
        running = self.sessions.get(event.agent, event.session)
        if running.own:
            return NOTHING
        entry = self._entry(event, running, at)
        if event.prompt.lstrip().startswith(PREHEAT_RUN):
            self._keep(running, msgspec.structs.replace(entry, own=True))
            return NOTHING
        if event.prompt.lstrip().startswith(OPEN):
            return NOTHING  # what held a stop up comes back as a prompt in some programs: no person's words
        if self._twice(running, entry.key, at, event.call_id != "" or not answered):
            self.count["twice"] += 1
            return NOTHING
        with self._budget(seconds):
            entry, answer, state = self._said(event, running, entry, answered)
        if answered and state is not None:
            answer = self._shortened(event, answer, state, seconds)
        with self._budget(seconds):
            told = self._hooks.write(event, answer) if answer is not None else b""
        wants_context = answered and self._wants_context(event, running)
        if wants_context:
            entry = self._assigned(event, running, entry)
        if entry.events or entry.advisory or entry.lots:
            self._keep(running, entry, state)
        self._note(running, _key(event), at)
        self.count["advisories"] += entry.advisory is not None
        self.count["withheld"] += entry.withheld is not None
        if wants_context:
            return Step(told, event, event.prompt or " ".join(running.words))
        if answered and self._wants_score(event):
            return Step(told, event)
        return Step(told)

    def _said(
        self, event: HookEvent, running: Running, entry: Entry, answered: bool
    ) -> tuple[Entry, HookAnswer | None, LiveState | None]:
        """What happened, what is answered, and the state then, if it is at hand. Pure: it may be cut at any moment."""
        state = running.state
        if event.name == "before_tool":
            advisory = self._hooks.before(state, event) if answered else None
            entry = msgspec.structs.replace(entry, advisory=advisory, key="", call_id="")
            entry = self._by_lot(event, running, entry)
            return entry, HookAnswer(context=entry.advisory.text) if entry.advisory else None, None
        events = tuple(self._filled(each, event) for each in self._hooks.events(event))
        advisory = None
        for each in events:
            state, advisory = self._hooks.step(state, each, event)
        if not answered:  # what nobody hears was not said
            return msgspec.structs.replace(entry, events=events), None, None
        entry = msgspec.structs.replace(entry, events=events, advisory=advisory)
        if event.name == "before_compaction":  # where the program takes it there
            return entry, HookAnswer(context=self._hooks.resume_packet(running)), state
        if advisory is None:
            return entry, None, state
        if event.name == "stop":  # more context would send the agent on; the person is told instead
            plain = without_marks(advisory.text)
            if self._hooks.choices.hold_stop and not event.stop_again and not running.held:
                entry = msgspec.structs.replace(entry, held=True)
                return entry, HookAnswer(block=advisory.text, person=plain), state
            return entry, HookAnswer(person=plain), state
        entry = self._by_lot(event, running, entry)
        return entry, HookAnswer(context=advisory.text) if entry.advisory else None, state

    # What is left to chance.
    def _assigned(self, event: HookEvent, running: Running, entry: Entry) -> Entry:
        """With the arm of the session, if it has none yet: it is on disk before anything is given."""
        known = running.assigned
        if known is None and event.parent:
            known = self.sessions.get(event.agent, event.parent).assigned
        found = self._hooks.assign(event, known, running.state.calls > 0)
        if found is None or running.assigned is not None:
            return entry
        return msgspec.structs.replace(entry, lots=(*entry.lots, found))

    def _by_lot(self, event: HookEvent, running: Running, entry: Entry) -> Entry:
        """An advisory may be withheld by lot. Not what stands at a stop, which a person reads, and never a refusal."""
        if entry.advisory is None:
            return entry
        root = running.assigned.root if running.assigned is not None else ""
        lot = self._hooks.lot(event, entry.advisory, root)
        if lot is None:
            return entry
        entry = msgspec.structs.replace(entry, lots=(*entry.lots, lot))
        return entry if lot.shown else msgspec.structs.replace(entry, advisory=None, withheld=entry.advisory)

    def _filled(self, event: LiveEvent, hook: HookEvent) -> LiveEvent:
        """A call with how full the context is: hooks do not tell, transcripts may."""
        if not isinstance(event, Called) or event.context_tokens is not None:
            return event
        tokens, window = self.full(hook.agent, hook.session)
        return event if tokens is None else msgspec.structs.replace(event, context_tokens=tokens, context_window=window)

    # What is done only where the person asked for it.
    def _refusal(self, event: HookEvent, seconds: float) -> str:
        """Of subagents too, and however often the call is tried: whoever asks for a guard wants it everywhere."""
        if self._hooks.choices.block == "never":
            return ""
        unsaved = self.sessions.get(event.agent, event.session).progress.unsaved
        with self._budget(seconds):
            return self._hooks.refusal(event, unsaved)

    def _refused(self, event: HookEvent, why: str, at: float) -> bytes:
        """The answer to a call that is refused. It is written down if it can be: a full disk is no reason to let it pass."""
        running = self.sessions.get(event.agent, event.session)
        self.count["refused"] += 1
        entry = Entry(at=at, agent=event.agent, session=event.session, hook=event.name, refused=why)
        try:
            self._keep(running, entry)
        except NotWritten as error:
            self.trouble["journal"] = f"events cannot be written down ({error})"
        return self._hooks.write(event, HookAnswer(block=why))

    def _shortened(
        self, event: HookEvent, answer: HookAnswer | None, state: LiveState, seconds: float
    ) -> HookAnswer | None:
        """The answer with the output in short; as it is where that would take too long."""
        if not self._hooks.choices.shorten_output or event.name != "after_tool":
            return answer
        try:
            with self._budget(seconds):
                output = self._hooks.output(event, state.phase.phase)
        except Overrun:
            return answer
        return answer if output is None else msgspec.structs.replace(answer or HookAnswer(), output=output)

    # What a session is given at its start, and its person at the end.
    def _wants_context(self, event: HookEvent, running: Running) -> bool:
        if event.name == "session_start":
            return True
        # Some programs tell of no start, or take no context there; some say that a prompt is not the first.
        return event.name == "prompt" and event.source != "resume" and not running.context and not running.words

    def _wants_score(self, event: HookEvent) -> bool:
        """At the end, where the program has a place for a line to the person: else nothing is counted."""
        return event.name == "session_end" and self._hooks.write(event, HookAnswer(person="?")) != b""

    def end(self, event: HookEvent, line: str) -> bytes:
        """The answer for a session that is over."""
        return self._hooks.write(event, HookAnswer(person=line)) if line else b""

    def start(self, event: HookEvent, given: Given | None) -> bytes:
        """The answer for a session that is to be given a context."""
        running = self.sessions.get(event.agent, event.session)
        lots = given.lots if given is not None else ()
        if given is not None and event.source == "resume" and running.context == given.id:
            given = None  # it is still before the model
        parts = [self._hooks.resume_packet(running)] if event.source == "compact" else []
        parts += [given.text] if given is not None else []
        text = "\n".join(part for part in parts if part)
        messages = given.messages if given is not None else ()
        nothing = not text and not messages
        if nothing and not lots:
            return b""
        identity = given.id if given is not None else ""
        entry = Entry(at=event.at or 0.0, agent=event.agent, session=event.session, context=identity, lots=lots)
        try:
            self._keep(running, entry)
        except NotWritten:
            return b""
        if nothing:
            return b""
        self.count["contexts"] += 1
        return self._hooks.write(event, HookAnswer(context=text, messages=messages))

    # What is known of a session.
    def found(self, running: Running, events: list[LiveEvent], at: float) -> None:
        """Take in what the transcript tells and no hook did."""
        now = self.sessions.get(running.agent, running.session)
        entry = Entry(at=at, agent=now.agent, session=now.session, hook="transcript", events=tuple(events))
        try:
            self._keep(now, entry)
        except NotWritten:
            return  # the next look finds it again

    def _keep(self, running: Running, entry: Entry, folded: LiveState | None = None) -> None:
        written = self.journal.append(entry)
        if entry.lots:
            self._keep_lots(entry.lots)
        self.touched = self._hooks.apply(running, written, folded)
        self.sessions.put(self.touched)
        self.trouble.pop("journal", None)

    def _keep_lots(self, lots: Sequence[Lot]) -> None:
        if trouble := self._owed.settle(lots):
            self.trouble["lots"] = trouble
        else:
            self.trouble.pop("lots", None)

    def _entry(self, event: HookEvent, running: Running, at: float) -> Entry:
        return Entry(
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

    def _twice(self, running: Running, key: str, at: float, ever: bool) -> bool:
        """Whether the hook was told already, a moment ago or `ever`."""
        before = self._fired.get((running.agent, running.session, key))
        return (before is not None and abs(at - before) < TWICE) or (ever and key in running.keys)

    def _note(self, running: Running, key: str, at: float) -> None:
        name = (running.agent, running.session, key)
        self._fired[name] = at
        self._fired.move_to_end(name)
        if len(self._fired) > _FIRED:
            self._fired.popitem(last=False)


def _key(event: HookEvent) -> str:
    """Equal for a hook that fires twice."""
    if event.call_id:
        return f"{_AFTER.get(event.name, event.name)}:{event.call_id}"
    told = (event.source, event.prompt, event.tool, event.arguments, event.result, event.is_error)
    hashed = blake2b(msgspec.json.encode(told), digest_size=8).hexdigest()
    return f"{_AFTER.get(event.name, event.name)}:{hashed}"
