"""The plugin for Hermes by itself: what it passes on, what it puts where, and that nothing which goes wrong shows outside."""

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
from preheat.agents.hermes.plugin import wire
from preheat.agents.hermes.plugin.inserting import ADVISORY, seeds, with_advisory, with_messages, with_output
from preheat.agents.hermes.plugin.program import Program
from preheat.agents.hermes.plugin.watching import REVIEW, Watching
from preheat.agents.hermes.plugin.wire import STRIKES, Daemon
from preheat.agents.hermes.results import ADVISORY as READ_ADVISORY
from preheat.agents.hermes.results import facts_of, parted
from preheat.model.live import HookAnswer, HookEvent
from preheat.testing.listening import Answering, Listening, Raw
from tests.daemon.made import end_started, installed, no_start, spooled
from tests.waiting import HUNG, until

FOLDER = os.path.dirname(os.path.abspath(plugin.__file__))
ADVICE = "<preheat-advisory>`make test` works here.</preheat-advisory>"
SEEDS = ({"role": "user", "content": "Seen before."}, {"role": "assistant", "content": "Noted."})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RESULTS = st.builds(
    lambda before, value, indent, ascii_only, after: (
        before + json.dumps(value, indent=indent, ensure_ascii=ascii_only) + after
    ),
    st.sampled_from(["", " ", "\n\t"]),
    st.dictionaries(st.text() | st.sampled_from(["output", "exit_code", "error"]), JSON, max_size=4),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.sampled_from(["", "\n\n[Tool loop warning: again]", " "]),
)


