"""How a project is built, tested, linted, type-checked and formatted: by scripts, the forge's checks and manifests. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from posixpath import basename

import msgspec

from preheat.commands.common import names_mise_task
from preheat.commands.purposes import purpose_of_command, purpose_of_name
from preheat.commands.words import name_set
from preheat.facts.ecosystems import find_implied
from preheat.facts.forge_actions import find_action_checks, find_analysers
from preheat.facts.node_tools import find_node_commands, lacks_tool
from preheat.facts.packages import (
    Package,
    address_package,
    find_packages,
    find_runner,
    start_in_package,
    start_program,
)
from preheat.facts.script_coverage import ScriptCoverage, describe_coverage
from preheat.facts.values import ImpliedCommand, ProjectTree, cites_missing_place, in_folder, make_fact
from preheat.manifests.scripts import SHELLS, Script, body_of, command_of, read_scripts, task_of_path
from preheat.manifests.shell_scripts import is_shell_script
from preheat.manifests.workflows import is_workflow, read_workflow
from preheat.model.lesson import Lesson
from preheat.safe_text.reasons import danger_reason

CHECK_TOPICS = frozenset(["test", "build", "lint", "typecheck", "format"])
_REACH = {"test": 0.9, "lint": 0.75, "typecheck": 0.75, "build": 0.6, "format": 0.5, "check": 0.7}
_SELDOM = 0.2
_EVERYTHING = frozenset(["verify", "ci", "check", "checks", "validate", "precommit", "all"])
_FIXING = re.compile(r"(?:^|[:_-])fix(?:$|[:_-])")
_MENDING = re.compile(r"\s(?:--fix|--write|--apply)(?:\s|$)")
_BUILT = (
    r"(?:\./)?(?:[\w@.-]+/)*(?:dist|build|out|coverage|lib|target|bin|tmp"
    r"|\.next|\.turbo|\.nuxt|\.cache|\.output|[\w.-]*\.tsbuildinfo|\*\.\w+)(?:/\*)?"
)
_CLEANING = re.compile(rf"\b(?:rm\s+-rf?|rimraf|del-cli|shx\s+rm\s+-rf?)(?:\s+{_BUILT})+(?=\s*(?:$|[;&|)]))")
_MADE_FOR_NOW = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_]\w*)=[\"']?\$\(\s*mktemp\b[^)]*\)")
"""A place of its own that a script makes, and takes away at its end."""
_CACHES = re.compile(
    r"\bfind\s+(?![/~$])[\w./@-]+(?:\s+-(?:type|prune|depth)(?:\s+[df])?)*\s+-name\s+[\"']?(?:__pycache__|\.[\w.]*cache|\*\.pyc)[\"']?"
    r"(?:\s+-(?:type|prune|depth)(?:\s+[df])?)*\s+(?:-exec\s+rm\s+-rf?\s+\{\}\s*(?:\+|\\?;)|-delete\b)"
)
_CALLED = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?([\w:.-]+)|\b(?:make|just|task)\s+([\w:.-]+)|\bmise\s+run\s+([\w:.-]+)"
    r"|(?:^|[\s/\"'])([\w.-]+\.(?:sh|bash))\b"
)
NO_CHECK = re.compile(
    r"watch|bench|debug|headed|staging|prod|smoke|deploy|migrat|seed|(?:^|[:._-])(?:gen|generate|codegen)(?:[:._-]|$)"
)
"""Names of scripts that are no check, whatever else they name."""
_OF_DOCS = re.compile(r"(?:^|[:._-])(?:docs?|site|website|storybook)(?:[:._-]|$)")
"""Names of scripts that build pages about a project and not the project."""
_NO_TEST = re.compile(r"no test specified|^(?:true|:|exit [01])$")
"""What a fresh package has in the place of a test."""
_LONGEST_BODY = 90
_MOST_VARIANTS = 12


def learn_checks(tree: ProjectTree) -> list[Lesson]:
    """Facts on the checks of a project, of its own folder and of each package."""
    packages = find_packages(tree)
    shell = find_shell_scripts(tree)
    tasks = _read_tasks(tree)
    coverage = ScriptCoverage(tree, packages, [each for scripts in tasks.values() for each in scripts], shell)
    found = [fact for package in packages for fact in _package_facts(tree, package, shell, coverage)]
    found += _workspace_facts(tree, packages)
    found += _workspace_program_facts(tree, packages)
    found += _task_facts(
        tree, tasks, shell, coverage, {fact.topic for fact in found if not fact.details.get("package")}
    )
    found += _implied_facts(tree, packages, found)
    return _raise_only_package([*found, *_forge_facts(tree, found)])


def _raise_only_package(facts: Sequence[Lesson]) -> list[Lesson]:
    """The facts, those of a folder as the project's own where no other place has any for the same: all of the code lies there."""
    places: dict[str, set[str]] = {}
    for fact in facts:
        places.setdefault(fact.topic, set()).add(fact.details.get("package", ""))
    folders = {folder for each in places.values() for folder in each}
    if "" in folders or len(folders) != 1:
        return list(facts)
    return [_as_own(fact) for fact in facts]


