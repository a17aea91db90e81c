"""The engine: what a hook is answered, what is left alone, and that nothing is answered that is not on disk."""

import json
import os
import re
import resource
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.app.health import daemon_faults as report
from preheat.app.live.hooks import HandedContext, Hooks
from preheat.daemon.engine import Engine
from preheat.daemon.time_limit import Overrun, TimeLimit
from preheat.daemon_client import prepare_folder
from preheat.model.live import HookEvent, LiveEvent
from tests.daemon.builders import AGENT, PatientTimeLimit, edited, hook_payload, prompted, ran, started, stopped
from tests.live.builders import make_talkative


class Warm(Hooks):
    """Has a context to give."""

    def choose_context(self, event: HookEvent, task: str, is_given_up: object = None) -> HandedContext | None:
        return HandedContext("0123", f"<preheat-context>{task}</preheat-context>")


@pytest.fixture
def live(tmp_path: Path) -> str:
    return prepare_folder(str(tmp_path))


def engine(live: str, kind: type[Hooks] = Hooks) -> Engine:
    """An engine in which every signal may advise, unless the folder has settings of its own."""
    settings = Path(live).parent / "settings.toml"
    if not settings.exists():
        settings.write_text(make_talkative())
    return Engine(live, kind(os.path.dirname(live)), PatientTimeLimit())


def said(answer: bytes) -> str:
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


def test_unverified_files_cause_one_advisory(live: str) -> None:
    one = engine(live)
    answers = [one.handle(AGENT, payload, float(at)) for at, payload in enumerate([
        started(), prompted("add a login endpoint in src/auth"), *(edited(n, f"src/auth/part{n}.py") for n in range(20)),
    ])]  # fmt: skip
    spoken = [each for each in answers if each]
    assert len(spoken) == 1
    assert "<preheat-advisory>" in said(spoken[0])


def test_the_state_of_a_session_equals_the_fold_of_its_journal(live: str) -> None:
    one = engine(live)
    for number in range(12):
        one.handle(AGENT, edited(number, f"src/part{number % 7}.py"), float(number))
        again = engine(live)
        assert again.rebuilt == number + 1
        assert again.sessions.get(AGENT, "s1") == one.sessions.get(AGENT, "s1")


def test_advice_is_not_repeated_after_a_crash(live: str) -> None:
    one = engine(live)
    first = [one.handle(AGENT, edited(number, f"src/part{number}.py"), float(number)) for number in range(20)]
    assert sum(map(bool, first)) == 1
    again = engine(live)
    more = [again.handle(AGENT, edited(number, f"src/part{number}.py"), float(number)) for number in range(20, 24)]
    assert not any(more)


def test_a_hook_that_fires_twice_is_one_event(live: str) -> None:
    """Installed in two places, every hook comes twice: the second is answered with nothing and counts for nothing."""
    one = engine(live)
    for number in range(4):
        for _ in range(2):
            one.handle(AGENT, edited(number, f"src/part{number}.py"), number + 100.0)
    assert one.sessions.get(AGENT, "s1").state.calls == 4
    assert one.counts["twice"] == 4


def test_the_same_prompt_later_is_a_new_event(live: str) -> None:
    one = engine(live)
    for at in (10.0, 10.5, 60.0):
        one.handle(AGENT, prompted("go on"), at)
    assert one.counts["twice"] == 1
    assert len(list(one.journal.replay(0))) == 2


def test_two_agents_and_many_sessions_do_not_mix(live: str) -> None:
    """Sessions are told apart by agent and id, whatever order their events come in."""
    one = engine(live)
    for number in range(6):
        for session in ("a", "b", "c"):
            one.handle(AGENT, edited(number, f"src/{session}{number}.py", session), float(number))
    assert [each.state.calls for each in one.sessions.in_memory()] == [6, 6, 6]
    one.handle("codex", ran(1, "ls", "x", "a"), 1.0)
    assert one.sessions.get("codex", "a").state.calls == 1


def test_subagents_and_sessions_of_preheat_are_ignored(live: str) -> None:
    one = engine(live)
    assert one.handle(AGENT, edited(1, "src/a.py", agent_id="sub-1"), 1.0) == b""
    assert one.handle(AGENT, hook_payload("SubagentStop", agent_id="sub-1"), 1.0) == b""
    assert not list(one.journal.replay(0))
    one.handle(AGENT, prompted('<preheat-run training="x" task="y"> do it', "own"), 2.0)
    for number in range(9):
        assert one.handle(AGENT, edited(number, f"src/{number}.py", "own"), 3.0 + number) == b""
    assert one.sessions.get(AGENT, "own").state.calls == 0


