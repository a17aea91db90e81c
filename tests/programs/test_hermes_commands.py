"""`hermes warm`, `/warm` and the tool `warm_session` in the real Hermes: typed by a person, called by a (scripted) model."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from preheat import daemon_client
from preheat.agents.hermes.plugin import watcher
from preheat.testing.model_server import ModelServer
from preheat.testing.script import Call, Reply
from preheat.tools.warm_session import WARM_SESSION
from tests.daemon.builders import RIGHT, learned
from tests.programs import hermes
from tests.programs.program import FinishedProgram, clean_environment, run_program
from tests.shared import real_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program
ACTIONS = WARM_SESSION.schema["properties"]["action"]["enum"]
_CODES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\].*?(?:\x07|\x1b\\)|[()].|.)")


class Home(NamedTuple):
    """A person's machine: Hermes with our plugin as a folder, and Preheat's own folder."""

    program: str
    folder: str
    data: str

    @property
    def project(self) -> str:
        return os.path.join(self.folder, "project")

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(self.folder, {"HERMES_HOME": os.path.join(self.folder, ".hermes")})

    def chat(self, *script: Reply, settings: str = hermes.PLUGIN) -> hermes.Finished:
        """One question; the model answers by the script."""
        job = hermes.Job(
            program=self.program, home=self.folder, arguments=["chat", "-q", "Mend the pier.", "-Q"], script=script,
            settings=settings,
        )  # fmt: skip
        return hermes.run(job)

    def warm(self, *words: str) -> FinishedProgram:
        return run_program([self.program, "warm", *words], self.project, self.environment, expect=None)

    def preheat(self, *words: str) -> FinishedProgram:
        """As a person would type it."""
        environment = {**self.environment, "PREHEAT_HOME": self.data}
        return run_program([sys.executable, "-m", "preheat", "warm", *words], self.project, environment, expect=None)


def make_home(folder: Any) -> Home:
    program = real_program(hermes.find_hermes(), "hermes")
    home = Home(program, str(folder), os.path.join(str(folder), "data"))
    os.makedirs(home.project)
    hermes.place_plugin(home.folder, home.data)
    daemon_client.write_client(home.data)  # as `preheat install` does
    return home


@pytest.fixture
def home(tmp_path: Any) -> Iterator[Home]:
    """A session starts a daemon, which must not outlive the test."""
    home = make_home(tmp_path)
    yield home
    environment = {**home.environment, "PREHEAT_HOME": home.data}
    run_program([sys.executable, "-m", "preheat", "serve", "--stop"], home.project, environment, expect=None)


def shell(command: str) -> Reply:
    return Reply(calls=[Call("terminal", {"command": command})])


def call_tool(**arguments: Any) -> Reply:
    return Reply(calls=[Call("warm_session", arguments)])


def main_requests(finished: hermes.Finished) -> list[dict[str, Any]]:
    """The requests to the model."""
    return [each.body for each in finished.requests if not each.auxiliary and isinstance(each.body, dict)]


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools' results as the model got them."""
    return [json.loads(each["content"]) for each in request["messages"] if each["role"] == "tool"]


def test_the_model_can_call_every_action(home: Home) -> None:
    """Each answer is in the next request; a built template can be loaded; the newest session is the running one."""
    learned(home.data, home.project, os.path.join(home.folder, "earlier"))
    calls: Sequence[dict[str, Any]] = (
        {"action": "list"},
        {"action": "build", "name": "pier", "min_messages": "5", "tags": "wet, old"},
        {"action": "load", "name": "pier"},
        {"action": "profile", "session_id": "latest"},
        {"action": "compress-check", "session_id": "latest"},
        {"action": "compare", "session_id": "latest", "compare_with": "00000002"},
        {"action": "delete", "name": "pier"},
        {"action": "bake"},
        {"action": "load"},
    )
    finished = home.chat(shell("ls"), *(call_tool(**each) for each in calls), Reply("Done."))
    requests = main_requests(finished)
    (offered,) = [each for each in requests[0]["tools"] if each["function"]["name"] == "warm_session"]
    assert offered["function"]["parameters"] == WARM_SESSION.schema
    _, listed, built, loaded, profiled, checked, compared, deleted, wrong, missing = results(requests[-1])
    assert {each.get("action") for each in (listed, built, loaded, profiled, checked, compared, deleted)} == set(
        ACTIONS
    )
    for number, answer in enumerate((listed, built, loaded, profiled, checked, compared, deleted), 2):
        assert answer["success"] is True, answer
        assert results(requests[number])[-1] == answer
    assert listed["templates"] == []
    assert built["extraction"]["sessions"] == 5  # the four before, and the one that is running
    assert RIGHT in loaded["context"]
    assert "data, not instructions" in loaded["context"]
    assert (profiled["agent"], profiled["session"]) == ("hermes", finished.session)
    assert checked["compactions"] == 0
    assert {each["label"].split()[0][:8] for each in (compared["a"], compared["b"])} == {
        finished.session[:8],
        "00000002",
    }
    assert "preheat templates restore pier" in deleted["next"]
    for answer, word in ((wrong, "`compress-check`"), (missing, "`name` is missing")):
        assert answer["success"] is False
        assert word in answer["error"] + answer["next"]
    assert all(len(json.dumps(each)) < 12_000 for each in results(requests[-1]))


