"""What the tools of a JavaScript package imply where no script names it: one test file, one test, types, lint, format. Pure."""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.facts.packages import Package, start_program
from preheat.facts.values import ProjectTree, parents
from preheat.manifests.scripts import Script, body_of, read_json

_TESTERS = (
    ("vitest", "vitest run PATH", "vitest run PATH -t NAME"),
    ("jest", "jest PATH", "jest PATH -t NAME"),
    ("@playwright/test", "playwright test PATH", "playwright test PATH -g NAME"),
    ("mocha", "mocha PATH", "mocha PATH -g NAME"),
    ("ava", "ava PATH", ""),
)
"""Packages that test, and how they test one file and one case."""
_TYPECHECKERS = (("@astrojs/check", "astro check"), ("svelte-check", "svelte-check"), ("vue-tsc", "vue-tsc --noEmit"))
"""Packages that check types where the compiler alone does not know the files."""
_FIXES = (
    ("biome", "biome lint --write"), ("eslint", "eslint --fix"), ("oxlint", "oxlint --fix"), ("stylelint", "stylelint --fix"),
)  # fmt: skip
"""Linters that mend what they find, where the project has no script for that."""
_TEST_FILE = re.compile(r"\.(?:test|spec)\.\w+$|(?:^|/)(?:__tests__|tests?|spec)/[^/]+")
_BUN = re.compile(r"(?:^|&& |; )bun test\b")
_NODE = re.compile(r"\bnode (?:\S+ )*--test\b")


class NodeCommand(NamedTuple):
    """A command that the tools of a package imply."""

    topic: str
    command: str
    about: str
    """Empty for the whole."""


def find_node_commands(tree: ProjectTree, package: Package) -> list[NodeCommand]:
    """What the tools of a package imply, as typed in its folder."""
    starter = start_program(package.runner, "").strip()
    path = f"{package.folder}/package.json".lstrip("/")
    document = read_json(tree.texts.get(path, ""))
    if not starter or not isinstance(document, dict):
        return []
    used = dependencies_of(document) | (_root_dependencies(tree) if package.is_member else set())
    bodies = {script.name: body_of(script) for script in package.scripts}
    prefix = f"{package.folder}/" if package.folder else ""
    is_tested = (
        not prefix
        or any(name.startswith("test") for name in bodies)
        or (_has_tests(tree, prefix) and _has_own_tester(tree, prefix, dependencies_of(document)))
    )
    found = _one_test(used, bodies, starter) if is_tested else []
    names = {each.partition(":")[0] for each in bodies}
    if "typescript" in used and f"{prefix}tsconfig.json" in tree.paths and not _runs(bodies, "tsc", "vue-tsc"):
        found.append(NodeCommand("typecheck", f"{starter} tsc --noEmit", ""))
    found += _more_tests(tree, prefix, used, bodies, starter)
    typed = bool({"typecheck", "type-check", "check"} & names) or _runs(
        bodies, "astro check", "svelte-check", "vue-tsc"
    )
    for framework, command in _TYPECHECKERS:
        if framework in used and f"{prefix}tsconfig.json" in tree.paths and not typed:
            found.append(NodeCommand("typecheck", f"{starter} {command}", ""))
    if not any("fix" in name for name in bodies):
        linting = bodies.get("lint", "").split()
        fixes = (f"{starter} {fix} PATH" for tool, fix in _FIXES if tool in linting)
        found += (NodeCommand("lint", fix, "lint, with fixes") for fix in list(fixes)[:1])
    if "lint" not in names and _runs_with(tree, prefix, used, "eslint", ("eslint.config.", ".eslintrc")):
        found.append(NodeCommand("lint", f"{starter} eslint .", ""))
    if "lint" not in names and _runs_with(tree, prefix, used, "@biomejs/biome", ("biome.json",)):
        found.append(NodeCommand("lint", f"{starter} biome check", ""))
    if "format" not in names and _runs_with(tree, prefix, used, "prettier", (".prettierrc", "prettier.config.")):
        found.append(NodeCommand("format", f"{starter} prettier --write PATH", ""))
    if "lint" not in names and not package.folder and _has_plain_code(tree, prefix, used):
        found.append(NodeCommand("lint", "node --check PATH", "syntax of one file"))
    return found


def dependencies_of(document: dict[str, object]) -> set[str]:
    """The names of the packages that a manifest of JavaScript asks for."""
    tables = (document.get(name) for name in ("dependencies", "devDependencies", "peerDependencies"))
    return {name for table in tables if isinstance(table, dict) for name in table}


_TOOLS = name_set(
    "eslint prettier biome oxlint oxfmt stylelint tsc vitest jest mocha ava cypress playwright turbo nx tsup vite astro next"
    " webpack rollup knip ultracite dprint"
)
"""Programs that a package brings, under its own name or another."""
_BROUGHT_BY = {"biome": "@biomejs/biome", "tsc": "typescript", "playwright": "@playwright/test"}


def lacks_tool(tree: ProjectTree, package: Package, script: Script) -> bool:
    """Whether a script begins with a program that no package in use brings: it fails in every fresh clone."""
    words = body_of(script).split()
    tool = words[0] if words else ""
    if tool == "eslint" and package.folder and not _has_settings(tree, package):
        return True
    if tool not in _TOOLS:
        return False
    document = read_json(tree.texts.get(f"{package.folder}/package.json".lstrip("/"), ""))
    used = (dependencies_of(document) if isinstance(document, dict) else set()) | _root_dependencies(tree)
    is_full = len(used) >= _FULL  # a manifest of a few packages may leave the rest to one above it
    return is_full and not any(each in (tool, _BROUGHT_BY.get(tool)) or tool in each for each in used)


