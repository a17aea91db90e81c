"""The documentation shows what the program does."""

import difflib
import html
import os
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from preheat.cli.earlier_names import translate
from preheat.lessons.learners import LEARNERS
from preheat.testing.builders import ClaudeTranscript
from scripts.make_docs import PAGE, PYTHON, page, python_page
from scripts.make_recording import PICTURE, make_picture, run_demo
from scripts.make_site import navigation
from tests.shared import TESTS

CHECKOUT = os.path.dirname(TESTS)
PAGES = [
    os.path.join(folder, name)
    for place in (CHECKOUT, os.path.join(CHECKOUT, "docs"))
    for folder, _, names in os.walk(place)
    if place != CHECKOUT or folder == CHECKOUT
    for name in names
    if name.endswith(".md")
]
README = os.path.join(CHECKOUT, "README.md")
SEEDS = os.path.join(CHECKOUT, "docs", "reference", "seeds.md")
REQUESTED = (
    # S1
    "error rate by length", "telemetry", "tool-call success patterns", "user conventions", "recovery sequences",
    "context-window use", "proficiency markers", "extract templates", "create warm sessions", "A/B test of warm against cold",
    "time to completion", "user satisfaction", "version control", "validation", "bootstrapping", "user style",
    "compression strategies", "minimum viable warm-up", "visualisation", "a paper", "open dataset", "template sharing",
    "template bloat", "publication bias",
    # S2
    "`ToolCallPattern`", "`UserPattern`", "`RecoveryPattern`", "`SessionTemplate`", "`SessionProfiler.analyze_session`",
    "slash commands", "context markers", "proficiency score", "70 %", "`TemplateManager`", "`WarmSessionBootstrapper`",
    "`hermes warm analyze`", "`hermes warm create-template`", "`hermes warm list-templates`", "`hermes warm test`",
    # S3
    "`ToolCallOutcome`", "`SessionProfile`", "`WarmPattern`", "`WarmSessionTemplate`", "`ABTestResult`", "bookkeeping tools",
    "`profile_session`", "`extract_patterns_from_session`", "`extract_from_session_db`", "`build_warm_conversation`",
    "`analyze_compression_impact`", "`compare_sessions`", "`save_template`", "`load_template`", "`list_templates`",
    "`build_and_save`", "`warm_session`", "`build`", "`list`", "`load`", "`delete`", "`profile`", "`compress-check`",
    "`compare`", "`name`", "`description`", "`min_messages`", "`max_sessions`", "`source_filter`", "`tags`", "`session_id`",
    "`compare_with`",
    # S4
    "`SessionSeed`", "`WarmTemplate`", "`hermes warm extract --name --description`", "`hermes warm list`",
    "automatic templates", "export/import", "A/B tests", "choosing the best template",
    # S5
    "focus", "loop", "verification debt", "drift velocity", "trust", "Warmup", "Productive", "Exploring", "Struggling", "Late",
    "adaptive thresholds", "advisory budget", "tool-output lines", "interventions", "worked example", "scorecard", "safety",
    "efficiency", "UX", "dream state", "resume packet",
)  # fmt: skip
"""The names and promises of the documents that asked for Preheat. The ten learners are held to the code beside."""
GROUPS = (
    "preheat sessions",
    "preheat lessons",
    "preheat templates",
    "preheat experiment",
    "preheat experiment lab",
    "preheat admin",
)
"""Commands that do nothing without a command of theirs."""
NAMES_OF_0_1_0 = ("migration-0.2.md", "CHANGELOG.md", "paper.md")
"""Pages that name earlier commands."""


