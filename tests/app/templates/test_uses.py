"""The template version that is loaded for a project: it stays until another is loaded, and one that is gone is reported."""

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


def test_a_loaded_version_stays_until_another_is_loaded(folder: str) -> None:
    """Its status names a newer version."""
    first = load_template(folder, "/w/harbour", "mine@-1", AT)
    assert load_pins(folder) == {"/w/harbour": first}
    status = pin_status(folder, first)
    assert (status.problem, status.newer) == ("", TemplateStore(folder).state("mine").live)
    second = load_template(folder, "/w/harbour", "mine", AT)
    assert second.digest != first.digest
    assert pin_status(folder, second) == (second, "", "")


def test_each_project_has_its_own_version(folder: str) -> None:
    """Unloading one leaves the others."""
    load_template(folder, "/w/harbour", "mine", AT)
    load_template(folder, "/w/pier", "mine@-1", AT)
    assert unload_template(folder, "/w/harbour") is not None
    assert list(load_pins(folder)) == ["/w/pier"]
    assert unload_template(folder, "/w/harbour") is None


def test_a_failed_load_changes_nothing(folder: str) -> None:
    """The template is unknown, deleted, or waits for a review."""
    kept = load_template(folder, "/w/harbour", "mine", AT)
    TemplateStore(folder).store(template("theirs"), "imported", AT)
    TemplateStore(folder).store(template("gone"), "built", AT)
    TemplateStore(folder).delete("gone", AT)
    for name in ("nope", "theirs", "gone", "mine@-7", "../mine"):
        with pytest.raises(UserError):
            load_template(folder, "/w/harbour", name, AT)
    assert load_pins(folder) == {"/w/harbour": kept}


def test_a_loaded_version_that_is_gone_is_reported(folder: str) -> None:
    """Deleted, or its file is lost."""
    load_template(folder, "/w/harbour", "mine", AT)
    assert pin_problems(folder) == []
    TemplateStore(folder).delete("mine", AT)
    (line,) = pin_problems(folder)
    assert "`/w/harbour`" in line
    assert "preheat templates restore mine" in line
    TemplateStore(folder).restore("mine", AT)
    digest = load_pins(folder)["/w/harbour"].digest
    os.unlink(os.path.join(folder, "templates", "objects", digest[:2], f"{digest}.json"))
    assert digest in pin_problems(folder)[0]


def test_a_damaged_file_of_version_0_1_0_is_reported_and_loads_nothing(folder: str) -> None:
    path = os.path.join(folder, "templates", "loaded.json")
    for number, data in enumerate([b"[]", b'{"/w":1}', b'{"/w":{"name":"x"}}', b"{", b"\xff", b""], 1):
        with open(path, "wb") as stream:
            stream.write(data)
        assert load_pins(folder) == {}
        assert len(unreadable_lines(folder)) == number
    load_template(folder, "/w/harbour", "mine", AT)
    assert list(load_pins(folder)) == ["/w/harbour"]


def test_concurrent_loads_lose_nothing(folder: str) -> None:
    """Each loads for a project of its own."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: load_template(folder, f"/w/{number}", "mine", AT), range(24)))
    assert len(load_pins(folder)) == 24
