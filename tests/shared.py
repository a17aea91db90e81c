"""Paths of test data: the recorded sessions, and the shared corpus of real ones."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(TESTS, "fixtures")
SHARED = os.path.abspath(os.path.join(TESTS, "..", "..", "shared"))

needs_corpus = pytest.mark.skipif(
    not os.path.isdir(os.path.join(SHARED, "corpus")),
    reason="the shared corpus does not lie beside the checkout",
)


def real_program(found: str | None, name: str) -> str:
    """The path of a real program; without it the test is skipped with what to do, and fails in CI."""
    if found is None:
        message = f"{name} is not installed: run scripts/install-agents {name}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def fixture_files(agent: str) -> Iterator[str]:
    """The recorded sessions of an agent, as paths below the fixtures."""
    root = os.path.join(FIXTURES, agent)
    for folder, _, names in sorted(os.walk(root)):
        if {"events", "message", "part"} & set(os.path.relpath(folder, root).split(os.sep)):
            continue  # pieces of a session that is named by a file beside that folder
        for name in sorted(names):
            if name != "README.md" and not name.endswith(("-wal", "-shm")):
                yield os.path.relpath(os.path.join(folder, name), FIXTURES)


@contextmanager
def bound_by_permissions(folder: str) -> Iterator[None]:
    """Make file permissions effective below the folder even for root, by changing user and owner."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    nobody = 65534
    for parent, folders, names in os.walk(folder):
        for name in (parent, *(os.path.join(parent, name) for name in (*folders, *names))):
            os.chown(name, nobody, nobody, follow_symlinks=False)
    above = os.path.dirname(os.path.abspath(folder))
    while above != os.path.dirname(above):
        os.chmod(above, os.stat(above).st_mode | 0o011)
        above = os.path.dirname(above)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)


needs_permissions = pytest.mark.skipif(os.name != "posix", reason="there are no such permissions on this system")
