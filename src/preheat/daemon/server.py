"""The daemon's loop: requests in, answers out, and what is due from time to time. Knows no agent and no signal.

Quick things are done where they come in, because they take less time than handing them over. What reads the archive or a
transcript is done by two other threads, and longer work by another process.
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
from preheat.app.live.hooks import Given, Hooks
from preheat.app.live.running import Running
from preheat.app.machine.daemon import SEEN, Address
from preheat.daemon.budget import Overrun
from preheat.daemon.engine import LATER, Engine
from preheat.daemon.idle import Idle
from preheat.daemon.spool import Spool
from preheat.daemon.tail import Tails
from preheat.daemon.wire import HttpConnection, Reply, SocketConnection
from preheat.files import write_whole
from preheat.model.live import HookEvent

TICK = 1.0
FROZEN = 15.0
"""Seconds after which a loop that does not go on is ended from outside; the next hook starts a new daemon."""
CONTEXT = 2.2
"""Seconds that a context may take at a session's start; a prompt waits for it only `PROMPT`."""
PROMPT = 0.8
SCORE = 0.7
"""Seconds that a session's scorecard may take at its end."""
BACKLOG = 512
FLUSH = 2.0
_SPOOLED = 0.3
"""Seconds at a time for events that waited."""
_IN_FLIGHT = 3.0


class Times(NamedTuple):
    """How long the daemon waits for what; a person may change these."""

    exit_after: float = 1800.0
    """Seconds without an event after which it ends."""
    exit_after_posts: float = 8 * 3600.0
    """The same while a session that posts goes on: a post cannot start a daemon."""
    idle_after: float = 60.0
    idle_again: float = 600.0


