"""What a shell text is for, what it aims at, and its form, in a few words. Understanding shell texts is in `preheat.commands`."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from preheat.commands import Purpose, understand
from preheat.text_cache import cache_short_texts

_VERSION = re.compile(r"(?<=[a-z])\d[\d.]*$")
_FAMILIES = frozenset(
    [
        "git", "gh", "hg", "svn", "jj", "npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "pip", "uv", "poetry", "conda",
        "brew", "apt", "apt-get", "docker", "podman", "kubectl", "helm", "terraform", "aws", "gcloud", "az", "make", "just",
        "dotnet", "mvn", "gradle", "composer", "gem", "bundle", "mix", "flutter", "dart", "swift", "systemctl", "ruff",
    ]
)  # fmt: skip
"""Programs with subcommands: the first word after the name is one."""
_CHANGING = frozenset(
    ["checkout", "switch", "restore", "reset", "stash", "pull", "merge", "rebase", "revert", "cherry-pick", "apply", "am",
     "clean"]
)  # fmt: skip
"""Subcommands of version control that may change any file."""


_WITH_VALUE = frozenset(["-C", "--prefix", "--cwd", "--filter", "--project", "--manifest-path", "-f"])
"""Options with a value that come before the subcommand."""
_FAR = 12
"""The subcommand is among the first so many words."""
_WRITING = frozenset(["edit", "format"])
_ACTIVITIES: dict[Purpose, str] = {purpose: f"shell:{purpose}" for purpose in get_args(Purpose)}


class ShellUse(msgspec.Struct, frozen=True, gc=False):
    """A shell text in short."""

    activity: str
    reads: bool
    writes: bool
    sweeps: bool
    """It may have changed any file."""


@cache_short_texts
def read_shell(text: str) -> ShellUse:
    """A shell text in short."""
    understood = understand(text)
    purpose = understood.purpose
    writes = sweeps = False
    for command in understood.commands:
        aim = command.purpose
        if aim in _WRITING:
            writes = True
        elif aim == "vcs" and not _CHANGING.isdisjoint(command.words[1:4]):
            sweeps = True
    return ShellUse(_ACTIVITIES[purpose], purpose == "read", writes, sweeps or purpose == "format")


@cache_short_texts
def command_aim(text: str) -> tuple[str, ...]:
    """Purpose, program and subcommand: two commands with equal aims are two tries at the same thing."""
    understood = understand(text)
    purpose, command = understood.purpose, understood.main
    if command is None:
        return (purpose,)
    program = _VERSION.sub("", command.program)
    words = _plain_words(command.words)
    if program in _FAMILIES:
        return (purpose, program, *words[: 2 if words[:1] == ["run"] else 1])
    script = command.purpose == "run" and "-c" not in command.words
    if script or "." in command.program:  # the script is what runs, its interpreter is not; a script may do many things
        return (purpose, program, *words[:1])
    return (purpose, program)


def _plain_words(words: tuple[str, ...]) -> list[str]:
    """The arguments that are no options, nor the value of one that several programs have in common."""
    found: list[str] = []
    skip = False
    for word in words[1:_FAR]:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in _WITH_VALUE
        else:
            found.append(word)
    return found


# The form of a command
_OPTIONS = 3
_LONGEST_WORD = 30
_INTERPRETERS = frozenset(
    ("python", "python3", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "pwsh", "deno", "bun", "tsx")
)
_SCRIPT = re.compile(r"(?!/|~|[A-Za-z]:)(?:[\w.-]+/){0,6}[\w-][\w.-]{0,40}\.\w{1,4}")
"""A script of the project; what lies elsewhere belongs to one machine."""


@cache_short_texts
def command_form(text: str) -> str:
    """The program of a shell text with its subcommand and options; empty where no program is found."""
    main = understand(text).main
    _, *words = command_aim(text)
    if main is None or not words:
        return ""
    if words[1:] == [] and main.words[1:2] == ("run",):  # of any program that runs what a project names
        words += main.words[1:3]
    # A path or a quoted text belongs to the case, not to the form; but of an interpreter the script says what is run.
    script = main.words[1] if words[0] in _INTERPRETERS and len(main.words) > 1 else ""
    named = [script] if _SCRIPT.fullmatch(script) else [word for word in words[1:] if _is_plain(word)]
    plain = [words[0].rpartition("/")[2] or words[0], *named]
    options = sorted({word.partition("=")[0] for word in main.words if _is_option(word)})[:_OPTIONS]
    more = ["…"] if len(main.words) > len(plain) + len(options) else []
    return " ".join((*plain, *options, *more))


def common_beginning(calls: Sequence[tuple[str, str]]) -> str:
    """How people would name commands that are not all the same, given as form and text: the words with which they begin alike,
    in the order in which they were typed, without the values of options. Empty where a text has no command of its form."""
    commands = [_words_of(form, text) for form, text in calls]
    if not commands or not all(commands):
        return ""
    named = [calls[0][0].partition(" ")[0]]
    for words in zip(*(each[1:] for each in commands), strict=False):
        word = words[0]
        is_name = _is_plain(word) or (len(named) == 1 and _SCRIPT.fullmatch(word) is not None)
        is_shown = _is_option(word) or (is_name and not _is_option(named[-1]))
        if not is_shown or any(each != word for each in words):
            break
        named.append(word)
    more = any(len(each) > len(named) for each in commands)
    return " ".join((*named, "…") if more else named)


def _words_of(form: str, text: str) -> tuple[str, ...]:
    """The words of the command of a text that has a form, else of the first with its program."""
    program = form.partition(" ")[0]
    own = [each.words for each in understand(text).commands if each.program.rpartition("/")[2] == program]
    return next((words for words in own if command_form(shlex.join(words)) == form), own[0] if own else ())


def _is_plain(word: str) -> bool:
    return word.replace("-", "").replace("_", "").replace(":", "").isalpha() and len(word) <= _LONGEST_WORD


def _is_option(word: str) -> bool:
    return word.startswith("-") and _is_plain(word.partition("=")[0].lstrip("-"))


_ALL_RIGHTS = {
    "sandbox_permissions": "require_escalated",
    "with_escalated_permissions": True,
    "dangerouslyDisableSandbox": True,
}
"""Arguments of tools that run a command outside of the sandbox, each with the value that says so."""


def leaves_sandbox(arguments: Mapping[str, Any]) -> bool:
    """Whether the agent's program was asked to run a command outside of its sandbox."""
    return any(arguments.get(name) == value for name, value in _ALL_RIGHTS.items())
