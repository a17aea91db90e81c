"""The commands that a project's forge runs on every change, and the variables that it gives them: workflow files. Pure.

YAML is read line by line: only `run:` and `script:` steps with their folder, the names of actions, names below `env:` and in
`secrets.NAME`.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.manifests.scripts import LARGEST

_RUN = re.compile(r"^(?P<indent>[ ]*)(?:-[ ]+)?run:[ ]*(?P<rest>[^\n]*)$")
_FOLDER = re.compile(
    r"^[ ]*working-directory:[ ]*[\"']?(?:\$\{\{[ ]*github\.workspace[ ]*\}\}/)?(?P<folder>[\w./@-]+)[\"']?[ ]*$"
)
_ITEM = re.compile(r"^[ ]*-[ ]")
_ENV = re.compile(r"^(?P<indent>[ ]*)env:[ ]*$")
_NAME = re.compile(r"^(?P<indent>[ ]*)(?P<name>[A-Z][A-Z0-9_]{2,47}):")
_SECRET = re.compile(r"\bsecrets\.([A-Z][A-Z0-9_]{2,47})\b")
_EXPRESSION = re.compile(r"\$\{\{")
_USES = re.compile(r"^[ ]*(?:-[ ]+)?uses:[ ]*[\"']?(?P<action>[\w.-]+/[\w.-]+)[\w./-]*@", re.MULTILINE)
_SCRIPT = re.compile(r"^(?P<indent>[ ]*)(?:-[ ]+)?(?:script|before_script):[ ]*(?P<rest>[^\n]*)$")
_LISTED = re.compile(r"^[ ]*-[ ]+(?P<command>[^\n]*)$")
_PIPELINES = frozenset([".gitlab-ci.yml", "bitbucket-pipelines.yml", "azure-pipelines.yml", ".travis.yml"])
_ALWAYS_THERE = frozenset(["GITHUB_TOKEN", "CI"])
_MOST = 100


class Workflow(NamedTuple):
    """What one workflow file runs."""

    commands: tuple[tuple[str, str], ...] = ()
    """Folder and command, in their order."""
    variables: tuple[str, ...] = ()
    """Names of secrets and of variables that are set for a step."""
    actions: tuple[str, ...] = ()
    """Names of the actions of others that its steps use, without their version."""
    secrets: tuple[str, ...] = ()
    """Names of secrets alone."""


class Triggers(NamedTuple):
    """What starts a workflow, as far as a push does."""

    branches: tuple[str, ...] = ()
    """Names of branches, without patterns."""
    tags: tuple[str, ...] = ()
    """What the names of tags begin with: `v`."""
    is_limited: bool = False
    """Only pushes that change some files start it."""
    by_hand: bool = False
    has_others: bool = False
    """Something else starts it too: another workflow, a time, a pull request."""


def is_workflow(path: str) -> bool:
    """Whether a file is a workflow of a forge."""
    folders = (".github/workflows/", ".forgejo/workflows/", ".gitea/workflows/")
    return (path.startswith(folders) and path.endswith((".yml", ".yaml"))) or path in _PIPELINES


@lru_cache(maxsize=128)
def read_workflow(text: str) -> Workflow:
    """The commands and variables of a workflow file."""
    if len(text) > LARGEST:
        return Workflow()
    commands: list[tuple[str, str]] = []
    names: dict[str, None] = dict.fromkeys(_SECRET.findall(text))
    lines = text.splitlines()
    has_defaults = "defaults:" in text
    place = 0
    while place < len(lines):
        step = _RUN.match(lines[place])
        listed = _SCRIPT.match(lines[place]) if step is None else None
        if listed is not None and listed["rest"].strip() in ("", "|"):
            place, below = _below(lines, place + 1, len(listed["indent"]))
            commands += (("", line) for line in _whole_lines(below) if line and not _EXPRESSION.search(line))
            continue
        if step is None:
            env = _ENV.match(lines[place])
            if env is not None:
                names |= dict.fromkeys(_names_below(lines, place + 1, len(env["indent"])))
            place += 1
            continue
        folder = _folder_of_step(lines, place) or (_usual_folder(lines, place) if has_defaults else "")
        rest = step["rest"].strip()
        place += 1
        if rest[:1] in ("|", ">"):
            indent = len(step["indent"])
            block: list[str] = []
            while place < len(lines) and (not lines[place].strip() or _indent(lines[place]) > indent):
                block.append(lines[place].strip())
                place += 1
            script = block if rest[0] == "|" else [" ".join(block)]
        else:
            script = [rest.strip("\"'")]
        commands += ((folder, line) for line in _whole_lines(script) if line and not _EXPRESSION.search(line))
    kept = tuple(name for name in names if name not in _ALWAYS_THERE)
    actions = tuple(dict.fromkeys(_USES.findall(text)))
    secrets = tuple(name for name in dict.fromkeys(_SECRET.findall(text)) if name not in _ALWAYS_THERE)
    return Workflow(tuple(dict.fromkeys(commands))[:_MOST], kept[:_MOST], actions[:_MOST], secrets[:_MOST])


def _below(lines: list[str], place: int, indent: int) -> tuple[int, list[str]]:
    """The commands of a list or a block below a line, and the place after it."""
    found = []
    while place < len(lines) and (
        not lines[place].strip() or _indent(lines[place]) > indent or lines[place][indent : indent + 2] == "- "
    ):
        item = _LISTED.match(lines[place])
        found.append(item["command"].strip("\"' ") if item else lines[place].strip())
        place += 1
    return place, found


def _whole_lines(lines: list[str]) -> list[str]:
    """Lines with those that a backslash continues joined, and comments left out."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [line.strip() for line in joined.splitlines() if not line.lstrip().startswith("#")]


