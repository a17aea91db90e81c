"""Only a browser that came by a link, from our own address, sees a page; only our own forms change something."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from preheat.web.actions import ACTIONS
from preheat.web.guard import LARGEST_FORM, LINK_SECONDS, Access, Guard
from preheat.web.pages import PAGES
from preheat.web.site import Site, make_app, own_path

PORT = 4321
HERE = f"http://127.0.0.1:{PORT}"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(clock: Clock) -> Access:
    return Access(PORT, clock)


@pytest.fixture
def client(tmp_path: Path, access: Access) -> Iterator[TestClient]:
    site = Site(str(tmp_path), access)
    with TestClient(Guard(make_app(site, PAGES, ACTIONS, ()), access), base_url=HERE, follow_redirects=False) as made:
        yield made
    site.close()


def enter(client: TestClient, access: Access) -> None:
    assert client.get(access.make_link()).status_code == 200


def test_without_the_cookie_no_page_and_no_style_is_given(client: TestClient) -> None:
    for path in ("/", "/sessions", "/static/pages.css", "/live/stream", "/nowhere"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "preheat open" in answer.text


def test_a_link_works_once_and_ends(client: TestClient, access: Access, clock: Clock) -> None:
    link, late = access.make_link(), access.make_link()
    assert client.get(link).status_code == 200
    assert client.get("/").status_code == 200
    client.cookies.clear()
    assert client.get(link).status_code == 403
    clock.now += LINK_SECONDS + 1
    assert client.get(late).status_code == 403
    assert client.get("/enter?token=").status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", "", f"[::1]:{PORT}"]
)
def test_another_host_name_is_refused_before_the_link_is_used(client: TestClient, access: Access, host: str) -> None:
    link = access.make_link()
    assert client.get(link, headers={"Host": host}).status_code == 421
    assert client.get(link).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", f"http://127.0.0.1:{PORT + 1}", f"https://127.0.0.1:{PORT}", None]
)
def test_a_form_from_elsewhere_changes_nothing(client: TestClient, access: Access, origin: str | None) -> None:
    enter(client, access)
    headers = {} if origin is None else {"Origin": origin}
    answer = client.post("/do/make-link", data={"form_token": access.form_token}, headers=headers)
    assert answer.status_code == 403


def test_a_form_without_our_token_changes_nothing_and_with_it_does(client: TestClient, access: Access) -> None:
    enter(client, access)
    for token, status in (("", 403), ("x" * 32, 403), (access.form_token, 303)):
        sent = {"form_token": token, "back": "/lessons?show=all"}
        answer = client.post("/do/make-link", data=sent, headers={"Origin": HERE})
        assert answer.status_code == status
    assert answer.headers["location"].startswith("/lessons?show=all&done=")
    cross = {"Origin": HERE, "Sec-Fetch-Site": "cross-site"}
    assert client.post("/do/make-link", data=sent, headers=cross).status_code == 403
    assert client.post("/do/nothing", data=sent, headers={"Origin": HERE}).status_code == 400
    large = {"form_token": access.form_token, "why": "x" * LARGEST_FORM}
    assert client.post("/do/pin-lesson", data=large, headers={"Origin": HERE}).status_code == 400


def test_every_answer_forbids_scripts_of_others_frames_and_storing(client: TestClient, access: Access) -> None:
    enter(client, access)
    for path in ("/", "/nowhere", "/session", "/settings"):
        headers = client.get(path).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
    cookie = client.get(access.make_link()).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.request(method, "/").status_code == 405


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example", "https://evil.example", "", "/a\r\nSet-Cookie: x"]
)
def test_an_action_leads_back_to_our_own_pages_only(path: str) -> None:
    assert own_path(path) == "/"


def test_it_is_idle_when_nobody_asks_and_nothing_is_watched(access: Access, clock: Clock) -> None:
    clock.now += 100
    assert access.is_idle(60)
    access.begin_stream()
    assert not access.is_idle(60)
    access.end_stream()
    assert not access.is_idle(60)
    clock.now += 61
    assert access.is_idle(60)