def _as_own(fact: Lesson) -> Lesson:
    details = {name: text for name, text in fact.details.items() if name != "package"}
    is_whole = details.get("about") == fact.topic and bool(details.get("main"))
    reach = _REACH[fact.topic] - 0.1 if is_whole else fact.reach
    return msgspec.structs.replace(fact, details=details, reach=reach)


def topic_of_script(script: Script) -> str:
    """What a script is for, by its name, else by what it runs; empty where that is none of the checks."""
    name = script.name.lower()
    first = re.split(r"[:._-]", name)[0]
    if name in _EVERYTHING and len({purpose_of_command(part) for part in _parts(body_of(script))} & CHECK_TOPICS) > 1:
        return "check"
    if name in ("verify", "ci", "precommit") or (name == "check" and script.runner == "mise"):
        return "check"
    if _NO_TEST.search(body_of(script)) or NO_CHECK.search(name):
        return ""
    if first in (
        "pre",
        "post",
        "clean",
        "dev",
        "start",
        "serve",
        "watch",
        "deploy",
        "release",
        "publish",
        "install",
        "setup",
        "update",
        "sync",
        "write",
        "record",
        "create",
        "prepare",
    ):
        return ""
    if name == "fix":
        return "lint"
    if first in _SPECIFIED and not _SPEC_TOOLS.search(body_of(script)):
        return ""
    named = purpose_of_name(name)
    if named == "build" and _OF_DOCS.search(name):
        return ""
    if named in CHECK_TOPICS and not name.startswith(("pre", "post")):
        return str(named)
    return ""


_SPECIFIED = frozenset(["spec", "specs"])
"""Names of tests, and of specifications."""
_SPEC_TOOLS = re.compile(r"\b(?:rspec|jest|vitest|mocha|jasmine|shellspec|busted|crystal|pytest|karma|ava|test)\b")


def _parts(body: str) -> list[str]:
    return [part.strip() for part in re.split(r"&&|;|\|\|", body) if part.strip()]


def is_harmful(script: Script, scripts: Sequence[Script], depth: int = 3) -> bool:
    """Whether a script, or one that it calls, does what nobody should be led to: removing its own build output is no harm."""
    body = body_of(script)
    if _is_dangerous(body):
        return True
    called = {name for names in _CALLED.findall(body) for name in names if name and name != script.name}
    return bool(called and depth) and any(
        (each.name in called or (each.runner in SHELLS and basename(each.file) in called))
        and each is not script
        and is_harmful(each, scripts, depth - 1)
        for each in scripts
    )


@lru_cache(maxsize=2048)
def _is_dangerous(body: str) -> bool:
    return bool(danger_reason(_CACHES.sub("true", _CLEANING.sub("true", _without_own_places(body)))))


def _without_own_places(body: str) -> str:
    """A script without the removal of the places that it made for itself and never calls otherwise."""
    for name in {found["name"] for found in _MADE_FOR_NOW.finditer(body)}:
        if len(re.findall(rf"(?<![\w$]){name}=", body)) == 1:
            place = rf"[\"']?\$\{{?{name}\}}?(?:/[\w-]+(?:\.[\w-]+)*)*/?[\"']?"
            body = re.sub(rf"\brm\s+-rf?(?:\s+--)?(?:\s+{place})+(?=\s*(?:[;&|)'\"]|$))", "true", body)
    return body


