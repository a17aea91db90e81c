"""Programs with subcommands, and what each subcommand is for. Knows no shell syntax."""

from typing import NamedTuple

from preheat.commands.programs import build_table
from preheat.commands.values import Purpose


class Family(NamedTuple):
    """A program with subcommands."""

    valued: frozenset[str]
    """Options before the subcommand whose value is the next word."""
    subcommands: dict[str, Purpose]
    otherwise: Purpose


def _family(otherwise: Purpose, valued: str = "", **purposes: str) -> Family:
    return Family(frozenset(valued.split()), build_table(**purposes), otherwise)


FAMILIES: dict[str, Family] = {
    "git": _family("vcs", "-C -c --git-dir --work-tree --namespace --exec-path", search="grep", edit="apply"),
    "gh": _family("vcs", "-R --repo", search="search"),
    "cargo": _family(
        "run", "--manifest-path --config -Z --color -C",
        test="test t nextest tarpaulin llvm-cov bench miri mutants hack",
        build="build b rustc doc d rustdoc zigbuild ndk leptos", typecheck="check c",
        lint="clippy deny audit machete udeps semver-checks", format="fmt fix",
        package=(
            "add remove rm install uninstall update fetch vendor publish package search binstall"
            " generate-lockfile"
        ),
        list="tree metadata locate-project version pkgid expand", edit="clean new init",
    ),
    "go": _family(
        "run", "-C", test="test", build="build install generate", lint="vet", format="fmt fix",
        package="get mod work", run="run tool", list="list env version doc", edit="clean",
    ),
    "deno": _family(
        "run", test="test bench", typecheck="check", lint="lint", format="fmt", build="compile bundle",
        package="install add remove cache update outdated", list="info doc",
    ),
    "dotnet": _family(
        "run", test="test vstest", build="build msbuild publish pack rebuild", format="format",
        package="restore add remove tool nuget workload", list="list sdk", edit="new clean sln",
    ),
    "swift": _family("run", "--package-path", test="test", build="build", format="format", package="package"),
    "zig": _family(
        "run", test="test", build="build build-exe build-lib build-obj cc c++", format="fmt", package="fetch",
        lint="ast-check",
    ),
    "mix": _family(
        "run", test="test", build="compile release", lint="credo", typecheck="dialyzer", format="format",
        package="deps.get deps.update deps.compile deps hex.info local.hex",
    ),
    "dart": _family("run", test="test", build="compile", lint="analyze fix", format="format", package="pub"),
    "flutter": _family(
        "run", test="test drive", build="build", lint="analyze", format="format", package="pub upgrade",
        list="doctor devices",
    ),
    "sbt": _family(
        "run", test="test testOnly testQuick", build="compile package assembly publishLocal",
        lint="scalafmtCheck scalafixAll", format="scalafmt scalafmtAll", package="update",
    ),
    "lein": _family("run", test="test midje", build="compile uberjar jar", lint="eastwood kibit", package="deps"),
    "stack": _family(
        "run", "--stack-yaml --resolver", test="test", build="build install", package="setup update",
        run="exec run ghci",
    ),
    "cabal": _family(
        "run", test="test", build="build v2-build new-build", package="install update", lint="check",
        run="exec run repl",
    ),
    "dune": _family("run", test="test runtest", build="build", format="fmt promote"),
    "bazel": _family("run", test="test coverage", build="build", search="query cquery aquery", edit="clean"),
    "bazelisk": _family("run", test="test coverage", build="build", search="query cquery aquery"),
    "buck2": _family("run", test="test", build="build", search="query cquery uquery"),
    "pants": _family("run", test="test", build="package", lint="lint", typecheck="check", format="fmt"),
    "forge": _family(
        "run", test="test coverage snapshot", build="build compile", format="fmt", package="install update",
        run="script create",
    ),
    "hardhat": _family("run", test="test coverage", build="compile"),
    "anchor": _family("run", test="test", build="build"),
    "rails": _family("run", test="test spec test:system", package="bundle", edit="generate g destroy new"),
    "bundle": _family("package", package="install update add", lint="audit", list="show list info"),
    "composer": _family(
        "run", "-d --working-dir",
        package="install require update remove dump-autoload show outdated why init global create-project i u r",
        lint="validate audit",
    ),
    "artisan": _family("run", test="test dusk", edit="make:model make:controller"),
    "manage.py": _family("run", test="test", lint="check", edit="startapp"),
    "django": _family("run", test="test", lint="check", edit="startapp startproject"),
    "django-admin": _family("run", test="test", lint="check", edit="startapp startproject"),
    "uv": _family(
        "package", "--directory --project -C", build="build", run="run", format="format", list="tree version cache",
    ),
    "poetry": _family(
        "package", "-C --directory -P --project", build="build", lint="check", list="show env about", run="run",
    ),
    "pipenv": _family("package", run="run shell", lint="check verify", list="graph"),
    "pdm": _family("package", "-p --project", build="build", run="run", list="list info"),
    "rye": _family(
        "package", test="test", build="build", lint="lint check", format="fmt format", run="run", list="list show",
    ),
    "hatch": _family(
        "run", "-e --env -p --project", test="test", build="build", format="fmt", lint="check", package="dep env",
    ),
    "pixi": _family(
        "package", "--manifest-path", run="run shell", build="build", list="list info tree", search="search",
    ),
    "ruff": _family("lint", "--config", lint="check", format="format", read="rule config linter", edit="clean"),
    "biome": _family("lint", lint="check lint ci", format="format"),
    "playwright": _family("run", test="test", package="install install-deps"),
    "cypress": _family("run", test="run", package="install", run="open"),
    "vite": _family("run", build="build", run="dev serve preview"),
    "next": _family("run", build="build", lint="lint", run="dev start", typecheck="typegen"),
    "nuxt": _family("run", build="build generate prepare", typecheck="typecheck"),
    "astro": _family("run", build="build", typecheck="check sync", package="add"),
    "ng": _family("run", test="test t e2e", build="build b", lint="lint", package="add update", edit="generate g new"),
    "expo": _family("run", build="export prebuild", lint="lint", package="install"),
    "tauri": _family("run", build="build", run="dev"),
    "prisma": _family("run", build="generate", lint="validate", format="format"),
    "buf": _family("build", lint="lint breaking", format="format", build="build generate"),
    "terraform": _family(
        "run", "-chdir", lint="validate", format="fmt", package="init get", list="show output state", test="test",
    ),
    "tofu": _family(
        "run", "-chdir", lint="validate", format="fmt", package="init get", list="show output state", test="test",
    ),
    "helm": _family(
        "run", "-n --namespace --kube-context", lint="lint", package="repo dependency dep pull",
        list="list ls status get show history", test="test",
    ),
    "docker": _family(
        "run", "-H --host --context -c --config -l", build="build buildx",
        list="ps images inspect info version stats top port history diff search", read="logs", package="pull",
        edit="rm rmi", poll="wait",
    ),
    "docker-compose": _family(
        "run", "-f --file -p --project-name --profile --env-file", build="build",
        list="ps images config top ls port version", read="logs", package="pull", edit="rm",
    ),
    "kubectl": _family(
        "run", "-n --namespace --context --kubeconfig",
        list="get describe top version config cluster-info explain api-resources", read="logs", poll="wait",
    ),
    "systemctl": _family(
        "run", list="status is-active is-enabled is-failed list-units list-unit-files list-timers show cat",
    ),
    "launchctl": _family("run", list="list print"),
    "node": _family("run", "-r --require --import --loader --env-file --conditions -C --experimental-loader"),
    "apt": _family("package", list="list show policy", search="search"),
    "brew": _family("package", list="list info outdated services deps", search="search"),
    "pip": _family("package", "--python", list="list show freeze index"),
    "pip3": _family("package", "--python", list="list show freeze index"),
    "mise": _family("package", list="tasks ls list current where which doctor", other="use activate trust shell"),
    "nvm": _family("package", list="ls list current which ls-remote", other="use alias"),
    "fnm": _family("package", list="list current", other="use env"),
    "pyenv": _family("package", list="versions version which", other="local shell global activate"),
    "rbenv": _family("package", list="versions version which", other="local shell global init"),
    "conda": _family("package", other="activate deactivate", list="list info env", search="search"),
    "pre-commit": _family("lint", package="install autoupdate install-hooks", lint="run"),
    "jupyter": _family("run", build="nbconvert"),
    "dvc": _family("vcs", run="repro exp"),
    "meson": _family("build", test="test"),
    "xcodebuild": _family(
        "build", "-scheme -destination -workspace -project -configuration -sdk -derivedDataPath -target -testPlan",
        test="test test-without-building", list="-list -showsdks",
    ),
    "wasm-pack": _family("build", test="test"),
    "maturin": _family("build", package="develop"),
    "coverage": _family("test", read="report html xml json annotate", edit="erase combine"),
    "aws": _family("network", "--profile --region --output"),
    "az": _family("network"),
    "gcloud": _family("network"),
}  # fmt: skip
FAMILIES |= dict.fromkeys(
    ("apt-get", "aptitude", "dnf", "yum", "winget", "choco", "scoop", "gem", "nix-env", "apk", "pacman", "snap"),
    FAMILIES["apt"],
)
FAMILIES["devbox"] = FAMILIES["mise"]
FAMILIES |= dict.fromkeys(("podman", "nerdctl"), FAMILIES["docker"])
