"""Programs that only start another one, and how far their own words reach. Knows nothing of what is started."""

import re
from typing import NamedTuple

from preheat.commands.words import base_name, flag_of, name_set, skip_options


class Wrapper(NamedTuple):
    """After the program (and one of `subcommands`, if it has any) come options, `operands` words, and the command."""

    subcommands: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    """Options whose value is the next word."""
    operands: int = 0
    assigns: bool = False
    """`A=b` may stand before the command."""
    dashes: bool = False
    """Without `--` there is no command."""
    leading: frozenset[str] = frozenset()
    """Valued options that may stand before the subcommand."""


def _wrapper(
    subcommands: str = "",
    valued: str = "",
    operands: int = 0,
    assigns: bool = False,
    dashes: bool = False,
    leading: str = "",
) -> Wrapper:
    return Wrapper(name_set(subcommands), name_set(valued), operands, assigns, dashes, name_set(leading))


_PLAIN = _wrapper()
_UV = "--with --with-requirements --with-editable --python -p --project --directory --extra --group --only-group --package --env-file --index-url --from --no-extra --no-group -C"  # noqa: E501
_NPX = "-p --package --prefix -w --workspace --node-options --registry"
_COMPOSE = "-e --env -u --user -w --workdir -v --volume -p --publish --name --entrypoint -l --label --index"
_COMPOSE_LEADING = "-f --file -p --project-name --profile --env-file --project-directory"
_DOCKER = f"{_COMPOSE} --env-file --network --net -m --memory --cpus --platform --mount --add-host --hostname -h --shm-size --gpus --ulimit --cap-add --user --pull"  # noqa: E501
_KUBECTL = "-n --namespace -c --container --context --kubeconfig"

WRAPPERS: dict[str, Wrapper] = {
    **dict.fromkeys(
        ("nohup", "setsid", "unbuffer", "builtin", "chronic", "winpty", "catchsegv", "busybox", "noglob", "rtk"), _PLAIN
    ),
    "command": _PLAIN,
    "wsl": _wrapper(valued="-d --distribution -u --user --cd"),
    "exec": _wrapper(valued="-a"),
    "timeout": _wrapper(valued="-k --kill-after -s --signal", operands=1),
    "gtimeout": _wrapper(valued="-k --kill-after -s --signal", operands=1),
    "env": _wrapper(valued="-u --unset -C --chdir", assigns=True),
    "cross-env": _wrapper(assigns=True),
    "sudo": _wrapper(valued="-u --user -g --group -h --host -p --prompt -C -D --chdir -r -t -U -R", assigns=True),
    "doas": _wrapper(valued="-u -C"),
    "nice": _wrapper(valued="-n --adjustment"),
    "ionice": _wrapper(valued="-c -n -p --class --classdata"),
    "taskset": _wrapper(operands=1),
    "time": _wrapper(valued="-f --format -o --output"),
    "stdbuf": _wrapper(valued="-i -o -e --input --output --error"),
    "xargs": _wrapper(
        valued="-n --max-args -P --max-procs -I -d --delimiter -L --max-lines -s --max-chars -a --arg-file -E"
    ),
    "strace": _wrapper(valued="-o -e -p -s -E -u"),
    "flock": _wrapper(valued="-w --timeout -E", operands=1),
    "caffeinate": _wrapper(valued="-t -w"),
    "xvfb-run": _wrapper(valued="-s --server-args -n --server-num -e --error-file -f -w --wait -p"),
    "dotenv": _wrapper("", "-e -f --file -v", assigns=True),
    "dotenvx": _wrapper("run", "-f --env-file -e --env"),
    "doppler": _wrapper("run", "-p --project -c --config", dashes=True),
    "op": _wrapper("run", "--env-file", dashes=True),
    "direnv": _wrapper("exec", operands=1),
    "mise": _wrapper("exec x", dashes=True),
    "asdf": _wrapper("exec"),
    "rbenv": _wrapper("exec"),
    "pyenv": _wrapper("exec"),
    "nix": _wrapper("develop shell", "-c --command"),
    "conda": _wrapper("run", "-n --name -p --prefix --cwd"),
    "mamba": _wrapper("run", "-n --name -p --prefix --cwd"),
    "micromamba": _wrapper("run", "-n --name -p --prefix --cwd"),
    "pixi": _wrapper("run", "-e --environment --manifest-path"),
    "uv": _wrapper("run", _UV, leading="--directory --project -C --python"),
    "uvx": _wrapper("", _UV),
    "pipx": _wrapper("run", "--spec --python --pip-args --index-url"),
    "poetry": _wrapper("run", leading="-C --directory -P --project"),
    "pipenv": _wrapper("run"),
    "pdm": _wrapper("run", "-p --project -s --site-packages"),
    "rye": _wrapper("run", "--pyproject"),
    "hatch": _wrapper("run", leading="-e --env -p --project"),
    "coverage": _wrapper("run", "--source --omit --include --rcfile --data-file --context --concurrency"),
    "npx": _wrapper("", _NPX),
    "bunx": _wrapper("", _NPX),
    "pnpx": _wrapper("", _NPX),
    "npm": _wrapper("exec x", _NPX, leading="--prefix -C -w --workspace"),
    "pnpm": _wrapper("exec dlx", "--package --filter -F -C --dir", leading="--filter -F -C --dir"),
    "yarn": _wrapper("exec dlx", "-p --package", leading="--cwd"),
    "bun": _wrapper("x", "--cwd --filter", leading="--cwd"),
    "bundle": _wrapper("exec"),
    "docker": _wrapper("exec run", _DOCKER, 1),
    "podman": _wrapper("exec run", _DOCKER, 1),
    "docker-compose": _wrapper("exec run", _COMPOSE, 1, leading=_COMPOSE_LEADING),
    "kubectl": _wrapper("exec", _KUBECTL, dashes=True, leading=_KUBECTL),
    "devcontainer": _wrapper("exec", "--workspace-folder --container-id --config"),
    "fnm": _wrapper("exec", "--using --fnm-dir"),
    "volta": _wrapper("run", "--node --npm --yarn --pnpm"),
    "nvm": _wrapper("exec"),
    "corepack": _PLAIN,
}
_MANAGERS = frozenset(("npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"))
"""What `corepack` starts; its other words are its own."""
SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish", "ash"))
POWERSHELLS = frozenset(("powershell", "pwsh"))
SCRIPTED = SHELLS | POWERSHELLS | {"cmd", "nix-shell", "eval"}
"""Programs that take a script as an argument."""
_SHELL_SCRIPT = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*|py")
_NODE_VERSION = re.compile(r"v?\d[\d.]*|node|stable|lts/\S+|--lts")
_VERSIONED = re.compile(r"(?<=[a-z0-9])@[^/]*$")