def text_of(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as stream:
        return stream.read()


# What it is made of.
@pytest.mark.parametrize("name", sorted(name for name in os.listdir(FOLDER) if name.endswith(".py")))
def test_it_needs_nothing_but_python(name: str) -> None:
    """Copied into Hermes's own folder there is no Preheat to import: all is standard or beside it. The one exception stands in a
    function, and is done without where it is missing."""
    for node in ast.walk(ast.parse(text_of(name))):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for each in names:
            assert each.partition(".")[0] in sys.stdlib_module_names or (name, each) == ("wire.py", "preheat.settings")


def test_as_a_folder_it_loads_where_preheat_is_not(tmp_path: Path) -> None:
    """As Hermes loads it: by its path, below a name of Hermes's own, in an interpreter that has nothing else."""
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


def test_its_description_names_what_it_registers() -> None:
    """Hermes shows `plugin.yaml` before it loads anything."""
    import yaml

    told = yaml.safe_load(text_of("plugin.yaml"))
    assert set(told["provides_hooks"]) == set(Watching(Daemon(Program("python"), "")).hooks())
    assert told["name"] == "preheat"


class Context:
    """A Hermes that is so old, or so broken, that nothing can be registered; or one that lacks a part."""

    def __init__(self, *fails: str) -> None:
        self._fails = fails
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("register_") or name in self._fails:
            raise AttributeError(name)

        def register(*given: Any, **more: Any) -> None:
            self.done.append(f"{name} {given[0] if given else more.get('name')}")

        return register


def test_what_a_hermes_lacks_is_left_out() -> None:
    """Older ones have no middleware: the hooks are registered all the same; and one that takes nothing is no error."""
    whole, old, none = Context(), Context("register_middleware"), Context("register_hook", "register_middleware")
    for context in (whole, old, none):
        plugin.register(context)
    assert [each for each in whole.done if each not in old.done] == ["register_middleware llm_request"]
    assert "register_hook pre_llm_call" in old.done
    assert not [each for each in none.done if "hook" in each]


def test_in_a_session_that_preheat_started_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_RUN", "1")
    context = Context()
    plugin.register(context)
    assert context.done == []


# What it puts where.
@every(result=RESULTS, advice=st.text(max_size=50))
def test_a_word_goes_into_the_object_and_comes_out_again(result: str, advice: str) -> None:
    """It is one more key of the same JSON; what the program finds in the result is what it found before; and the reader of
    sessions gives back the tool's own bytes."""
    assert ADVISORY == READ_ADVISORY
    advice = f"<preheat-advisory>{advice}</preheat-advisory>"
    changed = with_advisory(result, advice)
    assert changed is not None
    value, end = json.JSONDecoder().raw_decode(changed.lstrip())
    plain, plain_end = json.JSONDecoder().raw_decode(result.lstrip())
    assert value.pop(ADVISORY) == advice.encode("utf-8", "replace").decode()
    assert value == plain
    assert changed.lstrip()[end:] == result.lstrip()[plain_end:]
    for tool in ("terminal", "read_file"):
        assert facts_of(changed, tool) == facts_of(result, tool)
    assert parted(changed) == (result, advice.encode("utf-8", "replace").decode())


@every(st.text() | st.builds(json.dumps, JSON).filter(lambda text: not text.startswith("{")))
def test_what_is_no_object_is_left_alone(result: str) -> None:
    if not result.lstrip().startswith("{"):
        assert with_advisory(result, ADVICE) is None
        assert with_output(result, "short") is None
        assert parted(result) == (result, "")


def test_a_very_long_result_has_the_word_in_front() -> None:
    """Of such a one Hermes may show the model the beginning only."""
    result = json.dumps({"output": "x" * 100_000, "exit_code": 0})
    changed = with_advisory(result, ADVICE) or ""
    assert changed.startswith(f'{{"{ADVISORY}": ')
    assert parted(changed) == (result, ADVICE)


def test_a_word_is_given_once() -> None:
    """A result that has the key already is no place for another."""
    assert with_advisory(with_advisory('{"output": ""}', ADVICE) or "", ADVICE) is None


def test_what_a_tool_printed_is_never_taken_for_a_word_of_ours() -> None:
    """A file that holds such a result, read by a tool, stays as it is: quotes inside of a text are escaped."""
    inner = with_advisory('{"output": ""}', ADVICE)
    result = json.dumps({"output": inner, "exit_code": 0})
    assert parted(result) == (result, "")


def test_another_output_leaves_the_rest() -> None:
    result = '{"output": "a\\nb\\nc", "exit_code": 3, "error": null}\n\n[note]'
    assert with_output(result, "a…") == '{"output": "a…", "exit_code": 3, "error": null}\n\n[note]'
    assert with_output('{"content": "x"}', "a") is None


def test_messages_go_behind_the_systems() -> None:
    """In the shape that most providers share, without the keys that only Hermes knows; nothing else is touched."""
    sent = [{"role": "system", "content": "S"}, {"role": "user", "content": "Task"}]
    given = [*SEEDS, {"role": "tool", "tool_call_id": "preheat_1", "tool_name": "terminal", "content": "{}"}]
    request = {"model": "m", "messages": sent, "tools": []}
    found = with_messages(request, given)
    assert found is not None
    assert found == [sent[0], *SEEDS, {"role": "tool", "tool_call_id": "preheat_1", "content": "{}"}, sent[1]]
    assert request["messages"] is sent
    assert len(sent) == 2


@pytest.mark.parametrize(
    "request_",
    [
        None, [], {}, {"messages": None}, {"messages": []}, {"messages": [{"role": "system"}]},
        {"messages": [{"role": "user"}, {"role": "user"}]}, {"messages": [{"role": "system"}, "user"]},
        {"input": [], "messages": [{"role": "system"}, {"role": "user"}]},
        {"system": "S", "messages": [{"role": "user"}, {"role": "assistant"}]},
        {"messages": [{"role": "system"}, {"role": "tool"}]},
    ],
)  # fmt: skip
def test_a_request_of_another_shape_is_left_alone(request_: Any) -> None:
    assert with_messages(request_, list(SEEDS)) is None


@every(JSON)
def test_only_messages_are_taken_for_messages(found: Any) -> None:
    assert all("role" in each for each in seeds(found))


# What it passes on.
class Patient(Daemon):
    """The plugin's line to a daemon that has all the time it needs: a busy machine must not decide what a test sees."""

    def ask(self, event: dict[str, Any], seconds: float = 0.0, start: bool = False) -> dict[str, Any]:
        return super().ask(event, HUNG, start)


class Counting(Daemon):
    """The line with its own limits, and how often somebody waited for an answer."""

    waited = 0

    def _asked(self, payload: bytes, end: float) -> bytes:
        self.waited += 1
        return super()._asked(payload, end)


class Told:
    """A plugin and the daemon that it talks to."""

    def __init__(self, listening: Listening, folder: str, line: type[Daemon] = Patient) -> None:
        self.listening = listening
        self.daemon = line(Program(sys.executable), folder)
        self.watching = Watching(self.daemon)

    def settle(self) -> None:
        """Let the hook clients end that were started."""
        for client in self.daemon._clients:
            client.wait(HUNG)

    def hook(self, name: str, **told: Any) -> Any:
        given = {"session_id": "s1", "task_id": "t1", "turn_id": "s1:t1:ab", "telemetry_schema_version": "x", **told}
        return self.watching.hooks()[name](**given)

    def call(
        self, number: int, tool: str = "terminal", result: Any = None, transformed: Any = True, **more: Any
    ) -> Any:
        """A call as Hermes tells of it; what is shown to the model."""
        result = json.dumps({"output": "", "exit_code": 0, "error": None}) if result is None else result
        told = {
            "tool_name": tool, "args": {"command": f"echo {number}"}, "tool_call_id": f"c{number}",
            "api_request_id": f"r{number}", **more,
        }  # fmt: skip
        refused = self.hook("pre_tool_call", **told)
        self.hook("post_tool_call", **told, result=result, duration_ms=3, status="ok")
        if not transformed or refused:
            return refused
        return self.hook("transform_tool_result", **told, result=result, duration_ms=3, status="ok")

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.listening.events]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """One whose path is too long for a socket."""
    return str(tmp_path / ("long" * 30))


