"""A template with the real Codex: five runs of one task, of which four end with a passing check, and all are counted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from preheat.templates.store import TemplateStore
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.codex import CodexHome, find_codex
from tests.shared import real_program
from tests.templates.made import AT, template
from tests.waiting import HUNG

pytestmark = pytest.mark.program


def test_five_sessions_of_codex_with_one_template_and_one_task_are_counted_each(tmp_path: Path) -> None:
    program = real_program(find_codex(), "codex")
    folder = tmp_path / "preheat"
    TemplateStore(str(folder)).store(template(), "built", AT)
    replies = [Reply(calls=[Call("exec_command", {"cmd": "make test"})]), Reply("Done.")]
    with ModelServer(replies * 5) as server:
        home = CodexHome(str(tmp_path), server.url, program)
        project = Path(home.project)
        (project / "Makefile").write_text("test:\n\t@test ! -e broken && echo 3 passed\n")
        source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src"))
        environment = {**home.environment, "PREHEAT_HOME": str(folder), "PYTHONPATH": source}

        def preheat(*arguments: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "preheat", *arguments],
                env=environment,
                cwd=project,
                capture_output=True,
                text=True,
                timeout=HUNG,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        for number in range(5):
            said = preheat("warm", "start", "--template", "mine", "--task", "mend it and test it")
            assert said.startswith("<preheat-context")
            broken = project / "broken"
            if number == 2:
                broken.touch()
            else:
                broken.unlink(missing_ok=True)
            home.exec(f"{said}\n\nmend it and test it")
        assert server.unused_replies == 0
    preheat("sync")
    preheat("profile")
    (row,) = json.loads(preheat("warm", "list", "--json"))
    assert row["tracked"] == {"uses": 5, "sessions": 5, "succeeded": 4, "failed": 1}
    assert row["used"] == "used 5 times, 80 % success"
