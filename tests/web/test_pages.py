"""Pages without a browser: bad addresses, an archive that cannot be written, values that take long, files."""

import os
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

import preheat
from preheat.amounts import date_time, one_line
from preheat.cli import pages as command
from preheat.model.experiment import Assignment
from preheat.state.connect import writing
from preheat.state.experiments import keep_assignments
from preheat.web import page_file
from preheat.web.kept import KeptValues
from preheat.web.pages import PAGES
from preheat.web.query import Query
from preheat.web.site import Site
from tests.shared import bound_by_permissions, needs_permissions
from tests.waiting import until
from tests.web.builders import MARK, Visit, fill_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, each_database_of_module: str) -> str:
    return fill_home(str(tmp_path_factory.mktemp("pages")))


@pytest.fixture
def visit(home: str) -> Iterator[Visit]:
    made = Visit(home)
    yield made
    made.site.close()


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/session", 400, "needs `name`"),
        ("/session?name=nothing-like-it", 404, "no session"),
        ("/session/entry?name=latest&number=99999", 400, "there is no entry"),
        ("/session/transcript?name=latest&start=-1", 400, "which is no number"),
        ("/session/transcript?name=latest&start=99999", 200, "entries"),
        ("/sessions?since=yesterday-ish", 400, "is not a time"),
        ("/sessions?start=999999999", 200, "sessions"),
        ("/sessions?words=%22%22**", 200, "sessions"),
        ("/sessions?words=AND+OR+NOT+%28", 200, "No session fits"),
        ("/sessions?project=" + "x" * 5000, 200, "No session fits"),
        ("/sessions?order=no-such-order", 200, "sessions"),
        ("/mistake?id=unknown", 404, "no mistake"),
        ("/lessons/try?prompt=x&folder=relative", 400, "there is no folder"),
        ("/settings?heading=live&setting=nothing", 400, "there is no setting"),
        ("/compare?a=latest&b=latest", 200, "same session"),
    ],
)
def test_a_bad_address_gets_a_page_that_says_what_to_do(visit: Visit, path: str, status: int, said: str) -> None:
    answer = visit.client.get(path)
    assert (answer.status_code, said in answer.text) == (status, True), answer.text[:3000]
    assert "Traceback" not in answer.text


def test_hostile_text_in_the_address_is_escaped(visit: Visit) -> None:
    for path in ("/sessions?words=", "/sessions?project=", "/session?name=", "/lessons?find=", "/settings?value="):
        text = visit.client.get(path + "%22%3E%3Cscript%3Ealert(1)%3C/script%3E").text
        assert "<script>alert" not in text


def test_every_number_of_a_mistake_leads_to_its_calls(visit: Visit) -> None:
    mistake = preheat.open(visit.site.home.folder).mistakes().mistakes[0]
    text = visit.client.get(f"/mistake?id={mistake.id}").text
    for each in mistake.occurrences:
        assert f"call={each.seq}#call-{each.seq}" in text


def test_home_says_what_plain_preheat_says_of_the_next_step_the_next_session_and_whether_it_helps(visit: Visit) -> None:
    shop = os.path.join(os.path.dirname(visit.site.home.folder), "work", "shop")
    stamp = visit.site.views.stamp()
    expected = visit.site.home.home_summary(shop)
    assert len(expected.next_session.sentences) > 0
    text = unescape(visit.client.get("/?project=shop").text)
    for said in (expected.next_step.command, expected.next_step.why, expected.effect, *expected.next_session.sentences):
        assert one_line(said, 300) in text
    assert "The next session in" in text
    assert visit.site.views.stamp() == stamp  # else the values of every page would be added up again and again


def test_the_columns_of_the_sessions_are_chosen_in_the_address_and_every_link_keeps_them(visit: Visit) -> None:
    usual = visit.client.get("/sessions").text
    assert usual.count('<th scope="col"') == 9
    text = visit.client.get("/sessions?columns=calls,length").text
    assert text.count('<th scope="col"') == 3
    assert "columns=calls%2Clength&amp;name=claude_code" in text
    assert 'href="/mistakes?columns=calls%2Clength' in text
    assert 'name="columns" value="calls,length' in text
    assert 'href="/sessions?columns=length"' in text  # one less
    assert visit.client.get("/sessions?columns=,,nonsense").text.count('<th scope="col"') == 9


def test_money_tokens_and_lost_time_lead_to_the_sessions_or_calls_behind_them(visit: Visit) -> None:
    mistake = preheat.open(visit.site.home.folder).mistakes().mistakes[0]
    expected = {
        "/": ("/sessions?order=tokens", "/sessions?order=failed", f"/mistake?id={mistake.id}#occurrences"),
        "/mistakes": (f"/mistake?id={mistake.id}#occurrences",),
        f"/mistake?id={mistake.id}": ("#occurrences",),
        "/session?name=00000003": ("&amp;errors=1#transcript", "#context-title", '"#transcript"'),
        "/sessions": ("#context-title",),
    }
    for path, targets in expected.items():
        text = visit.client.get(path).text
        for target in targets:
            assert f"{target}" in text, (path, target)


