"""The templates of the application: listed, compared, shared, reviewed, loaded for a project."""

from pathlib import Path

import pytest

from preheat import app as preheat
from preheat.app.templates.library import Templates
from preheat.errors import NotFound, UserError
from tests.templates.made import lesson, template


@pytest.fixture
def library(tmp_path: Path) -> Templates:
    """Two versions of one template."""
    found = preheat.open(str(tmp_path / "data")).library
    found.store(template("mine"), "built")
    found.store(template("mine", lesson(use="make all")), "built", "again")
    return found


def test_summaries_have_versions_uses_and_imports_that_wait(library: Templates) -> None:
    """Deleted templates are listed apart and can be restored."""
    library.store(template("theirs"), "imported")
    mine, theirs = library.summaries(follow=True)
    assert (mine.name, mine.versions, mine.live, mine.waiting, mine.tracked.uses) == ("mine", 2, True, False, 0)
    assert mine.tokens > 0
    assert (theirs.live, theirs.waiting, theirs.template is not None) == (False, True, True)
    assert [each.name for each in library.templates()] == ["mine"]
    library.delete("mine")
    assert library.names() == ["theirs"]
    assert [each.name for each in library.summaries(deleted=True)] == ["mine"]
    assert library.restore("mine") == mine.digest


def test_a_context_from_a_template_is_counted_as_a_use(library: Templates, tmp_path: Path) -> None:
    """Unless `record` is off."""
    home = preheat.open(str(tmp_path / "data"))
    home.provision("make all of it", template="mine", record=False)
    assert library.summaries()[0].tracked.uses == 0
    home.provision("make all of it", template="mine")
    assert library.summaries()[0].tracked.uses == library.show("mine").tracked.uses == 1


def test_versions_are_compared_and_rolled_back(library: Templates) -> None:
    """One version is compared with the one before it."""
    first, second = library.versions("mine")
    found = library.compare("mine")
    assert (found.before.digest, found.after.digest) == (first, second)
    assert found.difference == library.compare("mine@-1", "mine").difference
    assert library.roll_back("mine").title == found.before.title
    assert [entry.action for entry in library.history("mine").entries] == ["built", "built", "rolled back"]
    with pytest.raises(NotFound, match="no version before"):
        library.compare("mine")


def test_an_exported_template_is_imported_and_used_after_a_review(library: Templates, tmp_path: Path) -> None:
    """It is not found before a person accepts it."""
    path = str(tmp_path / "mine.json")
    written = library.export("mine", path=path)
    other = preheat.open(str(tmp_path / "other")).library
    imported = other.import_file(path, "theirs")
    assert (imported.verified, imported.kept.new, imported.template.name) == (True, True, "theirs")
    assert other.import_bytes(written.data, "there", "theirs").kept.new is False
    with pytest.raises(NotFound):
        other.find("theirs")
    review = other.review("theirs")
    assert {text.lesson for text in review.texts} == {"", *(each.id for each in review.template.lessons)}
    answered = other.answer_review("theirs", "accept")
    assert answered.in_use == written.lessons
    assert other.find("theirs").digest == answered.digest
    with pytest.raises(UserError, match="nothing of `theirs` waits"):
        other.review("theirs")


def test_a_template_is_loaded_for_all_folders_of_a_project(library: Templates, tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    inside = str(tmp_path / "shop" / "src")
    loaded = library.load("mine@-1", inside)
    assert loaded.project == str(tmp_path / "shop")
    assert loaded.status is not None
    assert loaded.status.newer == library.find("mine").digest
    assert library.project_template(loaded.project) == loaded
    ended = library.unload(inside)
    assert (ended.status, ended.unloaded) == (None, loaded.status.pin)
    assert library.project_template(inside).status is None