def test_a_session_is_given_its_context_at_the_start(live: str) -> None:
    """At the start, after clearing and after a compaction; on resuming only if it is another one than it has already."""
    one = engine(live, Warm)
    assert "preheat-context" in said(one.handle(AGENT, started(), 1.0))
    assert one.handle(AGENT, started(source="resume"), 10.0) == b""
    assert "preheat-context" in said(one.handle(AGENT, started(source="clear"), 20.0))
    assert "preheat-context" in said(one.handle(AGENT, started(source="compact"), 30.0))
    assert one.handle(AGENT, prompted("mend the login"), 40.0) == b""


def test_without_a_start_the_context_comes_with_the_first_prompt(live: str) -> None:
    one = engine(live, Warm)
    assert "mend the login" in said(one.handle(AGENT, prompted("mend the login"), 1.0))
    assert one.handle(AGENT, prompted("and the logout"), 20.0) == b""


def test_a_session_gets_its_progress_after_a_compaction(live: str) -> None:
    one = engine(live)
    one.handle(AGENT, started(), 0.0)
    one.handle(AGENT, edited(1, "src/auth/login.py"), 1.0)
    one.handle(AGENT, ran(2, "pytest tests/auth", "E   AssertionError: token\n1 failed", failed=True), 2.0)
    one.handle(AGENT, ran(3, "ruff check src", "All checks passed!"), 3.0)
    text = said(one.handle(AGENT, started(source="compact"), 4.0))
    assert "`src/auth/login.py`" in text
    assert re.search(r"`pytest tests/auth` failed", text)
    assert "`ruff check src` passed" in text
    one.handle(AGENT, started(source="clear"), 5.0)
    assert one.handle(AGENT, started(source="compact"), 9.0) == b""


def test_advice_at_a_stop_goes_to_the_person_and_does_not_hold_the_agent(live: str) -> None:
    one = engine(live)
    for number in range(4):
        one.handle(AGENT, edited(number, f"src/part{number}.py"), float(number))
    answer = json.loads(one.handle(AGENT, stopped(), 5.0))
    assert set(answer) == {"systemMessage"}
    assert "preheat-advisory" not in answer["systemMessage"]
    assert one.handle(AGENT, stopped(), 60.0) == b""


def test_an_event_that_nobody_waits_for_causes_no_advisory(live: str) -> None:
    one = engine(live)
    for number in range(9):
        one.take_event(AGENT, edited(number, f"src/part{number}.py"), float(number), awaited=False)
    running = one.sessions.get(AGENT, "s1")
    assert running.state.calls == 9
    assert running.advisory is None


def test_a_spooled_duplicate_of_an_event_counts_once(live: str) -> None:
    one = engine(live)
    one.handle(AGENT, edited(1, "src/a.py"), 1.0)
    one.take_event(AGENT, edited(1, "src/a.py"), 50.0, awaited=False)
    one.handle(AGENT, prompted("go on"), 2.0)
    one.take_event(AGENT, prompted("go on"), 60.0, awaited=False)
    assert len(list(one.journal.replay(0))) == 2


class Slow(Hooks):
    """Never comes to an end with some prompts, as a pattern that runs away would."""

    def live_events(self, event: HookEvent) -> list[LiveEvent]:
        if "slow" in event.prompt:
            re.match(r"(?:a|a)*b", "a" * 40)
        return super().live_events(event)


class Wrong(Hooks):
    """Has a mistake."""

    def live_events(self, event: HookEvent) -> list[LiveEvent]:
        raise ZeroDivisionError("a mistake of ours")


class Starved(Hooks):
    """Waits for its turn on a busy machine: time goes by in which nothing is computed."""

    def live_events(self, event: HookEvent) -> list[LiveEvent]:
        threading.Event().wait(0.2)
        return super().live_events(event)


def test_an_event_of_the_spool_is_not_given_up_because_the_machine_is_busy(live: str) -> None:
    """With 30 clients and one daemon at a load of 16 a spooled event took more than its second on the clock, and was lost."""
    one = Engine(live, Starved(os.path.dirname(live)), TimeLimit())
    one.take_event(AGENT, prompted("quick"), 1.0, seconds=0.05, awaited=False)
    assert len(list(one.journal.replay(0))) == 1
    with pytest.raises(Overrun):  # an agent that waits is answered in time all the same
        one.take_event(AGENT, prompted("again"), 2.0, seconds=0.05)


def test_an_event_of_the_spool_that_computes_for_too_long_is_given_up(live: str) -> None:
    one = Engine(live, Slow(os.path.dirname(live)), TimeLimit())
    with pytest.raises(Overrun):
        one.take_event(AGENT, prompted("slow"), 1.0, seconds=0.05, awaited=False)


