"""The plugin for Hermes alone: what it reports, where it inserts answers, and that its failures never reach Hermes."""

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as every
from hypothesis import strategies as st

from preheat.agents.hermes import plugin
from preheat.agents.hermes.hooks import read
from preheat.agents.hermes.plugin import commands, daemon
from preheat.agents.hermes.plugin.daemon import STRIKES, Daemon, Program
from preheat.agents.hermes.plugin.watcher import (
    ADVISORY,
    REVIEW,
    SessionWatcher,
)
from preheat.model.live import HookAnswer, HookEvent
from preheat.testing.hooks import ChooseAnswer, ListeningDaemon, RawAnswer
from tests.daemon.builders import end_started, install_client, no_start, spooled_files
from tests.waiting import HUNG, until

FOLDER = os.path.dirname(os.path.abspath(plugin.__file__))
WITH_SETTINGS = os.path.basename(daemon.__file__)
ADVICE = "<preheat-advisory>`make test` works here.</preheat-advisory>"
SEEDS = ({"role": "user", "content": "Seen before."}, {"role": "assistant", "content": "Noted."})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def text_of(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as stream:
        return stream.read()


# Imports and registration.
@pytest.mark.parametrize("name", sorted(name for name in os.listdir(FOLDER) if name.endswith(".py")))
def test_the_plugin_imports_only_the_standard_library(name: str) -> None:
    """Preheat cannot be imported in Hermes's own folder. The one exception is an import inside a function, which may fail."""
    for node in ast.walk(ast.parse(text_of(name))):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for each in names:
            assert each.partition(".")[0] in sys.stdlib_module_names or (name, each) == (
                WITH_SETTINGS,
                "preheat.settings",
            )


def test_the_plugins_folder_loads_without_preheat(tmp_path: Path) -> None:
    """Loaded as Hermes does: by its path, under a name of Hermes's own, in an interpreter with the standard library only."""
    code = f"""
import importlib.util, sys, types
sys.modules["hermes_plugins"] = types.ModuleType("hermes_plugins")
sys.modules["hermes_plugins"].__path__ = []
path = {os.path.join(FOLDER, "__init__.py")!r}
spec = importlib.util.spec_from_file_location("hermes_plugins.preheat", path, submodule_search_locations=[{FOLDER!r}])
module = importlib.util.module_from_spec(spec)
sys.modules["hermes_plugins.preheat"] = module
spec.loader.exec_module(module)
class Context:
    names = []
    def register_hook(self, name, callback): self.names.append(name); callback(session_id="s", user_message="x", result=3)
    def register_middleware(self, kind, callback): self.names.append(kind); callback(request=[], session_id="s")
module.register(Context())
assert not any(name.partition(".")[0] == "preheat" for name in sys.modules), "Preheat was imported"
print(" ".join(Context.names))
"""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["pre_llm_call", "pre_tool_call", "post_tool_call"]
    assert "llm_request" in done.stdout


def test_plugin_yaml_names_the_registered_hooks() -> None:
    """Hermes shows `plugin.yaml` before it loads anything."""
    import yaml

    description = yaml.safe_load(text_of("plugin.yaml"))
    assert set(description["provides_hooks"]) == set(SessionWatcher(Daemon(Program("python"), "")).hooks())
    assert description["name"] == "preheat"


class Context:
    """What Hermes gives a plugin to register with, without the methods in `fails`."""

    def __init__(self, *fails: str) -> None:
        self._fails = fails
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("register_") or name in self._fails:
            raise AttributeError(name)

        def register(*arguments: Any, **more: Any) -> None:
            self.done.append(f"{name} {arguments[0] if arguments else more.get('name')}")

        return register


def test_what_an_older_hermes_lacks_is_not_registered() -> None:
    """An older Hermes has no middleware: the hooks are still registered. A Hermes without any method is no error."""
    whole, old, none = Context(), Context("register_middleware"), Context("register_hook", "register_middleware")
    for context in (whole, old, none):
        plugin.register(context)
    assert [each for each in whole.done if each not in old.done] == ["register_middleware llm_request"]
    assert "register_hook pre_llm_call" in old.done
    assert not [each for each in none.done if "hook" in each]


def test_everything_is_registered_with_a_current_hermes(caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be registered is only logged, so that a name that is wrong in the plugin itself would go unnoticed."""
    caplog.set_level("INFO")
    plugin.register(Context())
    assert [record.getMessage() for record in caplog.records if record.name == plugin.__name__] == []


def test_a_template_loaded_in_a_chat_comes_with_the_next_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command and the callback for a turn are connected by `register`."""
    callbacks: dict[str, Any] = {}
    context = Context()
    monkeypatch.setattr(context, "register_hook", callbacks.__setitem__, raising=False)
    monkeypatch.setattr(Daemon, "ask", lambda *arguments, **more: {})
    plugin.register(context)
    monkeypatch.setitem(commands._pending, "s1", "A template.")
    turn = {"session_id": "s1", "user_message": "Go on", "is_first_turn": False}
    assert callbacks["pre_llm_call"](**turn) == {"context": "A template."}
    assert callbacks["pre_llm_call"](**turn) is None


def test_nothing_is_registered_in_a_session_that_preheat_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_RUN", "1")
    context = Context()
    plugin.register(context)
    assert context.done == []


# Reporting events.
class Patient(Daemon):
    """The plugin's connection to a daemon without a time limit, so that a busy machine does not change the result."""

    def ask(self, event: dict[str, Any], seconds: float = 0.0, start: bool = False) -> dict[str, Any]:
        return super().ask(event, HUNG, start)


class Counting(Daemon):
    """The connection with its own limits, which counts how often an answer was waited for."""

    waited = 0

    def _send(self, payload: bytes, end: float) -> bytes:
        self.waited += 1
        return super()._send(payload, end)


class Connected:
    """A plugin and the daemon that it is connected to."""

    def __init__(self, listening: ListeningDaemon, folder: str, line: type[Daemon] = Patient) -> None:
        self.listening = listening
        self.daemon = line(Program(sys.executable), folder)
        self.watcher = SessionWatcher(self.daemon)

    def settle(self) -> None:
        """Wait for the hook clients that were started."""
        for client in self.daemon._clients:
            client.wait(HUNG)

    def hook(self, name: str, **event: Any) -> Any:
        event = {"session_id": "s1", "task_id": "t1", "turn_id": "s1:t1:ab", "telemetry_schema_version": "x", **event}
        return self.watcher.hooks()[name](**event)

    def call(
        self, number: int, tool: str = "terminal", result: Any = None, transformed: Any = True, **more: Any
    ) -> Any:
        """Report a call as Hermes does; returns what is shown to the model."""
        result = json.dumps({"output": "", "exit_code": 0, "error": None}) if result is None else result
        event = {
            "tool_name": tool, "args": {"command": f"echo {number}"}, "tool_call_id": f"c{number}",
            "api_request_id": f"r{number}", **more,
        }  # fmt: skip
        refused = self.hook("pre_tool_call", **event)
        self.hook("post_tool_call", **event, result=result, duration_ms=3, status="ok")
        if not transformed or refused:
            return refused
        return self.hook("transform_tool_result", **event, result=result, duration_ms=3, status="ok")

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.listening.events]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder whose path is too long for a socket."""
    return str(tmp_path / ("long" * 30))


def connected(folder: str, answering: ChooseAnswer, line: type[Daemon] = Patient) -> Iterator[Connected]:
    with ListeningDaemon(make_short_link(folder), "hermes", answering) as listening:
        found = Connected(listening, folder, line)
        yield found
        listening.end()
        found.settle()


def make_short_link(folder: str) -> str:
    """The same folder by a name that a socket can be made at."""
    link = f"{os.path.dirname(folder)}/l"
    os.makedirs(folder)
    os.symlink(folder, link)
    return link


def advise(event: HookEvent) -> HookAnswer:
    return HookAnswer(context=f"<preheat-advisory>{event.host_event} {event.call_id}</preheat-advisory>")


@pytest.fixture
def silent(folder: str) -> Iterator[Connected]:
    yield from connected(folder, lambda event: HookAnswer())


@pytest.fixture
def advised(folder: str) -> Iterator[Connected]:
    yield from connected(folder, advise)


def test_every_event_of_a_session_is_reported_once(silent: Connected) -> None:
    """The start with its task, each call once though Hermes reports it twice, the end of a turn and of the session. Without
    answers nothing is changed."""
    assert silent.hook("pre_llm_call", user_message="Do it", is_first_turn=True, platform="cli") is None
    assert silent.call(1) is None
    assert silent.call(2, "read_file", '{"content": "x"}') is None
    silent.hook("on_session_end", completed=True)
    silent.hook("pre_llm_call", user_message="And this", is_first_turn=False, platform="cli")
    silent.hook("on_session_finalize", platform="cli", reason="shutdown")
    assert silent.names == [
        "session_start", "before_tool", "after_tool", "after_tool", "stop", "prompt", "session_end",
    ]  # fmt: skip
    first, second = silent.listening.events[0], silent.listening.events[5]
    assert (first.prompt, first.source, second.prompt, second.source) == ("Do it", "startup", "And this", "resume")
    assert {event.cwd for event in silent.listening.events} == {os.getcwd()}
    assert all(event.transcript.endswith("/state.db") for event in silent.listening.events)
    assert [event.exit_code for event in silent.listening.events if event.name == "after_tool"] == [0, None]


def test_an_advisory_comes_with_the_result_of_its_call(advised: Connected) -> None:
    """Also an advisory from before the call; one for a result that cannot be changed comes with the next result."""
    assert advised.hook("pre_llm_call", user_message="Do it", is_first_turn=True) == {
        "context": "<preheat-advisory>pre_llm_call </preheat-advisory>"
    }
    shown = json.loads(advised.call(1))
    assert list(shown) == ["output", "exit_code", "error", ADVISORY]
    assert shown[ADVISORY].count("c1") == 2
    assert advised.call(2, "delegate_task", '{"status": "dispatched"}', transformed=False) is None
    assert "post_tool_call c2" in json.loads(advised.call(3))[ADVISORY]
    assert "c2" not in json.loads(advised.call(4))[ADVISORY]


def test_parallel_calls_get_their_own_advisories(advised: Connected) -> None:
    """They run in threads."""
    shown: dict[int, Any] = {}

    def run(number: int) -> None:
        shown[number] = json.loads(advised.call(number, api_request_id="same"))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, result in shown.items():
        assert set(result[ADVISORY].replace("</preheat-advisory>", "").split("<preheat-advisory>")) == {
            "", f"pre_tool_call c{number}\n", f"post_tool_call c{number}",
        }  # fmt: skip


def test_results_that_are_not_objects_are_not_changed(advised: Connected) -> None:
    for number, result in enumerate(("plain text", "[1, 2]", "", {"output": "an object, not a text"}, 7)):
        assert advised.call(number, "vision_analyze", result) is None


def test_subagents_are_not_watched(advised: Connected) -> None:
    """A subagent has a session of its own; it is recognised by its platform or by the event that started it."""
    child = {"session_id": "child", "turn_id": "child:t2:cd", "task_id": "t2"}
    assert advised.hook("pre_llm_call", user_message="Count", is_first_turn=True, platform="subagent", **child) is None
    advised.hook("subagent_start", parent_session_id="s1", child_session_id="other")
    for number, session in enumerate((child, {"session_id": "other", "turn_id": "other:t3:ef", "task_id": "t3"})):
        assert advised.call(number, "read_file", '{"content": ""}', **session) is None
        advised.hook("on_session_end", platform="subagent", **session)
    assert advised.names == []


def test_hermes_own_review_is_not_watched(advised: Connected) -> None:
    """The review has the session's id; the session itself is still watched."""
    fork = {"turn_id": "s1:t9:ff", "task_id": "t9"}
    assert advised.hook("pre_llm_call", user_message=f"{REVIEW} update", is_first_turn=False, **fork) is None
    assert advised.call(1, "skills_list", '{"success": true}', **fork) is None
    assert advised.hook("pre_verify", attempt=0, turn_id="") is None
    assert ADVISORY in advised.call(2)
    advised.hook("on_session_end", **fork)
    assert advised.names == ["before_tool", "after_tool"]


def test_a_call_is_refused_in_subagents_too(folder: str) -> None:
    """A refused call is not reported as one that was made."""
    refusing = HookAnswer(block="A rule forbids it.")
    for plugged in connected(folder, lambda event: refusing):
        plugged.watcher.hooks()["subagent_start"](child_session_id="child")
        for session in ("s1", "child"):
            answer = plugged.call(1, session_id=session, turn_id=f"{session}:t1:ab")
            assert answer == {"action": "block", "message": "A rule forbids it."}
        assert plugged.names == ["before_tool", "before_tool"]
        assert [event.subagent for event in plugged.listening.events] == ["", "subagent"]


def test_a_session_that_gets_another_id_keeps_its_first(advised: Connected) -> None:
    """A compaction may change the id in the middle of a turn."""
    advised.call(1)
    advised.call(2, session_id="s2")
    advised.hook("pre_llm_call", user_message="More", is_first_turn=False, session_id="s2", turn_id="s2:t1:cd")
    advised.call(3, session_id="s3", turn_id="s2:t1:cd")
    assert {event.session for event in advised.listening.events} == {"s1"}


def test_a_stop_is_held_once_when_the_answer_blocks_it(folder: str) -> None:
    for plugged in connected(folder, lambda event: HookAnswer(block="Two files are unchecked.")):
        wanted = {"action": "continue", "message": "Two files are unchecked."}
        assert plugged.hook("pre_verify", attempt=0, changed_paths=["a.py"], turn_id="") == wanted
        assert plugged.hook("pre_verify", attempt=1, changed_paths=["a.py"], turn_id="") is None
        assert plugged.hook("on_session_end") is None


def test_messages_are_sent_with_every_request_of_their_session(folder: str) -> None:
    """The same messages each time, before the task, also after a compaction; in no other session, and not in a review."""
    for plugged in connected(folder, lambda event: HookAnswer(messages=SEEDS)):
        assert plugged.hook("pre_llm_call", user_message="Do it", is_first_turn=True) is None
        requests = []
        for session, turn in (("s1", "s1:t1:ab"), ("s2", "s1:t1:ab"), ("s2", "s2:t1:cd")):
            request = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]}
            event = {"request": request, "session_id": session, "turn_id": turn, "task_id": "t1", "api_mode": "chat"}
            assert plugged.watcher.change_request(**event) is None
            requests.append(json.dumps(request))
        assert requests == [requests[0]] * 3
        assert [each["role"] for each in json.loads(requests[0])["messages"]] == ["system", "user", "assistant", "user"]
        other = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]}
        plugged.watcher.change_request(request=other, session_id="else", turn_id="else:t1:ab", task_id="t1")
        plugged.hook("pre_llm_call", user_message=f"{REVIEW} x", turn_id="s1:t9:ff", task_id="t9")
        plugged.watcher.change_request(request=other, session_id="s1", turn_id="s1:t9:ff", task_id="t9")
        assert len(other["messages"]) == 2


