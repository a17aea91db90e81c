"""Sessions and hooks as events: what is told of a call, that a growing session only adds, and that both ways agree."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.agents import AGENTS, hooks_of
from preheat.agents.sources import read
from preheat.app.analysis.assessment import assess
from preheat.app.live.advice import judge_call, live_events
from preheat.commands import understand
from preheat.errors import UserError
from preheat.live.events import call_event, events_of, prompt_event
from preheat.live.results import (
    count_failing,
    hash_call,
    hash_failing_tests,
    hash_result,
    is_polling,
    is_same_change,
    plain_command,
    plain_result,
    sketch_change,
)
from preheat.live.state import START, LiveState, fold
from preheat.model.live import (
    CallEvent,
    CompactionEvent,
    EndEvent,
    HookEvent,
    LiveEvent,
    PromptEvent,
    StartEvent,
    StopEvent,
)
from preheat.model.outcome import Outcome
from preheat.model.session import (
    LATE_ENDING,
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
)
from tests.growth import grows_in_proportion
from tests.shared import FIXTURES, SHARED, fixture_files, needs_corpus

ROOT = "/w/shop"
FILES = [(agent, name) for agent in AGENTS for name in fixture_files(agent)]
each_file = pytest.mark.parametrize(("agent", "name"), FILES)
each_hooked_file = pytest.mark.parametrize(("agent", "name"), [each for each in FILES if hooks_of(each[0]) is not None])
_CUTS = 6


def shell(command: str, number: int = 1, response: str = "r1") -> ToolCall:
    return ToolCall(
        line=number, call_id=f"c{number}", tool="Bash", kind="shell", input={"command": command}, response=response
    )


def result_of(text: str, number: int = 1, code: int | None = None) -> ToolResult:
    return ToolResult(line=number, at=10.0, call_id=f"c{number}", text=text, exit_code=code)


def session(*events: Event) -> Session:
    return Session(agent="claude_code", id="s", project=ROOT, events=events)


def events_in(*events: Event, finished: bool = True) -> list[LiveEvent]:
    whole = session(*events)
    return events_of(whole, assess(whole).records, ROOT, finished=finished)


def verdict(status: str = "ok", cause: str | None = None, signature: str = "") -> Outcome:
    return Outcome("c1", status, "flag", signature=signature, cause=cause)  # type: ignore[arg-type]


# One call.
def test_a_call_event_has_relative_files_edits_and_checks() -> None:
    edit = ToolCall(line=1, call_id="c1", tool="Edit", kind="edit", input={"file_path": f"{ROOT}/src/cart.py"})
    event = call_event(edit, result_of("done"), verdict(), root=ROOT)
    assert (event.files, event.edited, event.summary, event.activity) == (
        ("src/cart.py",), ("src/cart.py",), "src/cart.py", "edit",
    )  # fmt: skip
    check = call_event(
        shell(f"cd {ROOT} && pytest -q tests/test_cart.py 2>&1 | tail -5"),
        result_of("E assert\n2 failed, 7 passed in 0.31s", code=1),
        verdict("failed", "finding", "E assert"),
        root=ROOT,
    )
    assert (check.checks, check.failing, check.activity, check.edited) == (("test",), 2, "shell:test", ())
    assert check.files == ("tests/test_cart.py",)
    assert check.form.startswith("pytest")


@pytest.mark.parametrize(
    ("status", "cause", "edited"),
    [("ok", None, True), ("failed", "mistake", False), ("denied", None, False), ("interrupted", None, False)],
)
def test_a_refused_change_has_no_edited_files(status: str, cause: str | None, edited: bool) -> None:
    edit = ToolCall(line=1, call_id="c1", tool="Edit", kind="edit", input={"file_path": "src/cart.py"})
    event = call_event(edit, result_of(""), verdict(status, cause), root=ROOT)
    assert bool(event.edited) is edited
    assert event.files == ("src/cart.py",)


def test_a_command_that_fails_with_a_finding_still_edited_its_files() -> None:
    event = call_event(
        shell("sed -i s/a/b/ src/cart.py && pytest"),
        result_of("1 failed in 0.1s", code=1),
        verdict("failed", "finding"),
    )
    assert event.edited == ("src/cart.py",)


def test_a_removed_file_is_in_removed_and_not_in_edited() -> None:
    event = call_event(shell("rm scratch.py"), result_of(""), verdict())
    assert (event.removed, event.edited) == (("scratch.py",), ())


def test_context_tokens_are_those_of_the_last_response_before_the_result() -> None:
    usage = Usage(input=100, cache_read=5_000, cache_write=900, output=40)
    events = events_in(
        AssistantMessage(line=1, text="I look.", response="r1", usage=usage),
        Other(line=2, name="context_window", raw=200_000),
        shell("ls", 3),
        result_of("a", 3),
    )
    (call,) = [event for event in events if isinstance(event, CallEvent)]
    assert (call.context_tokens, call.context_window) == (6_000, 200_000)


# A session.
def test_the_events_of_a_session_are_in_order() -> None:
    events = events_in(
        UserMessage(line=1, text="Fix the rounding in src/cart.py"),
        shell("ls", 2),
        result_of("cart.py", 2),
        AssistantMessage(line=3, text="Done."),
        UserMessage(line=4, text="<preheat-context>known here</preheat-context>", origin="preheat"),
        UserMessage(line=5, text="a reminder of the program", origin="injected"),
        Compaction(line=6),
        UserMessage(line=7, text="Now the tests"),
    )
    assert [type(event) for event in events] == [
        StartEvent,
        PromptEvent,
        CallEvent,
        CompactionEvent,
        StopEvent,
        PromptEvent,
        StopEvent,
        EndEvent,
    ]


def test_bookkeeping_calls_give_no_events() -> None:
    plan = ToolCall(line=1, call_id="c1", tool="TodoWrite", kind="plan", input={"todos": []})
    assert [type(event) for event in events_in(plan, result_of("ok"))] == [StartEvent, StopEvent, EndEvent]


def test_a_call_gives_an_event_only_once_its_result_is_there() -> None:
    assert not [event for event in events_in(shell("ls")) if isinstance(event, CallEvent)]
    late = events_in(result_of("a", 1), shell("ls", 1))
    assert [event.call_id for event in late if isinstance(event, CallEvent)] == ["c1"]


def test_a_running_command_gives_a_second_event_when_it_has_ended() -> None:
    running = ToolResult(line=2, call_id="c1", text="Process running with session ID 7", is_error=None)
    whole = Session(
        agent="codex", id="s",
        events=(
            ToolCall(line=1, call_id="c1", tool="exec_command", kind="shell", input={"cmd": "pytest"}, response="r1"),
            running,
            ToolCall(line=3, call_id="c2", tool="exec_command", kind="shell", input={"cmd": "ls"}, response="r2"),
            result_of("a", 2, 0),
            Other(line=5, name=LATE_ENDING, raw={"call_id": "c1", "exit_code": 0}),
        ),
    )  # fmt: skip
    calls = [event for event in events_of(whole, assess(whole).records) if isinstance(event, CallEvent)]
    assert [(call.call_id, call.status, call.turn) for call in calls] == [
        ("c1", "unknown", "r1"), ("c2", "ok", "r2"), ("c1", "ok", "r2"),
    ]  # fmt: skip


def test_a_prompt_event_has_its_words_and_files() -> None:
    event = prompt_event(f"Please fix parseUserName in {ROOT}/src/user/names.py, e.g. v1.2 of @docs/api.md.", root=ROOT)
    assert event.files == ("src/user/names.py", "docs/api.md")
    assert {"parse", "user", "name", "fix"} <= set(event.words)
    assert "please" not in event.words


@given(st.text(max_size=400))
def test_any_prompt_gives_bounded_words_and_files(text: str) -> None:
    event = prompt_event(text, root=ROOT)
    assert len(event.words) <= 60
    assert all(word == word.lower() for word in event.words)


# Growing.
@each_file
def test_a_stored_state_continues_as_if_it_had_not_been_stored(agent: str, name: str) -> None:
    for whole in read(os.path.join(FIXTURES, name)):
        at_once = one_by_one = START
        for event in events_of(whole, assess(whole).records, whole.project):
            at_once = fold(at_once, event)
            kept = msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=LiveEvent)
            one_by_one = msgspec.msgpack.decode(msgspec.msgpack.encode(fold(one_by_one, kept)), type=LiveState)
        assert one_by_one == at_once


@needs_corpus
@pytest.mark.parametrize("source", ["claude_code__sniffly", "codex_exec__SWE-PolyBench-pando", "pi__pi-mono"])
def test_recorded_sessions_can_be_stored_and_continued_at_any_event(source: str) -> None:
    for whole in real_sessions(source, 3):
        events = events_of(whole, assess(whole).records, whole.project)
        at_once = reduce(fold, events, START)
        half = reduce(fold, events[: len(events) // 2], START)
        half = msgspec.msgpack.decode(msgspec.msgpack.encode(half), type=LiveState)
        assert reduce(fold, events[len(events) // 2 :], half) == at_once


def real_sessions(source: str, most: int) -> list[Session]:
    """The first sessions of a part of the shared corpus."""
    found: list[Session] = []
    for folder, _, names in sorted(os.walk(os.path.join(SHARED, "corpus", source))):
        for name in sorted(names):
            with suppress(UserError):
                found += read(os.path.join(folder, name))
            if len(found) >= most:
                return found[:most]
    return found


@each_file
def test_the_events_of_a_growing_session_are_a_prefix_of_its_later_events(agent: str, name: str) -> None:
    for whole in read(os.path.join(FIXTURES, name)):
        everything = events_of(whole, assess(whole, hindsight=False).records, whole.project, finished=False)
        cuts = [place + 1 for place, event in enumerate(whole.events) if isinstance(event, ToolResult)]
        for cut in cuts[:: max(1, len(cuts) // _CUTS)]:
            part = msgspec.structs.replace(whole, events=whole.events[:cut])
            events = events_of(part, assess(part, hindsight=False).records, whole.project, finished=False)
            assert events == everything[: len(events)]


# Hooks.
def hook_of(agent: str, call: ToolCall, result: ToolResult) -> HookEvent:
    return HookEvent(
        agent=agent, session="s", name="after_tool", at=result.at if result.at is not None else call.at,
        call_id=call.call_id, tool=call.tool, arguments=call.input, result=result.text, is_error=result.is_error,
        exit_code=result.exit_code, seconds=result.seconds,
    )  # fmt: skip


def finished_calls(whole: Session) -> Iterator[tuple[ToolCall, ToolResult]]:
    """Calls whose result a hook can tell: the agent's record of it has nothing beside its text that a verdict rests on."""
    late = {
        event.raw.get("call_id") for event in whole.events if isinstance(event, Other) and event.name == LATE_ENDING
    }
    for call, result in pair_calls_with_results(whole):
        if result is not None and not result.detail and result.frame == ("", "") and call.call_id not in late:
            yield call, result