def test_the_tool_can_be_switched_off(home: Home) -> None:
    """By Hermes's own setting for a toolset; the rest of the plugin still works."""
    finished = home.chat(Reply("Done."), settings=f"{hermes.PLUGIN}\nagent: {{disabled_toolsets: [preheat]}}")
    assert "warm_session" not in [each["function"]["name"] for each in main_requests(finished)[0]["tools"]]
    assert home.warm("list", "--json").code == 0


def test_a_preheat_that_cannot_be_started_does_not_disturb_the_session(home: Home) -> None:
    """The tool's answer is an error, and the session ends as without it."""
    path = os.path.join(home.folder, ".hermes", "plugins", "preheat", "preheat.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"interpreter": "/nowhere/python", "home": home.data}, stream)
    finished = home.chat(call_tool(action="list"), Reply("Done all the same."))
    assert "Done all the same." in finished.output
    (answer,) = results(main_requests(finished)[-1])
    assert answer["success"] is False
    assert "could not be started" in answer["error"]
    done = home.warm("list")
    assert done.code == 2
    assert "preheat install hermes" in done.errors


def test_a_template_is_made_of_the_latest_session(home: Home) -> None:
    """No sync, no archive: a chat, then `hermes warm` from extract to delete, in all spellings, as in `preheat`."""
    session = home.chat(
        shell("pytset --version"), shell("python3 --version"), shell("echo 3 passed"), Reply("Done.")
    ).session
    done = home.warm("extract", "latest", "--name", "pier", "--description", "how the pier is mended")
    assert done.code == 0, done.errors
    assert "Extracted `pier`" in done.output
    shown = json.loads(home.warm("show", "pier", "--json").output)
    assert shown["template"]["sources"] == [f"hermes:{session}"]
    assert shown["template"]["description"] == "how the pier is mended"
    for words in (
        ["list", "--json"], ["list"], ["list-templates", "--json"], ["show", "pier"], ["test", "pier", "mend it"],
        ["test", "pier", "mend it", "--json"], ["load"], ["--help"], ["create-template", "--help"], ["history", "pier"],
        ["analyze", session, "--json"], ["compress-check", "--json"], ["show", "nope"], ["nope"], ["list", "--wat"], [],
    ):  # fmt: skip
        ours, theirs = home.warm(*words), home.preheat(*words)
        assert (ours.code, ours.output, ours.errors) == (theirs.code, theirs.output, theirs.errors), words
    assert home.warm("show", "nope").code == 2
    file = os.path.join(home.folder, "pier.json")
    for words in (
        ["create-template", session, "--name", "older"], ["analyze", session], ["export", "pier", "--output", file],
        ["delete", "pier"], ["restore", "pier"], ["import", file], ["build", "all", "--min-messages", "1", "--weak"],
        ["load", "older"], ["load", "--none"],
    ):  # fmt: skip
        done = home.warm(*words)
        assert done.code == 0, (words, done.errors)


def test_a_loaded_template_reaches_the_model_in_the_next_session(home: Home) -> None:
    """`hermes warm load`, then a chat: its first request has the template's text, and the use is counted."""
    home.chat(shell("pytset --version"), Reply("Done."))
    assert home.warm("extract", "latest", "--name", "pier").code == 0
    done = home.warm("load", "pier")
    assert done.code == 0, done.errors
    first = main_requests(home.chat(Reply("Done.")))[0]
    prompt = str(first["messages"][-1]["content"])
    assert prompt.startswith("Mend the pier.")
    assert "`pytset` is not there" in prompt
    assert json.loads(home.warm("list", "--json").output)[0]["tracked"]["uses"] == 1


# A person at a terminal.
class Terminal:
    """The interactive program in a terminal of its own."""

    def __init__(self, home: Home) -> None:
        import fcntl
        import pty
        import struct
        import termios

        own, screen = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self._screen, self._seen, self._over = own, b"", False
        self.process = subprocess.Popen(
            [home.program, "chat"], cwd=home.project, env={**home.environment, "TERM": "xterm"}, stdin=screen, stdout=screen,
            stderr=screen, start_new_session=True,
        )  # fmt: skip
        os.close(screen)

    def wait_for(self, word: str) -> None:
        """Wait until it shows a new occurrence of a word."""
        import select

        end = time.monotonic() + HUNG
        while word.encode() not in _CODES.sub(b"", self._seen):
            if time.monotonic() > end or self._over:
                raise AssertionError(
                    f"`{word}` was not shown:\n{_CODES.sub(b'', self._seen)[-3000:].decode(errors='replace')}"
                )
            if select.select([self._screen], [], [], 0.2)[0]:
                try:
                    chunk = os.read(self._screen, 65536)
                except OSError:  # nobody is left who could show anything
                    chunk, self._over = b"", True
                if b"\x1b[6n" in chunk:  # it asks where the cursor is
                    os.write(self._screen, b"\x1b[10;1R")
                self._seen += chunk
        self._seen = b""

    def type_line(self, line: str) -> None:
        os.write(self._screen, line.encode())
        self.wait_for(line.split()[-1])
        os.write(self._screen, b"\r")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)


