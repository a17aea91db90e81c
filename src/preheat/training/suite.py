"""A suite of tasks, out of a YAML or JSON file. Knows no agent and runs nothing.

Every fault is told with the file and the line it stands in.
"""

import os
import re
from difflib import get_close_matches
from hashlib import sha256
from typing import Any, NoReturn

import msgspec
import yaml

from preheat.errors import UserError

LARGEST = 1_000_000
"""Bytes; tasks are prompts and a few commands."""
MOST_TASKS = 200
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_SUITE_FIELDS = ("name", "tasks")
_TASK_FIELDS = ("id", "prompt", "setup", "verify", "timeout")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One thing for the agent to do."""

    id: str
    prompt: str
    setup: str = ""
    """Shell commands that prepare the folder."""
    verify: str = ""
    """Shell commands that succeed if the task was done."""
    timeout: float | None = None
    """Seconds for the agent; None for what the run says."""

    @property
    def digest(self) -> str:
        """Another one whenever the task is another."""
        return sha256(msgspec.json.encode(self)).hexdigest()[:16]


class Suite(msgspec.Struct, frozen=True):
    """Tasks to be run one after the other."""

    name: str
    tasks: tuple[Task, ...]


def read_suite(path: str) -> Suite:
    """The suite in a file. Raises UserError with what is wrong and where."""
    try:
        if os.path.getsize(path) > LARGEST:
            raise UserError(f"`{path}` is larger than a suite of tasks can be ({LARGEST // 1000:,} KB)")
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise UserError(f"`{path}` cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"`{path}` is no text: a suite is written in YAML or JSON") from error
    return parse_suite(text, path)


def parse_suite(text: str, path: str) -> Suite:
    """The suite that a text states; `path` is only a name."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _fault(path, mark.line if mark else 0, f"no YAML ({error.problem or error.context})")
    except (yaml.YAMLError, RecursionError) as error:
        _fault(path, 0, f"no YAML ({str(error).splitlines()[0] or 'nested too deep'})")
    if root is None:
        raise UserError(f"`{path}` is empty; a suite has a name and tasks")
    fields = _mapping(root, path, "a suite", _SUITE_FIELDS)
    name = _text(fields["name"], path, "name") if "name" in fields else os.path.basename(path).partition(".")[0]
    listed = fields.get("tasks")
    if listed is None:
        _fault(path, root.start_mark.line, "a suite has `tasks`")
    if not isinstance(listed, yaml.SequenceNode) or not listed.value:
        _fault(path, listed.start_mark.line, "`tasks` is a list of tasks, at least one")
    if len(listed.value) > MOST_TASKS:
        _fault(path, listed.start_mark.line, f"more than {MOST_TASKS} tasks")
    tasks: dict[str, Task] = {}
    for number, node in enumerate(listed.value, 1):
        task = _task(node, path, number)
        if task.id in tasks:
            _fault(path, node.start_mark.line, f"there are two tasks `{task.id}`")
        tasks[task.id] = task
    return Suite(name, tuple(tasks.values()))


def _task(node: yaml.Node, path: str, number: int) -> Task:
    fields = _mapping(node, path, "a task", _TASK_FIELDS)
    for wanted in ("id", "prompt"):
        if wanted not in fields:
            _fault(path, node.start_mark.line, f"task {number} has no `{wanted}`")
    own = _text(fields["id"], path, "id")
    if not _NAME.fullmatch(own):
        _fault(
            path, fields["id"].start_mark.line, f"`{own[:80]}` is no id: letters, digits, `-`, `_` and `.`, at most 64"
        )
    texts = {name: _text(fields[name], path, name) for name in ("prompt", "setup", "verify") if name in fields}
    if not texts["prompt"].strip():
        _fault(path, fields["prompt"].start_mark.line, f"the prompt of `{own}` is empty")
    timeout = _seconds(fields["timeout"], path) if "timeout" in fields else None
    return Task(id=own, timeout=timeout, **texts)


def _mapping(node: yaml.Node, path: str, what: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        _fault(path, node.start_mark.line, f"{what} has fields: {', '.join(known)}")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name not in known:
            close = get_close_matches(name, known, 1)
            advice = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
            _fault(path, key.start_mark.line, f"{what} has no field `{name[:80]}`; {advice}")
        if name in fields:
            _fault(path, key.start_mark.line, f"`{name}` is there twice")
        fields[name] = value
    return fields


def _text(node: yaml.Node, path: str, name: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        _fault(path, node.start_mark.line, f"`{name}` is a text")
    return str(node.value)


def _seconds(node: yaml.Node, path: str) -> float:
    try:
        seconds = float(node.value) if isinstance(node, yaml.ScalarNode) else 0.0
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        _fault(path, node.start_mark.line, "`timeout` is a number of seconds")
    return seconds


def _fault(path: str, line: int, what: str) -> NoReturn:
    raise UserError(f"`{path}` line {line + 1}: {what}")