def unwrap(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of the command inside its wrappers, and the wrappers, outermost first."""
    found: list[str] = []
    if words[0][:1] == "$" and words[1:2] == ("=",) and len(words) > 2:  # PowerShell's `$x = command`
        words = words[2:]
    while words:
        program = base_name(words[0])
        inside = _inside(program, words) if program in WRAPPERS or program[:2] == "py" else ()
        if not inside:
            break
        found.append(program)
        words = inside
    return words, tuple(found)


def script_of(words: tuple[str, ...]) -> str | None:
    """The script in `bash -c SCRIPT` and its like."""
    program = base_name(words[0])
    if program not in SCRIPTED:
        return None
    if program in SHELLS:
        for index, word in enumerate(words[1:-1], 1):
            if _SHELL_SCRIPT.fullmatch(word):
                return next((after for after in words[index + 1 :] if not after.startswith("-")), None)
            if not word.startswith(("-", "+")) and words[index - 1] not in ("-o", "+o", "-O"):
                return None
    elif program in POWERSHELLS:
        for index, word in enumerate(words[1:-1], 1):
            if word.lower() in ("-command", "-c"):
                return " ".join(words[index + 1 :])
    elif program == "cmd" and len(words) > 2 and words[1].lower() in ("/c", "//c", "/k"):
        return " ".join(words[2:])
    elif program == "nix-shell":
        return flag_of(words, ("--run", "--command"))
    elif program == "eval" and len(words) > 1:
        return " ".join(words[1:])
    return None


def _inside(program: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """What a wrapper starts; nothing where it is none."""
    if program.startswith("py") and _PYTHON.fullmatch(program):
        return _module(words)
    if program == "docker" and words[1:2] == ("compose",):
        return _inside("docker-compose", ("docker-compose", *words[2:]))
    if program == "uv" and words[1:3] == ("tool", "run"):
        return _inside("uvx", words[2:])
    wrapper = WRAPPERS.get(program)
    if wrapper is None or len(words) == 1 or (program == "command" and words[1:2] and words[1] in ("-v", "-V")):
        return ()
    start = 1
    if wrapper.subcommands:
        start = skip_options(words, 1, wrapper.leading)
        if start >= len(words) or words[start] not in wrapper.subcommands:
            return ()
        start += 1
    return _command_of(program, wrapper, words, start)


def _command_of(program: str, wrapper: Wrapper, words: tuple[str, ...], start: int) -> tuple[str, ...]:
    if wrapper.dashes:
        return words[words.index("--", start) + 1 :] if "--" in words[start:] else ()
    if program == "uv" and flag_of(words[start:], ("-m", "--module")):
        return _module(("python", *words[start:]))
    if program == "coverage":
        named = words[start:].index("-m") + 1 if "-m" in words[start:] else 0
        return words[start + named :] if named else ("python", *words[skip_options(words, start, wrapper.valued) :])
    if program == "nix":
        named = next((index for index, word in enumerate(words) if word in ("-c", "--command")), len(words))
        return words[named + 1 :]
    start = skip_options(words, start, wrapper.valued) + wrapper.operands
    if wrapper.operands:
        start = skip_options(words, start, wrapper.valued)
    while wrapper.assigns and start < len(words) and _ASSIGNMENT.match(words[start]):
        start += 1
    rest = words[start:]
    if program == "corepack" and (not rest or rest[0].partition("@")[0] not in _MANAGERS):
        return ()
    if program == "nvm" and rest and _NODE_VERSION.fullmatch(rest[0]):
        return rest[1:]
    if rest and program in ("corepack", "npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx", "bun"):
        return (_VERSIONED.sub("", rest[0]), *rest[1:])
    if rest and program == "hatch" and ":" in rest[0]:
        return (rest[0].split(":", 1)[1], *rest[1:])
    return rest


def _module(words: tuple[str, ...]) -> tuple[str, ...]:
    """`python -m MODULE …` without the first two; nothing for a script."""
    index = 1
    while index < len(words) and words[index].startswith("-") and len(words[index]) > 1:
        word = words[index]
        if word == "-m":
            return words[index + 1 :]
        if word.startswith("-m") and not word.startswith("--"):
            return (word[2:], *words[index + 1 :])
        if word == "-c" or (word.startswith("-c") and not word.startswith("--")):
            return ()
        index += 2 if word in ("-W", "-X", "--check-hash-based-pycs") else 1
    return ()
