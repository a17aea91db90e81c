"""Makes the pictures of the pages in `docs/images/pages/`: generated sessions, the real server, a real browser.

    python scripts/make_screenshots.py [FOLDER]

Needs Chromium (`scripts/install-browser`). Look at them before you commit them. Knows no page.
"""

import os
import random
import sys
import tempfile
import time

from playwright.sync_api import sync_playwright

import preheat
from preheat.testing.builders import ClaudeTranscript
from tests.web.builders import find_browser, root_of, serve

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(CHECKOUT, "docs", "images", "pages")
DAY = 86400.0
WIDE, PHONE = (1100, 760), (390, 760)
_TASKS = (
    "the login form", "the export of invoices", "paging of the list", "the price of an empty basket", "retries of the webhook",
    "the address in the footer", "the search for customers", "the report by month", "time zones in reminders",
)  # fmt: skip
_FILES = ("basket.py", "invoice.py", "login.py", "search.py", "webhook.py")


def make_home(folder: str) -> str:
    """A folder of Preheat with three months of made-up work on one project."""
    home, project = os.path.join(folder, "home"), os.path.join(folder, "shop")
    os.makedirs(home, mode=0o700)
    os.makedirs(os.path.join(project, "src"))
    for name in _FILES:
        with open(os.path.join(project, "src", name), "w", encoding="utf-8") as stream:
            stream.write(f"def {name[:-3]}():\n    pass\n")
    chance = random.Random(22)
    files = []
    for number in range(40):
        path = os.path.join(folder, f"{number}.jsonl")
        with open(path, "wb") as stream_of_bytes:
            stream_of_bytes.write(_make_session(number, project, chance).data())
        files.append(("claude_code", path))
    own = preheat.open(home)
    own.sync(files)
    own.learn()
    return home


def _make_session(number: int, project: str, chance: random.Random) -> ClaudeTranscript:
    began = time.time() - (40 - number) * 2 * DAY + chance.randrange(8, 18) * 3600
    work = ClaudeTranscript(
        session=f"{number:08x}-3333-4000-8000-000000000000", project=project, started=began, pace=9.0
    )
    for step in range(chance.randrange(2, 5)):
        work = work.prompt(f"{'Make' if not step else 'Now also make'} {chance.choice(_TASKS)} work")
        for _ in range(chance.randrange(3, 9)):
            name = chance.choice(_FILES)
            path = f"{project}/src/{name}"
            work = work.answer("I look.").call("Read", {"file_path": path}).result(f"1\tdef {name[:-3]}():")
            edit = {"file_path": path, "old_string": "pass", "new_string": f"return {chance.randrange(100)}"}
            misses = chance.random() < 0.15
            said = "String to replace not found in file." if misses else "The file has been updated."
            work = work.answer("I change it.").call("Edit", edit).result(said, is_error=misses)
            if chance.random() < 0.3:
                work = work.answer("Tests.").run("pytest tests", "bash: pytest: command not found", 127)
            failing = chance.random() < 0.2
            result = "1 failed, 8 passed" if failing else "9 passed"
            work = work.answer("Tests.").run("uv run pytest tests", result, int(failing))
        if number % 7 == 3 and step == 1:
            work = work.compaction("The goal, the files and the state of the checks.")
    return work.answer("Done; all tests pass.")


def main(folder: str = FOLDER) -> None:
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="preheat-pictures-") as made, sync_playwright() as playwright:
        home = make_home(made)
        key = next(each.key for each in preheat.open(home).sessions() if each.compactions and each.errors)
        mistake = preheat.open(home).mistakes().mistakes[0].id
        try_it = f"prompt=make+the+tests+of+the+basket+pass&command=pytest+tests&folder={made}/shop"
        paths = {
            "home": "/", "sessions": "/sessions", "session": f"/session?name={key}", "mistakes": "/mistakes",
            "mistake": f"/mistake?id={mistake}", "lessons": "/lessons", "try": f"/lessons/try?{try_it}", "live": "/live",
            "effect": "/effect", "projects": "/projects", "settings": "/settings", "health": "/health",
        }  # fmt: skip
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        with serve(home) as link:
            entrance = link
            for scheme, suffix, (width, height), names in (
                ("light", "", WIDE, list(paths)),
                ("dark", "-phone", PHONE, ["home", "sessions", "session", "lessons"]),
            ):
                context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})  # type: ignore[arg-type] # a literal
                page = context.new_page()
                page.goto(entrance)
                page.wait_for_url(f"{root_of(link)}/")
                for name in names:
                    page.goto(root_of(link) + paths[name])
                    page.locator(".waiting[role=status]").first.wait_for(state="detached", timeout=120_000)
                    if name == "try":  # its form has a folder of this machine in it
                        page.locator(".counted").evaluate("each => window.scrollTo(0, each.offsetTop - 120)")
                    page.wait_for_timeout(300)
                    page.screenshot(path=os.path.join(folder, f"{name}{suffix}-{scheme}.png"))
                page.goto(f"{root_of(link)}/")
                page.click("text=Link for another browser")
                entrance = page.locator(".notice p").inner_text().rpartition(" ")[2]
                context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:2])
