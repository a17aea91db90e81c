"""The Python interface: every function is called on a small machine, and importing it loads nothing."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import preheat
from preheat.errors import NotFound, UserError
from preheat.model.comparison import Comparison
from preheat.model.context import Context
from preheat.model.population import Population
from preheat.model.profile import SessionProfile
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.machine import Machine
from tests.ingest.test_learning import worked
from tests.waiting import HUNG

SECOND = worked(2).session


@pytest.fixture
def home(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> preheat.Preheat:
    """Four sessions of one project, read and learned from."""
    machine = Machine(tmp_path)
    for number in range(1, 5):
        worked(number).write(machine.projects)
    monkeypatch.setenv("HOME", machine.home)
    monkeypatch.setenv("PREHEAT_HOME", machine.folder)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = preheat.open()
    home.sync()
    assert home.learn().sessions == 4
    return home


# What it costs.
def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HUNG).stdout


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, preheat; preheat.__version__; print([m for m in sys.modules if m.partition('.')[0] in {names}])"
    assert python(code.format(names=("preheat", "msgspec", "sqlalchemy", "rich", "click"))) == "['preheat']\n"


@pytest.mark.parametrize("first", ["preheat.provisioning", "preheat.app", "preheat.templates.store"])
def test_public_functions_are_not_hidden_by_modules_of_the_same_name(first: str) -> None:
    code = (
        f"import {first}, preheat; print(callable(preheat.provision), callable(preheat.open), callable(preheat.render))"
    )
    assert python(code) == "True True True\n"


def test_every_public_name_exists_and_no_other() -> None:
    assert all(getattr(preheat, name) for name in preheat.__all__)
    with pytest.raises(AttributeError, match="module `preheat` has no attribute `provisoin`"):
        preheat.provisoin  # noqa: B018
    assert set(preheat.__all__) <= set(dir(preheat))


# Where it looks.
def test_the_archive_is_chosen_by_folder_or_environment(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "a"))
    assert preheat.open().folder == str(tmp_path / "a")
    assert preheat.open("~/b").folder == str(tmp_path / "b")
    assert repr(preheat.open("~/b")) == f"preheat.open({str(tmp_path / 'b')!r})"
    assert os.listdir(tmp_path) == []  # opening is no writing


# Sessions.
def test_sessions_are_listed_loaded_and_searched(home: preheat.Preheat) -> None:
    assert [each.session for each in home.sessions()][::-1] == [worked(number).session for number in range(1, 5)]
    assert home.sessions(project="nowhere") == []
    assert home.session(SECOND).id == SECOND
    assert home.session("latest").id == worked(4).session
    assert len(home.search("checkout step", limit=2)) == 2
    with pytest.raises(NotFound):
        home.session("nobody")


def test_only_named_files_are_read(home: preheat.Preheat, tmp_path: Any) -> None:
    path = worked(9).write(str(tmp_path / "elsewhere"))
    home.sync([("claude_code", path)])
    assert len(home.sessions()) == 5


# Judgements and measurements.
def test_outcomes_and_profiles_are_of_one_session_or_of_all_that_match(home: preheat.Preheat) -> None:
    assert [outcome.status for outcome in home.outcomes(SECOND)][:2] == ["failed", "ok"]
    one = home.profile(SECOND)
    assert isinstance(one, SessionProfile)
    assert (one.calls, one.errors.count) == (5, 1)
    every = home.profile(agent="claude_code")
    assert isinstance(every, Population)
    assert home.mistakes().mistakes[0].sessions


def test_two_sessions_or_two_sets_are_compared(home: preheat.Preheat) -> None:
    assert isinstance(home.compare(SECOND, "latest"), Comparison)
    middle = 1_767_600_000.0 + 2.5 * 86400  # between the second and the third
    assert isinstance(home.compare({"until": middle}, {"since": middle}), Comparison)
    with pytest.raises(UserError, match="not one of each"):
        home.compare(SECOND, {"project": "shop"})


def test_compactions_are_checked_and_histories_compressed(home: preheat.Preheat) -> None:
    assert home.check_compactions() is not None
    assert home.check_compactions(SECOND) is not None
    shorter = home.compress(SECOND, "mask", keep=1)
    assert msgspec.json.encode(shorter)


# Lessons.
def test_lessons_are_listed_by_project_and_kind(home: preheat.Preheat) -> None:
    every = home.lessons()
    assert every == sorted(every, key=lambda lesson: (-lesson.score, lesson.id))
    assert home.lessons("shop") == home.lessons("/home/dev/shop") == every
    assert {lesson.kind for lesson in home.lessons(kind="repair")} == {"repair"}
    assert home.learn("LearnRepairPatterns").tasks[0].name == "LearnRepairPatterns"
    with pytest.raises(NotFound):
        home.lessons("nowhere")


def test_lessons_are_pinned_retired_and_released(home: preheat.Preheat) -> None:
    name = home.lessons(kind="repair")[0].id

    def now() -> tuple[str, bool]:
        (lesson,) = [each for each in home.lessons() if each.id == name]
        return lesson.status, lesson.pinned

    home.pin(name)
    assert now() == ("active", True)
    home.retire(name, "we moved on")
    assert now() == ("retired", False)
    home.release(name)
    assert now() == ("active", False)
    with pytest.raises(NotFound, match="no lesson `zzz`"):
        home.retire("zzz")


HIDDEN = "deploy-tool: \u202enothing was deployed\u202c"
"""An output that reads otherwise than it looks."""


def test_a_quarantined_lesson_cannot_be_pinned(home: preheat.Preheat, tmp_path: Any) -> None:
    for number in (11, 12):
        transcript = worked(number).prompt("on").answer("a").run("deploy-tool up", HIDDEN, 1)
        transcript.answer("b").run("deploy-tool up", HIDDEN, 1).write(str(tmp_path / "home/.claude/projects"))
    home.sync()
    home.learn()
    (locked, *_) = [lesson for lesson in home.lessons() if lesson.status == "quarantined"]
    with pytest.raises(UserError, match="quarantined"):
        home.pin(locked.id)


# Templates.
def test_templates_are_built_found_and_deleted(home: preheat.Preheat) -> None:
    one = home.extract_template("latest", "one", "from one")
    many = home.build_template("many", "from many", tags=["tests"], min_messages=0, project="shop")
    assert (one.name, one.description) == ("one", "from one")
    assert (many.tags, len(many.sources)) == (("tests",), 4)
    assert [each.name for each in home.templates()] == ["many", "one"]
    assert home.template("many") == many
    home.delete_template("one")
    assert [each.name for each in home.templates()] == ["many"]
    with pytest.raises(UserError):
        home.template("nothing")
    with pytest.raises(UserError, match="no session fits"):
        home.build_template("never", min_messages=10_000)


def test_a_template_of_the_best_sessions_needs_enough_of_them(home: preheat.Preheat, tmp_path: Any) -> None:
    assert home.build_best_templates() == []
    for number in range(20, 24):
        transcript = ClaudeTranscript(
            session=f"{number:08x}-2222-4000-8000-000000000000",
            project="/home/dev/till",
            started=1_767_700_000.0 + number,
        ).prompt("work on the till")
        for step in range(40):
            transcript = transcript.answer("next").run("uv run pytest tests", f"{step} passed")
        transcript.write(str(tmp_path / "home/.claude/projects"))
    home.sync()
    assert [each.project for each in home.build_best_templates()] == ["till"]


# A new session.
def test_a_context_comes_from_lessons_or_a_template_or_is_empty_with_a_reason(
    home: preheat.Preheat, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    context = home.provision("mend the failing checkout", project="shop")
    assert any("uv run pytest" in item.text for item in context.items)
    assert context.tokens <= context.budget
    assert preheat.provision("mend the failing checkout", project="shop") == context
    assert home.provision("mend it", project="shop", budget=10).reason.startswith("a budget of 10 tokens")
    assert home.provision("mend it").items == ()  # this folder is of no project
    assert len(home.provision("x" * 100_000, project="shop").items) > 0
    home.build_template("many", min_messages=0)
    assert home.provision("mend it", template="many", examples=True).template.startswith("many@")


def test_every_context_is_rendered_in_every_format(home: preheat.Preheat) -> None:
    context = home.provision("mend the failing checkout", project="shop")
    assert "<preheat-context" in str(preheat.render(context).document)
    for form in ("text", "openai", "anthropic", "hook", "agents-md", "skill", "mcp-prompt"):
        assert preheat.render(context, form).format == form
        assert preheat.render(Context(id="x", task="nothing"), form).format == form
    with pytest.raises(UserError):
        preheat.render(context, "papyrus")


def test_without_an_archive_a_session_gets_an_empty_context_and_none_is_created(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # whose files say nothing either
    home = preheat.open(str(tmp_path / "none"))
    assert home.provision("mend it").reason == "no lessons yet"
    assert home.templates() == []
    assert not os.path.exists(tmp_path / "none" / "archive.db")


EMPTY: list[Callable[[preheat.Preheat], Any]] = [
    lambda home: home.sessions(),
    lambda home: home.search("x"),
    lambda home: home.lessons(),
    lambda home: home.build_best_templates(),
    lambda home: home.mistakes().mistakes,
    lambda home: home.learn().mistakes,
]


@pytest.mark.parametrize("ask", EMPTY)
def test_an_empty_archive_gives_empty_results(ask: Callable[[preheat.Preheat], Any], tmp_path: Any) -> None:
    assert len(ask(preheat.open(str(tmp_path)))) == 0
