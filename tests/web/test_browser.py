"""The pages in a real browser: every page at every width, hostile texts as texts, every action with its undo, nothing off the
machine."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

import preheat
from preheat.cli.demo_files import place_files
from tests.web.builders import MARK, SLASHED, fill_home, find_axe, find_browser, root_of, serve

WORK = "claude_code:00000003-7777-4000-8000-000000000000"
OTHER = "claude_code:00000004-7777-4000-8000-000000000000"
BAD = "claude_code:99999999-7777-4000-8000-000000000000"
PATHS = (
    "/", "/sessions", f"/session?name={WORK}", f"/session?name={BAD}", f"/compare?a={WORK}", f"/compare?a={WORK}&b={BAD}",
    "/mistakes", "/lessons?show=all", "/lessons/try?prompt=make+the+tests+pass&command=pytest+tests&printed=pytest:+not+found",
    "/lessons/propose?project=shop", "/live", "/effect",
    "/projects", "/settings", "/health", f"/session/entry?name={BAD}&number=1", "/nowhere",
)  # fmt: skip
WIDTHS = (390, 800, 1400)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    return fill_home(str(tmp_path_factory.mktemp("pages")))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield opened
        opened.close()


class Visitor:
    """A browser that came by a link, and what went wrong in it."""

    def __init__(self, context: BrowserContext, link: str) -> None:
        self.root = root_of(link)
        self.page: Page = context.new_page()
        self.troubles: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._note_request(request.url))
        self.page.goto(link)
        self.page.wait_for_url(f"{self.root}/")

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.troubles.append(text)

    def _note_request(self, url: str) -> None:
        if not url.startswith((self.root, "data:")):
            self.elsewhere.append(url)

    def go(self, path: str) -> Page:
        """Open a page, and wait until nothing is missing on it. What is loaded when it is seen is looked at."""
        self.page.goto(self.root + path)
        missing = self.page.locator(".waiting")
        for _ in range(200):
            if not missing.count():
                break
            with suppress(Error):  # it may be there by now
                missing.first.scroll_into_view_if_needed(timeout=1_000)
            self.page.wait_for_timeout(50)
        assert missing.count() == 0
        return self.page


@pytest.fixture(scope="module")
def visitor(home: str, browser: Browser) -> Iterator[Visitor]:
    with serve(home) as link:
        context = browser.new_context()
        yield Visitor(context, link)
        context.close()


@pytest.mark.parametrize("path", PATHS)
def test_every_page_fits_every_width_without_an_error_and_shows_hostile_text_as_text(
    visitor: Visitor, path: str
) -> None:
    visitor.troubles.clear()
    for width in WIDTHS:
        visitor.page.set_viewport_size({"width": width, "height": 900})
        page = visitor.go(path)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        assert page.locator("h1").count() == 1
        assert page.evaluate("[window.hostile, window.hostile_7f3a]") == [None, None]
        assert page.locator("main a[href^='https:'], main a[href^='javascript:'], main img, main script").count() == 0
        assert "49" not in page.locator("h1").inner_text()
    expected = [] if path != "/nowhere" else [each for each in visitor.troubles if "404" in each]
    assert visitor.troubles == expected
    assert visitor.elsewhere == []


def test_hostile_text_stands_in_the_page_letter_by_letter(visitor: Visitor) -> None:
    page = visitor.go(f"/session?name={BAD}")
    page.wait_for_selector(".entries")
    text = page.locator("main").inner_text()
    assert f"<script>window.{MARK.replace('-', '_')}=1</script>" in text
    assert "\u202e" not in text
    assert "{{ 7*7 }}" in text


def test_no_page_has_a_serious_finding_of_axe_in_light_and_in_dark(visitor: Visitor) -> None:
    axe = find_axe()
    found = []
    visitor.page.set_viewport_size({"width": 1400, "height": 900})
    for scheme, paths, rules in (("light", PATHS, None), ("dark", PATHS[2:9], ["color-contrast"])):
        visitor.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # a literal
        for path in paths:
            page = visitor.go(path)
            page.evaluate(f"(() => {{ {axe} }})()")
            options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
            results = page.evaluate("options => axe.run(document, options)", options)
            found += [
                (scheme, path[:30], each["id"], each["nodes"][0]["html"][:120])
                for each in results["violations"]
                if each["impact"] in ("serious", "critical")
            ]
    visitor.page.emulate_media(color_scheme="light")
    assert found == []


def test_a_search_finds_as_one_types_and_is_part_of_the_address(visitor: Visitor) -> None:
    page = visitor.go("/sessions")
    page.keyboard.press("/")
    page.keyboard.type("step 3 of the sho")
    page.locator("table.rows tbody tr").nth(1).wait_for(state="detached")
    assert "words=step+3+of+the+sho" in page.url
    page.reload()
    assert page.locator("table.rows tbody tr").count() == 1
    page.keyboard.press("/")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/session\\?"))
    assert "step 3" in page.locator("h1").inner_text()


def test_rows_are_chosen_and_opened_by_the_keyboard(visitor: Visitor) -> None:
    page = visitor.go("/sessions")
    for key in "jjk":
        page.keyboard.press(key)
    assert page.locator("tr.current").count() == 1
    wanted = page.locator("tr.current a.row").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/session\\?"))
    assert page.locator("h1").inner_text()[:40] == wanted[:40]


def test_filters_stay_in_the_address_from_page_to_page(visitor: Visitor) -> None:
    page = visitor.go("/sessions")
    page.select_option("select[name=agent]", "claude_code")
    page.wait_for_url(re.compile("agent=claude_code"))
    page.select_option("select[name=since]", "7d")
    page.wait_for_url(re.compile("since=7d"))
    page.click("text=Mistakes")
    page.wait_for_url(re.compile("/mistakes\\?.*agent=claude_code"))
    assert "since=7d" in page.url


def test_the_next_failure_is_one_key_away_and_a_click_on_the_ribbon_reads_the_call(visitor: Visitor) -> None:
    page = visitor.go(f"/session?name={WORK}")
    page.wait_for_selector("#call-0")
    page.keyboard.press("n")
    assert page.locator(".entry.here").get_attribute("id") == "call-0"
    page.keyboard.press("n")
    assert page.locator(".entry.here").get_attribute("id") == "call-3"
    ribbon = page.locator("svg.ribbon")
    ribbon.scroll_into_view_if_needed()
    box = ribbon.bounding_box()
    assert box is not None
    ribbon.click(position={"x": box["width"] * 0.99, "y": box["height"] / 2})
    assert page.locator(".entry.here").get_attribute("id") == "call-5"
    assert page.locator("#call-4 .change .added").count() == 2


def test_a_lesson_is_pinned_and_that_is_taken_back(visitor: Visitor, home: str) -> None:
    page = visitor.go("/lessons?show=active")
    lesson = page.locator(".lesson").first.get_attribute("id")
    for button, mark in (("Pin", "pinned"), ("Retire", "retired")):
        page = visitor.go(f"/lessons?find={lesson}")
        page.click(f".lesson button:text-is('{button}')")
        page.wait_for_selector(".notice")
        assert preheat.open(home).knowledge.marks()[str(lesson)].mark == mark
        page.click(".notice button")
        page.wait_for_selector(".notice:has-text('Undone')")
        assert f"find={lesson}" in page.url
        assert str(lesson) not in preheat.open(home).knowledge.marks()


def test_a_setting_is_changed_after_a_question_and_that_is_taken_back(visitor: Visitor, home: str) -> None:
    page = visitor.go("/settings")
    page.select_option("#live-hold select", "true")
    page.click("#live-hold button")
    page.wait_for_selector("#question")
    assert not os.path.exists(os.path.join(home, "settings.toml"))
    page.click("text=Change it")
    page.wait_for_selector(".notice")
    assert Path(home, "settings.toml").read_text() == "[live]\nhold = true\n"
    page.click(".notice button")
    page.wait_for_selector(".notice:has-text('default again')")
    assert preheat.open(home).settings.find("live", "hold").is_set is False


def test_another_browser_needs_a_link_of_its_own(visitor: Visitor, browser: Browser) -> None:
    second = browser.new_context()
    page = second.new_page()
    assert page.goto(f"{visitor.root}/sessions").status == 403  # type: ignore[union-attr] # it answers
    assert "preheat open" in page.locator("body").inner_text()
    visitor.go("/")
    visitor.page.click("text=Link for another browser")
    found = re.search(r"http://\S+", visitor.page.locator(".notice").inner_text())
    assert found is not None
    page.goto(found[0])
    page.wait_for_url(f"{visitor.root}/")
    assert page.locator("nav a").count() == 9
    assert page.goto(found[0]).status == 403  # type: ignore[union-attr] # a link works once
    second.close()


def test_an_id_with_slashes_opens_and_a_session_deleted_meanwhile_says_so(visitor: Visitor, home: str) -> None:
    page = visitor.go("/sessions")
    href = page.evaluate(
        "id => [...document.querySelectorAll('a.row')].map(each => each.href)"
        ".find(each => new URL(each).searchParams.get('name').endsWith(id))",
        SLASHED,
    )
    page.goto(href)
    assert SLASHED in page.locator(".id").inner_text()
    preheat.open(home).archive.forget([f"claude_code:{SLASHED}"])
    page.reload()
    assert "no session" in page.locator(".problem").inner_text()
    assert page.locator("main a").count() == 2


def test_a_page_is_one_file_without_script_link_home_folder_or_address(
    visitor: Visitor, home: str, tmp_path: Path
) -> None:
    from preheat.web.page_file import FILE_PAGES, write_page

    for name in FILE_PAGES:
        path = tmp_path / f"{name}.html"
        write_page(home, name, {"name": WORK, "a": WORK, "b": OTHER, "id": _first_mistake(home)}, str(path))
        text = path.read_text()
        assert "<script" not in text.replace("&lt;script", "")
        assert 'href="/' not in text
        assert "<form" not in text
    requests: list[str] = []
    page = visitor.page.context.new_page()
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"file://{tmp_path}/session.html")
    assert [each for each in requests if not each.startswith(("file:", "data:"))] == []
    assert page.locator(".entry.call").count() == 6
    page.close()


def _first_mistake(home: str) -> str:
    return preheat.open(home).mistakes().mistakes[0].id


def test_the_recorded_sessions_of_the_demonstration_are_listed_at_every_width(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    own = preheat.open(str(home))
    named = own.find_files([place_files(str(tmp_path / "recorded")).sessions])
    own.sync(named.files)
    with serve(str(home)) as link:
        context = browser.new_context()
        visitor = Visitor(context, link)
        for width in WIDTHS:
            visitor.page.set_viewport_size({"width": width, "height": 900})
            for path in ("/sessions", "/sessions?columns=started,project,model,calls,tokens,length,compactions"):
                page = visitor.go(path)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (width, path)
                assert page.locator("table.rows tbody tr a.row").count() == 8
        assert visitor.troubles == []
        context.close()


def test_an_empty_folder_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    empty = tmp_path / "home"
    empty.mkdir(mode=0o700)
    with serve(str(empty)) as link:
        context = browser.new_context()
        visitor = Visitor(context, link)
        for path in ("/", "/sessions", "/mistakes", "/lessons", "/effect", "/projects"):
            assert "preheat sync" in visitor.go(path).locator("main").inner_text()
        visitor.go("/settings")
        visitor.go("/health")
        assert visitor.troubles == []
        context.close()
    assert not (empty / "archive.db").exists()
