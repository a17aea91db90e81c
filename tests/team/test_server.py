"""Rows on the team's server: each once, all or none, and in the order of its own clock."""

from preheat.team_server import lessons, people, rows
from preheat.team_server.connect import connect
from tests.team.builders import TestedTeam, make_lesson, make_rows, new_machine


def test_a_push_is_stored_once_however_often_it_is_sent(team: TestedTeam) -> None:
    machine = new_machine()
    with connect(team.address_of("first"), team.logins["first"][1]) as connection:
        batch = [make_rows(f"s{number}", transcript=b"text" if number == 1 else None) for number in range(3)]
        assert rows.push_sessions(connection, machine, batch) == 3
        assert rows.push_sessions(connection, machine, batch) == 0
        assert rows.push_sessions(connection, machine, [make_rows("s0", calls=11)]) == 1
        stored = rows.load_stored(connection, machine)
    assert {name: each.digest for name, each in stored.items()} == {"s0": "s0 11", "s1": "s1 10", "s2": "s2 10"}
    assert [team.count(table) for table in ("sessions", "outcomes", "episodes", "transcripts")] == [3, 6, 3, 1]
    with team.as_superuser() as connection:
        assert connection.execute("SELECT files_read FROM preheat_team.episodes WHERE session = 's0'").fetchone() == (
            ["src/cart.py", 'it\'s, "odd"\\.py'],
        )


def test_a_lesson_is_handed_on_after_somebody_else_approved_it(team: TestedTeam) -> None:
    lesson = make_lesson("kind = 'x'")
    with connect(team.address_of("first"), team.logins["first"][1]) as connection:
        machine = new_machine()
        assert rows.push_lessons(connection, machine, [lesson]) == 0
        assert rows.push_lessons(connection, machine, [lesson]) == 0
        assert lessons.load_approved(connection) == []
        assert lessons.count_lessons(connection) == {"": 1}
    with connect(team.address_of("checker"), team.logins["checker"][1]) as connection:
        assert [each.content for each in lessons.load_waiting(connection)] == ["kind = 'x'"]
        lessons.review(connection, lesson.digest, "approved", "seen it")
        assert lessons.load_waiting(connection) == []
        assert [each[3:6] for each in lessons.load_reviews(connection)] == [("approved", "seen it", "checker")]
    with connect(team.address_of("second"), team.logins["second"][1]) as connection:
        (found,) = lessons.load_approved(connection)
        assert (found.digest, found.calls_for, found.first_day, found.last_day) == (lesson.digest, 3, "2026-01-31", "")


def test_numbers_are_shown_of_enough_people_only(team: TestedTeam) -> None:
    for name, agent in (("first", "codex"), ("second", "codex"), ("checker", "pi")):
        with connect(team.address_of(name), team.logins[name][1]) as connection:
            rows.push_sessions(connection, new_machine(), [make_rows(f"{name}1", agent=agent)])
    with connect(team.address_of("viewer"), team.logins["viewer"][1]) as connection:
        numbers = rows.load_numbers(connection)
        assert people.identify(connection).role == "reader"
    assert [(each.name, each.people, each.calls) for each in numbers["team"]] == [("team", 3, 30)]
    # `pi` is one person's, and would be what is left of the whole: `codex` is not shown either.
    assert [(each.name, each.people) for each in numbers["agent"]] == [("", 3)]
