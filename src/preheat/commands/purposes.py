"""What one command is for. Knows words and the tables, no shell syntax."""

import re
import shlex
from collections.abc import Callable
from functools import lru_cache

from preheat.commands.common import names_mise_task
from preheat.commands.programs import (
    FAMILIES,
    NODE_LIST,
    NODE_PACKAGE,
    NODE_RUNNERS,
    NODE_VALUED,
    PRINTERS,
    PROGRAMS,
    TASK_NAMES,
    TASK_RUNNERS,
    TASK_VALUED,
    TRIVIAL,
)
from preheat.commands.values import Purpose
from preheat.commands.words import base_name, flag_of, has_flag, is_project_script, name_set, operands, skip_options
from preheat.commands.wrappers import unwrap

# What a task is for by its own name: `npm run test:unit`, `make lint`, `./run_tests.sh`
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_TEST_FILE = re.compile(r"(?:^|[_.-])(?:test|tests|spec)(?:[_.-]|$)|^run_?tests?", re.IGNORECASE)

_BY_WORD: dict[str, Purpose] = {
    **dict.fromkeys(
        name_set("test tests testing spec specs unit e2e integration smoke vitest jest pytest mocha cypress"), "test"
    ),
    **dict.fromkeys(name_set("playwright coverage cov ci verify selftest regression benchmark bench"), "test"),
    **dict.fromkeys(name_set("typecheck typechecks typechecking types tsc mypy pyright typing"), "typecheck"),
    **dict.fromkeys(
        name_set("lint lints linter linting eslint stylelint ruff clippy vet validate biome check checks"), "lint"
    ),
    **dict.fromkeys(name_set("format fmt prettier formatting"), "format"),
    **dict.fromkeys(
        name_set("build builds compile bundle dist rebuild prebuild package release all tsup webpack"), "build"
    ),
    **dict.fromkeys(name_set("install setup deps bootstrap"), "package"),
    **dict.fromkeys(("clean",), "edit"),
}


def purpose_of_name(name: str) -> Purpose | None:
    """The purpose by the first telling word of a name; None where no word tells."""
    words = [word.lower() for word in _WORDS.findall(name[:200])]
    for index, word in enumerate(words):
        after = words[index + 1 : index + 2]
        if word == "type" and after and after[0] in ("check", "checks", "checking"):
            return "typecheck"
        if word in ("check", "checks") and after and after[0] in ("type", "types", "typing"):
            return "typecheck"
        purpose = _BY_WORD.get(word)
        if purpose == "format" and "check" in words:
            return "lint"
        if purpose == "test" and len(words) > 2 and after == ["data"]:
            continue
        if purpose is not None:
            return purpose
        if word == "e" and words[index + 1 : index + 3] == ["2", "e"]:
            return "test"
    return None


def is_test_file(name: str) -> bool:
    """Whether a file of this base name holds tests: `test_x.py`, `x.test.ts`, `x_spec.rb`, `run_tests.sh`."""
    start = name[:200]
    folded = start.casefold()  # looked at first: the pattern is slow
    return ("test" in folded or "spec" in folded) and _TEST_FILE.search(start) is not None


# What a command is for
_KNOWN = frozenset(PROGRAMS) | frozenset(FAMILIES) | NODE_RUNNERS | TASK_RUNNERS
_INFORMING = frozenset(("--version", "--help", "-version", "-help"))
_ONLY_INFORMING = frozenset(("-v", "-V", "-h", "version", "help", "--version"))
_LISTING = frozenset(("--collect-only", "--co", "--listTests", "--list-tests", "--list"))
_ONLY_CHECKING = frozenset((
    "--check", "--check-only", "-c", "--diff", "-d", "-l", "--list-different", "--dry-run", "--verify-no-changes",
    "--set-exit-if-changed", "--check-formatted", "-check", "--list", "--test",
))  # fmt: skip
_INTERPRETERS = name_set(
    "python python2 python3 pypy pypy3 py node nodejs ts-node tsx ruby perl php bash sh zsh dash ksh fish ash lua Rscript"
    " julia escript powershell pwsh deno bun"
)
_SCRIPT_ENDINGS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".ps1", ".lua")
_SHELL_ENDINGS = (".sh", ".bash", ".zsh", ".ps1")
_TASK_RANK: tuple[Purpose, ...] = ("test", "typecheck", "lint", "build", "package", "format", "list", "edit", "run")
_CALLERS = name_set(
    "python python3 uv uvx pipx poetry pipenv pdm rye hatch pixi npx bunx pnpx npm pnpm yarn bun bundle coverage rtk"
)
_NAMED: frozenset[Purpose] = frozenset(("test", "typecheck", "lint", "build", "format"))
_FOLLOW = ("-f", "-F", "--follow")