def text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def test_the_page_of_commands_is_up_to_date() -> None:
    """Run `python scripts/make_docs.py` after changing a command."""
    assert text(PAGE) == page()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_links_have_a_target(path: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", text(path)):
        if not target.startswith("http"):
            assert os.path.exists(os.path.join(os.path.dirname(path), target)), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_commands_and_options_in_pages_exist(path: str) -> None:
    known = _sections(text(PAGE))
    for line in re.findall(r"`?(?:^|\$ |`)(preheat [a-z][^`\n#]*)", text(path), flags=re.MULTILINE):
        for one in re.split(r" && |; ", line):
            words = one.split()
            if words[0] != "preheat":
                continue
            words = [re.sub(r"[|].*", "", word) for word in words]
            if os.path.basename(path) in NAMES_OF_0_1_0:
                words = ["preheat", *translate(words[1:])]
            command = next(found for size in range(4, 0, -1) if (found := " ".join(words[:size])) in known)
            assert command != "preheat", line
            assert command not in GROUPS or words[-1] == command.split()[-1], line
            for option in re.findall(r" (--[a-z-]+)", one.partition(" -- ")[0]):
                assert option in known[command], line


def _sections(commands: str) -> dict[str, str]:
    """By command, its help."""
    parts = re.split(r"^## `(.*)`$", commands, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_learner_is_documented() -> None:
    lessons, seeds = text(os.path.join(CHECKOUT, "docs", "concepts", "lessons.md")), text(SEEDS)
    for learner in LEARNERS:
        assert f"**{learner.name}.**" in lessons
        assert f"| `{learner.name}` |" in seeds


def _tests_by_file() -> dict[str, set[str]]:
    """The names of all tests, by the path of their file below `tests`."""
    return {
        name: set(_test_names(path))
        for path, _ in _files(TESTS)
        for name in [os.path.relpath(path, TESTS)]
        if name.endswith(".py")
    }


def test_every_finding_on_the_page_about_security_names_a_test_that_exists() -> None:
    there = _tests_by_file()
    rows = re.findall(
        r"^\| ([SA]\d+) \|.*\|(.*)\|$", text(os.path.join(CHECKOUT, "docs/concepts/security.md")), re.MULTILINE
    )
    assert {f"S{number}" for number in range(1, 13)} <= {finding for finding, _ in rows}
    for finding, named in rows:
        tests = re.findall(r"`tests/([\w/]+\.py)(?:::(test_\w+))?`", named)
        assert tests, finding
        for path, name in tests:
            assert path in there, (finding, path)
            assert not name or name in there[path], (finding, name)


def test_every_name_of_the_request_has_a_row_with_a_test_that_exists() -> None:
    """What is missing says so, in the row and in the word `Missing`; a page that promises something for later is wrong."""
    page = text(SEEDS)
    rows = [
        line.split(" | ") for line in page.splitlines() if line.startswith("| ") and not line.endswith("| proved by |")
    ]
    names = "\n".join(row[0] for row in rows)
    assert [name for name in REQUESTED if name not in names] == []
    assert not re.search(r"\blater\b|\bplanned\b|not yet", page)
    there = _tests_by_file()
    everywhere = sorted(f"{path}::{name}" for path, names in there.items() for name in names)
    lost = {}
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row[-1])
        assert named, row
        for path, name in named:
            if name not in there.get(path, ()):
                lost[f"{path}::{name}"] = difflib.get_close_matches(f"{path}::{name}", everywhere, n=2, cutoff=0.5)
    assert lost == {}, "tests that docs/reference/seeds.md names and that are gone, with the nearest that exist"


def _test_names(path: str) -> set[str]:
    return set(re.findall(r"^(?:async )?def (test_\w+)", text(path), re.MULTILINE))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_files_of_the_checkout_that_a_page_names_exist(path: str) -> None:
    """`src/…`, `tests/…`, `scripts/…`, `benchmarks/…` and `docs/…`; made by a run, or with a NAME to fill in, they need not."""
    if os.path.join("docs", "paper") in path:
        return  # frozen: it names files as they were when it was written
    for name in re.findall(r"`((?:src/preheat|tests|scripts|benchmarks|docs)/[\w./-]*)`", text(path)):
        invented = "NAME" in name or name.startswith(("benchmarks/results", "tests/auth"))
        assert invented or os.path.exists(os.path.join(CHECKOUT, name)), name


def test_the_table_of_contents_leads_to_every_page() -> None:
    """From docs/README.md, by links, in one step; the pages of single agents by way of their table."""
    contents = os.path.join(CHECKOUT, "docs", "README.md")
    linked = _links(contents)
    assert len(linked) == len(set(linked)), "a page stands in the table of contents once"
    found = {contents, *linked, *_links(os.path.join(CHECKOUT, "docs", "agents", "README.md"))}
    pages = {path for path in PAGES if path.startswith(os.path.join(CHECKOUT, "docs") + os.sep)}
    assert sorted(os.path.relpath(path, CHECKOUT) for path in pages - found) == []


def _links(path: str) -> list[str]:
    """The files that a page links to."""
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(path))
    return [os.path.normpath(os.path.join(os.path.dirname(path), target)) for target in targets]


