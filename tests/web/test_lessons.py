"""Lessons on their page: written, edited, approved, reviewed, proposed for AGENTS.md; and each taken back."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from preheat.cli.mistake_screen import show_mistake
from preheat.web.pages.proposal import split_patch
from tests.web.builders import Visit, fill_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    return fill_home(str(tmp_path_factory.mktemp("lessons")))


@pytest.fixture
def visit(home: str) -> Iterator[Visit]:
    made = Visit(home)
    yield made
    made.site.close()


def undo(visit: Visit, page: str) -> str:
    """Press the undo of the notice on a page, with exactly its fields."""
    notice = page.partition('<div class="notice"')[2].partition("</div>")[0]
    action = re.search(r'action="/do/([a-z-]+)"', notice)
    assert action is not None, notice
    fields = {name: unescape(value) for name, value in re.findall(r'name="([a-z_]+)" value="([^"]*)"', notice)}
    fields.pop("form_token")
    status, text = visit.do(action[1], **fields)
    assert status == 200, text[:2000]
    return text


def learned(visit: Visit) -> str:
    return next(each.id for each in visit.site.home.lessons() if "uv run pytest" in each.text)


def test_a_lesson_is_written_for_a_project_in_the_persons_words_and_taken_back(visit: Visit) -> None:
    status, page = visit.do("add-lesson", text="run make gen after editing schema.sql", project="shop", back="/lessons")
    assert status == 200
    assert "Sessions are told: run make gen after editing schema.sql" in unescape(page)
    (made,) = [each for each in visit.site.home.lessons() if each.author == "person"]
    assert (made.text, made.scope.project) == ("run make gen after editing schema.sql", "shop")
    assert made.id in visit.client.get("/lessons?show=yours").text
    assert "Undone: add" in undo(visit, page)
    assert [each for each in visit.site.home.lessons() if each.author == "person"] == []


def test_a_secret_in_the_words_is_taken_out_and_what_is_no_lesson_is_refused(visit: Visit) -> None:
    status, page = visit.do("add-lesson", text="log in with AKIAIOSFODNN7EXAMPLQ", back="/lessons")
    assert (status, "AKIAIOSFODNN7EXAMPLQ" in page, "Taken out" in page) == (200, False, True)
    undo(visit, page)
    for fields in (
        {},
        {"text": "words", "command": "make"},
        {"text": "x" * 400},
        {"text": "words", "project": "no-such-project"},
    ):
        status, page = visit.do("add-lesson", **fields)
        assert (status, "That was not done" in page) == (400, True)
    assert visit.do("edit-lesson", lesson="", text="x")[0] == 400
    assert [each for each in visit.site.home.lessons() if each.author == "person"] == []


def test_a_learned_lesson_is_edited_and_comes_back_as_it_was(visit: Visit) -> None:
    lesson = learned(visit)
    before = visit.site.home.knowledge.find(lesson)
    status, page = visit.do("edit-lesson", lesson=lesson, text="always run uv run pytest -q", back="/lessons")
    assert (status, "always run uv run pytest -q" in page) == (200, True)
    assert visit.site.home.knowledge.find(lesson).status == "retired"
    undo(visit, page)
    after = visit.site.home.knowledge.find(lesson)
    assert (after.text, after.status) == (before.text, before.status)


def test_the_words_of_a_lesson_are_approved_and_that_is_taken_back(visit: Visit) -> None:
    lesson = learned(visit)
    assert 'action="/do/approve-lesson"' in visit.client.get(f"/lessons?find={lesson}").text
    _, page = visit.do("approve-lesson", lesson=lesson, back=f"/lessons?find={lesson}")
    assert lesson in visit.site.home.knowledge.approvals()
    assert 'action="/do/approve-lesson"' not in page
    undo(visit, page)
    assert lesson not in visit.site.home.knowledge.approvals()


def test_a_review_keeps_or_drops_a_lesson_and_each_is_taken_back(visit: Visit) -> None:
    knowledge = visit.site.home.knowledge
    waiting = knowledge.review()
    assert waiting
    text = unescape(visit.client.get("/lessons?show=review").text)
    assert waiting[0].said in text
    for action in ("keep-lesson", "drop-lesson"):
        _, page = visit.do(action, lesson=waiting[0].lesson.id, back="/lessons?show=review")
        assert waiting[0].lesson.id not in {each.lesson.id for each in knowledge.review()}
        undo(visit, page)
        assert [each.lesson.id for each in knowledge.review()] == [each.lesson.id for each in waiting]


def test_the_change_of_agents_md_is_shown_written_as_it_was_shown_and_taken_back(visit: Visit) -> None:
    path = Path(visit.site.home.folder).parent / "work" / "shop" / "AGENTS.md"
    page = visit.client.get("/lessons/propose?project=shop").text
    found = visit.site.home.proposals.propose("shop")
    assert found.path == str(path)
    for each in split_patch(found.patch):
        assert each.text in unescape(page)
    assert not path.exists()
    shown = re.search(r'name="shown" value="([0-9a-f]+)"', page)
    assert shown is not None
    assert visit.do("write-proposal", project="shop", shown="0" * 24)[0] == 400
    path.write_text("# Shop\n")  # the file is another one now than the page showed
    assert visit.do("write-proposal", project="shop", shown=shown[1])[0] == 400
    assert path.read_text() == "# Shop\n"
    path.unlink()
    status, page = visit.do("write-proposal", project="shop", shown=shown[1], back="/lessons/propose?project=shop")
    assert (status, path.read_text()) == (200, found.proposal.after)
    undo(visit, page)
    assert not path.exists()


def test_a_mistake_shows_what_agents_md_would_change_by(visit: Visit) -> None:
    mistake = next(
        each for each in visit.site.home.mistakes().mistakes if any("pytest" in one for one in each.signatures)
    )
    page = visit.client.get(f"/mistake?id={mistake.id}").text
    assert "/lessons/propose?project=shop&amp;part=1" in page
    part = unescape(visit.client.get("/lessons/propose?project=shop&part=1").text)
    assert "uv run pytest" in part
    assert "<html" not in part


def test_terminal_page_and_lesson_give_one_account_of_a_mistake(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = visit.site.home
    mistake = next(each for each in home.mistakes().mistakes if any("pytest" in one for one in each.signatures))
    assert mistake.repair is not None
    assert mistake.recovery.startswith(f"worked {mistake.repair.count} of {mistake.calls} times")
    monkeypatch.setenv("COLUMNS", "200")
    show_mistake(mistake, dict.fromkeys(mistake.sessions, "a session"))
    terminal = capsys.readouterr().out
    page = unescape(visit.client.get(f"/mistake?id={mistake.id}").text)
    listed = unescape(visit.client.get("/mistakes").text)
    for shown in (terminal, page, listed):
        assert mistake.title in shown
        assert mistake.repair.form in shown
        assert mistake.recovery in shown
    repairs = [each for each in home.lessons() if each.kind == "repair" and mistake.signatures[0] in each.signatures]
    assert {each.difference for each in repairs} <= {mistake.repair.form, ""}


def test_a_project_is_found_by_its_name_whatever_lies_in_the_working_folder(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path)
    found = visit.site.home.proposals.propose("shop")
    assert found.path == str(Path(visit.site.home.folder).parent / "work" / "shop" / "AGENTS.md")


def test_a_patch_is_shown_without_the_lines_that_name_the_file() -> None:
    patch = "diff --git a/A b/A\n--- a/A\n+++ b/A\n@@ -1 +1,2 @@\n one\n+-- two\n\\ No newline at end of file\n"
    marks = [(each.mark, each.text) for each in split_patch(patch)]
    assert marks == [("@", "@@ -1 +1,2 @@"), (" ", "one"), ("+", "-- two"), ("@", "\\ No newline at end of file")]
    assert split_patch("") == []
