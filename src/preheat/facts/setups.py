"""What is done once after a clone, and which tools the project brings along instead of the machine. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from posixpath import basename, dirname

from preheat.commands.words import name_set
from preheat.facts.checks import find_shell_scripts, is_harmful
from preheat.facts.native_tools import is_flutter
from preheat.facts.node_tools import dependencies_of
from preheat.facts.packages import Package, find_packages, find_runner, start_program
from preheat.facts.values import ProjectTree, in_folder, make_fact
from preheat.manifests.scripts import command_of, read_json, read_scripts, read_toml
from preheat.model.lesson import Lesson

_INSTALLS = {
    "uv.lock": "uv sync",
    "poetry.lock": "poetry install",
    "pdm.lock": "pdm install",
    "Pipfile.lock": "pipenv install --dev",
    "Gemfile.lock": "bundle install",
    "composer.lock": "composer install",
    "mix.lock": "mix deps.get",
    "pubspec.lock": "dart pub get",
    "Podfile.lock": "pod install",
    "requirements.txt": "pip install -r requirements.txt",
    ".gitmodules": "git submodule update --init --recursive",
}
_TOOL = re.compile(r"(?:[\w-]+:)?(?:[\w.@-]+/)?(?P<name>[A-Za-z][\w.+-]{0,30})")


_TYPED = {"ripgrep": "rg", "rust": "cargo", "nodejs": "node", "golang": "go"}
"""Tools whose program has another name."""
_MOST_TOOLS, _MOST_SHOWN = 40, 8
_MOST_READ = 300_000
_OFTEN = 5
"""Times that a tool is named; more says no more."""


def learn_setups(tree: ProjectTree) -> list[Lesson]:
    """Facts on the first steps in a fresh clone."""
    found: list[Lesson] = []
    packages = find_packages(tree)
    brings = _list_packages(tree, packages)
    packages = [each for each in packages if is_object(tree.texts.get(f"{each.folder}/package.json".lstrip("/"), ""))]
    own = next((package for package in packages if not package.folder and package.runner), None)
    if own is not None:
        found.append(_install(tree, f"{own.runner} install", "package.json", brings))
    found += [
        _install(tree, in_folder(package.folder, f"{package.runner} install"), f"{package.folder}/package.json", brings)
        for package in packages
        if package.folder and package.runner and not package.is_member and package.folder.count("/") < 2
    ][:3]
    for lock, command in _INSTALLS.items():
        places = sorted(dirname(path) for path in tree.paths if path.rpartition("/")[2] == lock and path.count("/") < 2)
        for place in places[:2]:
            manifest = tree.texts.get(f"{place}/pubspec.yaml".lstrip("/"), "")
            typed = command.replace("dart", "flutter") if is_flutter(manifest) else command
            modules = _list_own_modules(tree) if lock in _OF_PYTHON else ""
            found.append(_install(tree, in_folder(place, typed), f"{place}/{lock}".lstrip("/"), own=modules))
    found += _mise(tree)
    if ".pre-commit-config.yaml" in tree.paths:
        found.append(_install(tree, "pre-commit install", ".pre-commit-config.yaml"))
    found += _python_install(tree)
    has_browser = any(name.startswith("playwright.config.") for name in tree.names_in(""))
    if own is not None and has_browser and (command := start_program(own.runner, "playwright install")):
        found.append(_install(tree, command, "package.json"))
    return [*found, *_setup_scripts(tree), *_started_tools(tree)]


_PLAIN_NAME = re.compile(r"(?:@[\w.-]+/)?[\w.-]{1,80}")
_MOST_DEPENDENCIES = 500


def is_object(text: str) -> bool:
    """Whether a manifest can be read: nothing is installed by a broken one."""
    return isinstance(read_json(text), dict)


def _python_install(tree: ProjectTree) -> list[Lesson]:
    """How a Python project without a lock file is installed for work on it."""
    document = read_toml(tree.texts.get("pyproject.toml", ""))
    project = document.get("project") if isinstance(document, dict) else None
    if not isinstance(project, dict) or not _LOCKS_OF_PYTHON.isdisjoint(tree.paths):
        return []
    extras = project.get("optional-dependencies")
    extra = next((name for name in ("dev", "test", "tests") if isinstance(extras, dict) and name in extras), "")
    return [_install(tree, f"pip install -e .[{extra}]" if extra else "pip install -e .", "pyproject.toml")]


_LOCKS_OF_PYTHON = frozenset(["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.txt"])


_SETTING_UP = re.compile(r"^(?:setup|bootstrap|init|dev-setup|setup[:_-]dev|dev:setup|install-hooks|install:hooks)$")


def _setup_scripts(tree: ProjectTree) -> list[Lesson]:
    """What the project has itself for the first steps: `make setup`, `bash script/bootstrap`."""
    shell = find_shell_scripts(tree)
    found = []
    for path in sorted(tree.texts, key=lambda each: (each.count("/"), each)):
        scripts = read_scripts(path, tree.texts[path]) if path.count("/") < 2 else ()
        runner = find_runner(tree, dirname(path)) if path.endswith("package.json") else "npm"
        for script in scripts:
            if _SETTING_UP.match(script.name) and not is_harmful(script, (*scripts, *shell)):
                command = command_of(script, runner)
                found += [_install(tree, in_folder(script.folder, command), path)] if command else []
    return found[:_MOST_SETUPS]


_MOST_SETUPS = 2
_PROGRAMS = {
    "typescript": "tsc", "@biomejs/biome": "biome", "@playwright/test": "playwright", "@changesets/cli": "changeset",
    "firebase-tools": "firebase", "netlify-cli": "netlify", "markdownlint-cli": "markdownlint", "@angular/cli": "ng",
    "@nestjs/cli": "nest", "@graphql-codegen/cli": "graphql-codegen", "@commitlint/cli": "commitlint",
}  # fmt: skip
"""Programs that packages bring under another name than their own."""
_OWN_NAMES = name_set(
    "vite vitest jest eslint prettier tsx ts-node tsup turbo nx prisma drizzle-kit wrangler vercel next astro nuxt cypress expo"
    " webpack rollup esbuild mocha oxlint stylelint lerna storybook husky nodemon supabase knip sst svelte-check vue-tsc"
)
_IN_PYTHON = ("pytest", "ruff", "mypy", "pyright", "black", "alembic", "tox", "nox", "coverage", "pre-commit")
_PYTHON_STARTERS = {
    "uv.lock": "uv run",
    "poetry.lock": "poetry run",
    "pdm.lock": "pdm run",
    "Pipfile.lock": "pipenv run",
}
_RARE = 0.1
"""The reach of what is said only before a call that needs it."""


def _started_tools(tree: ProjectTree) -> list[Lesson]:
    """Programs that the packages of the project bring, which no shell finds by itself: what starts them."""
    found = []
    runner = find_runner(tree, "") if "package.json" in tree.texts else ""
    document = read_json(tree.texts.get("package.json", ""))
    tables = [document.get(name) for name in ("dependencies", "devDependencies")] if isinstance(document, dict) else []
    used = [name for table in tables if isinstance(table, dict) for name in table]
    names = [name if name in _OWN_NAMES else _PROGRAMS.get(name, "") for name in used]
    if starter := start_program(runner, "").strip():
        found += _make_starter_fact(tree, starter, [name for name in names if name], "package.json")
    text = tree.texts.get("pyproject.toml", "")
    starter = next((each for lock, each in _PYTHON_STARTERS.items() if lock in tree.paths), "")
    if starter:
        named = [name for name in _IN_PYTHON if re.search(rf"[\"']{name}\b(?!-)", text)]
        found += _make_starter_fact(tree, starter, named, "pyproject.toml")
    return found


def _make_starter_fact(tree: ProjectTree, starter: str, names: list[str], file: str) -> list[Lesson]:
    of_mise = frozenset(_tools_of_mise(tree)[1])
    shown = [name for name in dict.fromkeys(names) if name not in of_mise][:_MOST_SHOWN]
    if not shown:
        return []
    text = f"Programs of the project's packages are started with `{starter} NAME`: {', '.join(f'`{each}`' for each in shown)}."
    return [
        make_fact(
            tree, "missing", (starter,), text, reach=_RARE, use=f"{starter} NAME", files=(file,),
            details={"about": "tools", "names": ",".join(shown), "manager": starter.partition(" ")[0]},
        )
    ]  # fmt: skip


_OF_PYTHON = frozenset(["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"])


def _list_own_modules(tree: ProjectTree) -> str:
    """The modules of a project of Python that lie in no `src` folder and are not called like it: no installer brings those."""
    manifest = "".join(text for path, text in tree.texts.items() if path.rpartition("/")[2] == "pyproject.toml")
    folders = {dirname(path) for path in tree.paths if path.endswith("/__init__.py") and path.count("/") < _DEEPEST}
    tops = {folder for folder in folders if dirname(folder) not in folders and basename(dirname(folder)) != "src"}
    names = {name for folder in tops if (name := basename(folder)).isidentifier()}
    packaged = {name for name in names if re.search(rf"[\"'/]{name.replace('_', '[_-]')}[\"']", manifest)}
    return ",".join(sorted(names - packaged)[:_MOST_DEPENDENCIES])


_DEEPEST = 5


def _install(tree: ProjectTree, command: str, file: str, brings: str = "", own: str = "") -> Lesson:
    return make_fact(
        tree,
        "setup",
        (command,),
        f"After a clone: `{command}`.",
        reach=0.3,
        use=command,
        files=(file,),
        details={"about": "setup"} | ({"brings": brings} if brings else {}) | ({"own": own} if own else {}),
    )


def _list_packages(tree: ProjectTree, packages: Sequence[Package]) -> str:
    """The packages that the manifests of a project of JavaScript name, its own among them; empty where they are too many."""
    texts = (text for path, text in tree.texts.items() if path.rpartition("/")[2] == "package.json")
    documents = [document for text in texts if isinstance(document := read_json(text), dict)]
    named = {name for document in documents for name in dependencies_of(document)}
    for document in documents:
        optional = document.get("optionalDependencies")
        named.update(optional if isinstance(optional, dict) else ())
    names = {name for name in named if _PLAIN_NAME.fullmatch(name)} | {each.name for each in packages if each.name}
    return ",".join(sorted(names)) if len(names) <= _MOST_DEPENDENCIES else ""


def _mise(tree: ProjectTree) -> list[Lesson]:
    """Tools that mise installs: where the shell does not know one, mise runs it."""
    file, names = _tools_of_mise(tree)
    if not file:
        return []
    parts = [names[place : place + _MOST_SHOWN] for place in range(0, len(names), _MOST_SHOWN)]
    tools = [_mise_tools(tree, part, file, is_first=not place) for place, part in enumerate(parts)]
    return [_install(tree, "mise install", file), *tools]


def _tools_of_mise(tree: ProjectTree) -> tuple[str, list[str]]:
    """The file that names tools for mise, and the programs of those; empty without any."""
    file = next((path for path in ("mise.toml", ".mise.toml") if path in tree.texts), "")
    document = read_toml(tree.texts.get(file, ""))
    tools = document.get("tools") if isinstance(document, dict) else None
    if not isinstance(tools, dict) or not tools:
        return "", []
    named = [found["name"] for each in list(tools)[:_MOST_TOOLS] if (found := _TOOL.fullmatch(str(each)))]
    names = [_TYPED.get(name, name) for name in named]
    return file, _often_used_first([name for name in names if _is_typed(name, tree, file)], tree)


def _is_typed(name: str, tree: ProjectTree, file: str) -> bool:
    """Whether a tool's program is called like the tool: another file of the project names it so, or everybody knows it."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    return name in _WELL_KNOWN or any(
        path != file and word.search(text[:_MOST_READ]) for path, text in tree.texts.items()
    )