class Server:
    """One daemon."""

    def __init__(self, live: str, engine: Engine, hooks: Hooks, address: Address, log: IO[str], times: Times) -> None:
        self._live = live
        self._engine = engine
        self._hooks = hooks
        self._address = address
        self._log = log
        self._times = times
        self._spool = Spool(os.path.join(live, "spool"))
        self._tails = Tails(hooks)
        engine.full = self._tails.full
        engine.seen.update(_seen_before(live))
        self._idle = Idle(log.fileno(), times.idle_after, times.idle_again)
        self._slow = ThreadPoolExecutor(2, "slow")
        self._tasks: set[asyncio.Task[None]] = set()
        self._began = self._last_event = time.monotonic()
        self._flushed_at = 0.0
        self._flushing = self._looking = False
        self._posted = False
        self._seen = dict(engine.seen)
        self._preparing: set[str] = set()
        self._stopping = asyncio.Event()
        self._said: dict[str, str] = {}
        self.busy = 0
        """Requests that are not answered yet."""
        self.why = ""
        """Why it stopped."""

    # Requests.
    def receive(self, agent: str, payload: bytes, reply: Reply, http: bool) -> None:
        """A hook. It is answered now, or when its context is there."""
        self._last_event = time.monotonic()
        at = time.time()
        try:
            step = self._engine.take(agent, payload, at)
        except Overrun:
            self._spool.put(agent, at, payload)
            reply(b"")
            return
        if step.event is None:
            reply(step.answer)
        else:
            ends = step.event.name == "session_end"
            self._begin(
                self._with_score(step.event, reply) if ends else self._with_context(step.event, step.task, reply)
            )
        if http:
            self._posted = True
        if (running := self._engine.touched) is not None:
            self._heard_of(running)

    def _heard_of(self, running: Running) -> None:
        if running.ended:
            self._idle.ended()
        if running.transcript:
            self._tails.heard_of(running)
        if running.cwd not in self._preparing and not self._hooks.prepared(running.cwd):
            self._preparing.add(running.cwd)
            self._begin(self._prepare(running.cwd))

    async def _prepare(self, cwd: str) -> None:
        """A daemon that was started in the middle of a session has not read what is known there."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._slow, self._hooks.prepare, cwd)
        except Exception as error:  # noqa: BLE001 - nothing is known then
            self._engine.trouble["known"] = f"what was learned cannot be read: {type(error).__name__}: {error}"[:300]
        finally:
            self._preparing.discard(cwd)

    def too_large(self, agent: str) -> None:
        self._engine.trouble["large"] = (
            f"an event of `{agent}` was too large to be looked at; the transcript still has it"
        )

    async def _with_context(self, event: HookEvent, task: str, reply: Reply) -> None:
        limit = CONTEXT if event.name == "session_start" else PROMPT
        given: Given | None = None
        try:
            loop = asyncio.get_running_loop()
            given = await asyncio.wait_for(loop.run_in_executor(self._slow, self._hooks.context, event, task), limit)
        except TimeoutError:
            self._engine.trouble["context"] = (
                f"a session was given nothing: reading what was learned took over {limit:.1f} s"
            )
        except Exception as error:  # noqa: BLE001 - the session begins without
            self._engine.trouble["context"] = f"a session was given nothing: {type(error).__name__}: {error}"[:300]
        else:
            self._engine.trouble.pop("context", None)
        reply(self._engine.start(event, given))

    async def _with_score(self, event: HookEvent, reply: Reply) -> None:
        line = ""
        try:
            loop = asyncio.get_running_loop()
            line = await asyncio.wait_for(loop.run_in_executor(self._slow, self._hooks.scored, event), SCORE)
        except TimeoutError:
            pass  # `preheat scorecard` tells it to whoever asks
        except Exception as error:  # noqa: BLE001 - a session ends without
            self._engine.trouble["score"] = f"a session was not scored: {type(error).__name__}: {error}"[:300]
        reply(self._engine.end(event, line))

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def health(self) -> bytes:
        """Who is here and how it goes."""
        return msgspec.json.encode(
            {
                "version": __version__,
                "pid": os.getpid(),
                "seconds": round(time.monotonic() - self._began, 1),
                "port": self._address.port,
                "sessions": len(self._engine.sessions.held()),
                "rebuilt": self._engine.rebuilt,
                "waiting": len(self._spool.waiting()),
                "lost": self._spool.lost,
                "learning": self._idle.busy,
                "memory": _memory(),
                **self._engine.count,
                "troubles": list(self._engine.trouble.values()),
            }
        )

    # Its life.
    def stop(self, why: str) -> None:
        """End when what is in flight is answered."""
        self.why = self.why or why
        self._stopping.set()

    async def run(self, listening: "Listening", changed: Callable[[], str]) -> None:
        """Serve until there is nobody left to serve; `changed` says why another daemon should take over."""
        loop = asyncio.get_running_loop()
        self._take_spooled()  # what waited came first
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
        self._engine.sessions.clean(time.time())
        while not self._stopping.is_set():
            self._tick(changed)
            try:
                await asyncio.wait_for(self._stopping.wait(), TICK)
            except TimeoutError:
                continue
        for server in servers:
            server.close()
        end = time.monotonic() + _IN_FLIGHT
        await asyncio.sleep(0)  # connections that were just accepted
        while (self.busy or self._tasks) and time.monotonic() < end:
            await asyncio.sleep(0.01)
        self._idle.stop()
        self._flush_now()
        self._slow.shutdown(wait=False, cancel_futures=True)

    def _tick(self, changed: Callable[[], str]) -> None:
        """What is due from time to time."""
        if hasattr(faulthandler, "dump_traceback_later"):
            faulthandler.dump_traceback_later(FROZEN, exit=True, file=self._log)
        now = time.monotonic()
        self._take_spooled()
        if now - self._flushed_at >= FLUSH and not self._flushing:
            self._flushed_at = now
            self._begin(self._flush())
        if not self._looking:
            self._begin(self._look_at_transcripts())
        if self._idle.look(now, self._last_event, self._engine.count["events"]):
            self._hooks.forget()
        if why := changed():
            self.stop(why)
        elif now - self._last_event > self._patience() and not self._idle.busy:
            self.stop("idle")
        self._say_troubles()

    def _patience(self) -> float:
        goes_on = self._posted and any(not each.ended for each in self._engine.sessions.held()[-20:])
        return self._times.exit_after_posts if goes_on else self._times.exit_after

    def _take_spooled(self) -> None:
        end = time.monotonic() + _SPOOLED
        for name in self._spool.waiting():
            if time.monotonic() > end:
                return
            found = self._spool.take(name)
            if found is None:
                continue
            try:
                self._engine.take(found.agent, found.payload, found.at, LATER, answered=False)
            except Overrun:
                self._spool.lost += 1
            self._spool.done(name)

    async def _look_at_transcripts(self) -> None:
        loop = asyncio.get_running_loop()
        self._looking = True
        try:
            for running in self._tails.due(time.monotonic()):
                found = await loop.run_in_executor(self._slow, self._tails.look, running)
                events = self._tails.told(found, self._engine.sessions.get(running.agent, running.session))
                if events:
                    self._engine.found(running, events, time.time())
        except Exception as error:  # noqa: BLE001 - what hooks tell is enough to go on
            self._engine.trouble["transcript"] = f"a transcript cannot be followed: {type(error).__name__}: {error}"[
                :300
            ]
        finally:
            self._looking = False

    async def _flush(self) -> None:
        seq = self._engine.journal.seq
        write = self._engine.sessions.flush()
        self._flushing = True
        try:
            await asyncio.get_running_loop().run_in_executor(self._slow, self._written, write)
            self._flushed(seq)
        except OSError as error:
            self._not_flushed(error)
        finally:
            self._flushing = False

    def _flush_now(self) -> None:
        seq = self._engine.journal.seq
        try:
            self._written(self._engine.sessions.flush())
            self._flushed(seq)
            self._engine.journal.close()
        except OSError as error:
            self._not_flushed(error)

    def _written(self, write: Callable[[], None]) -> None:
        write()
        seen = dict(self._engine.seen)
        if seen != self._seen:
            write_whole(os.path.join(self._live, SEEN), msgspec.json.encode(seen))
            self._seen = seen

    def _flushed(self, seq: int) -> None:
        if self._engine.sessions.whole:
            self._engine.journal.mark_flushed(seq)
        self._engine.trouble.pop("sessions", None)

    def _not_flushed(self, error: OSError) -> None:
        self._engine.sessions.unwritten()
        self._engine.trouble["sessions"] = f"the sessions' files cannot be written: {error.strerror}"

    def _say_troubles(self) -> None:
        for name, text in self._engine.trouble.items():
            if self._said.get(name) != text:
                self._said[name] = text
                print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}", file=self._log, flush=True)


class Listening(NamedTuple):
    """The sockets, which a daemon that takes over gets from the one before."""

    unix: Any
    http: Any | None


def _seen_before(live: str) -> dict[str, dict[str, str | float]]:
    """The last events that earlier daemons saw."""
    try:
        with open(os.path.join(live, SEEN), "rb") as stream:
            return msgspec.json.decode(stream.read(), type=dict[str, dict[str, str | float]])
    except (OSError, msgspec.DecodeError):
        return {}


def _memory() -> int:
    """Bytes that the process holds; 0 where that cannot be told."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