@each_hooked_file
def test_a_hook_and_a_transcript_give_the_same_event_for_a_call(agent: str, name: str) -> None:
    for whole in read(os.path.join(FIXTURES, name)):
        whole = msgspec.structs.replace(whole, project="")
        by_id = {
            event.call_id: event for event in events_of(whole, assess(whole).records) if isinstance(event, CallEvent)
        }
        for call, result in finished_calls(whole):
            event = by_id.get(call.call_id)
            hook = hook_of(agent, call, result)
            if event is None or not call.call_id or (call.kind == "other") != (judge_call(hook).kind == "other"):
                continue  # bookkeeping, or a tool that only its name tells something of
            expected = msgspec.structs.replace(event, turn="", context_tokens=None, context_window=None)
            assert judge_call(hook) == expected


def test_every_hook_gives_its_event() -> None:

    def types(name: str, **more: object) -> list[type]:
        return [type(event) for event in live_events(HookEvent(agent="claude_code", session="s", name=name, **more))]  # type: ignore[arg-type]

    assert types("session_start", source="resume") == [StartEvent]
    assert types("prompt", prompt="Fix it") == [PromptEvent]
    assert types("prompt", prompt=" ") == []
    assert types("after_tool", tool="Bash", arguments={"command": "ls"}, result="a") == [CallEvent]
    assert types("before_tool", tool="Bash", arguments={"command": "ls"}) == []
    assert types("after_compaction") == [CompactionEvent]
    assert types("stop") == [StopEvent]
    assert types("session_end") == [EndEvent]
    assert types("after_tool", tool="Bash", subagent="a1") == []
    assert types("after_tool", tool="TodoWrite", arguments={"todos": []}, result="ok") == []


