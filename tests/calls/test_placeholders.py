"""One text for many calls of the same command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.calls.placeholders import generalise


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"go test ./a -run TestOne -v": 1, "go test ./b -run TestTwo -v": 1}, "go test PATH -run NAME -v"),
        ({"pnpm --filter web test": 1, "pnpm --filter api test": 1}, "pnpm --filter PACKAGE test"),
        ({"pytest tests/a.py": 1, "pytest tests/b.py": 1}, "pytest PATH.py"),
        ({"jest --testNamePattern=one": 1, "jest --testNamePattern=two": 1}, "jest --testNamePattern=NAME"),
        ({"vet ./a/... ./b/...": 1, "vet ./c/... ./d/...": 1}, "vet ./FOLDER/..."),
        ({"run.py one two": 1, "run.py three four": 1}, "run.py NAME"),
        (
            {
                "xcodebuild test -scheme Shop -destination 'platform=macOS' -only-testing:ATests": 1,
                "xcodebuild test -scheme Shop -destination 'platform=iOS' -only-testing:BTests": 2,
            },
            "xcodebuild test -scheme Shop -destination 'platform=iOS' -only-testing:NAME",
        ),
        ({"make lint": 4}, "make lint"),
        ({}, ""),
    ],
)
def test_varying_words_become_placeholders(texts: dict[str, int], expected: str) -> None:
    """Words that differ from call to call are named by what they are; the others stay."""
    assert generalise(texts) == expected


@given(st.dictionaries(st.text(alphabet="abc -=/.'\"", min_size=1, max_size=40), st.integers(1, 5), max_size=8))
def test_generalising_is_the_same_in_any_order(texts: dict[str, int]) -> None:
    """The order in which sessions come changes nothing."""
    assert generalise(texts) == generalise(dict(reversed(texts.items())))