def find_shell_scripts(tree: ProjectTree) -> list[Script]:
    """The scripts of the shell in a tree: what any other script may call."""
    return [script for path, text in tree.texts.items() if is_shell_script(path) for script in _read_shell(path, text)]


@lru_cache(maxsize=128)
def _read_shell(path: str, text: str) -> tuple[Script, ...]:
    return read_scripts(path, text)


def _package_facts(
    tree: ProjectTree, package: Package, shell: Sequence[Script], coverage: ScriptCoverage
) -> Iterable[Lesson]:
    shown: dict[str, int] = {}
    for script in sorted(package.scripts, key=_rank):
        topic = topic_of_script(script)
        command = package.command(script) if topic else ""
        if not command or is_harmful(script, (*package.scripts, *shell)) or lacks_tool(tree, package, script):
            continue
        number = shown.get(topic, 0)
        shown[topic] = number + (script.name != "fix")
        if number < _MOST_VARIANTS:
            is_main = not number and not _is_of_part(script)
            yield _fact(tree, topic, command, script, coverage, is_main=is_main, package=package.folder)


_OF_ALL = name_set("unit all run ci code src project once full strict app local dev sh type types")
"""Parts of names of scripts that do not name a part of the project."""
_SORTS = name_set("e2e watch integration smoke coverage cov bench benchmark playwright cypress regression")
"""Those that name one sort of tests."""


def _is_of_part(script: Script) -> bool:
    """Whether a check's script is named for a part of the project or one sort of its tests: `test:report-ui`, `test:e2e`."""
    _, *parts = [part for part in re.split(r"[:._-]", script.name.rpartition("/")[2].lower()) if part]
    return any(part in _SORTS or (part not in _OF_ALL and purpose_of_name(part) is None) for part in parts)


_WATCHING = re.compile(r"^(?:\w+=\S+ )*vitest(?:$| (?!run\b|.*--run\b))|\s--watch(?:All)?(?:\s|$)")
"""What waits for changes of files: a session that runs it may wait for ever."""


def _rank(script: Script) -> tuple[object, ...]:
    """The plain one first: `test` before `test:e2e`, but what ends by itself before what waits for changes; scripts of the shell,
    which others may call, last."""
    is_watching = _WATCHING.search(body_of(script)) is not None
    return (script.runner in SHELLS, is_watching, len(re.split(r"[:._-]", script.name)), len(script.name), script.name)


def _fact(
    tree: ProjectTree,
    topic: str,
    command: str,
    script: Script,
    coverage: ScriptCoverage,
    is_main: bool,
    package: str = "",
) -> Lesson:
    body = " ".join(body_of(script).split())
    is_shown = body and len(body) <= _LONGEST_BODY and body != command and ";" not in body and "|| true" not in body
    is_mending = _FIXING.search(script.name) or _MENDING.search(body)
    about = "lint, with fixes" if topic == "lint" and is_mending else topic
    details = {"about": about} | ({"body": body} if is_shown else {}) | ({"package": package} if package else {})
    details |= {"main": "yes"} if is_main or about == "lint, with fixes" else {}
    details |= describe_coverage(coverage.find(script), package)
    return make_fact(
        tree, topic, ("script", command), f"The {topic} runs with `{command}` (in `{script.file}`).",
        reach=_REACH[topic] if is_main and about == topic and not package else _SELDOM, use=command,
        files=(package,) if package else (script.file,), details=details,
    )  # fmt: skip


NEARLY_ALL_PACKAGES = 0.9
"""The share of packages that have a script, for it to be said of any of them."""


def _workspace_facts(tree: ProjectTree, packages: Sequence[Package]) -> Iterable[Lesson]:
    """How one package of a workspace is checked, where several have the same script."""
    members = [package for package in packages if package.is_member and package.runner and package.name]
    for topic in ("test", "build", "typecheck", "lint"):
        having = [each for each in members if any(script.name == topic for script in each.scripts)]
        if len(having) > 1 and len(having) >= NEARLY_ALL_PACKAGES * len(members):
            command = address_package(having[0].runner, "PACKAGE", topic)
            yield make_fact(
                tree, topic, ("workspace", command), f"The {topic} of one package runs with `{command}`.",
                reach=0.55 if topic == "test" else 0.3, use=command, details={"about": f"{topic} of one package", "main": "yes"},
                files=("package.json",),
            )  # fmt: skip


