"""Every setting is listed with what it does; a change is one line of the file, and a wrong one changes nothing."""

from pathlib import Path

import pytest

import preheat
from preheat.app.views.settings_list import SECTIONS, change_line
from preheat.errors import UserError

FILE = '# mine\n[live]\nblock = "high"  # as agreed\nloop_rereads = 5\n\n[live.debt_files]\nproductive = 8\n'


@pytest.fixture
def home(tmp_path: Path) -> preheat.Preheat:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return preheat.open(str(folder))


def test_every_setting_of_every_section_is_listed_with_what_it_does(home: preheat.Preheat) -> None:
    found = home.settings.describe_all()
    assert len(found.settings) == sum(len(each.defaults.__struct_fields__) for each in SECTIONS)
    assert [each.name for each in found.settings if not each.about] == []
    assert [each for each in found.settings if each.is_set or each.value != each.default] == []


def test_a_change_leaves_every_other_line_and_its_undo_gives_the_file_back(home: preheat.Preheat) -> None:
    path = Path(home.folder, "settings.toml")
    path.write_text(FILE)
    changed = home.settings.change("live", "loop_rereads", "7")
    assert (changed.before, changed.after) == ("5", "7")
    assert path.read_text() == FILE.replace("loop_rereads = 5", "loop_rereads = 7")
    home.settings.change("live", "loop_rereads", changed.before)
    assert path.read_text() == FILE
    assert home.settings.find("live", "debt_files").is_set


def test_a_setting_that_was_not_there_is_added_and_taken_out_again(home: preheat.Preheat) -> None:
    changed = home.settings.change("experiment", "holdout", "0.3")
    assert (changed.before, home.settings.find("experiment", "holdout").value) == ("", "0.3")
    home.settings.change("experiment", "holdout", changed.before)
    assert home.settings.find("experiment", "holdout").is_set is False


@pytest.mark.parametrize(
    ("heading", "name", "value"),
    [
        ("live", "block", '"everything"'), ("live", "block", "high"), ("live", "hold", "1"), ("experiment", "holdout", "2.0"),
        ("limits", "source_mb", "0"), ("live", "nothing", "1"), ("nothing", "hold", "true"), ("live", "hold", "true\nblock = 1"),
        ("live", "hold", "true # and\r"), ("live", "hold", "[" * 1000), ("live", "hold", "x" * 1000),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused_and_the_file_stays(
    home: preheat.Preheat, heading: str, name: str, value: str
) -> None:
    path = Path(home.folder, "settings.toml")
    path.write_text(FILE)
    with pytest.raises(UserError):
        home.settings.change(heading, name, value)
    assert path.read_text() == FILE


def test_a_file_that_is_written_otherwise_is_not_changed(home: preheat.Preheat) -> None:
    path = Path(home.folder, "settings.toml")
    for text in ("live = { hold = true }\n", "live.hold = true\n", '[live]\nadvise = [\n  "loop",\n]\n', "[live\n"):
        path.write_text(text)
        with pytest.raises(UserError):
            home.settings.change(
                "live", "advise" if "advise" in text else "hold", '["loop"]' if "advise" in text else "false"
            )
        assert path.read_text() == text


def test_a_heading_is_made_where_there_is_none() -> None:
    assert change_line("", "live", "hold", "true") == "[live]\nhold = true\n"
    assert change_line("[tree]\nfiles = 1", "live", "hold", "true") == "[tree]\nfiles = 1\n\n[live]\nhold = true\n"
    assert change_line("[tree]\nfiles = 1", "live", "hold", "") == "[tree]\nfiles = 1"