def test_an_event_that_takes_too_long_raises_overrun_and_changes_nothing(live: str) -> None:
    one = Engine(live, Slow(os.path.dirname(live)), TimeLimit())
    with pytest.raises(Overrun):
        one.take_event(AGENT, prompted("slow"), 1.0)
    assert one.counts["overruns"] == 1
    assert not list(one.journal.replay(0))
    one.take_event(AGENT, prompted("quick"), 2.0)
    assert len(list(one.journal.replay(0))) == 1


def test_an_internal_error_gives_an_empty_answer(live: str) -> None:
    one = engine(live, Wrong)
    assert one.handle(AGENT, prompted("anything"), 1.0) == b""
    assert "ZeroDivisionError" in one.troubles["failure"]


def test_without_a_journal_no_advisory_is_given(live: str) -> None:
    one = engine(live)
    one.handle(AGENT, edited(0, "src/part0.py"), 0.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        answers = [one.handle(AGENT, edited(number, f"src/part{number}.py"), float(number)) for number in range(1, 9)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not any(answers)
    assert "File too large" in one.troubles["journal"]
    assert one.sessions.get(AGENT, "s1").state.calls == 1
    one.handle(AGENT, edited(9, "src/part9.py"), 9.0)
    assert "journal" not in one.troubles
    assert engine(live).sessions.get(AGENT, "s1") == one.sessions.get(AGENT, "s1")


def test_a_clock_that_jumps_does_not_change_the_state(live: str) -> None:
    one = engine(live)
    for number, at in enumerate((1e9, 4e9, 2.0, -5.0, 1e9)):
        one.handle(AGENT, edited(number, f"src/part{number}.py"), at)
    assert one.sessions.get(AGENT, "s1").state.calls == 5


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_names = st.sampled_from(
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "?"]
)
_payloads = st.binary(max_size=60) | st.fixed_dictionaries(
    {"session_id": st.sampled_from(["s1", "s2", ""]) | _values, "hook_event_name": _names},
    optional={
        "tool_name": st.sampled_from(["Bash", "Edit", "Read"]) | _values, "tool_input": _values, "tool_response": _values,
        "error": _values, "prompt": _values, "cwd": _values, "transcript_path": _values, "source": _values,
        "tool_use_id": st.text(max_size=3) | _values,
    },
).map(lambda value: json.dumps(value).encode())  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(payloads=st.lists(st.tuples(st.sampled_from([AGENT, "codex", "nobody", ""]), _payloads), max_size=8))
def test_any_payload_gets_one_json_object_or_an_empty_answer(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[tuple[str, Any]]
) -> None:
    live = prepare_folder(str(tmp_path_factory.mktemp("any")))
    one = engine(live)
    for at, (agent, payload) in enumerate(payloads):
        answer = one.handle(agent, payload, float(at))
        assert answer == b"" or isinstance(json.loads(answer), dict)
    assert one.counts["failures"] == 0, one.troubles
    for each in engine(live).sessions.in_memory():
        assert one.sessions.get(each.agent, each.session) == each


def test_secrets_are_not_journaled(live: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    one = engine(live)
    one.handle(
        AGENT, ran(1, f"curl -H 'Authorization: token {secret}' https://x.test", f"bad {secret}", failed=True), 1.0
    )
    one.handle(AGENT, prompted(f"use {secret}"), 2.0)
    one.sessions.prepare_flush()()
    assert len(list(one.journal.replay(0))) == 2
    for parent, _, names in os.walk(live):
        assert not any(secret[4:20] in Path(parent, name).read_text(errors="replace") for name in names)


def test_settings_reach_the_signals(tmp_path: Path) -> None:

    def first_word(name: str, text: str) -> int | None:
        folder = tmp_path / name
        live = prepare_folder(str(folder))
        (folder / "settings.toml").write_text(text)
        one = engine(live)
        answers = [one.handle(AGENT, edited(number, f"src/part{number}.py"), float(number)) for number in range(20)]
        return next((number for number, answer in enumerate(answers) if answer), None)

    soon = make_talkative("[live.debt_files]\nwarmup = 2\nproductive = 2\n")
    early, usual = first_word("soon", soon), first_word("usual", make_talkative())
    assert early is not None
    assert usual is not None
    assert early < usual
    assert first_word("wrong", make_talkative("[live]\nnonsense = 3\n")) is None
    assert first_word("broken", "][") is None
    assert first_word("by default", "") is None
    assert "nonsense" in report(str(tmp_path / "wrong"))[0]
    assert "no TOML" in report(str(tmp_path / "broken"))[0]
    assert report(str(tmp_path / "soon")) == []