@pytest.mark.parametrize(
    ("more", "status", "cause"),
    [
        ({"name": "after_tool", "result": "3 passed in 0.1s", "is_error": False}, "ok", None),
        ({"name": "tool_failed", "result": "Exit code 1\n1 failed in 0.2s"}, "failed", "finding"),
        ({"name": "tool_failed", "result": "Exit code 127\npytest: command not found"}, "failed", "environment"),
        ({"name": "after_tool", "result": "", "interrupted": True}, "interrupted", "environment"),
        ({"name": "after_tool", "result": None}, "unknown", None),
    ],
)
def test_a_call_of_a_hook_is_judged(more: dict[str, object], status: str, cause: str | None) -> None:
    """By the same judge as a transcript's, with the agent's own dialect."""
    event = HookEvent(agent="claude_code", session="s", tool="Bash", arguments={"command": "pytest"}, **more)  # type: ignore[arg-type]
    found = judge_call(event)
    assert (found.status, found.cause, found.kind, found.checks) == (status, cause, "shell", ("test",))


def test_a_payload_becomes_an_event() -> None:
    """From the bytes of a program's hook to what the fold takes."""
    payload = {
        "session_id": "s", "hook_event_name": "PostToolUse", "cwd": ROOT, "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": f"{ROOT}/src/cart.py", "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": f"{ROOT}/src/cart.py", "structuredPatch": []},
    }  # fmt: skip
    hooks = hooks_of("claude_code")
    assert hooks is not None
    event = hooks.read(msgspec.json.encode(payload), 5.0)
    assert event is not None
    (found,) = live_events(event, ROOT)
    assert isinstance(found, CallEvent)
    assert (found.at, found.call_id, found.edited, found.status) == (5.0, "t1", ("src/cart.py",), "ok")


