"""LearnSequences: orders of calls that good stretches have more often than bad ones, and nothing where there is none."""

import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as some

from preheat.lessons.learner import SessionNotes
from preheat.lessons.sequences import (
    LEARN_SEQUENCES,
    MOST_STEPS,
    SessionSide,
    Stretch,
    StretchNotes,
    describe,
    find_sequences,
    learn,
    take_notes,
)
from tests.lessons.sessions import Made, ran, seen, used


def read(path: str = "/w/shop/a.py") -> Made:
    return used("Read", "read", {"file_path": path})


def edit(path: str = "/w/shop/a.py") -> Made:
    return used("Edit", "edit", {"file_path": path})


def search() -> Made:
    return used("Grep", "search", {"pattern": "x"})


def passes() -> Made:
    return ran("pytest", "3 passed")


def fails() -> Made:
    return ran("pytest", "1 failed", 1, cause="finding")


def noted(
    number: int, good: tuple[str, ...] = (), bad: tuple[str, ...] = (), project: str = "shop"
) -> SessionNotes[StretchNotes]:
    at = 1000.0 * number
    sides = [Stretch(steps, 0, len(steps), at) if steps else None for steps in (good, bad)]
    notes = StretchNotes(sides[0], sides[1], {"edit": "Edit", "ruff check": "ruff check …"})
    return SessionNotes(f"tester:{number}", "tester", project, at, at + 500, notes)


# What is noted of a session.
def test_a_stretch_is_what_leads_to_a_check_without_the_check() -> None:
    """The check decides what the stretch is called, and so it is no part of it; repeats count once."""
    notes = take_notes(seen([read(), read(), edit(), passes(), search(), edit(), fails()]))
    assert notes is not None
    assert notes.good is not None
    assert notes.bad is not None
    assert notes.good.steps == ("read", "edit")
    assert notes.bad.steps == ("search", "edit")


def test_looks_at_the_repository_before_a_commit_are_left_out() -> None:
    """They stand before every commit, and would be found again as what makes a stretch good."""
    commit = [ran("git status"), ran("git diff"), ran("git commit -m done")]
    notes = take_notes(seen([read(), edit(), *commit]))
    assert notes is not None
    assert notes.good is not None
    assert notes.good.steps == ("read", "edit")


def test_a_mistake_made_twice_makes_a_stretch_bad_though_the_check_passed() -> None:
    """A stretch is good only if nothing was done wrong twice on the way."""
    wrong = used("Edit", "edit", {"file_path": "/w/shop/a.py"}, "text not found", cause="mistake")
    notes = take_notes(seen([read(), wrong, search(), wrong, passes()]))
    assert notes is not None
    assert notes.good is None
    assert notes.bad is not None


def test_a_stretch_that_just_ends_is_neither_good_nor_bad() -> None:
    """Without a check, a failure or a person who stops it nothing says how it went."""
    assert take_notes(seen([read(), edit(), read()])) is None


def test_a_stretch_that_a_person_stops_is_bad() -> None:
    """Broken off by a denial is abandoned."""
    notes = take_notes(seen([read(), edit(), used("Edit", "edit", {"file_path": "/w/shop/b.py"}, status="denied")]))
    assert notes is not None
    assert notes.bad is not None


def test_only_the_last_steps_of_a_long_stretch_count() -> None:
    """Long stretches must not have more of everything."""
    notes = take_notes(seen([*[read(), edit()] * 30, passes()]))
    assert notes is not None
    assert notes.good is not None
    assert len(notes.good.steps) == MOST_STEPS


def test_the_shape_of_a_command_is_its_program_and_subcommand() -> None:
    """`ruff check` says more than that a command ran, whatever it was run on."""
    notes = take_notes(seen([edit(), ran("npm install left-pad"), read(), passes()]))
    assert notes is not None
    assert notes.good is not None
    assert notes.good.steps == ("edit", "npm install", "read")


def test_notes_survive_the_archive() -> None:
    """What is noted comes back the same from its JSON form."""
    notes = take_notes(seen([read(), edit(), passes(), edit(), search(), fails()]))
    assert msgspec.json.decode(msgspec.json.encode(notes), type=LEARN_SEQUENCES.notes_type) == notes


