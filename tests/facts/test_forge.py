"""What the files of a forge say: what a push sets off, linters that only its workflows run, its secrets, the package manager."""

import json

import pytest

from preheat.facts import derive_facts
from preheat.facts.choice import choose_for_prompt
from preheat.facts.failure_choice import choose_after_failure
from preheat.provisioning.lesson_text import describe_lesson
from tests.facts.test_facts import lines_of, tree_of

DEPLOY = """name: Deploy
on:
  push:
    branches: [main]
{limit}  workflow_dispatch:
jobs:
  deploy:
    env:
      KEY: ${{{{ secrets.DEPLOY_KEY }}}}
      TOKEN: ${{{{ secrets.GITHUB_TOKEN }}}}
"""
RELEASE = "on:\n  push:\n    tags:\n      - 'v*'\n      - \"app-[0-9]+\"\njobs: {}\n"


def workflow(name: str, text: str) -> dict[str, str]:
    return {f".github/workflows/{name}": text}


@pytest.mark.parametrize(("name", "text", "expected"), [
    ("deploy.yml", DEPLOY.format(limit=""),
     "`.github/workflows/deploy.yml` runs at a push to `main`; by hand: `gh workflow run deploy.yml`"),
    ("cd.yml", DEPLOY.format(limit="    paths:\n      - 'api/**'\n"),
     "`.github/workflows/cd.yml` runs at a push to `main` that changes files which it lists; by hand: `gh workflow run cd.yml`"),
    ("release.yml", "on:\n  workflow_dispatch:\n    inputs:\n      kind:\n        type: choice\njobs: {}\n",
     "`.github/workflows/release.yml` runs by hand only: `gh workflow run release.yml`"),
    ("release.yml", RELEASE, "`.github/workflows/release.yml` runs at a tag that begins with `v`, `app-`"),
])  # fmt: skip
def test_a_workflow_that_deploys_is_told_with_what_starts_it(name: str, text: str, expected: str) -> None:
    assert expected in lines_of(workflow(name, text))


@pytest.mark.parametrize(("name", "text"), [
    ("ci.yml", DEPLOY.format(limit="")), ("release-notes.yml", RELEASE), ("check-release.yml", RELEASE),
    ("deploy.yml", "on: push\n"), ("deploy.yml", "on:\n  push:\n    branches: ['release/**']\n"),
    ("deploy.yml", "on:\n  workflow_dispatch:\n  workflow_call:\n"), ("deploy.yml", "\0"),
])  # fmt: skip
def test_a_workflow_that_deploys_nothing_or_at_no_certain_push_is_not_told(name: str, text: str) -> None:
    assert not any("runs at" in line or "by hand" in line for line in lines_of(workflow(name, text)))


@pytest.mark.parametrize(("prompt", "is_told"), [
    ("please deploy it", True), ("commit, push and then release", True), ("cut a new release", True),
    ("update the release process", False), ("fix the deployment banner", False), ("write release notes", False),
    ("why did the deploy fail?", False),
])  # fmt: skip
def test_what_deploys_is_said_where_a_prompt_asks_to_deploy(prompt: str, is_told: bool) -> None:
    facts = derive_facts(tree_of(workflow("deploy.yml", DEPLOY.format(limit=""))))
    said = [describe_lesson(each.lesson) for each in choose_for_prompt(facts, prompt)]
    assert any("runs at a push" in line for line in said) == is_told


CHECKS = """
    steps:
      - uses: DavidAnson/markdownlint-cli2-action@8de2aa07
      - uses: golangci/golangci-lint-action@v6
      - name: Analyse
        working-directory: ${{ github.workspace }}/src
        run: |
          go install golang.org/x/tools/go/analysis/passes/fieldalignment/cmd/fieldalignment@latest
          fieldalignment "./..."
"""


def test_linters_that_only_the_forge_runs_are_known() -> None:
    files = {**workflow("ci.yml", CHECKS), "src/go.mod": "module x\n", "src/.golangci.yml": ""}
    lines = lines_of(files)
    assert "lint, as the forge runs it: `npx markdownlint-cli2`" in lines
    assert "lint, as the forge runs it: `cd src && fieldalignment ./...`" in lines
    assert sum("golangci-lint" in line for line in lines) == 1  # the project's own settings say it
    assert not any("go install" in line for line in lines)


def test_secrets_are_known_by_name_and_said_only_where_one_is_named() -> None:
    facts = derive_facts(tree_of(workflow("deploy.yml", DEPLOY.format(limit=""))))
    line = "secrets that the forge has for workflows: `DEPLOY_KEY`"
    assert line in map(describe_lesson, facts)
    assert line in [describe_lesson(each.lesson) for each in choose_for_prompt(facts, "rotate the DEPLOY_KEY please")]
    for prompt in ("set up the project", "fix the key"):
        assert line not in [describe_lesson(each.lesson) for each in choose_for_prompt(facts, prompt)]
    assert choose_after_failure(facts, "DEPLOY_KEY is not set") is None


@pytest.mark.parametrize(("scripts", "run", "expected"), [
    ({"test": "jest"}, "npm ci", "test: `npm test` = `jest`"),
    ({"test": "yarn build && jest", "build": "tsc"}, "make", "test: `yarn test` = `yarn build && jest`"),
    ({"test": "jest"}, "npm install -g yarn && yarn install", "test: `yarn test` = `jest`"),
    ({"test": "yarn build && jest"}, "npm ci", ""),
    ({"test": "jest"}, "make", ""),
])  # fmt: skip
def test_of_two_lock_files_that_one_counts_which_the_forge_and_the_scripts_use(
    scripts: dict[str, str], run: str, expected: str
) -> None:
    files = {"package.json": json.dumps({"scripts": scripts}), "yarn.lock": "", "package-lock.json": ""}
    lines = lines_of({**files, **workflow("ci.yml", f"    steps:\n      - run: {run}\n")})
    assert (expected in lines) if expected else not any(line.startswith("test: ") for line in lines)
