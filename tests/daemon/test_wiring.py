"""The parts joined: every signal speaks through the engine, out of hooks as a program tells them, and every setting acts."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from preheat.app.live.hooks import Hooks as AppHooks
from preheat.daemon.engine import Engine
from preheat.daemon.server import Server, Timeouts
from preheat.daemon_client import Address, prepare_folder
from preheat.live.signal import DEFAULTS, ByPhase, Thresholds
from preheat.live.state import readings
from preheat.model.live import HookAnswer, HookEvent, SignalName
from preheat.testing.builders import ClaudeTranscript
from tests.daemon.builders import (
    AGENT,
    MISSING,
    RIGHT,
    WRONG,
    PatientTimeLimit,
    edited,
    hook_payload,
    learned,
    prompted,
    ran,
    started,
    stopped,
)
from tests.live.builders import TALKATIVE, make_talkative
from tests.waiting import HUNG

SentText = tuple[int, SignalName, str]
"""Which event, which signal, what the model read."""


class Play:
    """A session that is played hook by hook into an engine; every signal may advise."""

    def __init__(self, folder: str, settings: str = "", cwd: str = "/work/shop") -> None:
        live = prepare_folder(folder)
        Path(folder, "settings.toml").write_text(make_talkative(settings))
        self.hooks = AppHooks(folder)
        self.hooks.prepare_folder(cwd)
        self.engine = Engine(live, self.hooks, PatientTimeLimit())
        self.cwd = cwd
        self.number = 0
        self.said: list[SentText] = []
        self.course: list[Any] = []
        """Every signal's value after each event, with the phase: what `why` prints."""

    def tell(self, payload: bytes) -> dict[str, Any]:
        """One hook, and the answer."""
        self.number += 1
        value = {**json.loads(payload), "cwd": self.cwd}
        before = self.engine.sessions.get(AGENT, "s1").advised_at
        answer: dict[str, Any] = json.loads(
            self.engine.handle(AGENT, json.dumps(value).encode(), float(self.number)) or b"{}"
        )
        running = self.engine.sessions.get(AGENT, "s1")
        if running.advisory is not None and running.advised_at != before:
            text = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
            assert running.advisory.text in text or answer["systemMessage"] in running.advisory.text
            self.said.append((self.number, running.advisory.signal, text))
        found = readings(running.state, self.hooks.thresholds)
        self.course.append((running.state.phase.phase, *((each.value, each.fired) for each in found)))
        return answer

    def all(self, payloads: Sequence[bytes]) -> "Play":
        for payload in payloads:
            self.tell(payload)
        return self

    @property
    def signals(self) -> list[SignalName]:
        return [signal for _, signal, _ in self.said]


class Hooks:
    """Payloads with numbers of their own."""

    def __init__(self) -> None:
        self.made: list[bytes] = [started()]

    def ask(self, text: str) -> "Hooks":
        self.made.append(prompted(text))
        return self

    def look(self, *paths: str) -> "Hooks":
        for path in paths:
            call = {"tool_name": "Read", "tool_use_id": f"call-{len(self.made)}"}
            content = {"file": {"filePath": path, "content": f"text {len(self.made)}"}}
            self.made.append(
                hook_payload(
                    "PostToolUse", **call, tool_input={"file_path": f"/work/shop/{path}"}, tool_response=content
                )
            )
        return self

    def edit(self, *paths: str) -> "Hooks":
        self.made += [edited(len(self.made) + place, path) for place, path in enumerate(paths)]
        return self

    def run(self, command: str, output: str = "", failed: bool = False, times: int = 1) -> "Hooks":
        for _ in range(times):
            self.made.append(ran(len(self.made), command, output, failed=failed))
        return self

    def stop(self) -> "Hooks":
        self.made.append(stopped())
        return self


FAILING = "E   AssertionError: assert 3 == 4\ntests/auth/test_login.py:7: AssertionError\n1 failed, 11 passed in 0.4s"
AUTH = [f"src/auth/{name}.py" for name in ("login", "token", "session", "store", "keys", "clock", "cookie")]


def pages() -> list[bytes]:
    """Documents owe no check, so that the fall of focus is all there is to tell."""
    spread = [f"web/{name}/page.html" for name in ("mail", "search", "shop", "admin") for _ in range(3)]
    return (
        Hooks().ask("rename the tenant identifier in all templates").edit(*["web/auth/login.html"] * 12, *spread).made
    )


