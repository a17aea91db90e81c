"""The real Hermes with our plugin in it: a session starts warm, a known mistake is answered, compaction and resuming give nothing
twice, nothing of ours is learned back; and with the plugin or the daemon broken in every way a session ends as without."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from preheat import daemon_client
from preheat.agents.hermes.plugin import watcher
from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.model.live import HookAnswer, HookEvent
from preheat.model.session import Compaction, Usage, UserMessage
from preheat.testing.hooks import ListeningDaemon, RawAnswer
from preheat.testing.script import Call, Reply
from tests.daemon.builders import RIGHT, learned
from tests.programs import hermes
from tests.programs.program import clean_environment
from tests.shared import real_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program

TASK = "Make the next checkout step work."
WRONG, WORKS = "rspec spec", "bin/rspec spec"
LONG = "for n in $(seq 400); do echo line $n of a build; done"
REFUSED = "git push --force origin main"
"""A command that a critical rule refuses; harmless if it runs, since there is no repository."""
FULL = Usage(input=62_000, output=20)
"""Enough reported tokens to overfill a window of 64,000."""
ENDED = "All done."


class Machine:
    """A person's machine: Hermes with a home, our plugin in it, and Preheat's folder."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.home = str(folder / "home")
        self.data = str(folder / "data")
        self.project = os.path.join(self.home, "project")
        os.makedirs(self.project)
        os.makedirs(self.data)
        checks = Path(self.project, "bin", "rspec")
        checks.parent.mkdir()
        checks.write_text("#!/bin/sh\necho 3 examples, 0 failures\n")
        checks.chmod(0o755)
        self.plugin = Path(hermes.place_plugin(self.home, self.data))

    def preheat(self, *words: str) -> str:
        """A command, as the person would type it."""
        more = {"HERMES_HOME": os.path.join(self.home, ".hermes"), "PREHEAT_HOME": self.data}
        done = subprocess.run(
            [sys.executable, "-m", "preheat", *words],
            env=clean_environment(self.home, more), cwd=self.project, capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(
        self, script: Sequence[Reply], *arguments: str, settings: str = "", plugins: str = hermes.PLUGIN, **more: Any
    ) -> "Ran":
        """A session of one question in which the model answers so."""
        job = hermes.Job(
            program=self.program, home=self.home, script=[*script, Reply(ENDED)],
            arguments=["chat", *(arguments or ("-q", TASK)), "-Q", "--yolo"], settings=f"{plugins}\n{settings}", **more,
        )  # fmt: skip
        return Ran(hermes.run(job))

    def rows(self) -> list[dict[str, Any]]:
        """The messages as Hermes stored them."""
        connection = sqlite3.connect(hermes.database(self.home))
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("SELECT * FROM messages ORDER BY id")]
        finally:
            connection.close()

    def lessons(self) -> list[dict[str, Any]]:
        """The lessons after everything was read and learned."""
        self.preheat("sync", "--quiet")
        self.preheat("learn", "--quiet")
        found: list[dict[str, Any]] = json.loads(self.preheat("lessons", "list", "--json"))
        return found


class Ran:
    """A finished run."""

    def __init__(self, finished: hermes.Finished) -> None:
        self.finished = finished
        asked = [each for each in finished.requests if each.path.endswith("/chat/completions")]
        self.requests = [each for each in asked if not each.auxiliary]
        self.bodies = [json.dumps(each.body["messages"]) for each in self.requests]

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """The tools' results as the model got them, by call id."""
        return {
            each["tool_call_id"]: json.loads(each["content"])
            for each in self.requests[-1].body["messages"]
            if each["role"] == "tool" and each["content"].startswith("{")
        }


def commands(*texts: str) -> list[Reply]:
    return [Reply(calls=[Call("terminal", {"command": each})]) for each in texts]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    program = real_program(hermes.find_hermes(), "hermes")
    found = Machine(program, tmp_path)
    yield found
    if daemon_client.find_daemon(found.data) is not None:
        found.preheat("serve", "--stop")


