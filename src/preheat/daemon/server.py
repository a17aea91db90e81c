"""The daemon's loop: takes requests, answers them, and does periodic work. Knows no agent and no signal.

An event is handled in the loop itself, which is faster than a thread. Reading the archive or a transcript is done by two threads,
longer work by another process.
"""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, NamedTuple

import msgspec

from preheat import __version__
from preheat.app.daemon import LAST_SEEN_FILE, SLOW_FILE, TEST_EVENT, Address
from preheat.app.live.hooks import CleanPayload, HandedContext, Hooks
from preheat.app.live.running import RunningSession
from preheat.connections import ConnectionLimit
from preheat.daemon.deferral import TURN_SECONDS, DeferredEvents, Pace
from preheat.daemon.engine import RETRY_SECONDS, Engine
from preheat.daemon.idle import IdleWork
from preheat.daemon.journal import Spool
from preheat.daemon.tail import TranscriptTails
from preheat.daemon.time_limit import Overrun
from preheat.daemon.wire import HttpConnection, Reply, SocketConnection
from preheat.files import read_file, write_atomically
from preheat.model.live import HookEvent

TICK_SECONDS = 1.0
FROZEN_SECONDS = 15.0
"""Seconds after which a hanging loop is ended; the next hook starts a new daemon."""
CONTEXT_SECONDS = 1.0
"""Seconds that a context may take at the start of a session, less than its hook waits; with another event `PROMPT_SECONDS`."""
PROMPT_SECONDS = 0.8
SCORE_SECONDS = 0.7
"""Seconds that a scorecard may take at the end of a session."""
BACKLOG = 512
"""Connections that may wait to be accepted."""
ACCEPTED_AT_ONCE = 16
"""Connections that are accepted before others are served again."""
MOST_CONNECTIONS = 200
"""Open connections of each kind; fewer than the files that a process may usually have open."""
MOST_HELD_BYTES = 48_000_000
"""Bytes of requests of each kind that are being received."""
FLUSH_SECONDS = 2.0
STOP_SECONDS = 1.0
"""Seconds for open requests to be answered before the daemon ends."""
_SPOOL_SECONDS = 0.3
"""Seconds per tick for spooled events."""
_SLICE_SECONDS = 0.01
"""Seconds per turn of the loop for deferred events."""
_MOST_CONTEXTS = 16
"""Contexts that are chosen or wait to be; another session begins without one, and its prompt asks again."""
_CONTEXT_PAUSE = 0.05
"""Seconds between two contexts while more events come than can be taken in."""
_MOST_PREPARING = 4
"""Folders that are prepared or wait to be; another one is when its next event comes."""
_NEW_FILES = 2_000
"""New sessions after which the files of old ones are removed; else at the start only."""
_SWITCH_SECONDS = 0.0005
"""Seconds after which a thread gives way: with Python's own 5 ms each system call of the loop waits so long for slow work."""


class Timeouts(NamedTuple):
    """How long the daemon waits; settings that a person may change."""

    exit_after: float = 1800.0
    """Seconds without an event after which the daemon ends."""
    exit_after_posts: float = 8 * 3600.0
    """The same while a session with HTTP hooks runs: such a hook cannot start a daemon."""
    idle_after: float = 60.0
    idle_again: float = 600.0