def _workspace_program_facts(tree: ProjectTree, packages: Sequence[Package]) -> Iterable[Lesson]:
    """How one package of a workspace is checked by a program that no script of it names: its types, one test file."""
    members = [package for package in packages if package.is_member and package.runner and package.name]
    found: dict[tuple[str, str], list[Package]] = {}
    for package in members:
        starter = start_program(package.runner, "")
        for each in find_node_commands(tree, package):
            if each.command.startswith(starter) and (each.topic, each.about) in _IN_PACKAGES:
                found.setdefault((each.topic, each.command.removeprefix(starter)), []).append(package)
    for (topic, typed), having in found.items():
        name = "PACKAGE" if len(having) > 1 else having[0].name
        command = start_in_package(having[0].runner, name, typed)
        about = f"{topic} of one package" if topic == "typecheck" else "one test file of one package"
        if command:
            yield make_fact(
                tree, topic, ("workspace program", command), f"The {about} runs with `{command}`.", reach=0.25, use=command,
                details={"about": about}, files=("package.json",),
            )  # fmt: skip


_IN_PACKAGES = frozenset([("typecheck", ""), ("test", "one test file")])
"""Topics and forms of what the programs of a package check in it."""


def _read_tasks(tree: ProjectTree) -> dict[str, list[Script]]:
    """By their folders, the tasks of runners that are no package's: `make`, `just`, `mise`…"""
    by_folder: dict[str, list[Script]] = {}
    for path in sorted(tree.texts):
        if path.rpartition("/")[2] != "package.json" and (task_of_path(path) or not _is_foreign(path)):
            for script in read_scripts(path, tree.texts[path]):
                by_folder.setdefault(script.folder, []).append(script)
    return by_folder


def _task_facts(
    tree: ProjectTree,
    tasks: Mapping[str, Sequence[Script]],
    shell: Sequence[Script],
    coverage: ScriptCoverage,
    known: set[str],
) -> list[Lesson]:
    """Facts on the tasks of runners that are no package's; a script of the shell is the main one only for a topic that nothing
    else is for (`known`: those of the project's own package)."""
    found: list[Lesson] = []
    for folder, scripts in sorted(tasks.items()):
        shown: dict[str, int] = {}
        for script in sorted(scripts, key=_rank):
            topic = topic_of_script(script)
            command = in_folder(folder, command_of(script)) if topic else ""
            if not command or is_harmful(script, (*scripts, *shell)):
                continue
            number = shown.get(topic, 0)
            shown[topic] = number + 1
            if number < _MOST_VARIANTS:
                is_other = script.runner in SHELLS and (topic in known or script.file.count("/") > 1)
                is_main = not number and not is_other and not _is_of_part(script)
                found.append(_fact(tree, topic, command, script, coverage, is_main=is_main, package=folder))
    return found


def _is_foreign(path: str) -> bool:
    return bool(
        re.search(r"(?:^|/)(?:node_modules|vendor|third_party|fixtures?|examples?|testdata|test_helper|tests?)/", path)
    )


def _implied_facts(tree: ProjectTree, packages: Sequence[Package], known: Sequence[Lesson]) -> list[Lesson]:
    """What a language's manifest and a package's tools imply, where the project has no script of its own for it."""
    bodies = {body for fact in known if (body := fact.details.get("body"))}
    mains = {
        (fact.topic, fact.details.get("package", ""))
        for fact in known
        if fact.reach != _SELDOM or fact.details.get("package")
    }
    found = []
    implied = [
        ImpliedCommand(
            each.topic, each.command, each.about, package.folder, f"{package.folder}/package.json".lstrip("/")
        )
        for package in packages
        for each in find_node_commands(tree, package)
    ]
    for each in (*implied, *find_implied(tree)):
        if each.command in bodies and each.about == "":
            continue
        is_own = (each.topic, each.folder) not in mains
        found.append(_implied_fact(tree, each, is_own))
    return found