def test_lessons_of_cold_sessions_reach_the_next_session(machine: Machine) -> None:
    """Three cold sessions, without us, then sync and learn: the next one's first request holds what works, and the mistake of the
    first three is answered inside its result, with exit code and error as they were. What is stored is the person's own words.
    The session resumed is given nothing again, and of what we said ourselves nothing is learned."""
    for number in (1, 2, 3):
        cold = machine.run(commands(WRONG, WORKS), "-q", f"Make checkout step {number} work.", plugins="")
        assert "preheat" not in cold.bodies[-1]
    before = machine.lessons()
    assert any(WORKS in json.dumps(lesson) for lesson in before)

    machine.preheat("serve")
    warm = machine.run(commands(WRONG))
    assert "preheat-context" in warm.bodies[0]
    assert WORKS in warm.bodies[0]
    assert warm.bodies[0].count("<preheat-context") == 1
    (result,) = warm.results.values()
    assert list(result) == ["output", "exit_code", "error", "preheat_advisory"]
    assert (result["exit_code"], result["error"]) == (127, None)
    assert WORKS in result["preheat_advisory"]
    users = [row for row in machine.rows() if row["role"] == "user"]
    assert users[-1]["content"] == TASK
    assert users[-1]["api_content"].startswith(f"{TASK}\n\n<preheat-context")

    resumed = machine.run([], "--resume", warm.finished.session, "-q", "Go on.")
    assert resumed.bodies[0].count("<preheat-context") == 1
    assert resumed.requests[0].body["messages"][-1]["content"] == "Go on."
    status = daemon_client.status(machine.data)
    assert (status["contexts"], status["advisories"], status["troubles"]) == (1, 1, [])

    stored = {session.id: session for session in read(hermes.database(machine.home), READER)}[warm.finished.session]
    said = [event for event in stored.events if isinstance(event, UserMessage)]
    assert [(event.origin, event.text.partition(" ")[0]) for event in said] == [
        ("human", "Make"), ("preheat", "<preheat-context"), ("preheat", "<preheat-advisory>Where"), ("human", "Go"),
    ]  # fmt: skip
    assert "preheat" not in json.dumps([lesson["text"] for lesson in machine.lessons()])


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("form", ["text", "messages"])
def test_a_compacted_session_gets_its_start_once(machine: Machine, form: str, in_place: bool) -> None:
    """Messages stand outside: the same bytes with each request before and after. The text is part of the first message: it is
    there once as long as that is kept, and never given again. In both, nothing of it is learned."""
    learned(machine.data, machine.project, os.path.join(machine.home, "earlier"))
    Path(machine.data, "settings.toml").write_text(f'[live]\nstart_as = "{form}"\n')
    machine.preheat("serve")
    script = [
        Reply(
            calls=[Call("terminal", {"command": f"seq {number} {900 + number}"})],
            usage=FULL if number == 6 else Usage(1000, 20),
        )
        for number in range(9)
    ]
    settings = f"compression: {{protect_last_n: 4, target_ratio: 0.1, in_place: {str(in_place).lower()}}}"
    ran = machine.run(script, window=64_000, settings=settings)
    sessions = read(hermes.database(machine.home), READER)
    assert len(sessions) == (1 if in_place else 2)
    assert sum(isinstance(event, Compaction) for session in sessions for event in session.events) == 1
    assert RIGHT in ran.bodies[0]
    assert daemon_client.status(machine.data)["contexts"] == 1
    assert len(ran.requests) == 10
    if form == "messages":
        seeds = [json.dumps(each.body["messages"][1:3]) for each in ran.requests]
        assert seeds == [seeds[0]] * len(seeds)
        assert "preheat-context" in seeds[0]
        assert all(body.count("<preheat-context") == 1 for body in ran.bodies)
        assert not any("preheat" in (row["content"] or "") + (row["api_content"] or "") for row in machine.rows())
    else:
        assert all(body.count("<preheat-context") <= 1 for body in ran.bodies)
        assert all("<preheat-context" in body for body in ran.bodies[:7])
        assert not any("<preheat" in (row["content"] or "") for row in machine.rows() if row["role"] == "user")
    assert "preheat" not in json.dumps([lesson["text"] for lesson in machine.lessons()])


