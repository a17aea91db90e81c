"""The page of running sessions while the real Codex program works: the session appears in the stream by itself."""

import http.client
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.codex import CodexHome, find_codex
from tests.shared import real_program
from tests.waiting import HUNG
from tests.web.builders import serve

pytestmark = pytest.mark.program


class Stream:
    """The server-sent events of the page, as a browser that came by the link reads them."""

    def __init__(self, link: str) -> None:
        port = int(link.split(":")[2].partition("/")[0])
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HUNG)
        self._connection.request("GET", link[link.index("/enter") :])
        entered = self._connection.getresponse()
        entered.read()
        self._cookie = str(entered.headers["Set-Cookie"]).partition(";")[0]

    def events(self) -> Iterator[str]:
        """The data of each event."""
        self._connection.request("GET", "/live/stream", headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        lines: list[str] = []
        while True:
            line = answer.readline().decode().rstrip("\n")
            if line.startswith("data: "):
                lines.append(line[6:])
            elif not line and lines:
                yield "\n".join(lines)
                lines = []

    def close(self) -> None:
        self._connection.close()


def test_a_running_codex_session_appears_on_the_page_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "preheat"
    own.mkdir(mode=0o700)
    calls = [Reply("I look.", [Call("exec_command", {"cmd": f"echo step {number}"})]) for number in range(3)]
    with ModelServer([*calls, Reply("Done.")]) as model:
        codex = CodexHome(str(tmp_path / "codex"), model.url, real_program(find_codex(), "codex"))
        monkeypatch.setenv("CODEX_HOME", codex.codex_home)
        with serve(str(own)) as link:
            stream = Stream(link)
            events = stream.events()
            assert "No agent is at work" in next(events)
            working = threading.Thread(target=codex.exec, args=("Look around",))
            working.start()
            rows = next(each for each in events if os.path.basename(codex.project) in each)
            assert "Codex" in rows
            assert 'class="phase-' in rows
            working.join()
            stream.close()
