"""Words in common between a task and a lesson."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preheat.model.context import ContextLesson
from preheat.model.lesson import DAY, Example, Lesson, Scope, Support
from preheat.provisioning.selection import (
    KINDS,
    LEAST_IF_PREVENTING,
    LEAST_IF_USUAL,
    LEAST_VALUE,
    Selection,
    content_words,
    display_order,
    pack,
    select,
    similarities,
)
from tests.provisioning.builders import NOW, PROJECT, command_lesson, example, lesson


# Words in common between a task and a lesson.
def test_names_in_code_are_split_into_words() -> None:
    assert {"pars", "user", "name", "parseusernam"} <= content_words("parseUserName")
    assert {"src", "order", "refund", "policy", "py"} <= content_words("src/orders/refund_policy.py")
    assert {"http", "server"} <= content_words("HTTPServer")


def test_endings_and_common_words_do_not_count() -> None:
    """`testing the tests` is about `test`."""
    assert content_words("please use the testing of tests") == {"test"}
    assert content_words("parsed parses parsing parse") == {"pars"}


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """The lesson about uploads is closest to a task about uploads, though all are about tests."""
    documents = [
        content_words("run the upload test"),
        content_words("run the login test"),
        content_words("run the search test"),
    ]
    close, *others = similarities(content_words("the upload test fails"), documents)
    assert close > 2 * max(others)
    assert similarities(content_words("rename the widget"), documents) == [0, 0, 0]


def test_a_long_task_is_not_close_to_everything() -> None:
    """A plan of a thousand words has a word in common with every lesson; that says little."""
    lesson = [content_words("upload test"), content_words("login form"), content_words("search index")]
    long = content_words("upload " + " ".join(f"topic{number}" for number in range(1000)))
    assert similarities(long, lesson)[0] < 0.5 * similarities(content_words("upload"), lesson)[0]


@given(st.text(max_size=100), st.lists(st.text(max_size=60), max_size=6))
def test_similarity_is_between_zero_and_one(task: str, texts: list[str]) -> None:
    documents = [content_words(text) for text in texts]
    found = similarities(content_words(task), documents)
    assert len(found) == len(texts)
    assert all(0 <= each < 1 for each in found)
    assert similarities(content_words(task), documents[::-1]) == found[::-1]


# Fitting items into a budget.
def item(name: str, tokens: int, value: float) -> ContextLesson:
    return ContextLesson(lesson=name, kind="convention", text=name, tokens=tokens, value=value)


@st.composite
def items(draw: st.DrawFn) -> list[ContextLesson]:
    sizes = draw(st.lists(st.tuples(st.integers(1, 400), st.floats(0.01, 1)), max_size=20))
    return [item(f"l{number}", tokens, value) for number, (tokens, value) in enumerate(sizes)]


@given(items(), st.integers(-10, 1500))
def test_packed_items_fit_the_budget_and_no_other_item_would(given_items: list[ContextLesson], budget: int) -> None:
    taken = pack(given_items, budget)
    left = budget - sum(each.tokens for each in taken)
    assert left >= 0 or not taken
    assert all(each.tokens > left for each in given_items if each not in taken)
    assert taken == [each for each in given_items if each in taken]


@given(items(), st.integers(0, 1500), st.randoms(use_true_random=False))
def test_packing_does_not_depend_on_the_order_of_items(
    given_items: list[ContextLesson], budget: int, random: object
) -> None:
    shuffled = list(given_items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {each.lesson for each in pack(shuffled, budget)} == {each.lesson for each in pack(given_items, budget)}


def test_value_per_token_decides_what_is_packed() -> None:
    large, small, other = item("large", 100, 0.9), item("small", 40, 0.6), item("other", 50, 0.7)
    assert pack([large, small, other], 100) == [small, other]
    assert pack([large, item("trifle", 5, 0.1)], 100) == [large]


def test_pinned_items_are_packed_first() -> None:
    assert pack([item("good", 60, 1.0), item("mine", 60, 0.01)], 100, frozenset(["mine"]))[0].lesson == "mine"


# Which lessons are chosen for a task, and what the others are left out for.
def chosen(*lessons: object, task: str = "fix the upload parser", agent: str = "", **options: object) -> Selection:
    given = {"task": task, "agent": agent, "project": PROJECT, "now": NOW, "sessions": 10, **options}
    return select(list(lessons), **given)  # type: ignore[arg-type]


def ids(selection: Selection) -> list[str]:
    return [each.lesson.id for each in selection.candidates]


def test_lessons_that_may_not_be_given_are_left_out() -> None:
    found = chosen(
        lesson("weak", status="weak"),
        lesson("retired", status="retired", pinned=True),
        lesson("quarantined", status="quarantined", pinned=True),
        lesson("expired", expires_at=NOW - 1),
        lesson("theirs", scope=Scope(project="other")),
        lesson("tool", scope=Scope(project=PROJECT, agent="codex")),
        lesson("harm", utility=-0.01),
        lesson("bare", "example", example=Example("Bash", {}, "")),
        lesson("good", use="make"),
        agent="hermes",
    )
    assert ids(found) == ["good"]
    assert found.left_out == {
        "weak": 1, "retired": 1, "quarantined": 1, "expired": 1, "of another project": 1, "of another agent's tools": 1,
        "does harm": 1, "an example without a call": 1,
    }  # fmt: skip


def test_a_convention_needs_no_word_of_the_task() -> None:
    """How tests are run matters to every task here; a rare command only to a task about it."""
    rare = lesson("rare", topic="release", use="make release", reach=0.35, score=0.5)
    assert ids(chosen(command_lesson(), rare)) == ["c1"]
    assert set(ids(chosen(command_lesson(), rare, task="make a release"))) == {"c1", "rare"}


def test_the_likelihood_of_a_usual_kind_is_its_share_of_sessions() -> None:
    """Of two commands that work equally well the usual one is worth more, and what few sessions need is not handed out:
    by what occurred in them or, where nobody has counted that, by how many speak for it."""
    usual = lesson("usual", use="npm run lint", reach=0.8)
    less = lesson("less", use="npm run check", reach=0.4)
    first, second = chosen(less, usual).candidates
    assert (first.lesson.id, second.lesson.id) == ("usual", "less")
    assert first.value == 2 * second.value
    seldom = chosen(lesson("seldom", use="npm run check", reach=LEAST_IF_USUAL - 0.01))
    assert seldom.left_out == {"seldom needed here": 1}
    assert not chosen(lesson("old", use="x", reach=None, support=Support(9, 3, 0, 0))).candidates
    assert chosen(lesson("old", use="x", reach=None, support=Support(9, 8, 0, 0))).candidates


def test_lessons_that_prevent_mistakes_need_a_lower_likelihood() -> None:
    repair = lesson("r1", "repair", use="a", error="x", reach=2 * LEAST_IF_PREVENTING)
    (often,) = chosen(repair).candidates
    (seldom,) = chosen(replace(repair, reach=LEAST_IF_PREVENTING)).candidates
    assert often.value == 2 * seldom.value
    assert not chosen(replace(repair, reach=LEAST_IF_PREVENTING - 0.01)).candidates
    assert not chosen(replace(repair, kind="convention", reach=2 * LEAST_IF_PREVENTING)).candidates


def test_an_example_of_a_convention_is_chosen_only_with_examples() -> None:
    convention = lesson("c2", use="mise run lint", forms=("mise run lint",))
    shown = replace(example("e1"), use="mise run lint", forms=("mise run lint",))
    assert ids(chosen(convention, shown)) == ["c2"]
    assert set(ids(chosen(convention, shown, examples=True))) == {"c2", "e1"}


def test_the_same_requirement_of_a_tool_is_chosen_once() -> None:
    here = lesson(
        "here", "repair", topic="edit", difference="after reading the file", scope=Scope(project=PROJECT, tool="Edit")
    )
    anywhere = replace(
        here, id="anywhere", scope=Scope(tool="Edit"), text="Quite other words, elsewhere.", error="other"
    )
    assert ids(chosen(anywhere, here)) == ["here"]


def test_a_rule_of_a_person_is_chosen_however_few_sessions_show_it() -> None:
    said = lesson("said", topic="correction", use="use sqlite", support=Support(1, 1, 0, 0), score=0.4)
    assert ids(chosen(said, sessions=500)) == ["said"]


def test_words_in_common_with_the_task_raise_the_likelihood() -> None:
    upload = lesson("upload", "working_set", use="src/upload.py", files=("src/upload.py",), reach=0.5)
    login = lesson("login", "working_set", use="src/login.py", files=("src/login.py",), reach=0.5)
    assert ids(chosen(login, upload, task="fix the upload")) == ["upload", "login"]
    assert ids(chosen(login, upload, task="fix the login")) == ["login", "upload"]


def test_scope_age_and_effect_change_the_value() -> None:
    """What was learned elsewhere counts half, an old lesson less (a file that nobody touches, less and less), a measured help
    more."""
    plain = lesson("plain", "repair", use="a", error="x")
    (base,) = chosen(plain).candidates
    (general,) = chosen(replace(plain, scope=Scope())).candidates
    (old,) = chosen(replace(plain, last_seen=NOW - 60 * DAY, half_life=60.0)).candidates
    (helps,) = chosen(replace(plain, utility=0.05)).candidates
    assert round(general.value / base.value, 3) == 0.5
    assert 0.75 * base.value < old.value < 0.76 * base.value
    file = lesson("file", "working_set", use="a.py")
    (fresh,), (stale,) = (chosen(replace(file, last_seen=NOW - days * DAY)).candidates for days in (0, 60))
    assert stale.value == fresh.value / 2
    assert round(helps.value / base.value, 3) == 1.5


def test_a_lesson_below_the_least_value_is_left_out() -> None:
    found = chosen(lesson("faint", "example", example=example("x").example, score=0.1))
    assert not found.candidates
    assert 0 < found.best < LEAST_VALUE
    assert found.left_out == {"worth too little for this task": 1}


def test_a_pinned_lesson_is_always_chosen() -> None:
    weak = lesson("weak", status="weak", score=0.001, pinned=True)
    assert ids(chosen(command_lesson(), weak)) == ["weak", "c1"]


def test_duplicate_lessons_are_left_out() -> None:
    one = lesson("one", "repair", use="read first", error="not read yet", text="Edit fails before reading.")
    again = replace(one, id="again", score=0.5)
    other = lesson("other", "repair", use="read first", error="string not found", text="The words to replace differ.")
    nearly = replace(command_lesson(), id="nearly", use="mise run tests", score=0.3)
    found = chosen(one, again, other, command_lesson(), nearly)
    assert set(ids(found)) == {"one", "other", "c1"}
    assert found.left_out == {"says the same as another": 2}


def test_no_more_than_the_most_of_a_kind_are_chosen() -> None:
    most = KINDS["working_set"].most
    files = [
        lesson(f"w{number:02}", "working_set", use=f"src/shop/orders/part{number}.py", score=0.3 + number / 100)
        for number in range(most + 4)
    ]
    found = chosen(*files)
    assert ids(found) == [f"w{number:02}" for number in range(most + 3, 3, -1)]
    assert found.left_out == {"enough of its kind": 4}


def test_another_agents_examples_are_left_out_only_where_the_agent_is_known() -> None:
    """A tool has another name there."""
    assert ids(chosen(example("e1"), agent="hermes")) == []
    assert ids(chosen(example("e1"), agent="claude_code")) == ["e1"]
    assert ids(chosen(example("e1"))) == ["e1"]


def test_a_template_may_come_from_another_project() -> None:
    """A person chose it, so even faint lessons count; of another project they count half."""
    there = lesson("there", scope=Scope(project="other"), score=0.08)
    assert not chosen(there).candidates
    (other,) = chosen(there, template=True).candidates
    (nowhere,) = chosen(there, template=True, project="").candidates
    assert abs(nowhere.value - 2 * other.value) < 0.00001


def test_the_order_of_the_lessons_does_not_matter() -> None:
    """The same lessons give the same choice."""
    lessons = [command_lesson(), example("e1"), *(lesson(f"c{number}x", use=f"make t{number}") for number in range(30))]
    assert chosen(*lessons) == chosen(*lessons[::-1])


def test_a_repair_of_other_projects_is_told_only_where_its_program_is_in_use() -> None:
    general = lesson(
        "r1", "repair", topic="shell", scope=Scope(), use="cargo test", avoid="cargo test --lib", forms=("cargo test",)
    )

    def tell(*others: str) -> list[str]:
        own = [lesson(f"c{number}", use=command) for number, command in enumerate(others)]
        found = select([general, *own], task="", agent="", project=PROJECT, now=NOW)
        return [each.lesson.id for each in found.candidates if each.lesson.id == "r1"]

    assert tell() == []
    assert tell("pnpm test") == []
    assert tell("pnpm test", "cargo build") == ["r1"]


def at_start(*known: Lesson) -> list[str]:
    found = select(known, task="", agent="claude_code", project=PROJECT, now=NOW, sessions=20, at_start=True)
    return [each.lesson.use for each in found.candidates]


def test_at_the_start_no_check_is_said_of_one_folder_or_that_nobody_can_run_as_it_stands() -> None:
    assert at_start(lesson("c1", topic="test", use="go test ./...")) == ["go test ./..."]
    assert at_start(lesson("c1", topic="test", use="go test ./internal/store/...")) == []
    assert at_start(lesson("c1", topic="lint", use="golangci-lint run --timeout=VALUE")) == []


def test_at_the_start_a_check_must_be_needed_by_more_sessions_than_another_fact() -> None:
    assert at_start(lesson("c1", topic="lint", use="make lint", reach=0.55)) == []
    assert at_start(lesson("c1", topic="hook", use="make lint", reach=0.55)) == ["make lint"]


def test_a_persons_own_lesson_comes_before_all_others() -> None:
    own = lesson("z", "repair", topic="test", use="make test", author="person", pinned=True)
    assert min([lesson("a", topic="build"), own], key=display_order) is own
