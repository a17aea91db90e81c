"""The context with which the tests start the real Hermes warm, and the ways in which it gets there."""

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from preheat.agents import renderers_of
from preheat.agents.hermes import session_import
from preheat.model.context import RenderedContext, StartedSession
from preheat.model.lesson import Example
from preheat.provisioning import provision, render
from tests.programs import hermes
from tests.programs.program import clean_environment
from tests.provisioning.builders import NOW, PROJECT, command_lesson, lesson
from tests.shared import real_program

COMMAND = "mise run lint"
FACT = "mise run test"
"""Both are in the context, and nowhere else."""


def program() -> str:
    """The real program, or a skipped test; CI must have it."""
    return real_program(hermes.find_hermes(), "hermes")


def render_context(form: str, task: str = "Count a lot") -> RenderedContext:
    """A fact and a real call, in one of Hermes's forms or as text."""
    call = Example("terminal", {"command": COMMAND}, '{"output": "0 issues.", "exit_code": 0}', "shell", "hermes")
    context = provision(
        [command_lesson(), lesson("e1", "example", text="A call.", example=call)],
        task=task, agent="hermes", project=PROJECT, now=NOW, examples=form != "text",
    )  # fmt: skip
    return render(context, next((each for each in renderers_of("hermes") if each.name == form), form))


def environment(home: str) -> dict[str, str]:
    """As the program has it in a home of a test, with its launcher on the PATH."""
    own = os.path.join(home, ".hermes")
    found = clean_environment(home, {"HERMES_HOME": own})
    return {**found, "PATH": os.pathsep.join((os.path.dirname(program()), found["PATH"]))}


def import_session(home: str, task: str = "Count a lot") -> StartedSession:
    """Put a session into the program's store."""
    folder = os.path.join(home, "project")
    for needed in (os.path.join(home, ".hermes"), folder):
        os.makedirs(needed, exist_ok=True)
    with contextlib.chdir(folder):  # programs inside of the project that one is in are not taken for the person's own
        return session_import.start_session(render_context("hermes-import", task), folder, environment(home))


def place_plugin(home: str, code: str, name: str = "giving") -> str:
    """Write a directory plugin of a few lines; returns the setting that enables it."""
    folder = Path(home, ".hermes", "plugins", name)
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(f"name: {name}\nversion: 0.0.1\n")
    (folder / "__init__.py").write_text(code)
    return f"plugins: {{enabled: [{name}]}}"


def request_messages(finished: hermes.Finished) -> list[list[dict[str, Any]]]:
    """The messages of every request of the main loop."""
    bodies = [each.body for each in finished.requests if not each.auxiliary and isinstance(each.body, dict)]
    return [body["messages"] for body in bodies if "messages" in body]


def check_integrity(store: str) -> None:
    """Check that SQLite finds no damage in the store."""
    connection = sqlite3.connect(store)
    try:
        assert [row[0] for row in connection.execute("PRAGMA integrity_check")] == ["ok"]
    finally:
        connection.close()


def holds(messages: list[dict[str, Any]], what: str) -> bool:
    """Whether the bytes of a request hold a text."""
    return what in json.dumps(messages)
