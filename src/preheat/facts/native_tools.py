"""What the project files of mobile, native and web frameworks imply: Xcode, Gradle, Flutter, CMake, Django… Pure."""

import re
from collections.abc import Callable, Iterable
from posixpath import basename, dirname

from preheat.facts.values import ImpliedCommand, ProjectTree

_PROJECT = re.compile(r"^(?P<path>(?:[^/]+/){0,2}(?P<name>[\w.-]+)\.(?P<kind>xcodeproj|xcworkspace))/")
_SCHEME = re.compile(r"/xcshareddata/xcschemes/(?P<name>[\w.-]+)\.xcscheme$")
_ANDROID = re.compile(r"com\.android\.(?:application|library)|libs\.plugins\.android")
_LANE = re.compile(r"^\s*lane\s+:(?P<name>\w+)\s+do", re.MULTILINE)
_FLUTTER = re.compile(r"^\s+sdk:\s*flutter\b", re.MULTILINE)
_TEXTS = frozenset(
    [
        "build.gradle",
        "build.gradle.kts",
        "pubspec.yaml",
        "Fastfile",
        "Gemfile",
        "composer.json",
        "deno.json",
        "deno.jsonc",
    ]
)
_MOST_DEEP = 3


def has_native_text(path: str) -> bool:
    """Whether a file is read for the commands that it implies."""
    return basename(path) in _TEXTS and path.count("/") <= _MOST_DEEP


def is_flutter(manifest: str) -> bool:
    """Whether a Dart manifest is that of a Flutter project."""
    return bool(_FLUTTER.search(manifest))


def find_native(tree: ProjectTree) -> list[ImpliedCommand]:
    """The commands that project files imply beyond what the name of a manifest says."""
    return [each for find in _FINDERS for each in find(tree)]


def _commands(folder: str, file: str, *commands: tuple[str, str, str]) -> list[ImpliedCommand]:
    return [ImpliedCommand(topic, command, about, folder, file) for topic, command, about in commands]