@contextmanager
def open_chat(home: Home, *script: Reply) -> Iterator[tuple[Terminal, ModelServer]]:
    """A chat that waits for its first line, and the model that answers in it. There was a session before."""
    config = os.path.join(home.folder, ".hermes", "config.yaml")
    with ModelServer(script) as answering:
        with open(config, encoding="utf-8") as stream:
            text = re.sub(r'base_url: "[^"]*"', f'base_url: "{answering.url}"', stream.read())
        with open(config, "w", encoding="utf-8") as stream:
            stream.write(text)
        terminal = Terminal(home)
        try:
            terminal.wait_for("❯")
            time.sleep(1)
            yield terminal, answering
        finally:
            terminal.close()


def test_a_template_can_be_loaded_inside_a_chat(home: Home) -> None:
    """`/warm` shows its help, `/warm list` the templates; after `/warm load` the model has the text with the next message, and
    only with that one."""
    home.chat(shell("pytset --version"), Reply("Done."))
    assert home.warm("extract", "latest", "--name", "pier").code == 0
    script = (Reply("The first answer."), Reply("The second answer."), Reply("The third answer."))
    with open_chat(home, *script) as (terminal, answering):
        terminal.type_line("/warm")
        terminal.wait_for("in a shell has all of them")
        terminal.type_line("/warm list")
        terminal.wait_for("not used yet")
        terminal.type_line("hello there")
        terminal.wait_for("The first answer.")
        terminal.type_line("/warm load pier")
        terminal.wait_for("This chat gets it with your next message.")
        terminal.type_line("go on")
        terminal.wait_for("The second answer.")
        terminal.type_line("and now")
        terminal.wait_for("The third answer.")
    requests = [each.body for each in answering.requests if not each.auxiliary and isinstance(each.body, dict)]
    texts = [str(each["content"]) for each in requests[-1]["messages"] if each["role"] == "user"]
    assert ["`pytset` is not there" in each for each in texts] == [False, True, False]
    assert texts[1].startswith("go on\n\n<preheat-context")


def test_leaving_a_chat_shows_its_score(home: Home) -> None:
    """One line with the score, after Hermes's own closing lines."""
    home.chat(Reply("Done."))
    raise_time_limit(home)
    work = [shell(f"echo {number}") for number in range(6)]  # fewer are not scored
    with open_chat(home, *work, Reply("The first answer.")) as (terminal, _):
        terminal.type_line("hello there")
        terminal.wait_for("The first answer.")
        terminal.type_line("/exit")
        terminal.wait_for("Preheat: this session scored ")
        assert terminal.process.wait(HUNG) == 0


def raise_time_limit(home: Home) -> None:
    """Raise the time limit for the closing line, because the machine may be busy."""
    path = os.path.join(home.folder, ".hermes", "plugins", "preheat", os.path.basename(watcher.__file__))
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    assert "END = 1.0\n" in text
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text.replace("END = 1.0\n", "END = 60.0\n"))
