"""The checks that a language's own manifest implies where the project names none: `go test ./...` beside a `go.mod`. Pure."""

import re
from posixpath import basename, dirname
from typing import Any

from preheat.facts.native_tools import find_native, has_native_text
from preheat.facts.values import ImpliedCommand, ProjectTree
from preheat.manifests.scripts import read_toml, table_in

_GO = (
    ("test", "go test ./...", ""),
    ("test", "go test ./FOLDER/... -run NAME", "one test"),
    ("build", "go build ./...", ""),
    ("lint", "go vet ./...", ""),
    ("format", "gofmt -w .", ""),
)
_CARGO = (("test", "cargo test", ""), ("test", "cargo test NAME", "one test"), ("build", "cargo build", ""),
          ("typecheck", "cargo check", ""), ("lint", "cargo clippy", ""), ("format", "cargo fmt", ""))  # fmt: skip
_COMMANDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "go.mod": _GO,
    "Cargo.toml": _CARGO,
    "Package.swift": (
        ("test", "swift test", ""),
        ("build", "swift build", ""),
        ("test", "swift test --filter NAME", "one test"),
    ),
    "pom.xml": (("test", "mvn test", ""), ("build", "mvn package", ""), ("test", "mvn test -Dtest=NAME", "one test")),
    "mvnw": (("test", "./mvnw test", ""), ("build", "./mvnw package", "")),
    "mix.exs": (
        ("test", "mix test", ""),
        ("build", "mix compile", ""),
        ("format", "mix format", ""),
        ("test", "mix test PATH", "one test file"),
    ),
    "rebar.config": (("test", "rebar3 eunit", ""), ("build", "rebar3 compile", "")),
    "build.sbt": (("test", "sbt test", ""), ("build", "sbt compile", "")),
    "stack.yaml": (("test", "stack test", ""), ("build", "stack build", "")),
    "build.zig": (("test", "zig build test", ""), ("build", "zig build", "")),
    ".golangci.yml": (("lint", "golangci-lint run", ""),),
    ".golangci.yaml": (("lint", "golangci-lint run", ""),),
    ".pre-commit-config.yaml": (("lint", "pre-commit run --all-files", "lint of all files, as a commit does it"),),
    ".rspec": (("test", "bundle exec rspec", ""),),
    ".rubocop.yml": (("lint", "bundle exec rubocop", ""),),
    "phpunit.xml": (("test", "vendor/bin/phpunit", ""),),
    "phpunit.xml.dist": (("test", "vendor/bin/phpunit", ""),),
    ".swiftformat": (("format", "swiftformat .", ""),),
    "deny.toml": (("lint", "cargo deny check", ""),),
    ".swiftlint.yml": (("lint", "swiftlint", ""),),
}
_DOTNET = (
    ("test", "dotnet test", ""),
    ("build", "dotnet build", ""),
    ("test", "dotnet test --filter NAME", "one test"),
    ("format", "dotnet format", ""),
)
_TOOLS = (
    ("pytest", "test", "pytest", ""),
    ("pytest", "test", "pytest PATH::NAME", "one test"),
    ("ruff", "lint", "ruff check .", ""),
    ("ruff", "format", "ruff format .", ""),
    ("black", "format", "black .", ""),
    ("mypy", "typecheck", "mypy", ""),
    ("pyright", "typecheck", "pyright", ""),
)
_STARTERS = {"uv.lock": "uv run ", "poetry.lock": "poetry run ", "pdm.lock": "pdm run ", "Pipfile.lock": "pipenv run "}
_FEATURE = re.compile(r"[a-z][\w-]{1,30}")
_MOST_FEATURES = 3
_MOST_DEEP = 3
_OTHERS = re.compile(r"(?:^|/)(?:node_modules|vendor|third_party|tests?|fixtures?|examples?|testdata|\.\w[^/]*)/")
_SOLUTION = re.compile(r"\.(?:sln|slnx)$")


def names_ecosystem(path: str) -> bool:
    """Whether a file implies commands."""
    name = basename(path)
    is_named = name in _COMMANDS or name == "pyproject.toml" or bool(_SOLUTION.search(name))
    return (is_named and path.count("/") <= _MOST_DEEP) or has_native_text(path)