def told(folder: str, answering: Answering, line: type[Daemon] = Patient) -> Iterator[Told]:
    with Listening(short(folder), "hermes", answering) as listening:
        found = Told(listening, folder, line)
        yield found
        listening.end()
        found.settle()


def short(folder: str) -> str:
    """The same folder by a name that a socket can be made at."""
    link = f"{os.path.dirname(folder)}/l"
    os.makedirs(folder)
    os.symlink(folder, link)
    return link


def advising(event: HookEvent) -> HookAnswer:
    return HookAnswer(context=f"<preheat-advisory>{event.told_as} {event.call_id}</preheat-advisory>")


@pytest.fixture
def silent(folder: str) -> Iterator[Told]:
    yield from told(folder, lambda event: HookAnswer())


@pytest.fixture
def advised(folder: str) -> Iterator[Told]:
    yield from told(folder, advising)


def test_a_session_is_told_of_once_each(silent: Told) -> None:
    """Start with the task, each call once though Hermes tells of it twice, the end of a turn and of the session; and with nothing
    to say nothing is changed."""
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


def test_words_come_with_the_calls_they_are_about(advised: Told) -> None:
    """Also those from before the call; and what was to be said with a result that cannot be changed comes with the next."""
    assert advised.hook("pre_llm_call", user_message="Do it", is_first_turn=True) == {
        "context": "<preheat-advisory>pre_llm_call </preheat-advisory>"
    }
    shown = json.loads(advised.call(1))
    assert list(shown) == ["output", "exit_code", "error", ADVISORY]
    assert shown[ADVISORY].count("c1") == 2
    assert advised.call(2, "delegate_task", '{"status": "dispatched"}', transformed=False) is None
    assert "post_tool_call c2" in json.loads(advised.call(3))[ADVISORY]
    assert "c2" not in json.loads(advised.call(4))[ADVISORY]


def test_calls_of_one_response_do_not_mix(advised: Told) -> None:
    """They run in threads, and each gets its own word."""
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


def test_results_that_are_no_objects_are_left_alone(advised: Told) -> None:
    for number, result in enumerate(("plain text", "[1, 2]", "", {"output": "an object, not a text"}, 7)):
        assert advised.call(number, "vision_analyze", result) is None


def test_subagents_are_left_alone(advised: Told) -> None:
    """They are asked like a session of their own, and known by their platform or by what started them."""
    child = {"session_id": "child", "turn_id": "child:t2:cd", "task_id": "t2"}
    assert advised.hook("pre_llm_call", user_message="Count", is_first_turn=True, platform="subagent", **child) is None
    advised.hook("subagent_start", parent_session_id="s1", child_session_id="other")
    for number, session in enumerate((child, {"session_id": "other", "turn_id": "other:t3:ef", "task_id": "t3"})):
        assert advised.call(number, "read_file", '{"content": ""}', **session) is None
        advised.hook("on_session_end", platform="subagent", **session)
    assert advised.names == []


def test_the_programs_own_look_back_is_left_alone(advised: Told) -> None:
    """It bears the session's id; the session itself goes on meanwhile."""
    fork = {"turn_id": "s1:t9:ff", "task_id": "t9"}
    assert advised.hook("pre_llm_call", user_message=f"{REVIEW} update", is_first_turn=False, **fork) is None
    assert advised.call(1, "skills_list", '{"success": true}', **fork) is None
    assert advised.hook("pre_verify", attempt=0, turn_id="") is None
    assert ADVISORY in advised.call(2)
    advised.hook("on_session_end", **fork)
    assert advised.names == ["before_tool", "after_tool"]