def repeated() -> list[bytes]:
    return (
        Hooks()
        .ask("why is the folder missing")
        .look(*AUTH[:6])
        .run("ls missing", "ls: missing: no such file", True, 6)
        .made
    )


def cycles() -> list[bytes]:
    hooks = Hooks().ask("mend src/auth/login.py").look(*AUTH[:6])
    for _ in range(5):
        hooks.edit(AUTH[0]).run("pytest tests/auth", FAILING, True)
    return hooks.made


def reread() -> list[bytes]:
    hooks = Hooks().ask("mend src/auth/login.py").look(*AUTH[:4])
    return hooks.run("cat notes.txt", "the same notes", times=8).made


def unchecked() -> list[bytes]:
    return Hooks().ask("mend the login").edit(*(f"src/auth/part{number}.py" for number in range(20))).made


def away(kind: str = "html") -> list[bytes]:
    far = [f"src/billing/invoice{number}.{kind}" for number in range(12)]
    return Hooks().ask("mend the expired session in src/auth/login.py").look(*AUTH).edit(*AUTH[:2], *far).made


def mistaken() -> list[bytes]:
    """Mistakes, looks elsewhere, changes that are thrown away and others that a check proves."""
    hooks = Hooks().ask("mend src/auth/login.py").look(*AUTH)
    for number in range(4):
        hooks.run(f"pyhton run{number}.py", "bash: pyhton: command not found", True).look(f"src/jobs/{number}.py")
    hooks.edit("src/auth/login.py", "src/mail/send.py", "src/ui/form.py", "src/db/rows.py").run("git checkout -- src")
    hooks.look("src/jobs/9.py", "src/jobs/8.py", "src/jobs/7.py", "src/jobs/6.py")
    hooks.edit("src/auth/login.py").run("pytest", "12 passed in 0.3s").look(*AUTH)
    return hooks.run("ls missing", "ls: missing: no such file", True, 6).made


def chatty() -> list[bytes]:
    """Much to say at once."""
    hooks = Hooks().ask("mend the login").edit(*(f"src/auth/part{number}.py" for number in range(9)))
    for word in ("one", "two", "three", "four"):
        hooks.run(f"ls {word}", f"ls: {word}: no such file", True, 4).look(
            *(f"src/auth/{word}{n}.py" for n in range(3))
        )
    return hooks.made


SCRIPTS: dict[SignalName, Callable[[], list[bytes]]] = {
    "focus": pages, "loop": cycles, "debt": unchecked, "drift": away,
}  # fmt: skip
WORDS = {"focus": "Focus fell", "loop": "rounds", "debt": "source files", "drift": "outside of what the prompt named"}


@pytest.mark.parametrize("signal", SCRIPTS)
def test_every_signal_can_cause_an_advisory_through_the_engine(tmp_path: Path, signal: SignalName) -> None:
    play = Play(str(tmp_path)).all(SCRIPTS[signal]())
    assert play.signals.count(signal) == 1, play.signals
    (text,) = (text for _, name, text in play.said if name == signal)
    assert WORDS[signal] in text
    assert text.startswith("<preheat-advisory>")


def test_pressure_fires_with_the_context_size_of_the_transcript(tmp_path: Path) -> None:
    play = Play(str(tmp_path))
    full = [150_000]
    play.engine.context_size = lambda agent, session: (full[0], 200_000)
    play.all(Hooks().ask("mend the login").look(*AUTH).made)
    assert play.signals == []
    full[0] = 176_000
    play.all([ran(900, "make"), ran(901, "make docs")])
    assert play.signals == ["pressure"]
    assert "88" in play.said[0][2]