def test_a_provider_that_refuses_the_messages_gets_none_from_then_on(folder: str) -> None:
    """Only if no request with them has worked before."""
    for plugged in connected(folder, lambda event: HookAnswer(messages=SEEDS)):
        lengths = []
        for session, taken in (("s1", False), ("s2", True)):
            ids = {"session_id": session, "turn_id": f"{session}:t1:ab"}
            plugged.hook("pre_llm_call", user_message="Do it", is_first_turn=True, **ids)
            if taken:
                plugged.hook("on_session_end", completed=True, **ids)
            plugged.hook("api_request_error", status_code=400, **ids)
            request: Any = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]}
            plugged.watcher.change_request(request=request, **ids)
            lengths.append(len(request["messages"]))
        assert lengths == [2, 4]


def test_a_pending_text_comes_with_the_next_turn_once(silent: Connected) -> None:
    """The text of a template that a command in the chat has loaded."""
    waiting = {"s1": "A template."}
    silent.watcher.add_pending(lambda session: waiting.pop(session, ""))
    turn = {"user_message": "Go on", "is_first_turn": False}
    assert silent.hook("pre_llm_call", **turn) == {"context": "A template."}
    assert silent.hook("pre_llm_call", **turn) is None


# Failures.
@pytest.mark.parametrize(
    "data",
    [
        b"", b"preheat 1 9\n{}", b"preheat 2 2\n{}", b"\x00\xff", b"preheat 1 3\n[1]", b"preheat 1 4\nnull",
        b'preheat 1 26\n{"advisory": 7, "output": 1}', b'preheat 1 17\n{"context": [1]}x', b"x" * 1_000_000,
    ],
)  # fmt: skip
def test_an_invalid_answer_of_the_daemon_changes_nothing(folder: str, data: bytes) -> None:
    for plugged in connected(folder, lambda event: RawAnswer(data)):
        install_client(folder, no_start())
        assert plugged.hook("pre_llm_call", user_message="Do it", is_first_turn=False) is None
        assert plugged.call(1) is None
        assert plugged.hook("pre_verify", attempt=0) is None
        assert plugged.hook("on_session_finalize", platform="cli") is None