def purpose_of(words: tuple[str, ...], writes: bool = False, starter: str = "", program: str = "") -> Purpose:
    """What an unwrapped command is for. `writes`: its output goes into a file; `starter`: what starts it; `program`: its base
    name, where that is known already."""
    program = program or base_name(words[0])
    name = program if program in _KNOWN else program.lower()
    if writes and name in PRINTERS:
        return "edit"
    if name not in _KNOWN and name[:6] == "python" and name[6:7].isdecimal():
        name = "python3"
    if name in _KNOWN and _informs(words):
        return "read"
    rule = _RULES.get(name)
    if rule is not None:
        return rule(words)
    if name in _INTERPRETERS:
        return _script(name, words)
    if name in TASK_RUNNERS:
        return _task(name, words)
    if name in FAMILIES:
        return _family(name, words)
    purpose = PROGRAMS.get(name)
    no_condition = name == "test" and (starter in _CALLERS or is_project_script(words[0]))  # `hatch run test`
    if purpose is None or no_condition:
        return _unknown(words[0], program, words, starter)
    if purpose == "format" and not _ONLY_CHECKING.isdisjoint(words):
        return "lint"
    if purpose == "test" and not _LISTING.isdisjoint(words):
        return "list"
    return purpose


def _informs(words: tuple[str, ...]) -> bool:
    """Whether a program is only asked for its version or its help."""
    if len(words) == 2 and words[1] in _ONLY_INFORMING:
        return True
    return not _INFORMING.isdisjoint(words) and base_name(words[0]) not in _INTERPRETERS


def _family(name: str, words: tuple[str, ...]) -> Purpose:
    family = FAMILIES[name]
    index = skip_options(words, 1, family.valued)
    while index < len(words) and words[index].startswith("+"):  # `cargo +nightly test`
        index += 1
    subcommand = words[index].split(" ", 1)[0] if index < len(words) else ""  # `sbt "testOnly x"`
    purpose = family.subcommands.get(subcommand, family.otherwise)
    if purpose == family.otherwise and subcommand in ("help", "version"):
        return "read"
    if purpose == "format" and not _ONLY_CHECKING.isdisjoint(words):
        return "lint"
    if purpose == "test":
        if not _LISTING.isdisjoint(words):
            return "list"
        if "--no-run" in words:
            return "build"
    if purpose == "read" and subcommand == "logs" and has_flag(words, *_FOLLOW):
        return "poll"
    return purpose


def _script(name: str, words: tuple[str, ...]) -> Purpose:
    """An interpreter: what its script is for."""
    rest = words[1:]
    if has_flag(rest[:1], "--test") or (name in ("node", "nodejs") and "--test" in rest):
        return "test"
    if rest and rest[0] in _SYNTAX_ONLY.get(name, ()):
        return "lint"
    if name in ("perl", "ruby") and rest and has_flag(rest[:1], "-i") and rest[0][:2] != "--":
        return "edit"
    if name in ("deno", "bun"):
        return _family(name, words) if name == "deno" else _node(words)
    valued = (
        FAMILIES["node"].valued if name in ("node", "nodejs") else ("-W", "-X", "-o", "-O", "-File", "-ExecutionPolicy")
    )
    index = skip_options(words, 1, valued)
    if index >= len(words) or {"-c", "-e", "-p", "-"} & set(words[1:index]) or words[index] == "-":
        return "run"
    return _file(words[index:])


_SYNTAX_ONLY = {
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), ("-n",)),
    **dict.fromkeys(("node", "nodejs"), ("-c", "--check")),
    **dict.fromkeys(("ruby", "perl"), ("-c", "-wc", "-cw")),
    "php": ("-l",),
}


def _file(words: tuple[str, ...]) -> Purpose:
    """A script that is run: some are well-known programs, some say by their name what they are."""
    base = base_name(words[0])
    stem, dot, _ending = base.rpartition(".")
    if base in FAMILIES:
        return _family(base, words)
    if base == "setup.py":
        return _SETUP.get(words[1] if len(words) > 1 else "", "run")
    program = stem if dot and base.endswith((".js", ".mjs", ".cjs")) else base
    if program in PROGRAMS and ("/" in words[0] or not dot):
        return purpose_of((program, *words[1:]))
    if is_test_file(base):
        return "test"
    if base.endswith(_SHELL_ENDINGS) or not dot:
        purpose = purpose_of_name(stem if dot else base)
        if purpose in _NAMED:
            return purpose
    return "run"