def _implied_fact(tree: ProjectTree, each: ImpliedCommand, is_own: bool) -> Lesson:
    command = in_folder(each.folder, each.command)
    about = each.about or each.topic
    reach = _REACH[each.topic] - 0.1 if is_own and not each.folder and not each.about else _SELDOM
    is_main = is_own or (about == "lint, with fixes" and not each.folder)
    details = (
        {"about": about, "implied": "yes"}
        | ({"package": each.folder} if each.folder else {})
        | ({"main": "yes"} if is_main else {})
    )
    return make_fact(
        tree, each.topic, ("implied", command), f"The {about} runs with `{command}` (by `{each.file}`).",
        reach=reach, use=command, files=(each.folder,) if each.folder else (each.file,), details=details,
    )  # fmt: skip


def _forge_facts(tree: ProjectTree, known: Sequence[Lesson]) -> list[Lesson]:
    """The checks that the forge runs and for which the project has no command of its own."""
    named = {command_key(fact.use) for fact in known}
    runner = find_runner(tree, "") if "package.json" in tree.texts else ""
    others = {"npm", "pnpm", "yarn", "bun"} - {runner}
    own = {fact.topic for fact in known if (fact.reach or 0.0) > _SELDOM}
    found: list[Lesson] = []
    for path in sorted(tree.texts):
        if not is_workflow(path):
            continue
        workflow = read_workflow(tree.texts[path])
        analysers = find_analysers(line for _, line in workflow.commands)
        for folder, written in workflow.commands:
            line = _QUOTED_WORD.sub(r"\1", written)
            command = in_folder(folder, line)
            topic = "lint" if line.partition(" ")[0] in analysers else purpose_of_command(line)
            is_plain = (
                not re.search(r"node_modules|release|publish|deploy|^go install ", line)
                and not re.search(r"[|<>$`(){}\"']", line)
                and "&&" not in line
                and len(line) < _LONGEST_BODY
            )
            is_known = command_key(command) in named or (bool(runner) and line.partition(" ")[0] in others)
            if topic not in CHECK_TOPICS or topic in own or not is_plain or danger_reason(line) or is_known:
                continue
            if cites_missing_place(command, tree):
                continue
            named.add(command_key(command))
            found.append(_forge_fact(tree, topic, command, path, 0.4 if topic in ("test", "lint") else _SELDOM))
        for command, program in find_action_checks(workflow.actions).items():
            if not any(_runs_program(fact, program) for fact in (*known, *found)):
                found.append(_forge_fact(tree, "lint", command, path, _SELDOM))
    return found[:12]


_QUOTED_WORD = re.compile(r"(?<=\s)[\"']([\w./@:=-]+)[\"'](?=\s|$)")
"""A word that needs no quotes and has some: `go test "./..."`."""


def _forge_fact(tree: ProjectTree, topic: str, command: str, path: str, reach: float) -> Lesson:
    return make_fact(
        tree, topic, ("forge", command), f"The forge checks with `{command}` (`{path}`).", reach=reach, use=command,
        files=(path,), details={"about": f"{topic}, as the forge runs it"},
    )  # fmt: skip


def _runs_program(fact: Lesson, program: str) -> bool:
    return program in f"{fact.use} {fact.details.get('body', '')}".split()


_ASSIGNED = re.compile(r"[A-Za-z_]\w*[:?+]?=")


def command_key(command: str) -> str:
    """A form in which the same command has one text: `bun run test` and `bun test` of a script, `yarn run x` and `yarn x`,
    `make x` with and without variables."""
    words = command.split()
    if words[:1] == ["make"]:
        words = [word for word in words if not _ASSIGNED.match(word)]
    if names_mise_task(words):
        words = [words[0], "run", *words[1:]]
    kept: list[str] = []
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        is_idle = kept[-1:] in (["pnpm"], ["yarn"], ["npm"]) or (
            kept[-1:] == ["bun"] and after not in ("test", "build")
        )
        if word == "run" and is_idle and after:
            continue
        kept.append(word)
    return " ".join(kept)
