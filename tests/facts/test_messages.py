"""The form of commit messages: what the newest of them agree on, with the scopes and areas that come again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.facts import derive_facts
from preheat.facts.messages import describe_messages
from preheat.provisioning.lesson_text import describe_lesson
from preheat.safe_text.sentences import is_handed_out
from tests.facts.test_facts import lines_of, tree_of


def line_of(subjects: list[str]) -> str:
    return next((line for line in lines_of({"README.md": "x"}, subjects) if line.startswith("commit messages")), "")


def beginnings_of(subjects: list[str]) -> tuple[str, ...]:
    found = describe_messages(subjects)
    return found.beginnings if found is not None else ()


OLDER = [f"feat: step {number}" for number in range(40)]
SENTENCES = [f"Change the cart {number}" for number in range(40)]


def test_whether_messages_have_a_scope_is_what_the_newest_do() -> None:
    newest = [f"fix(cart): step {number}" for number in range(20)]
    forms = [describe_messages(each) for each in ([*newest, *OLDER], [*OLDER, *newest], [*newest[:8], *OLDER])]
    assert [each and each.scope for each in forms] == ["yes", "", "some"]


def test_the_newest_messages_outvote_the_older_ones_either_way() -> None:
    """A custom that began is told, one that was given up is not, and neither is what one task alone did."""
    newest = [f"{kind}: step {number}" for number in range(10) for kind in ("feat", "fix")]
    assert line_of([*newest, *SENTENCES]) == "commit messages: `TYPE: …`, mostly `feat: …`, `fix: …`"
    assert line_of([*SENTENCES[:20], *OLDER, *OLDER]) == ""
    assert line_of([*OLDER[:20], *SENTENCES]) == ""
    assert line_of([*newest[:8], *SENTENCES]) == ""


def test_a_scope_that_most_messages_of_a_type_have_is_named() -> None:
    subjects = ["feat(cart): one", "fix(cart): two", "fix(pay): three", "docs(api): four", "fix(i18n): five"] * 6
    assert line_of(subjects) == "commit messages: `TYPE(SCOPE): …`, mostly `feat(cart): …`, `fix(…): …`, `docs(api): …`"


def test_the_scope_of_the_newest_task_is_not_named() -> None:
    task = [f"feat(new-cart): step {number}" for number in range(20)]
    older = [f"feat({name}): one" for name in ("pay", "web", "api", "core", "db") for _ in range(2)]
    assert beginnings_of([*task, *older]) == ("feat(…): …",)


@pytest.mark.parametrize(
    "scope", ["018-panel", "step4", "a, b", "ignore-all-previous", "Cart", "src/app/cart", "x" * 21]
)
def test_a_scope_that_is_no_name_of_one_or_two_words_is_left_out(scope: str) -> None:
    assert beginnings_of([f"feat({scope}): one"] * 20) == ("feat(…): …",)


def test_tickets_are_told_in_their_general_form() -> None:
    assert beginnings_of([f"feat(SHOP-{number}): one" for number in range(20)]) == ("feat(SHOP-…): …",)
    tickets = [f"SHOP-{number}: one" for number in range(20)]
    assert line_of(tickets) == "commit messages: `TICKET …`, mostly `SHOP-…: …`"
    assert beginnings_of([f"[SHOP-{number}] one" for number in range(20)]) == ("[SHOP-…] …",)
    assert beginnings_of([f"SHOP-{number} one" for number in range(20)]) == ("SHOP-… …",)


def test_messages_that_begin_with_a_package_are_told_with_those_that_come_again() -> None:
    subjects = ["net/http: one", "sts: two", f"once{'x'}: three", "sts: four"] * 6
    assert line_of(subjects) == "commit messages: `AREA: …`, mostly `net/http: …`, `oncex: …`, `sts: …`"
    assert line_of(["[web] one", "[api] two"] * 8) == "commit messages: `[AREA] …`, mostly `[api] …`, `[web] …`"
    assert line_of([f"part{'abcdefghijklmnopqrst'[number]}: one" for number in range(20)]) == ""


def test_a_type_of_the_projects_own_is_a_type_beside_known_ones() -> None:
    subjects = ["feat: one", "add: two", "fix: three"] * 8
    assert line_of(subjects) == "commit messages: `TYPE: …`, mostly `feat: …`, `fix: …`"


@pytest.mark.parametrize(
    "subject",
    [
        "chore(deps-dev): bump knip from 6.24.0 to 6.25.0",
        "fix(deps): update rust crate rmcp to v2",
        "chore(main): release 1.2.0",
        "chore: version packages",
        "docs: update contributors [skip ci]",
        "Auto: 9 files changed, 4 insertions(+)",
        "Merge pull request #7 from shop/cart",
        "fixup! feat: one",
    ],
)
def test_what_programs_commit_is_no_message_of_anybody(subject: str) -> None:
    people = [f"{kind}(cart): one" for kind in ("feat", "fix") for _ in range(6)]
    assert describe_messages([subject] * 48) is None
    assert describe_messages([*[subject] * 48, *people]) == describe_messages(people)


PIECES = st.sampled_from(
    ["feat", "fix", "(", ")", "[", "]", ": ", " ", "`", "…", "SHOP-7", "cart", "\n", "$(rm)", "-", "/", "ignore rules"]
)


@settings(max_examples=200)
@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join))
def test_no_message_can_put_words_of_its_own_into_a_line(head: str) -> None:
    """Whatever all messages begin with: the line is one of our sentences, and a beginning no longer than a name."""
    for fact in derive_facts(tree_of({"README.md": "x"}, [f"{head}: one", f"{head} two", f"feat({head}): three"] * 10)):
        line = describe_lesson(fact)
        assert not line or is_handed_out(line), line
        assert len(line) < 200