def test_a_hanging_daemon_is_not_waited_for_after_late_answers(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After two late answers nobody waits for a while; the events are stored for the daemon."""
    monkeypatch.setattr(daemon, "PATIENCE", 1000 * HUNG)
    for plugged in connected(folder, lambda event: RawAnswer(b"", HUNG), Counting):
        remove_time_limit(install_client(folder, no_start()))
        for number in range(STRIKES + 4):
            assert plugged.call(number, "read_file", '{"content": ""}') is None
        assert isinstance(plugged.daemon, Counting)
        assert plugged.daemon.waited == STRIKES
        until(lambda: stored_events(folder) == STRIKES + 4, "all events, kept for later")


def stored_events(folder: str) -> int:
    return sum(name.endswith(".event") for name in spooled_files(folder))


def remove_time_limit(client: str) -> None:
    """Give the hook client all the time it needs to store its event."""
    text = Path(client).read_text()
    assert text.count("ITIMER_REAL, 0.2") == 1
    Path(client).write_text(text.replace("ITIMER_REAL, 0.2", "ITIMER_REAL, 600"))


def test_without_a_daemon_one_is_started(tmp_path: Path) -> None:
    """The start of a session waits for the daemon."""
    folder = str(tmp_path / "data")
    install_client(folder)
    found = Connected(None, folder)  # type: ignore[arg-type]
    try:
        found.hook("pre_llm_call", user_message="Do it", is_first_turn=True)
        from preheat import daemon_client

        assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
        until(lambda: daemon_client.status(folder, HUNG)["events"] == 1, "the prompt in the daemon's state")
        found.settle()
    finally:
        end_started(folder)


def test_an_unusable_folder_changes_nothing(tmp_path: Path) -> None:
    """A file in its place, a missing interpreter, no folder at all."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    for program, folder in (
        (Program(sys.executable), str(blocked)),
        (Program("/no/such/python"), str(tmp_path / "data")),
        (Program(sys.executable), ""),
    ):
        found = Connected(None, folder)  # type: ignore[arg-type]
        found.daemon._program = program
        assert found.hook("pre_llm_call", user_message="Do it", is_first_turn=True) is None
        assert found.call(1) is None
        assert found.hook("on_session_finalize", platform="cli") is None
        found.settle()