def _xcode(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    """The build and the test of the foremost Xcode project, by its shared scheme."""
    projects: dict[str, re.Match[str]] = {}
    for path in tree.paths:
        found = _PROJECT.match(path) if ".xc" in path else None
        if found and not re.search(r"(?:^|/)(?:Pods|node_modules|build)/|\.xcodeproj/project\.xcworkspace", path):
            projects.setdefault(found["path"], found)
    if not projects:
        return []
    ranked = sorted(
        projects.values(), key=lambda each: (each["path"].count("/"), each["kind"] != "xcworkspace", each["path"])
    )
    chosen = ranked[0]
    schemes = sorted(
        found["name"] for path in tree.paths if path.startswith(chosen["path"]) and (found := _SCHEME.search(path))
    )
    name = chosen["name"]
    scheme = name if name in schemes or not schemes else schemes[0]
    kind = "-workspace" if chosen["kind"] == "xcworkspace" else "-project"
    options = f"{kind} {basename(chosen['path'])} -scheme {scheme}"
    folder = dirname(chosen["path"])
    test = f"xcodebuild test {options} -destination VALUE"
    commands = [("build", f"xcodebuild build {options}", ""), ("test", test, "")]
    commands.append(("test", f"{test} -only-testing:NAME", "one test"))
    return _commands(folder, chosen["path"], *commands)


def _gradle(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    for wrapper in tree.find("gradlew")[:2]:
        folder = dirname(wrapper)
        prefix = f"{folder}/" if folder else ""
        text = "\n".join(
            text for path, text in tree.texts.items() if path.startswith(prefix) and "build.gradle" in basename(path)
        )
        if _ANDROID.search(text):
            commands = [
                ("build", "./gradlew assembleDebug", ""),
                ("test", "./gradlew testDebugUnitTest", ""),
                ("lint", "./gradlew lint", ""),
            ]
        else:
            commands = [("build", "./gradlew build", ""), ("test", "./gradlew test", "")]
        commands.append(("test", "./gradlew test --tests NAME", "one test"))
        if "ktlint" in text:
            commands += [("lint", "./gradlew ktlintCheck", ""), ("format", "./gradlew ktlintFormat", "")]
        if "detekt" in text:
            commands.append(("lint", "./gradlew detekt", ""))
        if "spotless" in text:
            commands.append(("format", "./gradlew spotlessApply", ""))
        yield from _commands(folder, wrapper, *commands)


def _dart(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    for path in tree.find("pubspec.yaml")[:2]:
        program = "flutter" if is_flutter(tree.texts.get(path, "")) else "dart"
        commands = [("test", f"{program} test", ""), ("test", f"{program} test PATH", "one test file")]
        yield from _commands(
            dirname(path), path, *commands, ("lint", f"{program} analyze", ""), ("format", "dart format .", "")
        )


def _cmake(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    if "CMakeLists.txt" in tree.paths:
        yield from _commands(
            "", "CMakeLists.txt", ("build", "cmake --build build", ""), ("test", "ctest --test-dir build", "")
        )
    if "platformio.ini" in tree.paths:
        yield from _commands("", "platformio.ini", ("build", "pio run", ""), ("test", "pio test", ""))


def _django(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    for path in tree.find("manage.py")[:1]:
        if not _has_pytest(tree):
            yield from _commands(dirname(path), path, ("test", "python manage.py test", ""))


def _python(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    """Python without a manifest that names its tools: by their own files, or by how tests are named."""
    if any(
        f'"{tool}' in tree.texts.get("pyproject.toml", "") or f"[tool.{tool}" in tree.texts.get("pyproject.toml", "")
        for tool in ("pytest",)
    ):
        return
    tested = any(re.match(r"(?:[\w-]+/)?tests?/(?:\w+/)*test_\w+\.py$|test_\w+\.py$", path) for path in tree.paths)
    if _has_pytest(tree) or (tested and {"requirements.txt", "setup.py", "setup.cfg", "pyproject.toml"} & tree.paths):
        file = next(
            (
                each
                for each in ("pytest.ini", "tox.ini", "setup.cfg", "requirements.txt", "pyproject.toml")
                if each in tree.paths
            ),
            "",
        )
        starter = "uv run " if "uv.lock" in tree.paths else ""
        yield from _commands(
            "", file or "tests", ("test", f"{starter}pytest", ""), ("test", f"{starter}pytest PATH::NAME", "one test")
        )
    if "ruff.toml" in tree.paths or ".ruff.toml" in tree.paths:
        yield from _commands("", "ruff.toml", ("lint", "ruff check .", ""), ("format", "ruff format .", ""))
    if "mypy.ini" in tree.paths:
        yield from _commands("", "mypy.ini", ("typecheck", "mypy .", ""))
    if ".flake8" in tree.paths:
        yield from _commands("", ".flake8", ("lint", "flake8", ""))


def _has_pytest(tree: ProjectTree) -> bool:
    return "pytest.ini" in tree.paths or "conftest.py" in tree.paths or "tests/conftest.py" in tree.paths


def _ruby(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    if "bin/rails" in tree.paths:
        yield from _commands(
            "", "bin/rails", ("test", "bin/rails test", ""), ("test", "bin/rails test PATH", "one test file")
        )
    elif (
        "Rakefile" in tree.paths and ".rspec" not in tree.paths and any(path.startswith("test/") for path in tree.paths)
    ):
        yield from _commands("", "Rakefile", ("test", "bundle exec rake test", ""))
    if ".rspec" in tree.paths:
        yield from _commands("", ".rspec", ("test", "bundle exec rspec PATH", "one test file"))


def _php(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    text = tree.texts.get("composer.json", "")
    if "artisan" in tree.paths:
        yield from _commands("", "artisan", ("test", "php artisan test", ""))
    if '"pestphp/pest"' in text:
        yield from _commands(
            "", "composer.json", ("test", "vendor/bin/pest", ""), ("test", "vendor/bin/pest --filter=NAME", "one test")
        )
    elif "phpunit.xml" in tree.paths or "phpunit.xml.dist" in tree.paths:
        yield from _commands("", "composer.json", ("test", "vendor/bin/phpunit --filter NAME", "one test"))
    if {"phpstan.neon", "phpstan.neon.dist"} & tree.paths:
        yield from _commands("", "phpstan.neon", ("typecheck", "vendor/bin/phpstan analyse", ""))
    if '"laravel/pint"' in text:
        yield from _commands("", "composer.json", ("format", "vendor/bin/pint", ""))


def _deno(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    file = next((each for each in ("deno.json", "deno.jsonc") if each in tree.paths), "")
    if file:
        commands = (
            ("test", "deno test", ""),
            ("lint", "deno lint", ""),
            ("format", "deno fmt", ""),
            ("typecheck", "deno check .", ""),
        )
        yield from _commands("", file, *commands)


def _monorepo(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    if "nx.json" in tree.paths:
        yield from _commands(
            "",
            "nx.json",
            *((topic, f"npx nx {topic} PACKAGE", f"{topic} of one package") for topic in ("test", "lint", "build")),
        )


def _terraform(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    if any(path.endswith(".tf") and "/" not in path for path in tree.paths):
        yield from _commands(
            "", "main.tf", ("format", "terraform fmt -recursive", ""), ("lint", "terraform validate", "")
        )


_ENOUGH_BATS = 2
"""Files of tests; a single one may be of a part that somebody else made."""


def _bats(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    """Tests of the shell, one file at a time."""
    files = [path for path in tree.paths if path.endswith(".bats")]
    if len(files) >= _ENOUGH_BATS:
        yield from _commands("", min(files), ("test", "bats PATH", "one test file"))


def _nextest(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    is_used = any("nextest" in text for path, text in tree.texts.items() if path != ".config/nextest.toml")
    if ".config/nextest.toml" in tree.paths and is_used:
        yield from _commands("", ".config/nextest.toml", ("test", "cargo nextest run", ""))


def _fastlane(tree: ProjectTree) -> Iterable[ImpliedCommand]:
    for path in tree.find("Fastfile")[:1]:
        for lane in _LANE.finditer(tree.texts.get(path, "")):
            if lane["name"] in ("test", "tests", "lint", "build"):
                yield from _commands(
                    dirname(dirname(path)), path, (lane["name"].removesuffix("s"), f"fastlane {lane['name']}", "")
                )


_FINDERS: tuple[Callable[[ProjectTree], Iterable[ImpliedCommand]], ...] = (
    _xcode, _gradle, _dart, _cmake, _django, _python, _ruby, _php, _deno, _monorepo, _terraform, _fastlane, _bats, _nextest,
)  # fmt: skip
