"""What surrounds the code agrees with itself: versions, supported Pythons, workflows, git hooks, the lock and `./dev`."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

import preheat
from scripts import make_licences
from tests.shared import TESTS

CHECKOUT = os.path.dirname(TESTS)
WORKFLOWS = os.path.join(CHECKOUT, ".github", "workflows")
FORMS = os.path.join(CHECKOUT, ".github", "ISSUE_TEMPLATE")
LOCKED = re.compile(r"^([a-z0-9-]+)==(\S+)(?: ; (.+?))? \\$", re.MULTILINE)
PERMISSIVE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Zlib",
}  # fmt: skip
TOOLS = ("hatchling", "hypothesis", "mypy", "pre-commit", "pytest", "pytest-xdist", "ruff")


def read(*names: str) -> str:
    with open(os.path.join(CHECKOUT, *names), encoding="utf-8") as stream:
        return stream.read()


def read_project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))


def read_workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(read(".github", "workflows", name))
    return found


def supported_pythons() -> list[str]:
    """As the classifiers of the package name them."""
    prefix = "Programming Language :: Python :: "
    return [each.removeprefix(prefix) for each in read_project()["project"]["classifiers"] if each.startswith(prefix)]


def dev_commands() -> set[str]:
    """The words that `./dev` takes, by its `case`."""
    found = re.findall(r"^    ([a-z|-]+)\)", read("dev").partition('case "$task" in')[2], re.MULTILINE)
    return {word for each in found for word in each.split("|") if not word.startswith("-")}


def steps() -> list[tuple[str, dict[str, Any]]]:
    """Every step of every job, with where it stands."""
    return [
        (f"{name}: {job}", step)
        for name in sorted(os.listdir(WORKFLOWS))
        for job, content in read_workflow(name)["jobs"].items()
        for step in content.get("steps", ())
    ]


# The version.


def test_one_file_says_the_version() -> None:
    project = read_project()
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/preheat/__init__.py"
    assert re.findall(r'^__version__ = "(.*)"$', read("src", "preheat", "__init__.py"), re.MULTILINE) == [
        preheat.__version__
    ]


def test_the_changelog_begins_with_this_version_and_goes_down() -> None:
    headings = re.findall(r"^## (\S+)(?: \((.*)\))?$", read("CHANGELOG.md"), re.MULTILINE)
    versions = [tuple(map(int, version.split("."))) for version, _ in headings]
    assert headings[0][0] == preheat.__version__
    assert versions == sorted(set(versions), reverse=True)
    for _, day in headings[1:]:
        assert day == "" or re.fullmatch(r"20\d\d-\d\d-\d\d", day)


@pytest.mark.parametrize(("tag", "code"), [("v9.9.9", 1), (preheat.__version__, 1), ("", 1)])
def test_a_tag_that_is_not_the_version_is_refused(tag: str, code: int) -> None:
    ran = subprocess.run([os.path.join(CHECKOUT, "dev"), "version", tag], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.strip()) == (code, preheat.__version__)


def test_the_release_checks_the_tag_before_it_builds() -> None:
    runs = [step["run"] for step in read_workflow("release.yml")["jobs"]["build"]["steps"] if "run" in step]
    assert runs == ['./dev version "$GITHUB_REF_NAME"', "./dev build"]


# Pythons.


def test_pyproject_readme_contributing_and_workflows_name_the_same_pythons() -> None:
    pythons = supported_pythons()
    oldest = pythons[0]
    assert read_project()["project"]["requires-python"] == f">={oldest}", (
        "no upper bound: a new Python is tried, not refused"
    )
    assert read_workflow("ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"] == pythons
    for page in ("README.md", "CONTRIBUTING.md"):
        assert f"Python {oldest} or newer" in read(page), page
    major, minor = oldest.split(".")
    assert f"sys.version_info < ({major}, {minor})" in read("dev")


def test_jobs_of_one_python_use_the_oldest_or_the_newest() -> None:
    ends = {supported_pythons()[0], supported_pythons()[-1]}
    for where, step in steps():
        python = step.get("with", {}).get("python-version", "")
        assert python == "" or python.startswith("${{") or python in ends, where
    assert set(read_workflow("ci.yml")["jobs"]["wheel"]["strategy"]["matrix"]["python"]) == ends


# Workflows and hooks call `./dev`.


def test_dev_help_tells_of_every_command() -> None:
    ran = subprocess.run([os.path.join(CHECKOUT, "dev"), "help"], capture_output=True, text=True)
    assert ran.returncode == 0
    assert set(re.findall(r"^  ([a-z]+)  +\S", ran.stdout, re.MULTILINE)) == dev_commands() - {"help"}


def test_an_unknown_command_of_dev_is_an_error_with_the_usage() -> None:
    ran = subprocess.run([os.path.join(CHECKOUT, "dev"), "tset"], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "`tset`" in ran.stderr
    assert "usage: ./dev" in ran.stderr


@pytest.mark.parametrize(("where", "step"), [each for each in steps() if "run" in each[1]])
def test_workflows_run_nothing_but_commands_of_dev(where: str, step: dict[str, Any]) -> None:
    for line in step["run"].strip().splitlines():
        program, command, *_ = line.split()
        assert (program, command in dev_commands()) == ("./dev", True), where


@pytest.mark.parametrize("name", sorted(os.listdir(WORKFLOWS)))
def test_workflows_may_only_read_and_every_job_ends(name: str) -> None:
    """Publishing alone gets a token, for the package index and for nothing else."""
    workflow = read_workflow(name)
    assert workflow["permissions"] == {"contents": "read"}
    for job, content in workflow["jobs"].items():
        assert content.get("permissions") == ({"id-token": "write"} if job == "publish" else None)
        assert "timeout-minutes" in content or "uses" in content, job
        assert "secrets" not in str(content), job


def test_publishing_waits_for_all_checks() -> None:
    jobs = read_workflow("release.yml")["jobs"]
    assert jobs["publish"]["needs"] == ["check", "build"]
    assert jobs["check"]["uses"] == "./.github/workflows/ci.yml"


def test_git_hooks_run_commands_of_dev_so_that_their_tools_are_the_locked_ones() -> None:
    for repository in yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            program, command = hook["entry"].split()
            assert (program, command in dev_commands()) == ("./dev", True)


def test_ci_here_and_contributing_name_commands_that_exist() -> None:
    for text in (
        read(".ci", "run"),
        read("CONTRIBUTING.md"),
        read("README.md"),
        read(".github", "PULL_REQUEST_TEMPLATE.md"),
    ):
        assert set(re.findall(r"\./dev ([a-z]+)", text)) <= dev_commands()


@pytest.mark.parametrize("name", sorted(set(os.listdir(FORMS)) - {"config.yml"}))
def test_issue_forms_have_a_name_and_questions_with_ids_of_their_own(name: str) -> None:
    form = yaml.safe_load(read(".github", "ISSUE_TEMPLATE", name))
    assert form["name"]
    assert form["description"]
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids)) > 0


# The lock.


def test_every_dependency_is_locked_with_hashes() -> None:
    project = read_project()
    wanted = [
        *project["project"]["dependencies"],
        *(each for extra in project["project"].get("optional-dependencies", {}).values() for each in extra),
        *project["dependency-groups"]["dev"],
    ]
    locked = {name for name, _, _ in LOCKED.findall(read("requirements-dev.txt"))}
    for each in wanted:
        name = re.split(r"[^A-Za-z0-9_.-]", each)[0].lower().replace("_", "-")
        assert name in locked, f"`{each}`: run `./dev lock`"
    blocks = re.split(r"^(?=[a-z])", read("requirements-dev.txt"), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_lock_names_no_index_and_no_place_of_a_machine() -> None:
    lock = read("requirements-dev.txt")
    assert "://" not in lock
    assert not re.search(r"(^|\s)(/|--index|--find-links|-e )", lock.replace("./dev lock", ""))


@pytest.mark.parametrize("name", TOOLS)
def test_the_tools_that_run_here_are_the_locked_ones(name: str) -> None:
    """Fails in an environment that `./dev` did not set up, or not since the lock was renewed."""
    versions = {version for found, version, _ in LOCKED.findall(read("requirements-dev.txt")) if found == name}
    assert metadata.version(name) in versions


# What comes along, and what is handed on.


def test_every_dependency_of_a_user_is_listed_with_its_licence() -> None:
    """The page may list more: what only other systems need."""
    listed = dict(re.findall(r"^\| (\S+) \| \S+ \| ([^|]+) \|", read("docs", "reference", "licences.md"), re.MULTILINE))
    here = {name: make_licences.licence(package) for name, package in make_licences.dependencies().items()}
    assert here.items() <= listed.items(), "run `./dev docs`"


def test_dependencies_have_permissive_licences() -> None:
    for name, package in make_licences.dependencies().items():
        parts = set(re.split(r" (?:AND|OR) |[()]", make_licences.licence(package))) - {""}
        # The driver of PostgreSQL, with two extras only: its LGPL binds whoever changes it, not who uses it.
        assert parts <= PERMISSIVE | ({"LGPL-3.0-only"} if name.startswith("psycopg") else set()), name


def test_known_vulnerabilities_are_asked_for_with_every_change_and_every_week() -> None:
    workflow: dict[Any, Any] = read_workflow("ci.yml")
    assert [step["run"] for step in workflow["jobs"]["audit"]["steps"] if "run" in step] == ["./dev audit"]
    assert workflow[True]["schedule"][0]["cron"].endswith(" * * 1")  # YAML 1.1 reads the key `on` as true


def test_the_wheel_is_the_same_whoever_builds_it(tmp_path: Path) -> None:
    wheels = []
    for number, umask in enumerate((0o022, 0o077)):
        folder = tmp_path / f"folder {number}"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True).stdout
        for name in (os.fsdecode(each) for each in listed.split(b"\0") if each):
            if name.startswith("src/") or "/" not in name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(os.path.join(CHECKOUT, name), folder / name)
        ran = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "--target", "wheel"],
            cwd=folder, umask=umask, capture_output=True, text=True,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        [wheel] = (folder / "dist").glob("*.whl")
        wheels.append((wheel.name, wheel.read_bytes()))
    assert wheels[0] == wheels[1]