class Broken(Daemon):
    """A connection that raises."""

    def ask(self, event: dict[str, Any], seconds: float = 0.0, start: bool = False) -> dict[str, Any]:
        raise RuntimeError("broken on purpose")


@every(
    st.dictionaries(
        st.sampled_from(["session_id", "turn_id", "result", "args", "user_message", "request", "status_code"]), JSON
    )
)
def test_no_callback_ever_raises(event: dict[str, Any]) -> None:
    """With any arguments, and with a connection that raises."""
    watcher = SessionWatcher(Broken(Program(sys.executable), ""))
    for callback in (*watcher.hooks().values(), watcher.change_request):
        assert callback(**event) is None


# Reading the events.
def test_a_shell_hooks_payload_is_read_like_the_plugins() -> None:
    """Hermes gives a shell hook the same fields and more."""
    shell = {
        "hook_event_name": "pre_llm_call", "tool_name": None, "tool_input": None, "session_id": "s1", "cwd": "/w",
        "extra": {
            "task_id": "t", "turn_id": "s1:t:1", "user_message": "Do it", "conversation_history": [{"role": "user"}],
            "is_first_turn": True, "model": "m", "platform": "cli", "sender_id": "", "telemetry_schema_version": "x",
        },
    }  # fmt: skip
    event = read(json.dumps(shell).encode(), 1.0)
    assert event is not None
    assert (event.name, event.prompt, event.source, event.cwd) == ("session_start", "Do it", "startup", "/w")


