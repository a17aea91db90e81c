"""Which template a project's new sessions start with: pinned, kept whole, and never in the way of a session."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from preheat.app.templates.uses import load_pins, load_template, pin_problems, pin_status, unload_template
from preheat.errors import UserError
from preheat.state.migration import unreadable_lines
from preheat.templates.store import TemplateStore
from tests.templates.made import AT, lesson, template


@pytest.fixture
def folder(tmp_path: Any) -> str:
    """Two versions of a template."""
    store = TemplateStore(str(tmp_path))
    store.store(template("mine"), "built", AT)
    store.store(template("mine", lesson(use="make all")), "built", AT + 1)
    return str(tmp_path)


def test_a_version_is_pinned_until_it_is_loaded_again(folder: str) -> None:
    """A newer build is known of, and changes nothing by itself."""
    first = load_template(folder, "/w/harbour", "mine@-1", AT)
    assert load_pins(folder) == {"/w/harbour": first}
    stands = pin_status(folder, first)
    assert (stands.problem, stands.newer) == ("", TemplateStore(folder).state("mine").live)
    second = load_template(folder, "/w/harbour", "mine", AT)
    assert second.digest != first.digest
    assert pin_status(folder, second) == (second, "", "")


def test_each_project_has_its_own(folder: str) -> None:
    """And one can be taken back without the others."""
    load_template(folder, "/w/harbour", "mine", AT)
    load_template(folder, "/w/pier", "mine@-1", AT)
    assert unload_template(folder, "/w/harbour") is not None
    assert list(load_pins(folder)) == ["/w/pier"]
    assert unload_template(folder, "/w/harbour") is None


def test_what_cannot_be_found_cannot_be_loaded(folder: str) -> None:
    """Unknown, deleted or not reviewed: what was loaded stays."""
    kept = load_template(folder, "/w/harbour", "mine", AT)
    TemplateStore(folder).store(template("theirs"), "imported", AT)
    TemplateStore(folder).store(template("gone"), "built", AT)
    TemplateStore(folder).delete("gone", AT)
    for name in ("nope", "theirs", "gone", "mine@-7", "../mine"):
        with pytest.raises(UserError):
            load_template(folder, "/w/harbour", name, AT)
    assert load_pins(folder) == {"/w/harbour": kept}


def test_one_that_went_is_told_of(folder: str) -> None:
    """Deleted, or its file lost: a line each, with what to do."""
    load_template(folder, "/w/harbour", "mine", AT)
    assert pin_problems(folder) == []
    TemplateStore(folder).delete("mine", AT)
    (line,) = pin_problems(folder)
    assert "`/w/harbour`" in line
    assert "preheat warm restore mine" in line
    TemplateStore(folder).restore("mine", AT)
    digest = load_pins(folder)["/w/harbour"].digest
    os.unlink(os.path.join(folder, "templates", "objects", digest[:2], f"{digest}.json"))
    assert "is gone" in pin_problems(folder)[0]


def test_a_damaged_file_of_version_0_1_loads_nothing_and_is_kept(folder: str) -> None:
    """Whatever was in it: nothing is raised, and it is named where it stands now."""
    path = os.path.join(folder, "templates", "loaded.json")
    for number, data in enumerate([b"[]", b'{"/w":1}', b'{"/w":{"name":"x"}}', b"{", b"\xff", b""], 1):
        with open(path, "wb") as stream:
            stream.write(data)
        assert load_pins(folder) == {}
        assert len(unreadable_lines(folder)) == number
    load_template(folder, "/w/harbour", "mine", AT)
    assert list(load_pins(folder)) == ["/w/harbour"]


def test_two_writers_lose_nothing(folder: str) -> None:
    """Each writes its own project at the same time as the others."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: load_template(folder, f"/w/{number}", "mine", AT), range(24)))
    assert len(load_pins(folder)) == 24
