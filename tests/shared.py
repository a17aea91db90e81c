"""Where the tests find what lies beside them: the recorded sessions, and the shared corpus of real ones."""

import os
from collections.abc import Iterator

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(TESTS, "fixtures")
SHARED = os.path.abspath(os.path.join(TESTS, "..", "..", "shared"))

needs_corpus = pytest.mark.skipif(
    not os.path.isdir(os.path.join(SHARED, "corpus")),
    reason="the shared corpus does not lie beside the checkout",
)


def fixture_files(agent: str) -> Iterator[str]:
    """The recorded sessions of an agent, as paths below the fixtures."""
    root = os.path.join(FIXTURES, agent)
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if not name.endswith((".md", "-wal", "-shm")):
                yield os.path.relpath(os.path.join(folder, name), FIXTURES)
