"""The daemon's loop: takes requests, answers them, and does periodic work. Knows no agent and no signal.

An event is handled in the loop itself, which is faster than a thread. Reading the archive or a transcript is done by two threads,
longer work by another process.
"""

import asyncio
import faulthandler
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, NamedTuple

import msgspec

from preheat import __version__
from preheat.app.daemon import LAST_SEEN_FILE, Address
from preheat.app.live.hooks import HandedContext, Hooks
from preheat.app.live.running import RunningSession
from preheat.daemon.engine import RETRY_SECONDS, Engine, Overrun
from preheat.daemon.idle import IdleWork
from preheat.daemon.journal import Spool
from preheat.daemon.tail import TranscriptTails
from preheat.daemon.wire import HttpConnection, Reply, SocketConnection
from preheat.files import write_atomically
from preheat.model.live import HookEvent

TICK_SECONDS = 1.0
FROZEN_SECONDS = 15.0
"""Seconds after which a hanging loop is ended; the next hook starts a new daemon."""
CONTEXT_SECONDS = 2.2
"""Seconds that a context may take at the start of a session; with a prompt `PROMPT_SECONDS`."""
PROMPT_SECONDS = 0.8
SCORE_SECONDS = 0.7
"""Seconds that a scorecard may take at the end of a session."""
BACKLOG = 512
FLUSH_SECONDS = 2.0
_SPOOL_SECONDS = 0.3
"""Seconds per tick for spooled events."""
_STOP_SECONDS = 3.0


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
        self.busy = 0
        """Requests that are not answered yet."""
        self.stop_reason = ""
        """Why the daemon stopped."""

    # Requests.
    def receive(self, agent: str, payload: bytes, reply: Reply, http: bool) -> None:
        """Take a hook; it is answered now, or when its context or scorecard is ready."""
        self._last_event = time.monotonic()
        at = time.time()
        try:
            step = self._engine.take_event(agent, payload, at)
        except Overrun:
            self._spool.put(agent, at, payload)
            reply(b"")
            return
        if step.event is None:
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
        if running.cwd not in self._preparing and not self._hooks.is_prepared(running.cwd):
            self._preparing.add(running.cwd)
            self._start_task(self._prepare(running.cwd))

    async def _prepare(self, cwd: str) -> None:
        """Read the lessons of a folder, for a daemon that was started during a session."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._slow, self._hooks.prepare_folder, cwd)
        except Exception as error:  # noqa: BLE001 - then no lessons are known
            self._engine.troubles["known"] = f"lessons cannot be read: {type(error).__name__}: {error}"[:300]
        finally:
            self._preparing.discard(cwd)

    def note_too_large(self, agent: str) -> None:
        self._engine.troubles["large"] = f"an event of `{agent}` was too large; the transcript still has it"

    async def _answer_with_context(self, event: HookEvent, task: str, reply: Reply) -> None:
        limit = CONTEXT_SECONDS if event.name == "session_start" else PROMPT_SECONDS
        context: HandedContext | None = None
        try:
            loop = asyncio.get_running_loop()
            context = await asyncio.wait_for(
                loop.run_in_executor(self._slow, self._hooks.choose_context, event, task), limit
            )
        except TimeoutError:
            self._engine.troubles["context"] = f"a session got no context: reading lessons took over {limit:.1f} s"
        except Exception as error:  # noqa: BLE001 - the session begins without a context
            self._engine.troubles["context"] = f"a session got no context: {type(error).__name__}: {error}"[:300]
        else:
            self._engine.troubles.pop("context", None)
        reply(self._engine.answer_start(event, context))

    async def _answer_with_score(self, event: HookEvent, reply: Reply) -> None:
        line = ""
        try:
            loop = asyncio.get_running_loop()
            line = await asyncio.wait_for(
                loop.run_in_executor(self._slow, self._hooks.describe_score, event), SCORE_SECONDS
            )
        except TimeoutError:
            pass  # `preheat scorecard` shows it later
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
                "waiting": len(self._spool.waiting()),
                "lost": self._spool.lost,
                "learning": self._idle.is_running,
                "memory": _memory(),
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
        self._take_spooled()  # older than any new request
        servers = [
            await loop.create_unix_server(lambda: SocketConnection(self), sock=listening.unix.dup(), backlog=BACKLOG)
        ]
        if listening.http is not None:
            token = self._address.token
            servers.append(
                await loop.create_server(
                    lambda: HttpConnection(self, token), sock=listening.http.dup(), backlog=BACKLOG
                )
            )
        self._engine.sessions.remove_old_files(time.time())
        while not self._stopping.is_set():
            self._tick(changed)
            try:
                await asyncio.wait_for(self._stopping.wait(), TICK_SECONDS)
            except TimeoutError:
                continue
        for server in servers:
            server.close()
        end = time.monotonic() + _STOP_SECONDS
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
        self._take_spooled()
        if now - self._flushed_at >= FLUSH_SECONDS and not self._is_flushing:
            self._flushed_at = now
            self._start_task(self._flush())
        if not self._is_reading:
            self._start_task(self._read_transcripts())
        if self._idle.start_if_due(now, self._last_event, self._engine.counts["events"]):
            self._hooks.clear_folders()
        if why := changed():
            self.stop(why)
        elif now - self._last_event > self._exit_after() and not self._idle.is_running:
            self.stop("idle")
        self._log_troubles()

    def _exit_after(self) -> float:
        is_running = self._has_posts and any(not each.ended for each in self._engine.sessions.in_memory()[-20:])
        return self._times.exit_after_posts if is_running else self._times.exit_after

    def _take_spooled(self) -> None:
        end = time.monotonic() + _SPOOL_SECONDS
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
                print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}", file=self._log, flush=True)


class ListeningSockets(NamedTuple):
    """The sockets, which a new daemon takes over from its predecessor."""

    unix: Any
    http: Any | None


def _load_last_seen(live: str) -> dict[str, dict[str, str | float]]:
    """The last event of each agent, as earlier daemons stored them."""
    try:
        with open(os.path.join(live, LAST_SEEN_FILE), "rb") as stream:
            return msgspec.json.decode(stream.read(), type=dict[str, dict[str, str | float]])
    except (OSError, msgspec.DecodeError):
        return {}


def _memory() -> int:
    """Bytes of memory that the process uses; 0 where that is not known."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