def answer_with_mark(event: HookEvent) -> HookAnswer:
    return HookAnswer(context=f"<preheat-advisory>said at {event.host_event}</preheat-advisory>")


def test_subagents_are_not_watched(machine: Machine) -> None:
    """Parent and child run at once: only the parent's requests contain a text of ours."""
    script = [
        Reply("I hand this over.", calls=[Call("delegate_task", {"goal": "Count the files", "context": "Use ls."})]),
        Reply(calls=[Call("terminal", {"command": "sleep 2; ls | wc -l"})]),
        Reply(calls=[Call("terminal", {"command": "sleep 2; ls | wc -l"})]),
        Reply("Zero."),
        Reply("Waited.", delay=2),
    ]
    with ListeningDaemon(machine.data, "hermes", answer_with_mark) as listening:
        ran = machine.run(script)
    assert {event.session for event in listening.events if not event.subagent} == {ran.finished.session}
    children = [body for body in ran.bodies if TASK not in body]
    assert children
    assert not any("preheat-advisory" in body for body in children)
    assert all("said at pre_llm_call" in body for body in ran.bodies if TASK in body)


def test_hermes_own_review_is_not_watched(machine: Machine) -> None:
    """Hermes reviews a session in the background under the session's id: it gets nothing, and nothing is reported."""
    waits = machine.plugin.parent / "waits"
    waits.mkdir()
    (waits / "plugin.yaml").write_text("name: waits\nversion: 1.0.0\ndescription: Lets a review begin.\n")
    waiting = (
        "import time\n\ndef register(ctx):\n    ctx.register_hook('on_session_finalize', lambda **_: time.sleep(5))\n"
    )
    (waits / "__init__.py").write_text(waiting)
    for _ in range(4):  # it may end before its review has begun
        with ListeningDaemon(machine.data, "hermes", answer_with_mark) as listening:
            ran = machine.run(commands("echo hello"), review=1, plugins="plugins: {enabled: [preheat, waits]}")
        assert [event.name for event in listening.events] == [
            "session_start", "before_tool", "after_tool", "stop", "session_end",
        ]  # fmt: skip
        asked = [each.body["messages"] for each in ran.requests]
        reviews = [each for each in asked if each[-1]["content"].startswith("Review the conversation above and")]
        if reviews:
            break
    assert reviews
    assert not any("said at" in each[-1]["content"] for each in reviews)


def test_calls_are_refused_outputs_shortened_and_stops_held_as_set(machine: Machine) -> None:
    """A call that meets a rule is refused, a long output is shortened inside its JSON, and an agent that stops with unchecked
    files is sent back once."""
    Path(machine.data, "settings.toml").write_text(
        '[live]\nshorten_output = true\nblock = "critical"\nhold_stop = true\n'
    )
    machine.preheat("serve")
    edits = [Reply(calls=[Call("write_file", {"path": f"src/part{n}.py", "content": f"x = {n}\n"})]) for n in range(3)]
    ran = machine.run([*commands(REFUSED, LONG), *edits, Reply("I think that is it.")])
    refused, long, *_ = ran.results.values()
    assert "safety rule" in refused["error"]
    assert list(long)[:3] == ["output", "exit_code", "error"]
    assert "line 399 of a build" in long["output"]
    assert "line 200 of a build" not in long["output"]
    name = long["output"].partition("preheat admin output ")[2][:12]
    assert "line 200 of a build" in machine.preheat("output", name)
    last = ran.requests[-1].body["messages"][-1]
    assert last["role"] == "user"
    assert "src/part" in last["content"]
    assert ran.finished.output.strip().splitlines()[-1] != "I think that is it."
    assert ENDED in ran.finished.output


# Harm.
CALLS = [*commands("echo one", "ls nowhere; exit 2", "echo three"), Reply(calls=[Call("todo", {"todos": []})])]
BAD = (b"", b"preheat 1 9\n{}", b"\x00\xff", b"preheat 1 4\nnull", b'preheat 1 15\n{"advisory": 7}\n')