@pytest.mark.parametrize(
    ("more", "name", "subagent"),
    [
        ({"user_message": f"{REVIEW} update", "is_first_turn": False}, "other", "review"),
        ({"user_message": "Count", "is_first_turn": True, "platform": "subagent"}, "session_start", "subagent"),
        ({"user_message": "[ASYNC DELEGATION COMPLETE] done", "is_first_turn": False}, "other", ""),
        ({"user_message": "Go on", "is_first_turn": False}, "prompt", ""),
        ({"user_message": [{"type": "text", "text": "Look"}, {"type": "image_url"}], "is_first_turn": True}, "session_start", ""),
    ],
)  # fmt: skip
def test_prompts_of_subagents_and_reviews_are_recognised(more: dict[str, Any], name: str, subagent: str) -> None:
    """A subagent's first prompt does not start the session, and Hermes's own messages are not prompts."""
    payload = {"hook_event_name": "pre_llm_call", "session_id": "s1", "cwd": "/w", "extra": more}
    event = read(json.dumps(payload).encode(), 1.0)
    assert event is not None
    assert (event.name, event.subagent) == (name, subagent)


def test_hermes_verification_evidence_counts_as_a_check() -> None:
    """For a command that cannot be recognised as a test by its words."""
    from preheat.app.live.advice import live_events

    evidence = {"status": "failed", "kind": "test", "scope": "full", "canonical_command": "./go"}
    result = {"output": "1 failed", "exit_code": 1, "error": None, "verification_evidence": evidence}
    payload = {
        "hook_event_name": "post_tool_call", "session_id": "s1", "cwd": "/w", "tool_name": "terminal",
        "tool_input": {"command": "./go"}, "extra": {"tool_call_id": "c1", "result": json.dumps(result)},
    }  # fmt: skip
    event = read(json.dumps(payload).encode(), 1.0)
    assert event is not None
    (called,) = live_events(event)
    assert (called.checks, called.status) == (("test",), "failed")  # type: ignore[union-attr]
