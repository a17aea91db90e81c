"""Which files are named for a prompt: from history alone, from the tree alone, from both; and when nothing is said."""

import msgspec
import pytest

from preheat.model.orientation import TouchedFiles
from preheat.model.tree import TreeEvidence
from preheat.orientation import History, rank
from preheat.orientation.measures import MEASURES, measure_files
from preheat.orientation.prompt import branch_words, count_terms, with_branch
from preheat.orientation.ranking import LEAST_AGAIN, LEAST_PROBABILITY
from preheat.orientation.weights import FIRST, LATER
from tests.orientation.builders import episode, evidence, tree

PAST = [
    episode(1, "fix the validation of the login form", ("src/login.py",), ("src/forms.py",)),
    episode(2, "export invoices as csv", ("src/invoice.py", "tests/test_invoice.py"), check="passed"),
    episode(3, "the landing page needs a banner", ("web/banner.ts",)),
]
PROMPT = "the csv export of invoices crashes without rows"


def paths(found: object) -> list[str]:
    return [each.path for each in found.files]  # type: ignore[attr-defined]


def test_without_a_tree_similar_earlier_work_names_the_files() -> None:
    found = rank(PROMPT, History(PAST), TreeEvidence())
    assert paths(found)[0] == "src/invoice.py"
    assert "tests/test_invoice.py" in paths(found)[:3]


def test_without_history_the_tree_names_the_files() -> None:
    known = tree(evidence("src/invoice.py", content=9.0, path_score=3.0), evidence("src/page.py", content=1.0))
    found = rank(PROMPT, History(), known)
    assert paths(found)[0] == "src/invoice.py"
    assert found.files[0].reasons[0] == "words"


def test_a_file_that_the_prompt_names_comes_first_and_says_so() -> None:
    known = tree(evidence("src/invoice.py", content=9.0), evidence("src/rows.py", named_by="path", content=4.0))
    found = rank("look at src/rows.py, the export of invoices crashes", History(), known)
    assert paths(found)[0] == "src/rows.py"
    assert "named" in found.files[0].reasons


def test_symbols_and_tests_come_with_their_file() -> None:
    known = tree(evidence("src/invoice.py", content=9.0, symbol="write_rows", test="tests/test_invoice.py"))
    (file,) = rank("write_rows crashes on invoices", History(), known).files
    assert [symbol.name for symbol in file.symbols] == ["write_rows"]
    assert file.tests == ("tests/test_invoice.py",)


def test_what_the_session_has_opened_is_not_named_again() -> None:
    found = rank(PROMPT, History(PAST), TreeEvidence(), TouchedFiles(frozenset(["src/invoice.py"])))
    assert "src/invoice.py" not in paths(found)


def test_only_files_that_exist_are_named() -> None:
    found = rank(PROMPT, History(PAST), TreeEvidence(), exists=lambda path: path.startswith("tests/"))
    assert paths(found) == ["tests/test_invoice.py"]


def test_the_check_of_earlier_work_on_the_files_comes_with_its_duration() -> None:
    check = rank(PROMPT, History(PAST), TreeEvidence()).check
    assert check is not None
    assert (check.command, check.passed, check.seconds) == ("uv run pytest -q", 1, 12.0)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cd . && make test", "make test"),
        ("make test 2>&1 | tail -40", "make test"),
        ("pytest tests/test_cart.py", "pytest tests/test_cart.py"),
        ("npx vitest src/cart.spec.ts", "npx vitest src/cart.spec.ts"),
        ("pytest tests/test_login.py", None),
        ("cd web && npm test", "cd web && npm test"),
    ],
)
def test_a_check_of_other_files_is_not_named_and_what_is_around_a_check_is_left_out(
    command: str, said: str | None
) -> None:
    past = [episode(1, "mend the shopping cart total", changed=("src/cart.py",), check="passed", command=command)]
    found = rank("the shopping cart total is wrong", History(past), tree(evidence("src/cart.py", content=9.0)))
    assert (found.check.command if found.check else None) == said


def test_similar_work_of_which_no_file_is_left_is_not_named() -> None:
    past = [episode(1, "mend the shopping cart total", changed=("src/old.py",))]
    now = tree(evidence("src/cart.py", content=9.0))
    found = rank("the shopping cart total is wrong", History(past), now, exists=lambda path: path == "src/cart.py")
    assert [each.path for each in found.files] == ["src/cart.py"]
    assert found.similar == ()


def test_similar_work_says_which_words_and_files_it_shares() -> None:
    (work, *_) = rank(PROMPT, History(PAST), TreeEvidence()).similar
    assert work.session == "agent:2"
    assert set(work.words) >= {"csv", "invoices"}
    assert work.files == ("src/invoice.py", "tests/test_invoice.py")
    assert work.verified == "uv run pytest -q"


