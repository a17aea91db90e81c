"""How a project is run: servers with their ports, programs, services in containers. Pure."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from preheat.facts.checks import find_shell_scripts, is_harmful
from preheat.facts.packages import find_packages
from preheat.facts.programs import Program, find_programs
from preheat.facts.values import ProjectTree, in_folder, make_fact
from preheat.manifests.scripts import SHELLS, Script, body_of, command_of, read_scripts
from preheat.manifests.services import is_compose, read_ports, read_services
from preheat.model.lesson import Lesson

_SERVING = re.compile(
    r"^(?:dev|start|serve|server|storybook|watch|run|up)(?:[:._-].*)?$|^(?!install\b)(?:.*[:._-])?(?:dev|serve|start)$"
)
"""Names of scripts that run the project; a `preview` serves what was built before, on a port of its own."""
_PORT = re.compile(
    r"(?:--port[= ]|(?<![\w-])-p[ =]?|\bPORT=|localhost:|127\.0\.0\.1:|0\.0\.0\.0:|--http-port[= ])(?P<port>\d{4,5})\b"
)
_CONFIGURED = re.compile(
    r"\bport\s*[:=]\s*(?:Number\([^)]*\)\s*\|\|\s*|process\.env\.\w+\s*(?:\|\||\?\?)\s*)?[\"']?(?P<port>\d{4,5})\b",
    re.IGNORECASE,
)
_NEEDS_BUILD = re.compile(
    r"(?:^|\s)"
    r"(?:next start|nuxi? (?:start|preview)|vite preview|astro preview|remix-serve|react-router-serve)\b"
)
"""Servers of what was built before: they fail in a fresh tree."""
_MOST = 6
_SELDOM = 0.1
"""The reach of what is said only before a call that needs it."""


def learn_servers(tree: ProjectTree) -> list[Lesson]:
    """Facts on what is started to try the project out."""
    found: list[Lesson] = []
    bodies: dict[str, str] = {}
    shell = find_shell_scripts(tree)
    for package in find_packages(tree):
        for script in package.scripts:
            is_wanted = _SERVING.search(script.name) and not _NEEDS_BUILD.search(body_of(script))
            if is_wanted and not is_harmful(script, (*package.scripts, *shell)):
                port = _find_port(script) or _configured_port(tree, package.folder) or _usual_port(script)
                found.append(_fact(tree, package.command(script), script, port, package.folder))
                bodies[found[-1].id] = body_of(script)
    for path in sorted(tree.texts):
        if path.rpartition("/")[2] == "package.json" or path.count("/") > 2:
            continue
        scripts = read_scripts(path, tree.texts[path])
        found += [
            _fact(tree, in_folder(script.folder, command_of(script)), script, _find_port(script), script.folder)
            for script in scripts
            if _serves(script) and not is_harmful(script, (*scripts, *shell))
        ]
    found = [fact for fact in found if fact.use][:_MOST]
    programs, found = _without_started(_program_facts(tree), found, bodies)
    found += programs
    if found and not found[0].details.get("package"):
        found[0] = msgspec.structs.replace(found[0], details={**found[0].details, "main": "yes"})
    return [*found, *_containers(tree)]


def _without_started(
    programs: Sequence[Lesson], scripts: list[Lesson], bodies: Mapping[str, str]
) -> tuple[list[Lesson], list[Lesson]]:
    """The programs that no script of their folder starts, and the scripts: what starts one that has a port has that port too."""
    left: list[Lesson] = []
    for program in programs:
        started = program.use.rpartition("&& ")[2].removeprefix("npx ")
        place = next(
            (
                place
                for place, script in enumerate(scripts)
                if script.details.get("package", "") == program.details.get("package", "")
                and re.search(rf"(?:^|\s){re.escape(started)}(?:\s|$)", bodies.get(script.id, ""))
            ),
            None,
        )
        if place is None:
            left.append(program)
        elif program.details.get("port") and not scripts[place].details.get("port"):
            details = {**scripts[place].details, "port": program.details["port"]}
            scripts[place] = msgspec.structs.replace(scripts[place], details=details)
    return left, scripts


def _serves(script: Script) -> bool:
    """Whether a script runs the project, by its name; one of the shell only by a plain one."""
    return bool(_PLAIN.match(script.name) if script.runner in SHELLS else _SERVING.search(script.name))


_PLAIN = re.compile(r"^(?:dev|start|serve|server|run|up)$")


def _find_port(script: Script) -> str:
    found = _PORT.search(body_of(script))
    return found["port"] if found else ""


def _configured_port(tree: ProjectTree, folder: str) -> str:
    """The port in the configuration of the tool that serves a package."""
    prefix = f"{folder}/" if folder else ""
    for path, text in tree.texts.items():
        if path.startswith(prefix) and re.fullmatch(
            rf"{re.escape(prefix)}(?:vite|astro|nuxt|vue|webpack|next)\.config\.\w+", path
        ):
            found = _CONFIGURED.search(text)
            if found:
                return found["port"]
    return ""


_USUAL_PORTS = {
    "next dev": "3000", "next start": "3000", "vite": "5173", "vite dev": "5173", "vite preview": "4173", "astro dev": "4321",
    "astro preview": "4321", "nuxt dev": "3000", "nuxi dev": "3000", "ng serve": "4200", "react-scripts start": "3000",
    "gatsby develop": "8000", "docusaurus start": "3000", "vitepress dev": "5173", "storybook dev": "6006",
    "wrangler dev": "8787", "vercel dev": "3000", "react-router dev": "5173",
}  # fmt: skip
"""Programs that serve, with their subcommand, and the port that they take if nobody names one."""


def _usual_port(script: Script) -> str:
    """The port of a server that is started alone and without one."""
    body = body_of(script)
    words = [word for word in body.split() if "=" not in word and word not in ("npx", "bunx", "cross-env")]
    if not words or re.search(r"[|;&$]|--port|--host|-p\b|concurrently", body):
        return ""
    program, subcommand = words[0].partition("@")[0], words[1] if len(words) > 1 and words[1][:1] != "-" else ""
    return _USUAL_PORTS.get(f"{program} {subcommand}".strip(), "")


def _fact(tree: ProjectTree, command: str, script: Script, port: str, folder: str) -> Lesson:
    details = {"about": "run"} | ({"port": port} if port else {}) | ({"package": folder} if folder else {})
    text = f"The project runs with `{command}`" + (f" on port {port}" if port else "") + "."
    files = (folder,) if folder else (script.file,)
    return make_fact(tree, "serve", (command,), text, reach=0.3, use=command, files=files, details=details)


def _program_facts(tree: ProjectTree) -> list[Lesson]:
    """The programs that a manifest of a language implies."""
    found = []
    for each in find_programs(tree):
        details = {"about": "run"} | ({"port": each.port} if each.port else {})
        folder = re.match(r"cd (\S+) && ", each.command)
        details |= {"package": folder[1]} if folder else {}
        text = f"The program runs with `{each.command}` (by `{each.file}`)."
        found.append(
            make_fact(
                tree, "serve", (each.command,), text, reach=0.3, use=each.command, files=(each.file,), details=details
            )
        )
        if each.name and not folder:
            found.append(_own_program_fact(tree, each))
    return found


def _own_program_fact(tree: ProjectTree, program: Program) -> Lesson:
    """What is to be run where somebody types the name of the program that is built here, and it is not installed."""
    text = f"`{program.name}` is built from this project: `{program.command}` runs it."
    return make_fact(
        tree, "missing", ("own", program.name), text, reach=_SELDOM, use=program.command, files=(program.file,),
        details={"about": "missing", "name": program.name, "own": "yes"},
    )  # fmt: skip


def _containers(tree: ProjectTree) -> list[Lesson]:
    found = []
    for path in sorted(tree.texts):
        if not is_compose(path) or "staging" in path or "prod" in path:
            continue
        services = read_ports(tree.texts[path])
        named = read_services(tree.texts[path])
        if named:
            command = "docker compose up -d" if "/" not in path else f"docker compose -f {path} up -d"
            ports = ", ".join(f"{name} {port}" for name, port in services) or ", ".join(named)
            found.append(
                make_fact(
                    tree, "serve", (command,), f"Services run with `{command}` ({ports}).", reach=0.3, use=command, files=(path,),
                    details={"about": "services", "services": ",".join([name for name, _ in services] or named[:_MOST]),
                             "ports": ",".join(port for _, port in services)},
                )
            )  # fmt: skip
    return found[:3]