_WELL_KNOWN = name_set(
    "node npm pnpm yarn bun deno go python python3 ruby bundle java mvn gradle cargo rustc zig dotnet php composer elixir mix"
    " uv ruff black mypy poetry just task make jq yq gh rg fd fzf shellcheck shfmt actionlint golangci-lint gofumpt terraform"
    " kubectl helm docker buf protoc sqlc prettier biome eslint hk pkl age sops taplo stylua hadolint pre-commit lefthook prek"
)


def _mise_tools(tree: ProjectTree, names: list[str], file: str, is_first: bool) -> Lesson:
    """Some of the tools that mise installs; the later ones are worth saying only before a call of one of them."""
    listed = ", ".join(f"`{name}`" for name in names)
    text = f"Tools come with mise: {listed}; where one is not found, `mise exec -- NAME` runs it."
    return make_fact(
        tree, "missing", ("mise", *names), text, reach=0.5 if is_first else _RARE,
        use=f"mise exec -- {names[0] if len(names) == 1 and is_first else 'NAME'}", files=(file,),
        details={"about": "tools", "names": ",".join(names), "manager": "mise"},
    )  # fmt: skip


def _often_used_first(names: list[str], tree: ProjectTree) -> list[str]:
    """The tools, those first that scripts and workflows of the project call: what an agent will type."""
    said = Counter(re.findall(r"[A-Za-z][\w.+-]*", "\n".join(tree.texts.values())[:_MOST_READ]))
    return sorted(names, key=lambda name: -min(said[name], _OFTEN))
