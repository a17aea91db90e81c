"""What a task is for by its own name (`npm run test:unit`, `make lint`, `./run_tests.sh`). Knows no program."""

import re

from preheat.commands.values import Purpose
from preheat.commands.words import name_set

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_TEST_FILE = re.compile(r"(?:^|[_.-])(?:test|tests|spec)(?:[_.-]|$)|^run_?tests?", re.IGNORECASE)

_BY_WORD: dict[str, Purpose] = {
    **dict.fromkeys(name_set("test tests testing spec specs unit e2e integration smoke vitest jest pytest mocha cypress"), "test"),
    **dict.fromkeys(name_set("playwright coverage cov ci verify selftest regression benchmark bench"), "test"),
    **dict.fromkeys(name_set("typecheck typechecks typechecking types tsc mypy pyright typing"), "typecheck"),
    **dict.fromkeys(name_set("lint lints linter linting eslint stylelint ruff clippy vet validate biome check checks"), "lint"),
    **dict.fromkeys(name_set("format fmt prettier formatting"), "format"),
    **dict.fromkeys(name_set("build builds compile bundle dist rebuild prebuild package release all tsup webpack"), "build"),
    **dict.fromkeys(name_set("install setup deps bootstrap"), "package"),
    **dict.fromkeys(("clean",), "edit"),
}  # fmt: skip


def purpose_of_name(name: str) -> Purpose | None:
    """The purpose by the first telling word of a name; None where no word tells."""
    words = [word.lower() for word in _WORDS.findall(name[:200])]
    for index, word in enumerate(words):
        after = words[index + 1 : index + 2]
        if word == "type" and after and after[0] in ("check", "checks", "checking"):
            return "typecheck"
        purpose = _BY_WORD.get(word)
        if purpose == "format" and "check" in words:
            return "lint"
        if purpose == "test" and len(words) > 2 and after == ["data"]:
            continue
        if purpose is not None:
            return purpose
        if word == "e" and words[index + 1 : index + 3] == ["2", "e"]:
            return "test"
    return None


def is_test_file(name: str) -> bool:
    """Whether a file of this base name holds tests: `test_x.py`, `x.test.ts`, `x_spec.rb`, `run_tests.sh`."""
    start = name[:200]
    folded = start.casefold()  # looked at first: the pattern is slow
    return ("test" in folded or "spec" in folded) and _TEST_FILE.search(start) is not None