# What tells calls and results apart.
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest -q 2>&1 | tail -5", "pytest -q | tail -20", True),
        ("cd . && timeout 60 pytest -q", "pytest -q", True),
        ('npm test; echo "exit $?"', "npm test", True),
        ("sed -n 1,40p a.py", "sed -n 40,80p a.py", False),
        ("cat a.py | grep one", "cat a.py | grep two", False),
        ("pytest tests/a.py", "pytest tests/b.py", False),
    ],
)
def test_a_command_with_less_output_shown_is_the_same_command(one: str, other: str, same: bool) -> None:
    assert (plain_command(one) == plain_command(other)) is same
    assert (hash_call("Bash", one, {}) == hash_call("Bash", other, {})) is same


def test_descriptive_arguments_do_not_change_the_hash_of_a_call() -> None:
    assert hash_call("Read", "", {"file_path": "a", "description": "x"}) == hash_call("Read", "", {"file_path": "a"})
    assert hash_call("Read", "", {"file_path": "a", "offset": 1}) != hash_call("Read", "", {"file_path": "a"})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3 failed in 0.31s", "3 failed in 2.70s", True),
        ("3 failed in 0.31s", "2 failed in 0.31s", False),
        ("at 0x7f3a21bc9d10", "at 0x7f3a21bc9e40", True),
        ("a\nb", "b\na", True),
        ("12:01:22 started\n", "14:55:01 started\n", True),
        ("line 41", "line 42", False),
    ],
)
def test_times_and_addresses_do_not_change_the_hash_of_a_result(one: str, other: str, same: bool) -> None:
    assert (hash_result("failed", one) == hash_result("failed", other)) is same
    assert hash_result("failed", one) != hash_result("ok", one)


def test_texts_of_preheat_are_no_part_of_a_result() -> None:
    said = "1 failed\n<preheat-advisory>3 rounds</preheat-advisory>"
    assert plain_result(said) == "1 failed"


@pytest.mark.parametrize(
    ("text", "passed", "count"),
    [
        ("= 2 failed, 3 passed, 1 error in 2.3s =", False, 3),
        ("5 passed, 1 warning in 0.10s", True, 0),
        ("Tests:       4 failed, 8 passed, 12 total", False, 4),
        ("  3 failing\n", False, 3),
        ("--- FAIL: TestOne (0.0s)\n--- FAIL: TestTwo (0.0s)\nFAIL", False, 2),
        ("test result: FAILED. 3 passed; 2 failed; 0 ignored\ntest result: FAILED. 1 passed; 1 failed;", False, 3),
        ("src/a.ts(1,2): error TS2304: x\nsrc/b.ts(1,2): error TS2304: y", False, 2),
        ("Found 7 errors in 2 files (checked 9 source files)", False, 7),
        ("✖ 12 problems (10 errors, 2 warnings)", False, 10),
        ("error: could not compile `shop` due to 4 previous errors", False, 4),
        ("FAILED (failures=2, errors=1)", False, 3),
        ("Success: no issues found in 9 source files", True, 0),
        ("   120 pass\n   0 fail\nerror: script \"lint\" exited with code 1", False, None),
        ("Segmentation fault", False, None),
        ("nothing that counts", True, None),
    ],
)  # fmt: skip
def test_the_number_of_failures_is_read_from_the_output_of_common_runners(
    text: str, passed: bool, count: int | None
) -> None:
    assert count_failing(text, passed) == count


@pytest.mark.parametrize(
    ("command", "polling"),
    [
        ("sleep 5 && curl -s localhost:3000", True),
        ("gh run view 77 --json status", True),
        ("kubectl get pods", True),
        ("docker logs web", True),
        ("gdb -batch -ex run ./a.out", True),
        ("python -m pdb app.py", True),
        ("tail -20 /tmp/server.log", True),
        ("grep -c PASS build/run.out | head -5", True),
        ("cat notes/catalog.md", False),
        ("pytest -q", False),
        ("git status", False),
        ("gh pr create --fill", False),
    ],
)
def test_commands_that_wait_or_watch_are_polling(command: str, polling: bool) -> None:
    assert is_polling("Bash", understand(command), {}) is polling


