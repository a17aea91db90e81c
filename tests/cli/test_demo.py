"""`preheat demo` on the sample sessions."""

import os

from .conftest import Person


def test_demo_runs_on_the_samples_and_deletes_its_archive(person: Person) -> None:
    """The real commands with their real output; the person's own archive is not touched."""
    done = person.spawn("demo", TMPDIR=person.home)
    assert done.code == 0, done.err
    for command in ("sync", "sessions list", "sessions search", "sessions show", "export"):
        assert f"$ preheat {command}" in done.out
    assert "Nothing new" in done.out
    assert not [name for name in os.listdir(person.home) if name.startswith("preheat-demo-")]
    assert not os.path.exists(person.folder)


def test_demo_keeps_its_archive_when_asked(person: Person) -> None:
    done = person.spawn("demo", "--keep", TMPDIR=person.home)
    folder = done.out.strip().rpartition("PREHEAT_HOME=")[2]
    assert os.path.exists(os.path.join(folder, "archive.db"))