def test_every_single_assignment_is_listed_with_its_session_arm_and_time(home: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy")
    shutil.copytree(home, copy)
    made = Assignment(
        session="claude_code:00000003-7777-4000-8000-000000000000", root="claude_code:00000003-7777-4000-8000-000000000000",
        experiment="holdout@1", arm="cold", at=1_790_000_000.0,
    )  # fmt: skip
    with writing(copy) as state:
        keep_assignments(state, [made])
    visit = Visit(copy)
    text = visit.client.get("/effect").text
    visit.site.close()
    assert "/session?name=claude_code%3A00000003-7777-4000-8000-000000000000" in text
    assert f"{date_time(made.at)}</td>" in text
    assert "<td>cold</td>" in text


def test_a_setting_that_is_no_value_is_refused_and_the_file_stays(visit: Visit, tmp_path: Path) -> None:
    path = Path(visit.site.home.folder, "settings.toml")
    path.write_text('[live]\n# mine\nblock = "high"\n')
    try:
        status, text = visit.do("change-setting", heading="live", name="block", value='"everything"')
        assert (status, "That was not done" in text) == (400, True)
        assert path.read_text() == '[live]\n# mine\nblock = "high"\n'
        assert visit.do("change-setting", heading="live", name="block", value='"critical"')[0] == 200
        assert path.read_text() == '[live]\n# mine\nblock = "critical"\n'
        assert visit.do("change-setting", heading="live", name="block", value='"never"\nhold = true')[0] == 400
    finally:
        path.unlink()


@needs_permissions
@pytest.mark.parametrize("each_database_of_module", ["sqlite"], indirect=True)  # a file without permission
def test_an_archive_that_cannot_be_written_is_shown_and_an_action_says_why_it_was_not_done(
    home: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    for each in copy.rglob("*"):
        each.chmod(0o500 if each.is_dir() else 0o400)
    copy.chmod(0o500)
    with bound_by_permissions(str(copy)):
        visit = Visit(str(copy))
        try:
            assert visit.client.get("/sessions").text.count('class="row"') == 8
            assert visit.client.get("/").status_code == 200
            lesson = visit.site.home.lessons()[0].id
            status, text = visit.do("pin-lesson", lesson=lesson)
            assert (status, "That was not done" in text) == (400, True)
            assert visit.do("change-setting", heading="live", name="hold", value="true")[0] == 400
        finally:
            visit.site.close()
    copy.chmod(0o700)


def test_a_value_that_takes_long_is_added_up_in_another_process_until_the_archive_changes() -> None:
    stamp = ["first"]
    values = KeptValues(lambda: stamp[0])
    try:
        first = until(lambda: values.find(os.getpid).value, "the value")
        assert first != os.getpid()
        assert values.find(os.getpid).value == first
        stamp[0] = "second"
        assert values.find(os.getpid).value == first  # not again within seconds, however often it changes
        values.forget()
        assert until(lambda: values.find(os.getpid).value, "the value") != first
    finally:
        values.close()


def test_a_failure_to_add_up_is_raised_and_tried_again(tmp_path: Path) -> None:
    values = KeptValues(lambda: 1)
    path = tmp_path / "file"
    try:
        with pytest.raises(FileNotFoundError):
            until(lambda: values.find(os.path.getsize, str(path)).value, "the failure")
        path.write_text("four")
        assert until(lambda: values.find(os.path.getsize, str(path)).value, "the value") == 4
    finally:
        values.close()


def test_links_keep_the_filters_and_quote_what_is_in_them() -> None:
    query = Query("/sessions", {"project": "a&b", "since": "7d", "words": "x", "start": "100"})
    assert query.link("/session", name="codex:a/b?c#d") == "/session?project=a%26b&since=7d&name=codex%3Aa%2Fb%3Fc%23d"
    assert query.change(start=None, words=None) == "/sessions?project=a%26b&since=7d"


def test_the_command_names_the_pages_that_can_be_files() -> None:
    assert tuple(page_file.FILE_PAGES) == command.FILE_PAGES
    assert set(page_file.FILE_PAGES.values()) <= {each.path for each in PAGES}


def test_a_file_has_no_secret_home_folder_or_address_in_it(home: str, tmp_path: Path) -> None:
    site = Site(home, makes_files=True)
    text = "see /home/anna/shop and C:\\Users\\anna\\x, mail anna@example.org, key AKIAIOSFODNN7EXAMPLQ"
    clean = site.views.redact_for_sharing(text)
    assert clean.startswith("see ~/shop and ~\\x, mail [address], key ")
    assert "AKIAIOSFODNN7EXAMPLQ" not in clean
    site.close()
    path = tmp_path / "session.html"
    page_file.write_page(home, "session", {"name": "99999999"}, str(path))
    assert MARK in path.read_text()
    assert "<script>window" not in path.read_text()
