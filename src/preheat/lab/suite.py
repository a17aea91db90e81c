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
from preheat.files import FileTooLarge, read_text

LARGEST = 1_000_000
"""Bytes; tasks are prompts and a few commands."""
MOST_TASKS = 2_000
MOST_REPEATS = 100
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_DEFAULTS = ("setup", "verify", "timeout")
_TASK_FIELDS = ("id", "prompt", *_DEFAULTS, "group")
_TEXTS = (
    "agent",
    "model",
    "endpoint",
    "template",
    "lessons",
    "context",
    "placebo",
    "session",
    "project",
    "metric",
    "give",
)
_NUMBERS = {"repeats": (1, MOST_REPEATS), "seed": (0, 2**31), "budget": (1, 1_000_000), "turns": (1, 10_000),
            "tokens": (1, 10**9)}  # fmt: skip
_PATHS = ("context", "project")
_SUITE_FIELDS = ("name", "tasks", "defaults", "arms", "margin", *_TEXTS, *_NUMBERS)


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
    group: str = ""
    """Tasks of one group are told together, too; empty: of none."""

    @property
    def digest(self) -> str:
        """Another one whenever the task is another."""
        return sha256(msgspec.json.encode(self)).hexdigest()[:16]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a suite asks to be run in the lab; what is None, or empty, is left to the command line. Training uses none of it."""

    arms: tuple[str, ...] = ()
    agent: str = ""
    model: str = ""
    endpoint: str = ""
    template: str = ""
    lessons: str = ""
    context: str = ""
    placebo: str = ""
    session: str = ""
    project: str = ""
    metric: str = ""
    give: str = ""
    margin: float | None = None
    repeats: int | None = None
    seed: int | None = None
    budget: int | None = None
    turns: int | None = None
    tokens: int | None = None


class Suite(msgspec.Struct, frozen=True):
    """Tasks to be run one after the other."""

    name: str
    tasks: tuple[Task, ...]
    settings: Settings = Settings()


def read_suite(path: str) -> Suite:
    """The suite in a file. Raises UserError with what is wrong and where."""
    try:
        text = read_text(path, LARGEST).replace("\r\n", "\n")
    except FileTooLarge as error:
        raise UserError(f"`{path}` is larger than a suite of tasks can be ({LARGEST // 1000:,} KB)") from error
    except OSError as error:
        raise UserError(f"`{path}` cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"`{path}` is no text: a suite is written in YAML or JSON") from error
    suite = parse_suite(text, path)
    return msgspec.structs.replace(suite, settings=_from_folder(suite.settings, os.path.dirname(os.path.abspath(path))))


def _from_folder(settings: Settings, folder: str) -> Settings:
    """Paths in a suite begin at its folder."""
    found = {name: path for name in _PATHS if (path := getattr(settings, name))}
    if settings.placebo and not settings.placebo.startswith(("template:", "project:")):
        found["placebo"] = settings.placebo
    paths = {name: os.path.join(folder, os.path.expanduser(path)) for name, path in found.items()}
    return msgspec.structs.replace(settings, **paths)


def first_tasks(suite: Suite, limit: int | None) -> Suite:
    """The same with its first so many tasks; with all where nobody says how many."""
    return suite if limit is None else msgspec.structs.replace(suite, tasks=suite.tasks[:limit])


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
    defaults = _defaults(fields.get("defaults"), path)
    tasks: dict[str, Task] = {}
    for number, node in enumerate(listed.value, 1):
        task = _task(node, path, number, defaults)
        if task.id in tasks:
            _fault(path, node.start_mark.line, f"there are two tasks `{task.id}`")
        tasks[task.id] = task
    return Suite(name, tuple(tasks.values()), _settings(fields, path))


def _settings(fields: dict[str, Any], path: str) -> Settings:
    found: dict[str, Any] = {name: _text(fields[name], path, name) for name in _TEXTS if name in fields}
    for name, (least, most) in _NUMBERS.items():
        if name in fields:
            found[name] = _whole(fields[name], path, name, least, most)
    if "margin" in fields:
        found["margin"] = _number(fields["margin"], path, "`margin` is a number above 0", 1e12)
    if "arms" in fields:
        found["arms"] = _names(fields["arms"], path)
    return Settings(**found)


def _names(node: yaml.Node, path: str) -> tuple[str, ...]:
    """A list, or one text with commas."""
    if isinstance(node, yaml.SequenceNode):
        return tuple(_text(each, path, "arms") for each in node.value)
    return tuple(part.strip() for part in _text(node, path, "arms").split(",") if part.strip())


def _defaults(node: yaml.Node | None, path: str) -> dict[str, Any]:
    """What holds for every task that does not say otherwise."""
    return {} if node is None else _common(_mapping(node, path, "`defaults`", _DEFAULTS), path)


def _common(fields: dict[str, Any], path: str) -> dict[str, Any]:
    found: dict[str, Any] = {name: _text(fields[name], path, name) for name in ("setup", "verify") if name in fields}
    if "timeout" in fields:
        found["timeout"] = _number(fields["timeout"], path, "`timeout` is a number of seconds", 86400)
    return found


def _task(node: yaml.Node, path: str, number: int, defaults: dict[str, Any]) -> Task:
    fields = _mapping(node, path, "a task", _TASK_FIELDS)
    for wanted in ("id", "prompt"):
        if wanted not in fields:
            _fault(path, node.start_mark.line, f"task {number} has no `{wanted}`")
    name = _text(fields["id"], path, "id")
    if not _NAME.fullmatch(name):
        _fault(
            path, fields["id"].start_mark.line, f"`{name[:80]}` is no id: letters, digits, `-`, `_` and `.`, at most 64"
        )
    prompt = _text(fields["prompt"], path, "prompt")
    group = _text(fields["group"], path, "group") if "group" in fields else ""
    if not prompt.strip():
        _fault(path, fields["prompt"].start_mark.line, f"the prompt of `{name}` is empty")
    return Task(id=name, prompt=prompt, group=group, **{**defaults, **_common(fields, path)})


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


def _number(node: yaml.Node, path: str, what: str, most: float) -> float:
    try:
        number = float(node.value) if isinstance(node, yaml.ScalarNode) else 0.0
    except ValueError:
        number = 0.0
    if not 0 < number <= most:
        _fault(path, node.start_mark.line, what)
    return number


def _whole(node: yaml.Node, path: str, name: str, least: int, most: int) -> int:
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    if not re.fullmatch("[0-9]{1,12}", text) or not least <= int(text) <= most:
        _fault(path, node.start_mark.line, f"`{name}` is a whole number from {least} to {most:,}")
    return int(text)


def _fault(path: str, line: int, what: str) -> NoReturn:
    raise UserError(f"`{path}` line {line + 1}: {what}")
