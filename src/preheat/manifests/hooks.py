"""What runs at a commit and at a push: hooks in files, and the files of programs that manage hooks. Pure."""

import re
from typing import Literal, NamedTuple, TypeAlias

from preheat.manifests.scripts import LARGEST, read_json

HookMoment: TypeAlias = Literal["commit", "message", "push"]
_MOMENTS: dict[str, HookMoment] = {"pre-commit": "commit", "commit-msg": "message", "pre-push": "push"}
_FOLDERS = (".husky/", ".githooks/", "githooks/", ".git-hooks/")
_IDLE = re.compile(
    r"^(?:#|\.\s|source\s|set\s|exec\s+<|export\s|if\b|then\b|fi\b|else\b|elif\b|exit\b|cd\s|echo\b|printf\b|\[|\}|\{)"
)
_ID = re.compile(r"^\s*-?\s*id:\s*[\"']?(?P<id>[\w.-]{1,60})[\"']?\s*$", re.MULTILINE)
_LEFTHOOK = re.compile(r"^(?P<hook>pre-commit|commit-msg|pre-push):\s*$")
_LEFTHOOK_RUN = re.compile(r"^\s+(?:-\s+)?run:\s*(?P<run>[^|>\n][^\n]*)$")
_HK = re.compile(r"\[\"(?P<hook>pre-commit|commit-msg|pre-push)\"\]")
_MOST = 8


class HookCommands(NamedTuple):
    """What one file makes a commit or a push run."""

    moment: HookMoment
    commands: tuple[str, ...]
    """Commands, or names of hooks where the file has no commands."""
    file: str


def is_hook_file(path: str) -> bool:
    """Whether a file may say what runs at a commit or a push."""
    return path in (
        "package.json",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        "hk.pkl",
    ) or any(path == f"{folder}{name}" for folder in _FOLDERS for name in _MOMENTS)


def read_hooks(path: str, text: str) -> tuple[HookCommands, ...]:
    """What a file makes a commit or a push run."""
    if len(text) > LARGEST:
        return ()
    if path == ".pre-commit-config.yaml":
        found = tuple(dict.fromkeys(_ID.findall(text)))[:_MOST]
        return (HookCommands("commit", tuple(f"pre-commit run {each}" for each in found), path),) if found else ()
    if "lefthook" in path:
        return _read_lefthook(path, text)
    if path == "hk.pkl":
        return tuple(
            HookCommands(_MOMENTS[hook], (f"hk run {hook}",), path) for hook in dict.fromkeys(_HK.findall(text))
        )
    if path == "package.json":
        return _read_package_hooks(text)
    moment = _MOMENTS.get(path.rpartition("/")[2])
    lines = [line.strip() for line in text.splitlines()]
    name = path.rpartition("/")[2]
    commands = tuple(line for line in lines if line and not _IDLE.match(line) and not _hands_on(line, name))[:_MOST]
    return (HookCommands(moment, commands, path),) if moment and commands else ()


def _hands_on(line: str, hook: str) -> bool:
    """Whether a line only tells a program that the hook runs (`git lfs pre-push "$@"`): it demands nothing of a commit."""
    return re.search(rf"\s{hook}\s+[\"']?\$[@*1]|\bhooks?\s+\S+\s+{hook}(?=\s|$)", line) is not None


def _read_package_hooks(text: str) -> tuple[HookCommands, ...]:
    """The hooks that a package itself states, for `simple-git-hooks` or an older `husky`."""
    document = read_json(text)
    if not isinstance(document, dict):
        return ()
    husky = document.get("husky")
    tables = (document.get("simple-git-hooks"), husky.get("hooks") if isinstance(husky, dict) else None)
    return tuple(
        HookCommands(_MOMENTS[hook], (command.strip(),), "package.json")
        for table in tables
        if isinstance(table, dict)
        for hook, command in list(table.items())[:_MOST]
        if hook in _MOMENTS and isinstance(command, str) and command.strip()
    )


def _read_lefthook(path: str, text: str) -> tuple[HookCommands, ...]:
    found: dict[HookMoment, list[str]] = {}
    moment: HookMoment | None = None
    for line in text.splitlines():
        if line and not line[0].isspace():
            hook = _LEFTHOOK.match(line)
            moment = _MOMENTS[hook["hook"]] if hook else None
        elif moment is not None and (run := _LEFTHOOK_RUN.match(line)):
            found.setdefault(moment, []).append(run["run"].strip("\"' "))
    return tuple(HookCommands(moment, tuple(commands[:_MOST]), path) for moment, commands in found.items())


STAGED_FILES = (".lintstagedrc", ".lintstagedrc.json")


def read_staged_commands(package_json: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What `lint-staged` runs on staged files, by the pattern of their names, as `package.json` or a file of its
    own says."""
    document = read_json(package_json) if len(package_json) <= LARGEST else None
    table = (
        document.get("lint-staged", document if "scripts" not in document else None)
        if isinstance(document, dict)
        else None
    )
    if not isinstance(table, dict):
        return ()
    found = []
    for pattern, value in list(table.items())[:_MOST]:
        commands = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        found.append((str(pattern), tuple(each for each in commands if isinstance(each, str))))
    return tuple(found)
