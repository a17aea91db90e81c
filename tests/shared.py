"""Paths of test data: the recorded sessions, and the shared corpus of real ones."""

import os
from collections.abc import Callable, Iterator
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
    given: list[str] = []
    for parent, folders, names in os.walk(folder):
        for name in (parent, *(os.path.join(parent, name) for name in (*folders, *names))):
            os.chown(name, nobody, nobody, follow_symlinks=False)
            given.append(name)
    above = os.path.dirname(os.path.abspath(folder))
    while above != os.path.dirname(above):
        os.chmod(above, os.stat(above).st_mode | 0o011)
        above = os.path.dirname(above)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)
        for name in given:
            if os.path.lexists(name):
                os.chown(name, 0, 0, follow_symlinks=False)


needs_permissions = pytest.mark.skipif(os.name != "posix", reason="there are no such permissions on this system")


def call_as_user(user: int, function: Callable[[], str]) -> str:
    """What a function returns to another user, in a process of its own; the name of the exception if it raises one. For root."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            try:
                answer = function()
            except Exception as error:  # noqa: BLE001 - it is the answer
                answer = type(error).__name__
            os.write(write, answer.encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return answer
