"""Which working trees are indexed, which settings there are, and which indexes go with forgotten sessions."""

import os
from pathlib import Path

import pytest

from preheat.app.trees import Trees, TreeSettings, forget_unused
from preheat.errors import NotFound, UserError
from tests.shared import TESTS


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    for name in ("one", "one/inner", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 1\n")
    found = Trees(str(tmp_path / "home"))
    for name in ("one", "two"):
        found.update(str(tmp_path / name))
    return found


def roots(trees: Trees) -> list[str]:
    return [os.path.basename(each.root) for each in trees.list()]


def test_the_page_of_settings_has_every_setting_with_its_default() -> None:
    with open(os.path.join(os.path.dirname(TESTS), "docs", "reference", "settings.md"), encoding="utf-8") as stream:
        table = stream.read().partition("<!-- tree:")[2].partition("<!-- /tree -->")[0]
    defaults = TreeSettings()
    for name in TreeSettings.__struct_fields__:
        value = getattr(defaults, name)
        assert f"| `{name}` | {str(value).lower() if value is True else f'{value:,}'} |" in table


def test_a_wrong_setting_is_named(trees: Trees, tmp_path: Path) -> None:
    (tmp_path / "home" / "settings.toml").write_text("[tree]\nfiles = 'all'\n")
    with pytest.raises(UserError, match=r"below `\[tree\]`: .*files"):
        trees.update(str(tmp_path / "one"))


def test_the_limit_of_files_is_the_persons(trees: Trees, tmp_path: Path) -> None:
    (tmp_path / "home" / "settings.toml").write_text("[tree]\nfiles = 1\n")
    report = trees.update(str(tmp_path / "one"))
    assert (report.files, report.left_out) == (1, 1)


def test_an_index_goes_with_the_last_session_in_its_folder_or_below(trees: Trees, tmp_path: Path) -> None:
    one, inner, two = (str(tmp_path / name) for name in ("one", "one/inner", "two"))
    forget_unused(str(tmp_path / "home"), [one], [inner])
    assert roots(trees) == ["one", "two"], "a session below it remains"
    forget_unused(str(tmp_path / "home"), [inner], [two])
    assert roots(trees) == ["two"]


def test_a_folder_whose_name_begins_alike_is_another_one(trees: Trees, tmp_path: Path) -> None:
    assert trees.forget(str(tmp_path / "tw")) == 0
    assert trees.forget(str(tmp_path / "two")) == 1


def test_a_file_that_is_no_index_any_more_is_deleted_too(trees: Trees, tmp_path: Path) -> None:
    for path in (tmp_path / "home" / "trees").glob("*.db"):
        path.write_bytes(b"damaged")
    assert trees.list() == []
    trees.forget(str(tmp_path / "one"))
    assert list((tmp_path / "home" / "trees").glob("*.db")) == []


def test_a_folder_that_is_not_there_cannot_be_indexed(trees: Trees, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        trees.update(str(tmp_path / "nowhere"))