def test_tools_that_wait_are_recognised_by_their_names() -> None:
    assert is_polling("BashOutput", None, {"bash_id": "b1"})
    assert is_polling("browser_wait_for", None, {})
    assert is_polling("Read", None, {"file_path": "/tmp/tasks/b1.output"})
    assert not is_polling("Read", None, {"file_path": "src/log.py"})


@pytest.mark.parametrize(
    ("output", "number"),
    [
        ("=== RUN TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\nFAIL", 2),
        ("FAILED tests/test_a.py::test_one - assert 1\nFAILED tests/test_a.py::test_two[x]\n2 failed", 2),
        ("test parser::tests::empty ... FAILED\ntest parser::tests::full ... ok", 1),
        ("FAIL: test_a (app.tests.CaseTests)\nERROR: test_b (app.tests.CaseTests)", 2),
        ("  ● parser › reads nothing\n\n FAIL  src/a.test.ts > sums > two", 2),
        ("(fail) parser > empty [0.12ms]\n(pass) parser > full", 1),
        ("not ok 3 - reads nothing\nok 4 - reads all", 1),
        ("Test Case '-[AppTests.Parser testEmpty]' failed (0.1 seconds).", 1),
        ("error: cannot find name `x`\n0 tests", 0),
    ],
)
def test_failing_tests_are_known_by_name_whatever_they_say(output: str, number: int) -> None:
    names = hash_failing_tests(output)
    assert len(names) == number
    assert names == hash_failing_tests(output.replace("assert 1", "assert 2").replace("0.00s", "1.70s"))


def test_edits_of_one_place_are_the_same_change_and_edits_of_others_are_not() -> None:
    wanted = "    total = price * count\n    return round(total, 2)\n"
    once = {"file_path": "a.py", "old_string": "    total = price\n    return total\n", "new_string": wanted}
    wider = {**once, "old_string": "def pay(price):\n" + once["old_string"], "new_string": "def pay(price):\n" + wanted}
    elsewhere = {"file_path": "a.py", "old_string": "import os\n", "new_string": "import os\nimport sys\n"}
    patch = {"input": "*** Begin Patch\n*** Update File: a.py\n@@ other = 1\n-    return total\n" + f"+{wanted}"}
    assert is_same_change(sketch_change(once), sketch_change(wider))
    assert is_same_change(sketch_change(once), sketch_change(patch))
    assert not is_same_change(sketch_change(once), sketch_change(elsewhere))
    assert sketch_change({"file_path": "src/a_long_name.py", "description": "a change of words"}) == ()


@given(st.text(max_size=300), st.text(max_size=300), st.booleans())
def test_any_text_can_be_hashed_and_equal_texts_have_equal_hashes(command: str, result: str, passed: bool) -> None:
    assert hash_call("t", command, {"x": command}) == hash_call("t", command, {"x": command}) >= 0
    assert hash_result("ok", result) == hash_result("ok", result) < 2**63
    count = count_failing(plain_result(result), passed)
    assert count is None or count >= 0


@pytest.mark.parametrize(
    "filler",
    [
        " ",
        "\n",
        "a ",
        "● › ",
        "✗ 1s ",
        "FAIL > ",
        "1 ",
        "; ",
        "| ",
        "echo ",
        "f",
        "7",
        "/tmp",
        "<preheat-x>",
        "\x1b[",
        "ab.c/",
    ],
)
def test_reading_any_text_takes_time_proportional_to_its_length(filler: str) -> None:

    def take(text: str) -> None:
        plain = plain_result(text)
        count_failing(plain, False)
        hash_failing_tests(plain)
        sketch_change({"new_string": text})
        hash_result("ok", plain)
        hash_call("Bash", text[:8_192], {})
        call_event(shell(text), result_of(text), verdict())
        prompt_event(text)

    grows_in_proportion(take, (filler * 200_000)[:200_000])


def test_the_lines_of_a_command_stay_separate_commands_in_the_summary() -> None:
    call = ToolCall(
        line=1, call_id="a", tool="Bash", kind="shell", input={"command": "cd app\n# all\ngo test ./... \\\n  -v"}
    )
    found = call_event(call, ToolResult(line=2, call_id="a", text="ok"), Outcome("a", "ok", "flag"))
    assert found.summary == "cd app; go test ./... -v"
    assert found.checks == ("test",)
