"""What a forge's workflows check by actions and by programs that they install: the commands for one's own machine. Pure."""

import re
from collections.abc import Iterable

_COMMANDS = {
    "astral-sh/ruff-action": "ruff check .",
    "bufbuild/buf-lint-action": "buf lint",
    "chartboost/ruff-action": "ruff check .",
    "codespell-project/actions-codespell": "codespell",
    "crate-ci/typos": "typos",
    "davidanson/markdownlint-cli2-action": "npx markdownlint-cli2",
    "dominikh/staticcheck-action": "staticcheck ./...",
    "embarkstudios/cargo-deny-action": "cargo deny check",
    "golang/govulncheck-action": "govulncheck ./...",
    "golangci/golangci-lint-action": "golangci-lint run",
    "ibiqlik/action-yamllint": "yamllint .",
    "ludeeus/action-shellcheck": "shellcheck PATH",
    "norio-nomura/action-swiftlint": "swiftlint",
    "pre-commit/action": "pre-commit run --all-files",
    "raven-actions/actionlint": "actionlint",
    "streetsidesoftware/cspell-action": "npx cspell PATH",
    "swiftlint/swiftlint-action": "swiftlint",
}
"""By the name of an action in lower case. Each is a linter that runs without a setting of the workflow."""
_IDLE = frozenset(["npx", "cargo"])


def find_action_checks(actions: Iterable[str]) -> dict[str, str]:
    """The commands of the actions that check something, each with its program."""
    found = {}
    for action in actions:
        command = _COMMANDS.get(action.lower(), "")
        if command:
            found[command] = next(word for word in command.split() if word not in _IDLE)
    return found


_ANALYSER = re.compile(r"go install \S*/analysis/\S*/(?P<name>[a-z][\w-]*)@\S+")
"""How Go's own analysers are installed, each a program by itself."""


def find_analysers(lines: Iterable[str]) -> frozenset[str]:
    """The analysers that the commands of a workflow install before they run them."""
    return frozenset(found["name"] for line in lines if (found := _ANALYSER.fullmatch(line)))
