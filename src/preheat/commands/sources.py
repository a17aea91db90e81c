"""Which files hold code: of the program itself, of its tests, or of what stands beside it. By their paths."""

import re

_TEST_FILE = re.compile(r"(?i)(?:^|/)(?!\.)(?:test_[^/]*|[^/]*[._-](?:test|tests|spec)|[^/]*Tests?)\.\w+$")
_SUPPORT = re.compile(
    r"(?i)(?:^|/)(?:[\w.-]*tests?|__(?:tests|mocks|fixtures)__|specs?|e2e|testing|testdata|fixtures?|mocks?|stubs?|fakes?"
    r"|examples?|samples?|demos?)/|(?:mock|stub|fake|fixture|conftest)[^/]*$"
)
"""What helps to test or to explain a program, and is no part of it."""
_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kts?|swift|dart|php|cs|cc?|cpp|h|hpp|exs?|scala|vue|svelte|astro|zig|lua|sh|bats)$"
)


_SETTINGS = re.compile(r"(?:^|/)[\w.-]+\.config\.[cm]?[jt]s$")
"""Configuration of a tool, written as a program."""


def is_code(path: str) -> bool:
    """Whether a file holds code of any kind."""
    return _CODE.search(path) is not None


def is_source_of_test(path: str) -> bool:
    """Whether a file holds tests, by its name."""
    return _TEST_FILE.search(path) is not None


def is_source(path: str) -> bool:
    """Whether a file is code of the program itself."""
    return is_code(path) and not any(pattern.search(path) for pattern in (_TEST_FILE, _SUPPORT, _SETTINGS))