class Server:
    """One daemon."""

    def __init__(
        self, live: str, engine: Engine, hooks: Hooks, address: Address, log: IO[str], times: Timeouts
    ) -> None:
        self._live = live
        self._engine = engine
        self._hooks = hooks
        self._address = address
        self._log = log
        self._times = times
        self._spool = Spool(os.path.join(live, "spool"))
        self._deferred = DeferredEvents(os.path.join(live, "deferred"))
        self._pace = Pace(TURN_SECONDS)
        self._is_catching_up = False
        self._contexts = 0
        self._context_at = 0.0
        self._tails = TranscriptTails(hooks)
        engine.context_size = self._tails.context_size
        engine.last_events.update(_load_last_seen(live))
        self._idle = IdleWork(log.fileno(), times.idle_after, times.idle_again)
        self._slow = ThreadPoolExecutor(2, "slow")
        self._tasks: set[asyncio.Task[None]] = set()
        self._started_at = self._last_event = time.monotonic()
        self._flushed_at = 0.0
        self._is_flushing = self._is_reading = False
        self._has_posts = False
        self._seen = dict(engine.last_events)
        self._preparing: set[str] = set()
        self._stopping = asyncio.Event()
        self._logged: dict[str, str] = {}
        self._sockets = ConnectionLimit(MOST_CONNECTIONS, MOST_HELD_BYTES)
        self._posts = ConnectionLimit(MOST_CONNECTIONS, MOST_HELD_BYTES)
        self.busy = 0
        """Requests that are not answered yet."""
        self.stop_reason = ""
        """Why the daemon stopped."""

    # Requests.
    def receive(self, agent: str, payload: bytes, reply: Reply, http: bool) -> None:
        """Take a hook; it is answered now, or when its context or scorecard is ready."""
        if payload == TEST_EVENT:
            self._start_task(self._answer_test(agent, reply))
            return
        self._last_event = time.monotonic()
        began = time.perf_counter()
        at = time.time()
        clean = self._hooks.clean(payload)  # without a limit of time: it is needed for an event that is stored, too
        try:
            step = self._engine.take_event(agent, clean, at, is_late=self._is_late)
        except Overrun:
            self._spool.put(agent, at, clean)
            reply(b"")
            return
        reply = self._engine.times.measure(reply, self._engine.last_key, began)
        if step.deferred is not None:
            self._defer(step.deferred, at, clean)
            reply(b"")
            return
        if step.event is None:
            reply(step.answer)
        elif step.event.name != "session_end" and not self._has_time_for_context():
            self._engine.troubles["context"] = "a session got no context: too many began at once"
            reply(step.answer)
        else:
            is_end = step.event.name == "session_end"
            self._start_task(
                self._answer_with_score(step.event, reply)
                if is_end
                else self._answer_with_context(step.event, step.task, reply)
            )
        if http:
            self._has_posts = True
        if (running := self._engine.last_session) is not None:
            self._note_activity(running)

    def _note_activity(self, running: RunningSession) -> None:
        if running.ended:
            self._idle.note_session_end()
        if running.transcript:
            self._tails.note_activity(running)
        if len(self._preparing) >= _MOST_PREPARING or running.cwd in self._preparing or self._pace.was_behind():
            return
        self._prepare_soon(running.cwd)

    def _prepare_soon(self, cwd: str) -> None:
        """Read what is known of a folder, if that was not done yet; what names files waits until no session starts."""
        is_known = self._hooks.is_prepared(cwd) and (self._contexts > 0 or self._hooks.can_name_files(cwd))
        if not is_known and cwd not in self._preparing:
            self._preparing.add(cwd)
            self._start_task(self._prepare(cwd))

    # More events than can be taken in at once.
    def _is_late(self, event: HookEvent) -> bool:
        """Whether an event has to wait: behind others of its session, or because this turn of the loop takes too long."""
        is_behind = self._pace.is_behind()
        if event.name == "session_start":
            return is_behind and not self._has_time_for_context()
        return is_behind or self._deferred.has((event.agent, event.session))

    def _has_time_for_context(self) -> bool:
        """Whether a context can be chosen; while more events come than can be taken in, only a few a second: the thread that
        chooses one takes the time of the loop."""
        if not self._pace.was_behind():
            return self._contexts < _MOST_CONTEXTS
        return not self._contexts and time.monotonic() - self._context_at > _CONTEXT_PAUSE

    def _defer(self, event: HookEvent, at: float, payload: CleanPayload) -> None:
        if not self._deferred.put((event.agent, event.session), at, payload):
            self._engine.counts["dropped"] += 1
            self._engine.troubles["dropped"] = (
                "too many events came at once; the transcripts still have the dropped ones"
            )
            return
        self._engine.counts["deferred"] += 1
        self._catch_up_soon()

    def _catch_up_soon(self) -> None:
        if not self._is_catching_up and len(self._deferred):
            self._is_catching_up = True
            asyncio.get_running_loop().call_soon(self._catch_up)

    def _catch_up(self) -> None:
        """Take deferred events in for a moment; requests come between two moments."""
        self._is_catching_up = False
        end = time.monotonic() + _SLICE_SECONDS
        while time.monotonic() < end and (found := self._deferred.first()) is not None:
            clean = CleanPayload(found.payload)  # as `_defer` stored it
            try:
                self._engine.take_event(found.agent, clean, found.at, RETRY_SECONDS, awaited=False)
            except Overrun:
                self._engine.counts["dropped"] += 1
            self._deferred.remove_first()
        self._catch_up_soon()

    async def _prepare(self, cwd: str) -> None:
        """Read the lessons of a folder, for a daemon that was started during a session, and what names its files."""
        loop = asyncio.get_running_loop()
        try:
            if not self._hooks.is_prepared(cwd):
                await loop.run_in_executor(self._slow, self._hooks.prepare_folder, cwd)
            if not self._contexts and not self._hooks.can_name_files(cwd):
                await loop.run_in_executor(self._slow, self._hooks.prepare_naming, cwd)
        except Exception as error:  # noqa: BLE001 - then no lessons are known
            self._engine.troubles["known"] = f"lessons cannot be read: {type(error).__name__}: {error}"[:300]
        finally:
            self._preparing.discard(cwd)

    def note_too_large(self, agent: str) -> None:
        self._engine.troubles["large"] = f"an event of `{agent}` was too large; the transcript still has it"

    async def _answer_with_context(self, event: HookEvent, task: str, reply: Reply) -> None:
        limit = CONTEXT_SECONDS if event.name == "session_start" else PROMPT_SECONDS
        context: HandedContext | None = None
        given_up = threading.Event()
        self._contexts += 1
        self._context_at = time.monotonic()
        try:
            loop = asyncio.get_running_loop()
            context = await asyncio.wait_for(
                loop.run_in_executor(self._slow, self._hooks.choose_context, event, task, given_up.is_set), limit
            )
        except TimeoutError:
            given_up.set()
            self._engine.troubles["context"] = f"a session got no context: reading lessons took over {limit:.1f} s"
        except Exception as error:  # noqa: BLE001 - the session begins without a context
            self._engine.troubles["context"] = f"a session got no context: {type(error).__name__}: {error}"[:300]
        else:
            self._engine.troubles.pop("context", None)
        finally:
            self._contexts -= 1
        reply(self._engine.put_off_context(event) if given_up.is_set() else self._engine.answer_start(event, context))
        self._prepare_soon(event.cwd)

    async def _answer_test(self, agent: str, reply: Reply) -> None:
        """Answer the test event of `preheat status`, which is about no session and counts nowhere."""
        answer = b""
        with suppress(Exception):  # without an answer the person is told that there was none
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._slow, self._hooks.answer_test, agent)
        reply(answer)

    async def _answer_with_score(self, event: HookEvent, reply: Reply) -> None:
        line = ""
        try:
            loop = asyncio.get_running_loop()
            line = await asyncio.wait_for(
                loop.run_in_executor(self._slow, self._hooks.describe_score, event), SCORE_SECONDS
            )
        except TimeoutError:
            pass  # `preheat sessions score` shows it later
        except Exception as error:  # noqa: BLE001 - the session ends without a score
            self._engine.troubles["score"] = f"a session was not scored: {type(error).__name__}: {error}"[:300]
        reply(self._engine.answer_end(event, line))

    def _start_task(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def health(self) -> bytes:
        """The status of the daemon as JSON."""
        return msgspec.json.encode(
            {
                "version": __version__,
                "pid": os.getpid(),
                "seconds": round(time.monotonic() - self._started_at, 1),
                "port": self._address.port,
                "sessions": len(self._engine.sessions.in_memory()),
                "rebuilt": self._engine.rebuilt,
                "waiting": len(self._spool.waiting()) + len(self._deferred),
                "lost": self._spool.lost,
                "learning": self._idle.is_running,
                "memory": _memory(),
                "connections": len(self._sockets) + len(self._posts),
                "closed_connections": self._sockets.dropped + self._posts.dropped,
                **self._engine.counts,
                "troubles": list(self._engine.troubles.values()),
            }
        )

    # Running and stopping.
    def stop(self, why: str) -> None:
        """Stop when open requests are answered."""
        self.stop_reason = self.stop_reason or why
        self._stopping.set()

    async def run(self, listening: "ListeningSockets", changed: Callable[[], str]) -> None:
        """Serve until stopped; `changed` gives the reason why another daemon should take over."""
        loop = asyncio.get_running_loop()
        with suppress(OSError):  # it was about the daemon before
            os.unlink(os.path.join(self._live, SLOW_FILE))
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._take_spooled()  # older than any new request
        self._catch_up()
        servers = [
            await loop.create_unix_server(
                lambda: SocketConnection(self, self._sockets), sock=listening.unix.dup(), backlog=ACCEPTED_AT_ONCE
            )
        ]
        if listening.http is not None:
            token = self._address.token
            servers.append(
                await loop.create_server(
                    lambda: HttpConnection(self, self._posts, token),
                    sock=listening.http.dup(),
                    backlog=ACCEPTED_AT_ONCE,
                )
            )
        for each in (listening.unix, listening.http):
            if each is not None:
                each.listen(BACKLOG)  # asyncio has one number for what waits and what is accepted at once
        self._engine.sessions.remove_old_files(time.time())
        while not self._stopping.is_set():
            self._tick(changed)
            try:
                await asyncio.wait_for(self._stopping.wait(), TICK_SECONDS)
            except TimeoutError:
                continue
        for server in servers:
            server.close()
        end = time.monotonic() + STOP_SECONDS
        await asyncio.sleep(0)  # for connections that were just accepted
        while (self.busy or self._tasks) and time.monotonic() < end:
            await asyncio.sleep(0.01)
        self._idle.stop()
        self._flush_now()
        self._slow.shutdown(wait=False, cancel_futures=True)

    def _tick(self, changed: Callable[[], str]) -> None:
        """Do the periodic work."""
        if hasattr(faulthandler, "dump_traceback_later"):
            faulthandler.dump_traceback_later(FROZEN_SECONDS, exit=True, file=self._log)
        now = time.monotonic()
        self._show_life()
        self._take_spooled()
        if now - self._started_at > TICK_SECONDS:  # not while a session waits for the first answer
            self._hooks.load_judge()
            self._hooks.load_agent()
        if now - self._flushed_at >= FLUSH_SECONDS and not self._is_flushing:
            self._flushed_at = now
            self._start_task(self._flush())
        if not self._is_reading:
            self._start_task(self._read_transcripts())
        if self._engine.sessions.new_files > _NEW_FILES:
            self._engine.sessions.new_files = 0
            self._slow.submit(self._engine.sessions.remove_old_files, time.time())
        if self._idle.start_if_due(now, self._last_event, self._engine.counts["events"]):
            self._hooks.clear_folders()
        if why := changed():
            self.stop(why)
        elif now - self._last_event > self._exit_after() and not (self._idle.is_running or len(self._deferred)):
            self.stop("idle")
        self._log_troubles()

    def _show_life(self) -> None:
        """Tell clients, one of which got no answer in time, that this daemon is alive: else they replace it."""
        path = os.path.join(self._live, SLOW_FILE)
        with suppress(OSError):
            accused = os.stat(path)
            if not accused.st_size:
                write_atomically(path, b"alive\n")
                os.utime(path, ns=(accused.st_atime_ns, accused.st_mtime_ns))

    def _exit_after(self) -> float:
        is_running = self._has_posts and any(not each.ended for each in self._engine.sessions.in_memory()[-20:])
        return self._times.exit_after_posts if is_running else self._times.exit_after

    def _take_spooled(self) -> None:
        end = time.monotonic() + _SPOOL_SECONDS
        self._spool.collect_lost()
        for name in self._spool.waiting():
            if time.monotonic() > end:
                return
            found = self._spool.take(name)
            if found is None:
                continue
            try:
                self._engine.take_event(found.agent, found.payload, found.at, RETRY_SECONDS, awaited=False)
            except Overrun:
                self._spool.lost += 1
            self._spool.remove(name)

    async def _read_transcripts(self) -> None:
        loop = asyncio.get_running_loop()
        self._is_reading = True
        try:
            for running in self._tails.due_sessions(time.monotonic()):
                found = await loop.run_in_executor(self._slow, self._tails.read_update, running)
                events = self._tails.unreported_failures(
                    found, self._engine.sessions.get(running.agent, running.session)
                )
                if events:
                    self._engine.record_transcript_events(running, events, time.time())
        except Exception as error:  # noqa: BLE001 - hooks are enough to continue
            self._engine.troubles["transcript"] = f"a transcript cannot be followed: {type(error).__name__}: {error}"[
                :300
            ]
        finally:
            self._is_reading = False

    async def _flush(self) -> None:
        seq = self._engine.journal.seq
        write = self._engine.sessions.prepare_flush()
        self._is_flushing = True
        try:
            await asyncio.get_running_loop().run_in_executor(self._slow, self._write_all, write)
            self._note_flushed(seq)
        except OSError as error:
            self._note_flush_failed(error)
        finally:
            self._is_flushing = False

    def _flush_now(self) -> None:
        seq = self._engine.journal.seq
        try:
            self._write_all(self._engine.sessions.prepare_flush())
            self._note_flushed(seq)
            self._engine.journal.close()
        except OSError as error:
            self._note_flush_failed(error)

    def _write_all(self, write: Callable[[], None]) -> None:
        write()
        seen = dict(self._engine.last_events)
        if seen != self._seen:
            write_atomically(os.path.join(self._live, LAST_SEEN_FILE), msgspec.json.encode(seen))
            self._seen = seen

    def _note_flushed(self, seq: int) -> None:
        if self._engine.sessions.is_complete:
            self._engine.journal.mark_flushed(seq)
        self._engine.troubles.pop("sessions", None)

    def _note_flush_failed(self, error: OSError) -> None:
        self._engine.sessions.mark_unwritten()
        self._engine.troubles["sessions"] = f"the sessions' files cannot be written: {error.strerror}"

    def _log_troubles(self) -> None:
        for name, text in self._engine.troubles.items():
            if self._logged.get(name) != text:
                self._logged[name] = text
                write_line(self._log, text)


def write_line(log: IO[str], text: str) -> None:
    """Add a line to the log, if the disk has room for it."""
    with suppress(OSError):
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}", file=log, flush=True)


class ListeningSockets(NamedTuple):
    """The sockets, which a new daemon takes over from its predecessor."""

    unix: Any
    http: Any | None


def _load_last_seen(live: str) -> dict[str, dict[str, str | float]]:
    """The last event of each agent, as earlier daemons stored them."""
    try:
        return msgspec.json.decode(
            read_file(os.path.join(live, LAST_SEEN_FILE)), type=dict[str, dict[str, str | float]]
        )
    except (OSError, msgspec.DecodeError):
        return {}


def _memory() -> int:
    """Bytes of memory that the process uses; 0 where that is not known."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
