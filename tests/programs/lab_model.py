"""A model for the lab's tests: it does a task right only if the request tells it how, and takes a wrong command otherwise.

The tasks are `TASKS`; what must be known stands in `KNOWN`, as a context file would have it.
"""

import re
from typing import Any

import msgspec

from preheat.testing.model_server import Request
from preheat.testing.script import Call, Reply

KNOWN = """\
Facts of this project.
- The file `alpha.txt` is made by: printf good-alpha > alpha.txt
- The file `beta.txt` is made by: printf good-beta > beta.txt
"""
SUITE = """\
name: two
tasks:
  - id: alpha
    prompt: Make alpha.txt as it is done here.
    verify: grep -q good-alpha alpha.txt
  - id: beta
    prompt: Make beta.txt as it is done here.
    verify: grep -q good-beta beta.txt
"""
_WRONG = "make_the_file_somehow"
STEPS = 5
_STEP, _STEPPED = "echo stepped-$((1 + 1)) | tee -a steps.txt", "stepped-2"
"""What it prints stands in the result only, not in the command."""


class Model:
    """`tool` and `argument`: how the agent calls its shell; `finish`: a command that ends the work, if one does."""

    def __init__(self, tool: str, argument: str, finish: str = "", **more: str) -> None:
        self._tool, self._argument, self._finish, self._more = tool, argument, finish, more

    def __call__(self, request: Request) -> Reply:
        text = msgspec.json.encode(request.body).decode()
        asked = re.search(r"Make (\w+)\.txt as it is done here", text)
        if asked is None:
            return Reply("I do not know this task.")
        name = asked[1]
        if f"wrote {name}" in text or _WRONG in text:
            return self._call(self._finish) if self._finish else Reply("Done.")
        if f"made by: printf good-{name}" in text:
            return self._call(f"printf good-{name} > {name}.txt && echo wrote {name}")
        return self._call(_WRONG)

    def long(self, request: Request) -> Reply:
        """Does five steps, one a turn, before it is done, whatever it is told."""
        if msgspec.json.encode(request.body).decode().count(_STEPPED) < STEPS:
            return self._call(_STEP)
        return self._call(self._finish) if self._finish else Reply("Done.")

    def _call(self, command: str) -> Reply:
        arguments: dict[str, Any] = {self._argument: command, **self._more}
        return Reply(calls=[Call(self._tool, arguments)])