def test_a_guard_holds_in_subagents_too(folder: str) -> None:
    """A refused call is not told of as one that was made."""
    refusing = HookAnswer(block="A rule forbids it.")
    for given in told(folder, lambda event: refusing):
        given.watching.hooks()["subagent_start"](child_session_id="child")
        for session in ("s1", "child"):
            answer = given.call(1, session_id=session, turn_id=f"{session}:t1:ab")
            assert answer == {"action": "block", "message": "A rule forbids it."}
        assert given.names == ["before_tool", "before_tool"]
        assert [event.subagent for event in given.listening.events] == ["", "subagent"]


def test_a_session_that_gets_another_id_goes_on(advised: Told) -> None:
    """A compaction may begin a new one in the middle of a turn: for whoever watches it is the same."""
    advised.call(1)
    advised.call(2, session_id="s2")
    advised.hook("pre_llm_call", user_message="More", is_first_turn=False, session_id="s2", turn_id="s2:t1:cd")
    advised.call(3, session_id="s3", turn_id="s2:t1:cd")
    assert {event.session for event in advised.listening.events} == {"s1"}


def test_a_stop_is_held_up_where_that_is_answered(folder: str) -> None:
    for given in told(folder, lambda event: HookAnswer(block="Two files are unchecked.")):
        wanted = {"action": "continue", "message": "Two files are unchecked."}
        assert given.hook("pre_verify", attempt=0, changed_paths=["a.py"], turn_id="") == wanted
        assert given.hook("pre_verify", attempt=1, changed_paths=["a.py"], turn_id="") is None
        assert given.hook("on_session_end") is None


def test_messages_are_sent_with_every_request_of_their_session(folder: str) -> None:
    """The same each time, before the task, also after a compaction; in no other session's requests, and not in the look back."""
    for given in told(folder, lambda event: HookAnswer(messages=SEEDS)):
        assert given.hook("pre_llm_call", user_message="Do it", is_first_turn=True) is None
        asked = []
        for session, turn in (("s1", "s1:t1:ab"), ("s2", "s1:t1:ab"), ("s2", "s2:t1:cd")):
            request = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]}
            told_ = {"request": request, "session_id": session, "turn_id": turn, "task_id": "t1", "api_mode": "chat"}
            assert given.watching.requested(**told_) is None
            asked.append(json.dumps(request))
        assert asked == [asked[0]] * 3
        assert [each["role"] for each in json.loads(asked[0])["messages"]] == ["system", "user", "assistant", "user"]
        other = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]}
        given.watching.requested(request=other, session_id="else", turn_id="else:t1:ab", task_id="t1")
        given.hook("pre_llm_call", user_message=f"{REVIEW} x", turn_id="s1:t9:ff", task_id="t9")
        given.watching.requested(request=other, session_id="s1", turn_id="s1:t9:ff", task_id="t9")
        assert len(other["messages"]) == 2


def test_a_provider_that_refuses_the_messages_gets_no_more_of_them(folder: str) -> None:
    """Only if it has not taken them before: then it is something else that it refuses."""
    for given in told(folder, lambda event: HookAnswer(messages=SEEDS)):
        lengths = []
        for session, taken in (("s1", False), ("s2", True)):
            whose = {"session_id": session, "turn_id": f"{session}:t1:ab"}
            given.hook("pre_llm_call", user_message="Do it", is_first_turn=True, **whose)
            if taken:
                given.hook("on_session_end", completed=True, **whose)
            given.hook("api_request_error", status_code=400, **whose)
            request: Any = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]}
            given.watching.requested(request=request, **whose)
            lengths.append(len(request["messages"]))
        assert lengths == [2, 4]


def test_something_for_the_next_turn_comes_with_it(silent: Told) -> None:
    """What a command in the chat has asked for, once."""
    waiting = {"s1": "A template."}
    silent.watching.also(lambda session: waiting.pop(session, ""))
    asked = {"user_message": "Go on", "is_first_turn": False}
    assert silent.hook("pre_llm_call", **asked) == {"context": "A template."}
    assert silent.hook("pre_llm_call", **asked) is None


# What goes wrong.
@pytest.mark.parametrize(
    "data",
    [
        b"", b"preheat 1 9\n{}", b"preheat 2 2\n{}", b"\x00\xff", b"preheat 1 3\n[1]", b"preheat 1 4\nnull",
        b'preheat 1 26\n{"advisory": 7, "output": 1}', b'preheat 1 17\n{"context": [1]}x', b"x" * 1_000_000,
    ],
)  # fmt: skip
def test_whatever_a_daemon_answers(folder: str, data: bytes) -> None:
    """Nothing is raised and nothing is changed."""
    for given in told(folder, lambda event: Raw(data)):
        installed(folder, no_start())
        assert given.hook("pre_llm_call", user_message="Do it", is_first_turn=False) is None
        assert given.call(1) is None
        assert given.hook("pre_verify", attempt=0) is None
        assert given.hook("on_session_finalize", platform="cli") is None