def _folder_of_step(lines: list[str], place: int) -> str:
    """The folder that the step around a line sets for itself."""
    first = place
    while first > 0 and not _ITEM.match(lines[first]):
        first -= 1
    depth = _indent(lines[first])
    for line in lines[first : first + 30]:
        if line is not lines[first] and line.strip() and _indent(line) <= depth:
            break
        if found := _FOLDER.match(line.replace("- ", "  ", 1)):
            return found["folder"].removeprefix("./").rstrip("/")
    return ""


def _usual_folder(lines: list[str], place: int) -> str:
    """The folder that the job or the file around a line sets for all steps, below `defaults:`."""
    indent = _indent(lines[place])
    for above in range(place - 1, -1, -1):
        line = lines[above]
        if not line.strip() or _indent(line) >= indent:
            continue
        found = _DEFAULTS.match(line)
        if found is None:
            if not _ITEM.match(line):
                indent = min(indent, _indent(line) + 1)
            continue
        for below in lines[above + 1 : above + 6]:
            if below.strip() and _indent(below) <= len(found["indent"]):
                break
            if folder := _FOLDER.match(below):
                return folder["folder"].removeprefix("./").rstrip("/")
    return ""


_DEFAULTS = re.compile(r"^(?P<indent>[ ]*)defaults:[ ]*$")


def _names_below(lines: list[str], place: int, indent: int) -> list[str]:
    found = []
    while place < len(lines) and (not lines[place].strip() or _indent(lines[place]) > indent):
        if name := _NAME.match(lines[place]):
            found.append(name["name"])
        place += 1
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_ON = re.compile(r"^[\"']?on[\"']?:[ ]*\n(?P<body>(?:[ ][^\n]*\n?|[ ]*#[^\n]*\n?|[ ]*\n)+)", re.MULTILINE)
_PUSH = re.compile(r"^(?P<indent>[ ]+)push:[ ]*\n(?P<body>(?:(?P=indent)[ ]+[^\n]*\n?|[ ]*\n)+)", re.MULTILINE)
_PUSHED = r"^[ ]+{}:[ ]*(?:\[(?P<row>[^\]\n]*)\]|\n(?P<list>(?:[ ]+-[ ][^\n]*\n?)+))"
_BRANCH = re.compile(r"[A-Za-z][\w./-]{0,39}")
_TAG = re.compile(r"(?P<start>[A-Za-z][A-Za-z-]{0,19})(?=[*\[?\d])")


def read_triggers(text: str) -> Triggers:
    """The branches and tags at whose push a workflow runs. One that runs at any push names none."""
    found = _ON.search(text) if len(text) <= LARGEST else None
    if found is None:
        return Triggers()
    push = _PUSH.search(found["body"])
    pushed = push["body"] if push else ""
    branches = (each for each in _list_names(pushed, "branches") if _BRANCH.fullmatch(each))
    tags = (tag["start"] for each in _list_names(pushed, "tags") if (tag := _TAG.match(each)))
    starts = re.findall(r"^(?:  |    )([a-z_]+):", found["body"], re.MULTILINE)
    return Triggers(
        tuple(dict.fromkeys(branches))[:_MOST_PUSHED],
        tuple(dict.fromkeys(tags))[:_MOST_PUSHED],
        re.search(r"^[ ]+paths(?:-ignore)?:", pushed, re.MULTILINE) is not None,
        "workflow_dispatch" in starts,
        not _OTHER_STARTS.isdisjoint(starts),
    )


_MOST_PUSHED = 3
_OTHER_STARTS = frozenset(["push", "workflow_call", "workflow_run", "schedule", "pull_request", "repository_dispatch"])


def _list_names(body: str, name: str) -> list[str]:
    found = re.search(_PUSHED.format(name), body, re.MULTILINE)
    if found is None:
        return []
    lines = found["row"].split(",") if found["row"] is not None else re.findall(r"-[ ]([^\n#]*)", found["list"])
    return [line.strip().strip("\"'") for line in lines]