_SETUP: dict[str, Purpose] = {
    "test": "test", "build": "build", "build_ext": "build", "sdist": "build", "bdist_wheel": "build",
    "install": "package", "develop": "package", "check": "lint",
}  # fmt: skip


def _unknown(written: str, program: str, words: tuple[str, ...], starter: str) -> Purpose:
    if "/" in written or "\\" in written or program.endswith(_SCRIPT_ENDINGS):
        return _file((written, *words[1:]))
    if starter.startswith("python"):  # a module
        return "test" if is_test_file(program.rpartition(".")[2]) else "run"
    if starter in _CALLERS:
        purpose = purpose_of_name(program)
        return purpose if purpose in _NAMED else "run"
    return "other"


def _node(words: tuple[str, ...]) -> Purpose:
    """`npm`, `pnpm`, `yarn`, `bun`: their own commands, scripts of a package by name, and programs."""
    program = base_name(words[0]).lower()
    index = skip_options(words, 1, NODE_VALUED)
    if index < len(words) and words[index] == "workspace":
        index = skip_options(words, index + 2, NODE_VALUED)
    if index >= len(words):
        return "package" if program == "yarn" else "list"
    name = words[index]
    if name in ("run", "run-script", "rum"):
        index = skip_options(words, index + 1, NODE_VALUED)
        return _package_script(words[index:]) if index < len(words) else "list"
    if name in ("test", "t", "tst", "install-test", "it"):
        return "test"
    if name in ("start", "stop", "restart", "exec", "dlx", "x", "npx"):
        return "run"
    if name in NODE_LIST or (name == "config" and "set" not in words):
        return "list"
    if name in NODE_PACKAGE:
        return "package"
    return _package_script(words[index:])


def _package_script(words: tuple[str, ...]) -> Purpose:
    words = unwrap(words)[0] or words
    name = words[0]
    if name == "fmt":  # a task of that name formats code; the program of that name wraps text
        return "format"
    if name not in TRIVIAL and (name in PROGRAMS or name in FAMILIES or name in TASK_RUNNERS):
        return purpose_of(words)
    if name.endswith(_SCRIPT_ENDINGS):
        return _file(words)
    return purpose_of_name(name) or "run"


def _task(name: str, words: tuple[str, ...]) -> Purpose:
    """A runner of named tasks: the weightiest of the names."""
    named = [word for word in operands(words, TASK_VALUED) if "=" not in word]
    if name in ("nx", "turbo", "lerna", "moon"):
        targets = flag_of(words, ("-t", "--target", "--targets"))
        named = (
            targets.split(",")
            if targets
            else [word for word in named if word not in ("run", "run-many", "affected")][:1]
        )
    if not named:
        return "list" if has_flag(words, "--list", "-l") else "build" if name in _BUILDERS else "run"
    purposes = {
        TASK_NAMES.get(word.rpartition(":")[2]) or TASK_NAMES.get(word) or purpose_of_name(word) for word in named
    }
    for purpose in _TASK_RANK:
        if purpose in purposes:
            return purpose
    if name in ("make", "gmake", "ninja") and any("." in word or "/" in word for word in named):
        return "build"
    return "run"


_BUILDERS = frozenset(("make", "gmake", "ninja", "ant", "mvn", "mvnw", "gradle", "gradlew"))


def _sed(words: tuple[str, ...]) -> Purpose:
    in_place = any(word.startswith(("-i", "--in-place")) or word[:3] in ("-ni", "-Ei", "-ri") for word in words[1:])
    return "edit" if in_place else "read"


def _find(words: tuple[str, ...]) -> Purpose:
    if "-delete" in words:
        return "edit"
    inside = started_by_find(words)
    return "edit" if inside and purpose_of(inside) == "edit" else "search"