# What was learned.
def test_a_known_mistake_gets_a_hint_before_or_after_the_call(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    learned(str(tmp_path / "data"), str(project), str(tmp_path / "home"))
    play = Play(str(tmp_path / "data"), cwd=str(project))
    failed = ran(2, WRONG, MISSING, failed=True)
    for each in (started(), prompted("make checkout work"), ran(1, "ls", "src")):
        play.tell(each)
    warning = play.tell(calling(WRONG))["hookSpecificOutput"]["additionalContext"]
    assert f"`{RIGHT}`" in warning
    assert play.tell(failed) == {}
    assert play.signals == ["mistake"]
    play.all([started(source="clear"), prompted("again"), ran(3, "ls", "src"), ran(4, WRONG, MISSING, failed=True)])
    assert play.signals == ["mistake", "mistake"]
    assert f"`{RIGHT}`" in play.said[-1][2]


# Settings.
def toml(name: str, value: float) -> str:
    if isinstance(getattr(DEFAULTS, name), ByPhase):
        return f"[live.{name}]\n" + "\n".join(f"{phase} = {value}" for phase in ByPhase.__struct_fields__)
    return f"[live]\n{name} = {value}"


ACTS: dict[str, tuple[Callable[[], list[bytes]], float]] = {
    "focus_window": (pages, 8),
    "focus_low": (pages, 5),
    "loop_repeats": (repeated, 6),
    "loop_cycles": (cycles, 9),
    "loop_rereads": (reread, 20),
    "debt_files": (unchecked, 2),
    "debt_free": (unchecked, 9),
    "debt_turns": (unchecked, 9),
    "drift_high": (away, 0.3),
    "drift_velocity": (away, 0.5),
    "trust_mistake": (mistaken, 20),
    "trust_unverified": (unchecked, 30),
    "trust_switch": (mistaken, 20),
    "trust_dead_end": (mistaken, 40),
    "trust_progress": (mistaken, 0),
    "trust_recovery": (mistaken, 0),
    "warmup_turns": (unchecked, 12),
    "late_turn": (unchecked, 3),
    "late_share": (unchecked, 0.1),
    "phase_patience": (cycles, 6),
    "pressure_share": (unchecked, 0.2),
    "advice_per_ten_turns": (chatty, 0),
    "advice_tokens": (unchecked, 40),
}
"""By setting: a session and a value with which it goes otherwise."""


def test_every_setting_has_a_session_that_shows_its_effect() -> None:
    assert {*ACTS, "advise", "output_lines"} == set(Thresholds.__struct_fields__)


@pytest.mark.parametrize("name", ACTS)
def test_a_setting_changes_the_advisories_of_its_session(tmp_path: Path, name: str) -> None:
    script, value = ACTS[name]

    def played(settings: str) -> Play:
        play = Play(str(tmp_path / str(len(settings))), settings)
        play.engine.context_size = lambda agent, session: (60_000, 200_000)
        return play.all(script())

    usual, other = played(""), played(toml(name, value))
    assert getattr(other.hooks.thresholds, name) != getattr(DEFAULTS, name)
    assert (other.said, other.course) != (usual.said, usual.course)
    assert usual.hooks.thresholds == TALKATIVE


def test_trust_lowers_the_number_of_advisories(tmp_path: Path) -> None:
    trusted = Play(str(tmp_path / "much"), "[live]\ntrust_unverified = 0").all(away("py"))
    distrusted = Play(str(tmp_path / "little"), "[live]\ntrust_unverified = 30").all(away("py"))
    assert trusted.signals == ["debt"]
    assert distrusted.signals == ["debt", "drift"]
    assert distrusted.said[0] == trusted.said[0]


def test_the_phase_changes_the_number_of_advisories(tmp_path: Path) -> None:
    usual = Play(str(tmp_path / "usual")).all(chatty())
    quiet = Play(str(tmp_path / "quiet"), "[live.advice_per_ten_turns]\nproductive = 0\nwarmup = 0").all(chatty())
    silent = Play(str(tmp_path / "silent"), toml("advice_per_ten_turns", 0)).all(chatty())
    first, later = usual.said[0][0], quiet.said[0][0]
    assert [usual.course[first - 1][0], quiet.course[later][0]] == ["productive", "struggling"]
    assert silent.said == []


# What is done only on request.
LONG = "\n".join(f"line {number} of a build that goes well" for number in range(400))


def test_outputs_are_shortened_only_on_request(tmp_path: Path) -> None:
    """In the place of the command's own output, with the whole of it kept; a setting says how many lines."""

    def output(name: str, settings: str) -> str:
        play = Play(str(tmp_path / name), settings).all(Hooks().ask("build it").look(*AUTH).made)
        answer = play.tell(ran(900, "make all", LONG))
        if not answer:
            return ""
        return str(answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"])

    assert output("off", "") == ""
    on = output("on", "[live]\nshorten_output = true")
    assert on.splitlines()[0] == "line 0 of a build that goes well"
    assert 20 < len(on.splitlines()) < 100
    assert len(output("less", "[live]\nshorten_output = true\n" + toml("output_lines", 20)).splitlines()) < 30
    name = on.partition("preheat admin output ")[2][:12]
    assert (tmp_path / "on" / "outputs" / f"{name}.zst").exists()
    assert not (tmp_path / "off" / "outputs").exists()


def test_a_call_that_asks_for_the_whole_output_gets_it(tmp_path: Path) -> None:
    play = Play(str(tmp_path), "[live]\nshorten_output = true")
    assert play.tell(ran(1, "preheat admin output 0123456789ab", LONG)) == {}
    assert play.tell(ran(2, "preheat admin output 0123456789ab | grep -n line", LONG)) == {}
    read: dict[str, Any] = {"tool_name": "Read", "tool_use_id": "r", "tool_input": {"file_path": "/work/shop/a.log"}}
    assert play.tell(hook_payload("PostToolUse", **read, tool_response={"file": {"content": LONG}})) == {}
    assert play.tell(ran(3, "make preheat admin output", LONG)) != {}


def test_an_output_that_cannot_be_stored_is_not_shortened(tmp_path: Path) -> None:
    play = Play(str(tmp_path), "[live]\nshorten_output = true")
    (tmp_path / "outputs").write_text("a file where the folder should be")
    assert play.tell(ran(1, "make all", LONG)) == {}


def calling(command: str, **more: Any) -> bytes:
    return hook_payload("PreToolUse", tool_name="Bash", tool_input={"command": command}, **more)


RUIN = "rm -rf --no-preserve-root /"


def decision(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


def test_calls_are_refused_only_on_request(tmp_path: Path) -> None:
    """By severity; the model reads the rule and the person's wish; nothing is ever allowed that was not."""

    def refused(name: str, settings: str, command: str) -> str:
        play = Play(str(tmp_path / name), settings)
        answer = play.tell(calling(command))
        assert decision(answer) in ("", "deny")
        return str(answer.get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))

    assert refused("off", "", RUIN) == ""
    assert refused("never", '[live]\nblock = "never"', RUIN) == ""
    assert "`rm-root` (critical)" in refused("critical", '[live]\nblock = "critical"', RUIN)
    assert refused("critical too", '[live]\nblock = "critical"', "git clean -fdx") == ""
    assert "(high)" in refused("high", '[live]\nblock = "high"', "git clean -fdx")
    assert refused("plain", '[live]\nblock = "high"', "ls -la") == ""


def test_a_refusal_holds_for_repetitions_and_subagents(tmp_path: Path) -> None:
    play = Play(str(tmp_path), '[live]\nblock = "critical"')
    for more in ({}, {}, {"tool_use_id": "c1"}, {"tool_use_id": "c1"}, {"agent_id": "sub-1"}):
        assert decision(play.tell(calling(RUIN, **more))) == "deny"
    assert play.engine.counts["refused"] == 5
    assert all("rm-root" in entry.refused for entry in play.engine.journal.replay(0))
    play.engine.journal.close()
    journal = tmp_path / "live" / "journal"
    for path in journal.iterdir():
        path.unlink()
    journal.rmdir()
    journal.write_text("a file where the folder should be")
    assert decision(play.tell(calling(RUIN))) == "deny"


def test_discarding_changes_is_more_severe_with_uncommitted_changes(tmp_path: Path) -> None:
    play = Play(str(tmp_path), '[live]\nblock = "high"')
    assert decision(play.tell(calling("git reset --hard"))) == ""
    play.tell(edited(1, "src/a.py"))
    assert decision(play.tell(calling("git reset --hard"))) == "deny"
    play.tell(ran(2, "git add -A && git commit -m 'a step'", "[main 1a2b3c] a step"))
    assert decision(play.tell(calling("git reset --hard", tool_use_id="again"))) == ""


def test_an_invalid_threshold_does_not_switch_refusals_off(tmp_path: Path) -> None:
    play = Play(str(tmp_path), '[live]\nfocus_low = "nonsense"\nblock = "critical"')
    assert decision(play.tell(calling(RUIN))) == "deny"


def test_a_stop_is_held_only_on_request_and_once(tmp_path: Path) -> None:
    """By default the person alone is told. On request the agent is sent back once for each prompt, not when the program says
    that it was already, and our own words that come back as a prompt are nobody's prompt."""
    files = Hooks().ask("mend the login").edit(*(f"src/part{number}.py" for number in range(3))).made
    usual = Play(str(tmp_path / "usual")).all(files).tell(stopped())
    assert set(usual) == {"systemMessage"}
    play = Play(str(tmp_path / "held"), "[live]\nhold_stop = true").all(files)
    answer = play.tell(stopped())
    assert answer["decision"] == "block"
    assert "no check has passed" in answer["reason"]
    play.tell(prompted(answer["reason"]))
    more = [edited(100 + number, f"src/more{number}.py") for number in range(9)]
    assert "decision" not in play.all(more).tell(stopped())
    again = Play(str(tmp_path / "again"), "[live]\nhold_stop = true").all(files)
    assert "decision" not in again.tell(stopped(stop_hook_active=True))


def test_a_held_stop_is_remembered_by_the_next_daemon(tmp_path: Path) -> None:
    """It is in the journal: a crash in between does not send the agent back again."""
    play = Play(str(tmp_path), "[live]\nhold_stop = true")
    play.all(Hooks().ask("mend the login").edit(*(f"src/part{number}.py" for number in range(3))).stop().made)
    again = Engine(os.path.join(str(tmp_path), "live"), AppHooks(str(tmp_path)), PatientTimeLimit())
    assert again.sessions.get(AGENT, "s1").stop_held
    assert again.sessions.get(AGENT, "s1") == play.engine.sessions.get(AGENT, "s1")


# At the end of a session.
class Listening(AppHooks):
    """A program that shows its person a line at the end."""

    def write(self, event: HookEvent, answer: HookAnswer) -> bytes:
        return json.dumps({"line": answer.person}).encode() if answer.person else b""


class Deaf(AppHooks):
    """A program that shows nothing; scoring for nobody would be a mistake."""

    def describe_score(self, event: HookEvent) -> str:
        raise AssertionError("nobody would hear it")


def test_the_person_gets_a_score_line_at_the_end(tmp_path: Path) -> None:

    def line(kind: type[AppHooks], calls: int) -> bytes:
        session = f"0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f6{calls:02}"
        found = ClaudeTranscript(session=session, project="/work/shop", started=1_770_000_000.0).prompt("mend it")
        for number in range(calls):
            found = found.answer("I look.").run(f"make step{number}", "done")
        path = found.write(str(tmp_path / "projects"))
        live = prepare_folder(str(tmp_path / kind.__name__))
        one = Engine(live, kind(os.path.dirname(live)), PatientTimeLimit())
        return one.handle(AGENT, hook_payload("SessionEnd", session, transcript_path=path), 1.0)

    assert json.loads(line(Listening, 40))["line"].startswith("Preheat: this session scored 100 of 100 (safety 100")
    assert line(Listening, 1) == b""
    assert line(Deaf, 40) == b""


def test_a_session_without_a_transcript_ends_without_a_score_line(tmp_path: Path) -> None:
    live = prepare_folder(str(tmp_path))
    (tmp_path / "other.jsonl").write_text("no transcript at all")
    one = Engine(live, Listening(str(tmp_path)), PatientTimeLimit())
    for number, place in enumerate(("", str(tmp_path / "gone"), str(tmp_path), str(tmp_path / "other.jsonl"))):
        assert one.handle(AGENT, hook_payload("SessionEnd", f"s{number}", transcript_path=place), 1.0) == b""
    assert one.counts["failures"] == one.counts["twice"] == 0


@pytest.mark.parametrize("slow", [False, True])
def test_a_slow_score_is_skipped(tmp_path: Path, slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    class Slow(Listening):
        def describe_score(self, event: HookEvent) -> str:
            if slow:
                over.wait(HUNG)
            return "a line"

    async def answered() -> bytes:
        stages = Slow(str(tmp_path))
        with open(tmp_path / "log", "w") as log:
            server = Server(live, Engine(live, stages), stages, Address(0, "t"), log, Timeouts())
            reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            server.receive(AGENT, hook_payload("SessionEnd"), reply.set_result, False)
            try:
                return await asyncio.wait_for(reply, HUNG)
            finally:
                over.set()

    live = prepare_folder(str(tmp_path))
    monkeypatch.setattr("preheat.daemon.server.SCORE_SECONDS", 0.05 if slow else HUNG)
    assert asyncio.run(answered()) == (b"" if slow else b'{"line": "a line"}')
