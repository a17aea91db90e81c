"""What a prompt asks for, by its words: in many languages, by synonyms, in a plan, and where it only goes on."""

import pytest

from preheat.facts import derive_facts
from preheat.facts.asking import goes_on, read_prompt, topics_asked
from preheat.facts.choice import choose_for_prompt
from preheat.model.lesson import Lesson
from tests.facts.test_facts import FILES, lesson, tree_of

PLAN = (
    "Implement the following plan:\n# A cart that remembers\n"
    + "The cart forgets what is in it. " * 40
    + "\n## Verification\n- lint is clean\n- typecheck passes\n## Risks\nDeployment of the release\n"
    + "Nobody knows. " * 30
)


@pytest.mark.parametrize(("prompt", "topic"), [
    ("run the vitest suite", "test"), ("corrige las pruebas que fallan", "test"), ("запусти тесты", "test"), ("修复测试", "test"),
    ("テストを実行して", "test"), ("open a pull request", "pull_request"), ("fix the type errors", "typecheck"),
    ("start the dev server", "serve"), ("закоммить это", "commit"), ("shellcheck complains", "lint"),
    ("install the dependencies", "setup"), ("commit and push", "hook"),
])  # fmt: skip
def test_words_of_many_languages_name_a_topic(prompt: str, topic: str) -> None:
    assert topic in topics_asked(prompt)


@pytest.mark.parametrize(
    "prompt", ["this module has a dependency", "the request was merged", "building on that idea", "контекст"]
)
def test_words_that_only_look_alike_name_no_topic(prompt: str) -> None:
    assert topics_asked(prompt) == frozenset()


@pytest.mark.parametrize("prompt", [
    "füge einen Endpunkt hinzu", "añade un endpoint", "исправь ошибку", "добавь кнопку", "添加一个按钮",
    "ボタンを追加して", "버튼을 추가해줘", "ajoute un bouton", "adicione um botão", "resolve the conflict in the cart",
])  # fmt: skip
def test_a_change_is_asked_for_in_many_languages(prompt: str) -> None:
    assert read_prompt(prompt).changes


@pytest.mark.parametrize("prompt", [
    "continue", "yes", "ok, implement it", "go ahead with the plan", "weiter", "продолжай", "继续",
    "proceed with step two please",
])  # fmt: skip
def test_a_prompt_that_only_goes_on_is_recognised(prompt: str) -> None:
    assert goes_on(prompt)


@pytest.mark.parametrize(
    "prompt", ["", "continue with the billing page", "why?", "implement the cart", "thanks", "ok?"]
)
def test_a_prompt_that_asks_for_something_of_its_own_does_not_only_go_on(prompt: str) -> None:
    assert not goes_on(prompt)


def uses(prompt: str, before: tuple[str, ...] = ()) -> list[str]:
    return [each.lesson.use for each in choose_for_prompt(derive_facts(tree_of(FILES)), prompt, before=before)]


def test_a_prompt_that_goes_on_asks_for_what_the_one_before_asked() -> None:
    assert "pnpm dev" not in uses("continue")
    assert "pnpm dev" in uses("continue", ("open", "browser"))
    assert uses("thanks", ("open", "browser")) == []


def test_a_plan_asks_for_the_checks_by_which_it_is_shown_right_and_not_for_all_it_mentions() -> None:
    asked = read_prompt(PLAN)
    assert asked.shown == {"lint", "typecheck"}
    assert "release" not in asked.topics | asked.shown
    assert {"pnpm lint", "pnpm typecheck"} <= set(uses(PLAN))


def test_one_command_is_named_for_a_purpose_unless_the_prompt_names_another() -> None:
    assert [use for use in uses("fix the failing test") if use.startswith("pnpm test")] == ["pnpm test"]
    assert "pnpm test:e2e" in uses("fix the failing e2e test")


@pytest.mark.parametrize(("base", "said"), [("main", []), ("develop", ["gh pr create"])])
def test_only_an_unusual_base_of_pull_requests_is_news(base: str, said: list[str]) -> None:
    known = lesson("pull_request", "gh pr create", details={"about": "pull request", "base": base})
    assert [each.lesson.use for each in choose_for_prompt([known], "open a pull request")] == said


@pytest.mark.parametrize(
    "prompt",
    ["we have a number of open PRs, are any stale?", "did we push to the pr?", "do I need to open a PR for this?"],
)
def test_a_prompt_that_only_speaks_of_pull_requests_makes_none(prompt: str) -> None:
    assert not read_prompt(prompt).creates
    assert read_prompt("open a pull request").creates


def test_a_command_that_no_session_ever_needed_is_said_only_by_its_name_or_for_files_of_its_package() -> None:
    usual = {"about": "lint", "main": "yes"}
    needed = lesson("lint", "eslint .", sessions=0, reach=0.3, details=usual)
    idle = lesson("lint", "go vet ./...", sessions=0, reach=0.04, details=usual)
    own = lesson("lint", "make lint", sessions=0, reach=0.04)
    inside = lesson("lint", "cd api && ruff check", sessions=0, reach=0.04,
                    details={**usual, "package": "api"})  # fmt: skip

    def said(known: Lesson, prompt: str = "fix the lint", files: tuple[str, ...] = ()) -> bool:
        return bool(choose_for_prompt([known], prompt, files))

    assert said(needed)
    assert said(own)
    assert not said(idle)
    assert said(inside, files=("api/cart.py",))
    assert not said(inside, "fix the lint of the api")


def test_a_check_of_one_folder_is_said_only_where_the_prompt_is_about_it() -> None:
    known = lesson("test", "go test ./internal/store/...", reach=0.2)
    assert not choose_for_prompt([known], "fix the failing test")
    assert choose_for_prompt([known], "fix the failing test", ("internal/store/cart.go",))
    assert choose_for_prompt([known], "fix the failing test of the store")


def test_the_form_of_messages_is_said_with_a_prompt_only_where_it_speaks_of_commits() -> None:
    known = lesson("commit", "", details={"about": "message"})
    assert choose_for_prompt([known], "commit this")
    assert not choose_for_prompt([known], "add a feature")


def test_a_prompt_that_names_many_checks_is_told_the_command_that_runs_them_all() -> None:
    checks = [
        lesson(topic, f"make {topic}", details={"about": topic, "main": "yes"})
        for topic in ("test", "lint", "format", "build")
    ]
    whole = lesson("check", "make verify", details={"about": "check", "main": "yes"})
    asked = "make sure that the tests, the lint, the format and the build pass"
    assert [each.lesson.use for each in choose_for_prompt([*checks, whole], asked)] == ["make verify"]
    assert len(choose_for_prompt(checks, asked)) == 4
    assert "make lint" in [each.lesson.use for each in choose_for_prompt([*checks, whole], "fix the failing lint")]