def started_by_find(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command that `find … -exec` runs."""
    for flag in ("-exec", "-execdir", "-ok"):
        if flag in words:
            return words[words.index(flag) + 1 :]
    return ()


def _follow(otherwise: Purpose) -> Callable[[tuple[str, ...]], Purpose]:
    return lambda words: "poll" if has_flag(words[1:], *_FOLLOW) else otherwise


def _tsc(words: tuple[str, ...]) -> Purpose:
    return "build" if has_flag(words[1:], "--build") or "-b" in words else "typecheck"


def _prettier(words: tuple[str, ...]) -> Purpose:
    return "lint" if {"--check", "-c", "--list-different", "-l"} & set(words) else "format"


def _cmake(words: tuple[str, ...]) -> Purpose:
    target = flag_of(words, ("--target", "-t")) or ""
    return "test" if target in ("test", "check") else "build"


def _gh(words: tuple[str, ...]) -> Purpose:
    return "poll" if "watch" in words[1:4] or "--watch" in words else _family("gh", words)


def _docker(words: tuple[str, ...]) -> Purpose:
    index = skip_options(words, 1, FAMILIES["docker"].valued)
    subcommand = words[index] if index < len(words) else ""
    if subcommand == "compose":
        return _family("docker-compose", ("docker-compose", *words[index + 1 :]))
    if subcommand in ("image", "container", "volume", "network", "system") and words[index + 1 : index + 2]:
        return "list" if words[index + 1] in ("ls", "list", "inspect", "df", "ps") else "edit"
    return _family("docker", words)


def _kubectl(words: tuple[str, ...]) -> Purpose:
    if "-w" in words or "--watch" in words or {"rollout", "status"} <= set(words):
        return "poll"
    return _family("kubectl", words)


def _tar(words: tuple[str, ...]) -> Purpose:
    first = words[1] if len(words) > 1 else ""
    return "list" if "t" in first.split("=")[0] and not first.startswith("--") else "edit"


def _unzip(words: tuple[str, ...]) -> Purpose:
    return "list" if has_flag(words[1:2], "-l") else "read" if has_flag(words[1:2], "-p") else "edit"


def _pip(words: tuple[str, ...]) -> Purpose:
    return "lint" if words[1:2] == ("check",) else _family("pip", words)


def _uv(words: tuple[str, ...]) -> Purpose:
    return _pip(words[1:]) if words[1:2] == ("pip",) else _family("uv", words)


def _composer(words: tuple[str, ...]) -> Purpose:
    index = skip_options(words, 1, FAMILIES["composer"].valued)
    subcommands = FAMILIES["composer"].subcommands
    if index < len(words) and words[index] in ("run", "run-script"):
        index += 1
    return (
        _package_script(words[index:])
        if index < len(words) and words[index] not in subcommands
        else _family("composer", words)
    )


def _mise(words: tuple[str, ...]) -> Purpose:
    if words[1:2] and words[1] in ("run", "r"):
        index = skip_options(words, 2, ())
        return _package_script(words[index:]) if index < len(words) else "list"
    return _package_script(words[1:]) if names_mise_task(words) else _family("mise", words)


_RULES: dict[str, Callable[[tuple[str, ...]], Purpose]] = {
    **dict.fromkeys(NODE_RUNNERS, _node),
    "sed": _sed,
    "gsed": _sed,
    "find": _find,
    "tail": _follow("read"),
    "journalctl": _follow("read"),
    "tsc": _tsc,
    "prettier": _prettier,
    "cmake": _cmake,
    "gh": _gh,
    "docker": _docker,
    "podman": _docker,
    "kubectl": _kubectl,
    "tar": _tar,
    "unzip": _unzip,
    "pip": _pip,
    "pip3": _pip,
    "uv": _uv,
    "composer": _composer,
    "mise": _mise,
    "devbox": _mise,
}


@lru_cache(maxsize=2048)
def purpose_of_command(command: str) -> str:
    """What a plain command is for, without a shell's parser: the start of a session waits for it."""
    command = re.sub(r"^cd \S+ && ", "", command)
    try:
        words = tuple(shlex.split(command, comments=True))
    except ValueError:
        return "other"
    while words and (re.fullmatch(r"\w+=\S*", words[0]) or words[0] in ("npx", "bunx", "time", "env", "exec", "sudo")):
        words = words[1:]
    while len(words) > 2 and words[0] in ("uv", "poetry", "pdm", "pipenv", "hatch") and words[1] == "run":
        words = words[2:]
    if words[:3] == ("mise", "exec", "--") or words[:3] == ("mise", "x", "--"):
        words = words[3:]
    if len(words) > 2 and words[0] in ("pnpm", "yarn", "bun", "npm") and words[1] in ("exec", "x", "dlx"):
        words = words[2:]
    return purpose_of(words) if words else "other"