def _has_settings(tree: ProjectTree, package: Package) -> bool:
    """Whether a linter that stops without settings has any, in the package or above it."""
    folders = [package.folder, *parents(f"{package.folder}/x"), ""] if package.folder else [""]
    documents = (read_json(tree.texts.get(f"{folder}/package.json".lstrip("/"), "")) for folder in folders)
    return any(_SETTINGS.match(name) for folder in folders for name in tree.names_in(folder)) or any(
        isinstance(each, dict) and "eslintConfig" in each for each in documents
    )


_SETTINGS = re.compile(r"\.eslintrc|eslint\.config\.")
_FULL = 5


def _root_dependencies(tree: ProjectTree) -> set[str]:
    document = read_json(tree.texts.get("package.json", ""))
    return dependencies_of(document) if isinstance(document, dict) else set()


def _has_tests(tree: ProjectTree, prefix: str) -> bool:
    """Whether there are files of tests below a folder: those of a package may all lie at the root."""
    return any(path.startswith(prefix) and _TEST_FILE.search(path[len(prefix) :]) for path in tree.paths)


def _has_own_tester(tree: ProjectTree, prefix: str, own: set[str]) -> bool:
    """Whether the tests of a package are run in its folder: it names the program itself, or configures it. Else they are run from
    the root, if that has the configuration."""
    testers = {name for name, _, _ in _TESTERS}
    in_package, in_root = (
        any(name.startswith(_CONFIGURED) for name in tree.names_in(folder)) for folder in (prefix.rstrip("/"), "")
    )
    return in_package or not in_root or not own.isdisjoint(testers)


_CONFIGURED = ("vitest.config.", "vite.config.", "jest.config.", "playwright.config.", ".mocharc", "ava.config.")


def _one_test(used: set[str], bodies: dict[str, str], starter: str) -> list[NodeCommand]:
    """How one file and one case are tested, by the program that the script `test` runs, else by the packages in use."""
    tested = bodies.get("test", "") or next((body for name, body in bodies.items() if name.startswith("test")), "")
    if _BUN.search(tested):
        return [
            NodeCommand("test", "bun test PATH", "one test file"),
            NodeCommand("test", "bun test PATH -t NAME", "one test"),
        ]
    if _NODE.search(tested):
        return [NodeCommand("test", "node --test PATH", "one test file")]
    named = [each for each in _TESTERS if each[0].removeprefix("@").partition("/")[0] in re.split(r"[\s/]+", tested)]
    start = f"{_variables_of(tested)}{starter}"
    for _, file, case in named or [each for each in _TESTERS if each[0] in used]:
        found = [NodeCommand("test", f"{start} {file}", "one test file")]
        return [*found, NodeCommand("test", f"{start} {case}", "one test")] if case else found
    return []


_SETTING = re.compile(r"(?<![\w=])(?:NODE_OPTIONS|TZ)=[\w./:@=-]+ (?=\S)")
"""Variables without which a test itself fails; others mostly change what is printed, and where."""


def _variables_of(body: str) -> str:
    """The variables that a script sets for its tests, which one of them needs too: `NODE_OPTIONS=--experimental-vm-modules`."""
    return "".join(_SETTING.findall(body.partition("&&")[0]))


@lru_cache(maxsize=4)
def _snapshots(paths: frozenset[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if "__snapshots__/" in path)


_SNAPSHOTS = (("vitest", "vitest run -u"), ("jest", "jest -u"))


def _more_tests(
    tree: ProjectTree, prefix: str, used: set[str], bodies: dict[str, str], starter: str
) -> list[NodeCommand]:
    """Tests in a browser that no script is for, and how snapshots are written anew where there are any."""
    found = []
    names = tree.names_in(prefix.rstrip("/"))
    in_browser = "@playwright/test" in used and any(name.startswith("playwright.config.") for name in names)
    if in_browser and "playwright" not in bodies.get("test", ""):
        found.append(NodeCommand("test", f"{starter} playwright test PATH", "one test file, in a browser"))
    if any(each.startswith(prefix) for each in _snapshots(tree.paths)):
        command = next((each for name, each in _SNAPSHOTS if name in used), "")
        is_bun = not command and _BUN.search(bodies.get("test", ""))
        if command or is_bun:
            typed = f"{starter} {command}" if command else "bun test --update-snapshots"
            found.append(NodeCommand("test", typed, "test, with new snapshots"))
    return found


def _runs(bodies: dict[str, str], *commands: str) -> bool:
    return any(f" {command} " in f" {body} " for body in bodies.values() for command in commands)


_CHECKED_BY_OTHERS = frozenset(
    ["typescript", "eslint", "@biomejs/biome", "oxlint", "flow-bin", "jshint", "standard", "xo"]
)


def _has_plain_code(tree: ProjectTree, prefix: str, used: set[str]) -> bool:
    """Whether a package is written in plain JavaScript and nothing checks it."""
    if used & _CHECKED_BY_OTHERS or f"{prefix}tsconfig.json" in tree.paths:
        return False
    return any(
        path.startswith(prefix) and path.endswith((".js", ".mjs", ".cjs")) and "config" not in path
        for path in tree.paths
    )


def _runs_with(tree: ProjectTree, prefix: str, used: set[str], package: str, files: tuple[str, ...]) -> bool:
    """Whether a tool is in use: its package, and its own file in the folder."""
    return package in used and any(name.startswith(files) for name in tree.names_in(prefix.rstrip("/")))
