"""What a prompt asks for, by its words: in many languages, by synonyms, in a plan, and where it only goes on."""

import pytest

from preheat.facts import derive_facts
from preheat.facts.asking import goes_on, read_prompt
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
    assert topic in read_prompt(prompt).topics


@pytest.mark.parametrize(
    "prompt", ["this module has a dependency", "the request was merged", "building on that idea", "контекст"]
)
def test_words_that_only_look_alike_name_no_topic(prompt: str) -> None:
    assert read_prompt(prompt).topics == frozenset()


@pytest.mark.parametrize("prompt", [
    "füge einen Test hinzu", "añade una prueba", "исправь тест", "добавь тест", "添加一个测试",
    "テストを追加して", "테스트를 추가해줘",
    "adicione um teste", "resolve the conflict in the test", "the tests fail", "can you run the tests?", "failing tests",
    "add a feature and test it",
    "Looks good. Test it, then stop.",
])  # fmt: skip
def test_a_sentence_that_asks_for_work_names_its_topics(prompt: str) -> None:
    assert "test" in read_prompt(prompt).topics


@pytest.mark.parametrize("prompt", [
    "is there a regression test?", "why does nobody like tests?", "The previous tests were about the cart that we had in May",
    "it sounds like the test was right all along, no?",
])  # fmt: skip
def test_what_is_only_spoken_of_is_not_asked_for(prompt: str) -> None:
    assert read_prompt(prompt).topics == frozenset()


@pytest.mark.parametrize("prompt", [
    "commit this", "please commit and push", "Did you commit?", "make two commits of it", "then commit",
    "fix it, commit, open a PR", "зафиксируй и закоммить", "Realize o commit após as alterações",
])  # fmt: skip
def test_a_commit_is_asked_for_as_a_deed(prompt: str) -> None:
    assert "commit" in read_prompt(prompt).topics


@pytest.mark.parametrize("prompt", [
    "- Commit: 14ccad3 the cart", "The previous commit replaced the cart, fix it", "check the commit message for typos",
    "fix the commit hash in the docs", "look at commit 14ccad3 and change it",
])  # fmt: skip
def test_a_commit_that_is_spoken_of_is_not_asked_for(prompt: str) -> None:
    assert "commit" not in read_prompt(prompt).topics


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


def uses(prompt: str) -> list[str]:
    return [each.lesson.use for each in choose_for_prompt(derive_facts(tree_of(FILES)), prompt)]


def test_a_script_is_named_where_the_prompt_calls_it_by_its_name() -> None:
    assert "pnpm db:migrate" in uses("run db:migrate")
    assert "pnpm db:migrate" in uses("run the db migrate script")
    assert "pnpm db:migrate" not in uses("could we migrate to another db?")
    assert "pnpm db:migrate" not in uses("the migration of the db has to be rewritten")


def test_how_one_test_is_run_waits_until_one_is_spoken_of() -> None:
    one = lesson("test", "pnpm exec vitest run PATH", details={"about": "one test file"})
    assert not choose_for_prompt([one], "fix the failing tests")
    assert choose_for_prompt([one], "run only the test file of the cart")


def test_what_a_language_has_for_everybody_is_not_said() -> None:
    for use in ("go vet ./...", "cargo fmt --all", "cd api && pytest PATH", "go test ./FOLDER/... -run NAME -v"):
        assert not choose_for_prompt([lesson("test", use), lesson("lint", use)], "fix the failing test and lint")
    assert choose_for_prompt([lesson("test", "go test -tags=integration ./...")], "fix the failing test")


def test_a_variable_is_named_where_it_is_asked_for_or_a_clone_is_set_up() -> None:
    known = lesson("variable", "", details={"about": "variable", "names": "STRIPE_KEY"})
    assert choose_for_prompt([known], "set up the project")
    assert choose_for_prompt([known], "fix the error about STRIPE_KEY")
    assert not choose_for_prompt([known], "move this into an env variable")


def test_what_a_long_prompt_says_of_checks_waits_for_its_change_of_code() -> None:
    """A plan mentions everything; what a short one asks for is asked for now."""
    assert not read_prompt(PLAN + "Run the tests, fix the lint.").topics
    assert uses(PLAN) == []
    assert "commit" in read_prompt(PLAN + "Then commit it.").topics
    assert "test" in read_prompt("fix the failing tests").topics


def test_what_another_agent_writes_is_not_what_the_person_asks() -> None:
    assert not read_prompt('<teammate-message teammate_id="lead">run the tests</teammate-message>').topics


def test_what_a_terminal_printed_or_a_program_lists_is_not_what_is_asked() -> None:
    listed = (
        "# Files mentioned by the user:\n\n## tests.md: run the tests\n\n## My request for the agent:\nopen an issue\n"
    )
    assert not read_prompt(listed).topics
    assert not read_prompt("look at this\n│ fix the tests and commit\n").topics
    assert not read_prompt('change the README to say "this is a test"').topics
    assert read_prompt('"fix the failing lint"').topics == {"lint"}
    assert not read_prompt("clean up the test repo and the test data").topics


def test_what_a_prompt_names_or_the_session_ran_is_not_said() -> None:
    assert "pnpm lint" in uses("fix the lint")
    assert "pnpm lint" not in uses("`pnpm lint` fails, fix it")
    ran = choose_for_prompt(derive_facts(tree_of(FILES)), "fix the lint", ran=("pnpm lint 2>&1 | tail",))
    assert "pnpm lint" not in [each.lesson.use for each in ran]
    assert not [use for use in uses("test it with selenium") if use.startswith("pnpm test")]


def test_one_command_is_named_for_a_purpose_unless_the_prompt_names_another() -> None:
    assert [use for use in uses("fix the failing test") if use.startswith("pnpm test")] == ["pnpm test"]
    assert "pnpm test:e2e" in uses("fix the failing e2e test")


@pytest.mark.parametrize(("base", "said"), [("main", []), ("develop", ["gh pr create"])])
def test_only_an_unusual_base_of_pull_requests_is_news(base: str, said: list[str]) -> None:
    known = lesson("pull_request", "gh pr create", details={"about": "pull request", "base": base})
    assert [each.lesson.use for each in choose_for_prompt([known], "open a pull request")] == said


@pytest.mark.parametrize(
    "prompt",
    ["we have a number of open PRs, are any stale?", "did we push to the pr?", "do I need to open a PR for this?",
     "address the feedback on the PR", "check out his branch"],
)  # fmt: skip
def test_a_prompt_that_only_speaks_of_pull_requests_makes_none(prompt: str) -> None:
    assert not read_prompt(prompt).topics & {"branch", "pull_request"}
    assert {"branch", "pull_request"} <= read_prompt("open a pull request").topics


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