def test_python_blocks_of_the_pages_run(tmp_path: Any) -> None:
    for path in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", text(path), flags=re.DOTALL)
        if blocks:
            done = _run("\n".join(blocks), tmp_path / os.path.basename(path))
            assert done.returncode == 0, f"{path}\n{done.stderr}"


def test_the_python_page_names_every_function() -> None:
    from preheat.app import Preheat

    told = text(PYTHON)
    for name, value in vars(Preheat).items():
        if not name.startswith("_"):
            assert (f"home.{name}`" if isinstance(value, property) else f"home.{name}(") in told, name


def test_the_tables_of_the_python_page_are_up_to_date() -> None:
    """Run `python scripts/make_docs.py` after adding a method."""
    assert text(PYTHON) == python_page(text(PYTHON))


def _run(code: str, folder: Any) -> "subprocess.CompletedProcess[str]":
    home = folder / "home"
    for number in range(1, 9):
        _worked(number).write(str(home / ".claude" / "projects"))
    environment = {"HOME": str(home), "PREHEAT_HOME": str(folder / "archive"), "PATH": os.environ["PATH"]}
    source = os.path.join(CHECKOUT, "src")
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PYTHONPATH": source},
        cwd=home,
        capture_output=True,
        text=True,
    )


def _worked(number: int) -> ClaudeTranscript:
    """A session of a project `shop`, of the last days: lessons fade."""
    session = f"{number:08x}-1111-4000-8000-000000000000"
    started = time.time() - (10 - number) * 86400
    folder = "/home/dev/shop"
    return (
        ClaudeTranscript(session=session, project=folder, started=started)
        .prompt(f"Make discount number {number} work")
        .answer("I run the tests.")
        .run("npm test", 'npm error Missing script: "test"', 1)
        .answer("Another way.")
        .run("pnpm run test:unit", f"Tests  {number + 40} passed")
        .answer("I change it.")
        .call("Edit", {"file_path": f"{folder}/src/cart.ts", "old_string": "0", "new_string": f"{number}"})
        .result("The file has been updated.")
        .answer("Once more.")
        .run("pnpm run test:unit", f"Tests  {number + 41} passed")
        .answer("Done.")
    )


def test_the_picture_in_the_readme_has_the_lines_of_the_real_output() -> None:
    """Run `python scripts/make_recording.py` after changing the demonstration; blanks and numbers aside, which may differ."""
    assert "](docs/images/demo.svg)" in text(README)
    assert lines_of(text(PICTURE)) == lines_of(make_picture(run_demo()))


def lines_of(picture: str) -> list[str]:
    """The texts in a picture of a terminal, in order."""
    found = re.findall(r"<text [^>]*>([^<]*)</text>", picture)
    return [re.sub(r"[\s\d]+", " ", html.unescape(each)).strip() for each in found]


def test_the_readme_has_at_most_150_lines_and_begins_with_two_commands() -> None:
    readme = text(README)
    assert len(readme.splitlines()) <= 150
    block = re.search(r"```sh\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    assert [line.split("#")[0].strip() for line in block[1].strip().splitlines()] == ["./dev demo", "./dev test"]
    for word in ("demo", "test"):
        assert f"  {word} " in text(os.path.join(CHECKOUT, "dev"))
    assert "./dev test" in text(os.path.join(CHECKOUT, ".ci", "run"))


def test_the_site_leads_to_every_page() -> None:
    """`./dev site` fails for a page outside the navigation or a broken link; here without what builds it."""
    named = set(re.findall(r"'([\w./-]+\.md)'", str(navigation())))
    pages = {os.path.relpath(path, CHECKOUT) for path in PAGES}
    assert named == {"index.md" if name == "README.md" else name for name in pages}


def _files(root: str) -> list[tuple[str, str]]:
    return [(os.path.join(folder, name), name) for folder, _, names in os.walk(root) for name in names]