def check_undisturbed(ran: Ran, preheat: bool = False) -> None:
    """Assert that the session ended as without the plugin."""
    assert ENDED in ran.finished.output
    assert len(ran.requests) == len(CALLS) + 1
    codes = [result.get("exit_code") for result in ran.results.values()]
    assert codes[:3] == [0, 2, 0]
    assert preheat or "preheat" not in ran.bodies[-1]


def test_a_broken_or_hanging_daemon_does_not_disturb_the_session(machine: Machine) -> None:
    """With half an answer, none, invalid JSON, and an answer that never comes."""
    answers = iter([*(RawAnswer(data) for data in BAD), *(RawAnswer(b"", 60) for _ in range(50))])
    with ListeningDaemon(machine.data, "hermes", lambda event: next(answers)) as listening:
        check_undisturbed(machine.run(CALLS))
        listening.end()


def test_an_unusable_folder_does_not_disturb_the_session(machine: Machine) -> None:
    """A file in the place of Preheat's folder: no socket and no client."""
    shutil.rmtree(machine.data)
    Path(machine.data).write_text("")
    check_undisturbed(machine.run(CALLS))


RAISING = """
class {watcher}:
    def __init__(self, daemon): pass
    def hooks(self): return dict.fromkeys({names!r}, self.fail)
    def fail(self, *arguments, **event): raise RuntimeError("broken on purpose")
    def __getattr__(self, name): return self.fail
"""
OTHER = """
def register(ctx):
    ctx.register_hook("pre_llm_call", lambda **told: {"context": "Said by another."})
    ctx.register_hook("transform_tool_result", lambda **told: told["result"] + "\\n[noted by another]")
"""


@pytest.mark.parametrize("broken", ["callbacks", "register", "import"])
def test_a_plugin_that_raises_does_not_disturb_the_session(machine: Machine, broken: str) -> None:
    """In each callback, when registering, and when loading; another plugin still works."""
    if broken == "callbacks":
        names = (
            "pre_llm_call",
            "pre_tool_call",
            "post_tool_call",
            "transform_tool_result",
            "pre_verify",
            "on_session_end",
        )
        file = machine.plugin / os.path.basename(watcher.__file__)
        file.write_text(RAISING.format(watcher=watcher.SessionWatcher.__name__, names=names))
    elif broken == "register":
        machine.plugin.joinpath("__init__.py").write_text(
            "def register(ctx):\n    raise RuntimeError('broken on purpose')\n"
        )
    else:
        machine.plugin.joinpath("__init__.py").write_text("import nothing_of_this_name\n")
    other = machine.plugin.parent / "other"
    other.mkdir()
    (other / "plugin.yaml").write_text("name: other\nversion: 0.1.0\n")
    (other / "__init__.py").write_text(OTHER)
    ran = machine.run(CALLS, settings="")
    assert ENDED in ran.finished.output
    job = hermes.Job(
        program=machine.program, home=machine.home, script=[*CALLS, Reply(ENDED)],
        arguments=["chat", "-q", TASK, "-Q", "--yolo"], settings="plugins: {enabled: [preheat, other]}",
    )  # fmt: skip
    both = Ran(hermes.run(job))
    assert ENDED in both.finished.output
    assert "Said by another." in both.bodies[0]
    assert "noted by another" in both.bodies[-1]


def test_safe_mode_loads_no_plugin(machine: Machine) -> None:
    """Nothing is reported and nothing is added."""
    # It leaves the settings out as well, so the model is named beside them.
    named = {"CUSTOM_BASE_URL": "{url}", "OPENAI_API_KEY": "none"}
    options = ("-q", TASK, "--safe-mode", "--provider", "custom", "--model", "scripted")
    with ListeningDaemon(machine.data, "hermes", answer_with_mark) as listening:
        ran = machine.run(CALLS, *options, environment=named)
    check_undisturbed(ran)
    assert listening.payloads == []