def find_implied(tree: ProjectTree) -> list[ImpliedCommand]:
    """The commands that the manifests of a tree imply, those of its own folder first."""
    found: list[ImpliedCommand] = []
    workspaces = [
        dirname(path) for path, text in tree.texts.items() if path.endswith("Cargo.toml") and "[workspace]" in text
    ]
    solutions = [path for path in tree.paths if path.endswith((".sln", ".slnx"))]
    for path in [*tree.find(*_COMMANDS, "pyproject.toml", deepest=_MOST_DEEP), *sorted(solutions)]:
        folder, name = dirname(path), basename(path)
        if not names_ecosystem(path) or _OTHERS.search(path):
            continue
        if name == "pyproject.toml":
            found += _python(tree, folder, path)
            continue
        if name == "Cargo.toml" and any(
            folder != each and f"{folder}/".startswith(f"{each}/" if each else "") for each in workspaces
        ):
            continue  # a member: cargo addresses it from the root
        commands = _DOTNET if _SOLUTION.search(name) else _COMMANDS.get(name, ())
        if name == "go.mod" and not _has_go_tests(tree, folder):
            commands = tuple(each for each in commands if each[0] != "test")
        if name.startswith(".golangci") and not tree.has_place(f"{folder}/go.mod".lstrip("/")):
            commands = ()  # it finds no module there
        found += (ImpliedCommand(topic, command, about, folder, path) for topic, command, about in commands)
        if name == "Cargo.toml":
            found += _cargo_features(tree, folder, path)
        if name == "Cargo.toml" and folder in workspaces:
            found.append(ImpliedCommand("test", "cargo test -p PACKAGE", "test of one package", folder, path))
            found.append(ImpliedCommand("build", "cargo build -p PACKAGE", "build of one package", folder, path))
            found.append(
                ImpliedCommand("typecheck", "cargo check -p PACKAGE", "typecheck of one package", folder, path)
            )
    return [*found, *find_native(tree)]


def _has_go_tests(tree: ProjectTree, folder: str) -> bool:
    prefix = f"{folder}/" if folder else ""
    return any(path.endswith("_test.go") and path.startswith(prefix) for path in tree.paths)


def _cargo_features(tree: ProjectTree, folder: str, path: str) -> list[ImpliedCommand]:
    """The tests and checks of the parts that must be switched on: features that are not among the default ones."""
    document = read_toml(tree.texts.get(path, ""))
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, dict):
        return []
    default = features.get("default")
    usual = {"default", *(default if isinstance(default, list) else ())}
    names = [name for name in features if isinstance(name, str) and name not in usual and _FEATURE.fullmatch(name)]
    return [
        ImpliedCommand(topic, f"cargo {word} --features {name}", f"{topic} of one feature", folder, path)
        for name in names[:_MOST_FEATURES]
        for topic, word in (("test", "test"), ("typecheck", "check"))
    ]


def _python(tree: ProjectTree, folder: str, path: str) -> list[ImpliedCommand]:
    text = tree.texts.get(path, "")
    document = read_toml(text)
    if not isinstance(document, dict):
        return []
    tools = document.get("tool")
    configured = set(tools) if isinstance(tools, dict) else set()
    named = {
        name for name in ("pytest", "ruff", "mypy", "pyright", "black") if name in configured or f'"{name}' in text
    }
    prefix = f"{folder}/" if folder else ""
    starter = next((starter for lock, starter in _STARTERS.items() if f"{prefix}{lock}" in tree.paths), "")
    return [
        ImpliedCommand(topic, f"{_with_extra(starter, tool, document)}{command}", about, folder, path)
        for tool, topic, command, about in _TOOLS
        if tool in named and not (tool == "mypy" and not _names_files(tools))
    ]


def _with_extra(starter: str, tool: str, document: dict[str, Any]) -> str:
    """How `uv` starts a tool that only an extra of the project brings: it leaves extras out by itself."""
    if starter != "uv run ":
        return starter
    project = table_in(document, "project")
    extras = table_in(project, "optional-dependencies")
    named = [name for name, brought in extras.items() if _has_package(brought, tool) and _FEATURE.fullmatch(name)]
    older = table_in(document, "tool", "uv").get("dev-dependencies")
    always = (project.get("dependencies"), document.get("dependency-groups"), older)
    return f"uv run --extra {named[0]} " if named and not any(_has_package(each, tool) for each in always) else starter


def _has_package(brought: object, name: str) -> bool:
    """Whether a list of requirements, or one of several lists by name, has a package."""
    lists = list(brought.values()) if isinstance(brought, dict) else [brought]
    required = re.compile(rf"{re.escape(name)}(?![\w.-])")
    return any(
        isinstance(each, str) and required.match(each) for some in lists if isinstance(some, list) for each in some
    )


def _names_files(tools: object) -> bool:
    """Whether the settings of mypy say what it checks; without that it stops at once."""
    settings = tools.get("mypy") if isinstance(tools, dict) else None
    return isinstance(settings, dict) and any(settings.get(name) for name in ("files", "packages", "modules"))