@pytest.mark.parametrize(
    "prompt", ["yes", "go on", "commit", "ok, continue please", "👍", "", "  ", "1", "https://example.com/x"]
)
def test_nothing_is_said_without_a_telling_word(prompt: str) -> None:
    assert rank(prompt, History(PAST), tree(evidence("src/a.py", content=1.0))).silence == "no telling words"


def test_nothing_is_said_where_nothing_stands_out() -> None:
    assert rank("quaternions everywhere", History(), tree(evidence("src/a.py"))).silence == "nothing stands out"
    assert rank("quaternions everywhere", History(), TreeEvidence()).silence == "nothing stands out"


def test_a_prompt_in_another_language_finds_the_work_that_was_asked_for_in_it() -> None:
    past = [*PAST, episode(4, "修复发票导出的错误", ("src/export.py",))]
    assert paths(rank("发票导出又出现错误", History(past), TreeEvidence()))[0] == "src/export.py"


def test_a_prompt_of_any_length_is_answered() -> None:
    assert paths(rank("the csv export of invoices " * 8_000, History(PAST), TreeEvidence()))[0] == "src/invoice.py"


def test_what_a_program_puts_before_the_prompt_does_not_count() -> None:
    wrapped = f"<system_instruction>the landing page banner {'banner ' * 40}</system_instruction>\n{PROMPT}"
    assert paths(rank(wrapped, History(PAST), TreeEvidence()))[0] == "src/invoice.py"


def test_work_on_the_same_branch_counts_unless_everybody_works_there() -> None:
    past = [*PAST, episode(4, "begin the parser", ("src/parser.py",), branch="parser")]
    measured = {
        branch: measure_files(count_terms("more"), History(past), [], TreeEvidence(), TouchedFiles(), branch)
        for branch in ("parser", "main")
    }
    assert "branch" in measured["parser"]["src/parser.py"]
    assert not any("branch" in each for each in measured["main"].values())


def test_the_name_of_a_branch_says_what_the_work_is_about() -> None:
    """`begin with it` says nothing by itself; on a branch about exporting, earlier work on exporting is like it."""
    history, own = History(PAST), count_terms("begin with it")
    similar = {branch: history.find_similar(with_branch(own, branch)) for branch in ("fix/7-csv-export", "main")}
    assert "src/invoice.py" in history.files[similar["fix/7-csv-export"][0].place]
    assert similar["main"] == []


@pytest.mark.parametrize(
    ("branch", "words"),
    [
        ("feat/ent-108-add-ai-summaries", "ent add ai summaries"),
        ("list_command", "list command"),
        ("main", ""),
        ("", ""),
    ],
)
def test_the_words_of_a_branch_are_those_after_its_kind(branch: str, words: str) -> None:
    assert branch_words(branch) == words


def test_titles_of_commits_bring_their_files_forward() -> None:
    by_title = msgspec.structs.replace(evidence("src/tidy_ledger.py", content=1.0), title_score=0.8)
    found = rank("tidy the books", History(), tree(evidence("src/tidy_basket.py", content=1.0), by_title))
    assert paths(found)[0] == "src/tidy_ledger.py"
    assert "titles" in found.files[0].reasons


def test_every_measure_has_a_weight_and_lies_between_nothing_and_one() -> None:
    known = tree(
        evidence("src/invoice.py", content=9.0, path_score=2.0, named_by="name", symbol="write"), evidence("docs/a.md")
    )
    terms = count_terms(PROMPT)
    history = History(PAST)
    touched = TouchedFiles(frozenset(["src/login.py"]), frozenset(["src/login.py"]))
    measured = measure_files(terms, history, history.find_similar(terms), known, touched, "main")
    assert set(FIRST.weights) == set(LATER.weights) == set(MEASURES)
    for measures in measured.values():
        assert set(measures) <= set(MEASURES)
        assert all(0 <= value <= 1.000001 for value in measures.values())


def test_words_that_follow_each_other_in_a_name_and_in_the_prompt_count_although_each_is_common() -> None:
    known = tree(evidence("src/default_branch.py", content=1.0), evidence("src/branch_default.py", content=1.0))
    found = rank("do not block this on the default branch of invoices", History(), known)
    assert paths(found)[0] == "src/default_branch.py"
    measures = {each.path: each.measures.get("name_run", 0.0) for each in found.files}
    assert measures == {"src/default_branch.py": 0.5, "src/branch_default.py": 0.0}


def test_what_was_named_before_is_not_named_again_and_the_rest_must_be_surer() -> None:
    named = TouchedFiles(named=frozenset(["src/invoice.py"]))
    found = rank(PROMPT, History(PAST), TreeEvidence(), named)
    assert "src/invoice.py" not in paths(found)
    assert all(each.probability >= LEAST_PROBABILITY for each in found.files)
    unsure = tree(evidence("src/page.py", content=1.0))
    (file,) = rank("something about widgets", History(), unsure).files
    assert LEAST_PROBABILITY <= file.probability < LEAST_AGAIN
    assert rank("something about widgets", History(), unsure, named).silence == "nothing stands out"
