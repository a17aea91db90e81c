"""Which template a project's new sessions start with: pinned, kept whole, and never in the way of a session."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from preheat.app.templates.state import load_for, pins, problems, standing, unload
from preheat.errors import UserError
from preheat.state.migration import unread
from preheat.templates.store import Store

from .made import AT, lesson, template


@pytest.fixture
def folder(tmp_path: Any) -> str:
    """Two versions of a template."""
    store = Store(str(tmp_path))
    store.keep(template("mine"), "built", AT)
    store.keep(template("mine", lesson(use="make all")), "built", AT + 1)
    return str(tmp_path)


def test_a_version_is_pinned_until_it_is_loaded_again(folder: str) -> None:
    """A newer build is known of, and changes nothing by itself."""
    first = load_for(folder, "/w/harbour", "mine@-1", AT)
    assert pins(folder) == {"/w/harbour": first}
    stands = standing(folder, first)
    assert (stands.problem, stands.newer) == ("", Store(folder).state("mine").live)
    second = load_for(folder, "/w/harbour", "mine", AT)
    assert second.digest != first.digest
    assert standing(folder, second) == (second, "", "")


def test_each_project_has_its_own(folder: str) -> None:
    """And one can be taken back without the others."""
    load_for(folder, "/w/harbour", "mine", AT)
    load_for(folder, "/w/pier", "mine@-1", AT)
    assert unload(folder, "/w/harbour") is not None
    assert list(pins(folder)) == ["/w/pier"]
    assert unload(folder, "/w/harbour") is None


def test_what_cannot_be_found_cannot_be_loaded(folder: str) -> None:
    """Unknown, deleted or not reviewed: what was loaded stays."""
    kept = load_for(folder, "/w/harbour", "mine", AT)
    Store(folder).keep(template("theirs"), "imported", AT)
    Store(folder).keep(template("gone"), "built", AT)
    Store(folder).delete("gone", AT)
    for name in ("nope", "theirs", "gone", "mine@-7", "../mine"):
        with pytest.raises(UserError):
            load_for(folder, "/w/harbour", name, AT)
    assert pins(folder) == {"/w/harbour": kept}


def test_one_that_went_is_told_of(folder: str) -> None:
    """Deleted, or its file lost: a line each, with what to do."""
    load_for(folder, "/w/harbour", "mine", AT)
    assert problems(folder) == []
    Store(folder).delete("mine", AT)
    (line,) = problems(folder)
    assert "`/w/harbour`" in line
    assert "preheat warm restore mine" in line
    Store(folder).restore("mine", AT)
    digest = pins(folder)["/w/harbour"].digest
    os.unlink(os.path.join(folder, "templates", "objects", digest[:2], f"{digest}.json"))
    assert "is gone" in problems(folder)[0]


def test_a_damaged_file_of_version_0_1_loads_nothing_and_is_kept(folder: str) -> None:
    """Whatever was in it: nothing is raised, and it is named where it stands now."""
    path = os.path.join(folder, "templates", "loaded.json")
    for number, data in enumerate([b"[]", b'{"/w":1}', b'{"/w":{"name":"x"}}', b"{", b"\xff", b""], 1):
        with open(path, "wb") as stream:
            stream.write(data)
        assert pins(folder) == {}
        assert len(unread(folder)) == number
    load_for(folder, "/w/harbour", "mine", AT)
    assert list(pins(folder)) == ["/w/harbour"]


def test_two_writers_lose_nothing(folder: str) -> None:
    """Each writes its own project at the same time as the others."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: load_for(folder, f"/w/{number}", "mine", AT), range(24)))
    assert len(pins(folder)) == 24