def test_nobody_waits_long_for_a_daemon_that_hangs(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After two answers that came too late nobody waits at all for a while; the events are kept for it."""
    monkeypatch.setattr(wire, "PATIENCE", 1000 * HUNG)
    for given in told(folder, lambda event: Raw(b"", HUNG), Counting):
        unhurried(installed(folder, no_start()))
        for number in range(STRIKES + 4):
            assert given.call(number, "read_file", '{"content": ""}') is None
        assert isinstance(given.daemon, Counting)
        assert given.daemon.waited == STRIKES
        until(lambda: kept(folder) == STRIKES + 4, "all events, kept for later")


def kept(folder: str) -> int:
    return sum(name.endswith(".event") for name in spooled(folder))


def unhurried(client: str) -> None:
    """Once its time is over, the hook client may take as long as it needs to keep its event."""
    text = Path(client).read_text()
    assert text.count("ITIMER_REAL, 0.2") == 1
    Path(client).write_text(text.replace("ITIMER_REAL, 0.2", "ITIMER_REAL, 600"))


def test_without_a_daemon_one_is_started_and_answers(tmp_path: Path) -> None:
    """At the start of a session it is waited for; its own folder is all it needs."""
    folder = str(tmp_path / "data")
    installed(folder)
    found = Told(None, folder)  # type: ignore[arg-type]
    try:
        found.hook("pre_llm_call", user_message="Do it", is_first_turn=True)
        from preheat.running import asking

        assert asking.until(True, folder, HUNG) is not None
        until(lambda: asking.status(folder, HUNG)["events"] == 1, "the prompt in the daemon's state")
        found.settle()
    finally:
        end_started(folder)


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    """Nor one that is a file, nor an interpreter that is not there."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    for program, folder in (
        (Program(sys.executable), str(blocked)),
        (Program("/no/such/python"), str(tmp_path / "data")),
        (Program(sys.executable), ""),
    ):
        found = Told(None, folder)  # type: ignore[arg-type]
        found.daemon._program = program
        assert found.hook("pre_llm_call", user_message="Do it", is_first_turn=True) is None
        assert found.call(1) is None
        assert found.hook("on_session_finalize", platform="cli") is None
        found.settle()


class Broken(Daemon):
    """A part of the plugin itself that breaks."""

    def ask(self, event: dict[str, Any], seconds: float = 0.0, start: bool = False) -> dict[str, Any]:
        raise RuntimeError("broken on purpose")


@every(
    st.dictionaries(
        st.sampled_from(["session_id", "turn_id", "result", "args", "user_message", "request", "status_code"]), JSON
    )
)
def test_no_callback_ever_raises(given_: dict[str, Any]) -> None:
    """Whatever Hermes tells, and whatever breaks inside."""
    watching = Watching(Broken(Program(sys.executable), ""))
    for callback in (*watching.hooks().values(), watching.requested):
        assert callback(**given_) is None


# What is read of it.
def test_a_shell_hook_is_read_like_the_plugin() -> None:
    """Hermes hands the same over to a command, with more in it: the session's start and its task are known from both."""
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
def test_who_asks_is_recognised(more: dict[str, Any], name: str, subagent: str) -> None:
    """A subagent's first prompt is no start of the session, and what the program says by itself is no prompt."""
    payload = {"hook_event_name": "pre_llm_call", "session_id": "s1", "cwd": "/w", "extra": more}
    event = read(json.dumps(payload).encode(), 1.0)
    assert event is not None
    assert (event.name, event.subagent) == (name, subagent)


def test_evidence_that_the_program_saw_counts_as_a_check() -> None:
    """A command of the project's own that nothing in its words tells to be a test."""
    from preheat.app.live.hook_events import from_hook

    evidence = {"status": "failed", "kind": "test", "scope": "full", "canonical_command": "./go"}
    result = {"output": "1 failed", "exit_code": 1, "error": None, "verification_evidence": evidence}
    payload = {
        "hook_event_name": "post_tool_call", "session_id": "s1", "cwd": "/w", "tool_name": "terminal",
        "tool_input": {"command": "./go"}, "extra": {"tool_call_id": "c1", "result": json.dumps(result)},
    }  # fmt: skip
    event = read(json.dumps(payload).encode(), 1.0)
    assert event is not None
    (called,) = from_hook(event)
    assert (called.checks, called.status) == (("test",), "failed")  # type: ignore[union-attr]
