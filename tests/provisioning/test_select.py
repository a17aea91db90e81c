"""Which lessons are chosen for a task, and what the others are left out for."""

from msgspec.structs import replace

from preheat.model.lesson import DAY, Example, Scope, Support
from preheat.provisioning.select import KINDS, LEAST_IF_PREVENTING, LEAST_IF_USUAL, LEAST_VALUE, Selection, select
from tests.provisioning.made import NOW, PROJECT, example, lesson, test_command


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
    assert ids(chosen(test_command(), rare)) == ["c1"]
    assert set(ids(chosen(test_command(), rare, task="make a release"))) == {"c1", "rare"}


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
    assert ids(chosen(test_command(), weak)) == ["weak", "c1"]


def test_duplicate_lessons_are_left_out() -> None:
    one = lesson("one", "repair", use="read first", error="not read yet", text="Edit fails before reading.")
    again = replace(one, id="again", score=0.5)
    other = lesson("other", "repair", use="read first", error="string not found", text="The words to replace differ.")
    nearly = replace(test_command(), id="nearly", use="mise run tests", score=0.3)
    found = chosen(one, again, other, test_command(), nearly)
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
    lessons = [test_command(), example("e1"), *(lesson(f"c{number}x", use=f"make t{number}") for number in range(30))]
    assert chosen(*lessons) == chosen(*lessons[::-1])
