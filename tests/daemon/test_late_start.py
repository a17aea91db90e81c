"""A session whose start got no answer gets its context once, with the next event that can carry it, and that is recorded then."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import preheat.daemon.server as serving
from preheat import daemon_client
from preheat.app.daemon import Address
from preheat.app.live.hooks import HandedContext, Hooks
from preheat.daemon.engine import Engine
from preheat.daemon.journal import Journal
from preheat.model.live import HookEvent
from tests.daemon.builders import (
    AGENT,
    PatientTimeLimit,
    daemon,
    edited,
    install_client,
    learned,
    no_start,
    prompted,
    ran,
    run_client,
    spooled_files,
    started,
    stopped,
)
from tests.waiting import until


@pytest.fixture
def project(tmp_path: Path) -> str:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return str(tmp_path / "shop")


@pytest.fixture
def folder(tmp_path: Path, project: str, each_client: str) -> str:
    data = str(tmp_path / "data")
    learned(data, project, str(tmp_path / "home"))
    return data


def make_engine(folder: str) -> Engine:
    return Engine(daemon_client.prepare_folder(folder), Hooks(folder), PatientTimeLimit())


def has_context(answer: bytes) -> bool:
    return b"<preheat-context" in answer


def contexts_in_journal(folder: str) -> list[float]:
    """When contexts were given, by the journal."""
    return [each.at for each in Journal(os.path.join(folder, "live", "journal")).replay(0) if each.context]


def test_the_next_event_brings_the_context_that_the_start_did_not(folder: str, project: str) -> None:
    one = make_engine(folder)
    one.take_event(AGENT, started(cwd=project), 10.0, awaited=False)
    assert contexts_in_journal(folder) == []
    assert has_context(one.handle(AGENT, edited(1, "src/a.py", cwd=project), 20.0))
    assert contexts_in_journal(folder) == [20.0]
    for number in (2, 3):
        assert not has_context(one.handle(AGENT, edited(number, "src/a.py", cwd=project), 20.0 + number))
    assert not has_context(one.handle(AGENT, prompted("go on", cwd=project), 30.0))


def test_an_event_that_can_carry_no_text_leaves_the_context_to_the_next(folder: str, project: str) -> None:
    one = make_engine(folder)
    one.take_event(AGENT, started(cwd=project), 10.0, awaited=False)
    assert not has_context(one.handle(AGENT, stopped(cwd=project), 20.0))
    assert has_context(one.handle(AGENT, prompted("mend the login", cwd=project), 30.0))
    assert contexts_in_journal(folder) == [30.0]


def test_a_context_that_came_too_late_for_its_client_is_given_again(folder: str, project: str) -> None:
    """The daemon answered, but nobody heard it: the client has spooled the event."""
    one = make_engine(folder)
    assert has_context(one.handle(AGENT, started(cwd=project), 10.0))
    one.take_event(AGENT, started(cwd=project), 10.0, awaited=False)
    assert has_context(one.handle(AGENT, ran(1, "ls", cwd=project), 20.0))
    assert not has_context(one.handle(AGENT, ran(2, "ls -l", cwd=project), 21.0))


def test_a_resumed_session_that_has_its_context_gets_no_other(folder: str, project: str) -> None:
    one = make_engine(folder)
    assert has_context(one.handle(AGENT, started(cwd=project), 10.0))
    one.handle(AGENT, prompted("mend the login", cwd=project), 11.0)
    one.take_event(AGENT, started(source="resume", cwd=project), 20.0, awaited=False)
    assert not has_context(one.handle(AGENT, edited(1, "src/a.py", cwd=project), 30.0))


def test_a_new_daemon_knows_that_a_context_is_due(folder: str, project: str) -> None:
    make_engine(folder).take_event(AGENT, started(cwd=project), 10.0, awaited=False)
    one = make_engine(folder)
    assert has_context(one.handle(AGENT, edited(1, "src/a.py", cwd=project), 20.0))
    assert not has_context(make_engine(folder).handle(AGENT, edited(2, "src/a.py", cwd=project), 21.0))


def test_where_there_is_nothing_to_give_it_is_looked_for_once(tmp_path: Path) -> None:
    one = make_engine(str(tmp_path / "data"))
    one.take_event(AGENT, started(cwd=str(tmp_path)), 10.0, awaited=False)
    result = one.take_event(AGENT, edited(1, "src/a.py", cwd=str(tmp_path)), 20.0)
    assert result.event is not None
    assert one.answer_start(result.event, None) == b""
    assert one.take_event(AGENT, edited(2, "src/a.py", cwd=str(tmp_path)), 30.0).event is None


def test_a_session_that_began_without_a_daemon_gets_its_context_from_the_next_hook(folder: str, project: str) -> None:
    client = install_client(folder, no_start())
    assert run_client(client, started(cwd=project)) == b""
    assert len(spooled_files(folder)) == 1
    with daemon(folder):
        until(lambda: not spooled_files(folder), "the start in the daemon's state")
        answer = run_client(client, edited(1, "src/a.py", cwd=project))
        assert has_context(json.loads(answer)["hookSpecificOutput"]["additionalContext"].encode())
        assert run_client(client, edited(2, "src/a.py", cwd=project)) == b""


def test_a_daemon_that_was_killed_before_it_answered_is_made_good_by_the_next(folder: str, project: str) -> None:
    """The start is in the journal, and its client has spooled it, because no answer came."""
    assert make_engine(folder).take_event(AGENT, started(cwd=project), 10.0).event is not None
    one = make_engine(folder)
    one.take_event(AGENT, started(cwd=project), 10.0, awaited=False)
    assert has_context(one.handle(AGENT, prompted("mend the login", cwd=project), 20.0))


class SlowHooks(Hooks):
    """Takes longer to find a context than a hook waits, the first time or always."""

    def __init__(self, folder: str, is_slow: Callable[[], bool]) -> None:
        super().__init__(folder)
        self._is_slow = is_slow
        self.given_up: list[bool] = []

    def choose_context(
        self, event: HookEvent, task: str, is_given_up: Callable[[], bool] = lambda: False
    ) -> HandedContext | None:
        if self._is_slow():
            until(is_given_up, "that nobody waits any more")
        self.given_up.append(is_given_up())
        return super().choose_context(event, task, is_given_up)


@pytest.mark.parametrize("delays", [1, 2])
async def test_a_context_that_takes_too_long_comes_with_the_next_event_or_not_at_all(
    folder: str, project: str, delays: int, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    monkeypatch.setattr(serving, "CONTEXT_SECONDS", 0.05)
    monkeypatch.setattr(serving, "PROMPT_SECONDS", 0.05 if delays == 2 else 600.0)
    calls = iter(range(100))
    hooks = SlowHooks(folder, lambda: next(calls) < delays)
    engine = Engine(daemon_client.prepare_folder(folder), hooks, PatientTimeLimit())
    with open(os.devnull, "w") as log:
        server = serving.Server(os.path.join(folder, "live"), engine, hooks, Address(1, ""), log, serving.Timeouts())
        answers: list[bytes] = []

        async def ask(payload: bytes) -> None:
            before = len(answers)
            server.receive(AGENT, payload, answers.append, False)
            while len(answers) == before:
                await asyncio.sleep(0.01)

        await ask(started(cwd=project))
        await ask(edited(1, "src/a.py", cwd=project))
        await ask(edited(2, "src/a.py", cwd=project))
        server._slow.shutdown()
    assert [has_context(each) for each in answers] == [False, delays == 1, False]
    assert sorted(hooks.given_up) == [delays == 2, True]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


pytestmark = pytest.mark.anyio
