"""An archive to look at, a server of its pages, and a browser that looks: for the tests of the pages."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
from starlette.testclient import TestClient

import preheat
from preheat.testing.builders import ClaudeTranscript
from preheat.web.actions import ACTIONS
from preheat.web.guard import Access, Guard
from preheat.web.pages import PAGES
from preheat.web.pages.live import make_streams
from preheat.web.site import Site, make_app
from tests.shared import real_program

DAY = 86400.0
MARK = "hostile-7f3a"
"""Part of every hostile text, by which a page can be searched for it."""
HOSTILE = (
    f'<script>window.{MARK.replace("-", "_")}=1</script><img src=x onerror="window.hostile=1">\u202e{MARK}\u200b'
    '\x1b[31m\'"><a href="https://evil.example/">x</a> {{ 7*7 }} {% raw %} &lt;b&gt; javascript:alert(1)'
)
HERE = "http://127.0.0.1:4321"
SLASHED = "a/b/../c?d=e#f&g"
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def make_work(number: int, project: str, began: float) -> ClaudeTranscript:
    """A session in which `pytest` is not there, an edit misses its text, and `uv run pytest` works."""
    session = f"{number:08x}-7777-4000-8000-000000000000"
    work = ClaudeTranscript(session=session, project=project, started=began).prompt(
        f"Make step {number} of the shop work"
    )
    work = work.answer("I look.").run("pytest tests", "bash: pytest: command not found", 127)
    work = work.answer("So.").run("uv run pytest tests", f"{number} passed")
    edit = {
        "file_path": f"{project}/src/shop.py",
        "old_string": "def pay():\n    pass",
        "new_string": "def pay(sum):\n    return sum",
    }
    work = work.answer("I change it.").call("Read", {"file_path": f"{project}/src/shop.py"}).result("1\tdef pay():")
    work = work.answer("Now.").call("Edit", edit).result("String to replace not found in file.", is_error=True)
    work = work.answer("Again.").call("Edit", edit).result("The file has been updated.")
    work = work.prompt("And test it").answer("I test.").run("uv run pytest tests", "9 passed")
    return work.answer("Done, all tests pass.")


def make_hostile(project: str, began: float, session: str = "99999999-7777-4000-8000-000000000000") -> ClaudeTranscript:
    """A session with hostile text in every field that a page shows."""
    work = ClaudeTranscript(
        session=session, project=f"{project}/{HOSTILE[:60]}", branch=HOSTILE, model=HOSTILE, started=began
    )
    work = work.prompt(f"{HOSTILE} the prompt").reasoning(HOSTILE).answer(HOSTILE)
    work = work.call(f"tool{HOSTILE}", {f"name{HOSTILE}": HOSTILE}).result(HOSTILE, is_error=True)
    work = work.answer("run").run(f"echo {HOSTILE}", f"{HOSTILE}\n" + "x" * 200_000, 1)
    edit = {
        "file_path": f"{project}/{MARK}<b>.py",
        "old_string": HOSTILE,
        "new_string": f"{HOSTILE}\n<script>2</script>",
    }
    work = work.answer("edit").call("Edit", edit).result("The file has been updated.")
    return work.inject(HOSTILE).compaction(HOSTILE).prompt("go on").answer("done")


def fill_home(folder: str, sessions: int = 6) -> str:
    """A folder of Preheat with sessions that teach something, a hostile one, and one whose id has slashes. Returns it."""
    home, project = os.path.join(folder, "home"), os.path.join(folder, "work", "shop")
    os.makedirs(home, mode=0o700)
    os.makedirs(os.path.join(project, "src"))
    with open(os.path.join(project, "src", "shop.py"), "w", encoding="utf-8") as stream:
        stream.write("def pay():\n    pass\n")
    now = time.time()
    made = [make_work(number, project, now - (sessions - number) * DAY) for number in range(1, sessions + 1)]
    made += [make_hostile(project, now - 3600), make_hostile(project, now - 7200, SLASHED)]
    files = []
    for number, work in enumerate(made):
        path = os.path.join(folder, f"{number}.jsonl")
        with open(path, "wb") as out:
            out.write(work.data())
        files.append(("claude_code", path))
    own = preheat.open(home)
    own.sync(files)
    own.learn()
    return home


class Visit:
    """A client that came by a link."""

    def __init__(self, folder: str) -> None:
        self.access = Access(4321)
        self.site = Site(folder, self.access, patience=None)
        self.client = TestClient(
            Guard(make_app(self.site, PAGES, ACTIONS, make_streams(self.site)), self.access), base_url=HERE
        )
        assert self.client.get(self.access.make_link()).status_code == 200

    def do(self, action: str, **fields: str) -> tuple[int, str]:
        sent = {**fields, "form_token": self.access.form_token}
        answer = self.client.post(f"/do/{action}", data=sent, headers={"Origin": HERE})
        return answer.status_code, answer.text


@contextmanager
def serve(home: str) -> Iterator[str]:
    """A server of the pages, as a person starts it; gives the link."""
    environment = {**os.environ, "PREHEAT_HOME": home, "HOME": os.path.dirname(home), "TZ": "Europe/Berlin"}
    command = [sys.executable, "-m", "preheat", "open", "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            yield _read_link(process.stdout)
        finally:
            process.terminate()


def _read_link(stream: IO[str] | None) -> str:
    assert stream is not None
    link = json.loads(stream.readline())["url"]
    assert isinstance(link, str)
    return link


def root_of(link: str) -> str:
    return link.partition("/enter")[0]


def find_browser() -> str:
    """The path of a browser; without one the test is skipped, and fails in CI."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None and not os.environ.get("CI"):
        pytest.skip("no Chromium or Chrome was found; `scripts/install-browser` installs one")
    return real_program(found, "chromium")


def find_axe() -> str:
    """The code of axe-core; without it the test is skipped, and fails in CI."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ".agents")
    path = os.path.join(folder, "axe-core", "node_modules", "axe-core", "axe.min.js")
    real_program(path if os.path.exists(path) else None, "axe-core")
    with open(path, encoding="utf-8") as stream:
        return stream.read()
