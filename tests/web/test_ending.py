"""The pages end silently, also while a value is added up, and are shown while the archive is being synced."""

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

import preheat
from preheat.web.kept import KeptValues
from tests.web.builders import Visit, fill_home, make_work


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal there sends no signal to a group")
def test_ctrl_c_while_values_are_added_up_ends_everything_and_prints_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from preheat.web import server\n"
        "from preheat.web.site import Site\n"
        "def serve(folder):\n"
        "    site = Site(folder)\n"
        "    server.Site = lambda *_: site\n"
        "    def ready(link):\n"
        "        site.kept.find(time.sleep, 60)\n"
        "        site.kept.find(time.sleep, 61)\n"
        "        print('ready', flush=True)\n"
        "    return server.serve_pages(folder, 0, 600.0, ready)\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(serve(sys.argv[1]))\n"
    )
    path = tmp_path / "serving.py"
    path.write_text(program)
    with subprocess.Popen(
        [sys.executable, str(path), str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")


def test_values_are_given_up_whenever_the_pages_end() -> None:
    for wait in (0.0, 0.1, 0.3):  # before, while and after the worker is replaced
        values = KeptValues(lambda: 1)
        values.find(os.getpid)
        time.sleep(wait)
        values.close()
        assert active_children() == []


def test_pages_are_shown_while_the_archive_is_being_synced(tmp_path: Path) -> None:
    home = fill_home(str(tmp_path), sessions=3)
    files = []
    for number in range(100, 140):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(make_work(number, str(tmp_path / "work" / "shop"), time.time()).data())
        files.append(("claude_code", str(path)))
    visit = Visit(home)
    syncing = threading.Thread(target=lambda: [preheat.open(home).sync([each]) for each in files])
    syncing.start()
    asked = 0
    while syncing.is_alive() or not asked:
        for page in ("/sessions", "/mistakes", "/lessons", "/session?name=00000003-7777-4000-8000-000000000000"):
            answer = visit.client.get(page)
            assert answer.status_code == 200, answer.text[-1500:]
        asked += 1
    syncing.join()
    assert "45 sessions" in visit.client.get("/sessions").text  # 3, two hostile ones, and 40 that came meanwhile
    visit.site.close()