# What is learned of many.
def test_an_order_that_only_good_stretches_have_is_found_once() -> None:
    """A planted order is found, with its counts for and against; its parts are not found again."""
    sessions = [noted(n, good=("read", "edit", "ruff format"), bad=("edit", "read")) for n in range(20)]
    found = learn("shop", sessions)
    assert [lesson.steps for lesson in found] == [("read", "edit", "ruff format")]
    lesson = found[0]
    assert (lesson.support.sessions_for, lesson.support.sessions_against) == (20, 0)
    assert "20 of 20 sessions" in lesson.text
    assert "0 of 20" in lesson.text
    assert "orders tested" in lesson.text
    assert lesson.forms == ("Edit",)


def test_equal_sides_give_no_sequence() -> None:
    """No order, no lesson, and the line says so."""
    sessions = [noted(n, good=("read", "edit"), bad=("read", "edit")) for n in range(20)]
    assert learn("shop", sessions) == []
    assert "no order" in describe([])


def test_too_few_sessions_teach_nothing() -> None:
    """Four sessions on a side cannot be distinguished from chance."""
    assert learn("shop", [noted(n, good=("read", "edit"), bad=("edit", "read")) for n in range(4)]) == []


def test_over_all_projects_only_what_several_have_is_learned() -> None:
    """One project's habit is not everybody's."""
    habit = [noted(n, ("read", "edit"), ("edit", "read"), "shop") for n in range(20)]
    others = [noted(n + 20, ("search", "list"), ("search", "list"), "bank") for n in range(8)]
    assert learn("", habit + others) == []
    shared = [noted(n + 20, ("read", "edit"), ("edit", "read"), "bank") for n in range(8)]
    assert [lesson.steps for lesson in learn("", habit + shared)] == [("read", "edit")]


@given(some.permutations(range(24)))
def test_the_order_of_the_sessions_does_not_matter(order: list[int]) -> None:
    """The same notes give the same lessons."""
    sessions = [noted(n, ("read", "edit", "list")[: 2 + n % 2], ("edit", "read")) for n in range(24)]
    assert learn("shop", [sessions[n] for n in order]) == learn("shop", sessions)


def test_random_labels_give_few_false_discoveries() -> None:
    """Of 300 sets of sessions whose labels mean nothing, at most about one in twenty gives any finding."""
    chance = random.Random(7)
    shapes = ("read", "edit", "search", "list", "shell:run", "ruff check")
    weights = (5, 5, 3, 1, 1, 1)
    wrong = 0
    for _ in range(300):
        units = [
            SessionSide(
                str(n), "shop", chance.random() < 0.6, tuple(chance.choices(shapes, weights, k=chance.randint(2, 10)))
            )
            for n in range(60)
        ]
        wrong += bool(find_sequences(units))
    assert wrong / 300 <= 0.08  # 5 % and what chance adds to 300 tries


def test_sessions_on_both_sides_add_no_false_discoveries() -> None:
    """A session whose good and bad stretch are alike (its own habit) makes findings rarer, not more frequent."""
    chance = random.Random(11)
    shapes = ("read", "edit", "search", "list")
    wrong = 0
    for _ in range(200):
        units = []
        for n in range(40):
            habit = chance.choices(shapes, [chance.random() for _ in shapes], k=6)
            units += [SessionSide(str(n), "shop", good, tuple(chance.sample(habit, 5))) for good in (True, False)]
        wrong += bool(find_sequences(units))
    assert wrong / 200 <= 0.08


@settings(max_examples=50)
@given(
    some.lists(
        some.tuples(some.lists(some.text(max_size=5), max_size=6), some.lists(some.text(max_size=5), max_size=6))
    )
)
def test_any_shapes_can_be_compared(stretches: list[tuple[list[str], list[str]]]) -> None:
    """Whatever tools are called, learning ends without an error and every lesson keeps the level."""
    sessions = [noted(n, tuple(good), tuple(bad)) for n, (good, bad) in enumerate(stretches)]
    for lesson in learn("shop", sessions):
        assert lesson.support.calls_for > 0
