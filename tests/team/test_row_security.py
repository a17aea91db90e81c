"""Who may see and change what is decided in the database: people who come with a plain client get no further than with ours."""

import psycopg
import pytest
from msgspec.structs import replace
from psycopg import errors

from preheat.team_server import lessons, people, rows
from preheat.team_server.connect import connect, open_server
from tests.postgresql import OWNER
from tests.team.builders import OWNER_PASSWORD, TestedTeam, make_lesson, make_rows, new_machine

TABLES = ("sessions", "outcomes", "episodes", "transcripts", "lessons")
REFUSED = (errors.InsufficientPrivilege, errors.UndefinedFunction, errors.UndefinedTable)


@pytest.fixture
def pushed(team: TestedTeam) -> TestedTeam:
    """A team in which that person has pushed a session with its transcript and an approved lesson."""
    with connect(team.address_of("first"), team.logins["first"][1]) as connection:
        machine = new_machine()
        rows.push_sessions(connection, machine, [make_rows("first-1", transcript=b"what that person typed")])
        rows.push_lessons(connection, machine, [make_lesson("a lesson of that person's")])
    with connect(team.address_of("checker"), team.logins["checker"][1]) as connection:
        lessons.review(connection, make_lesson("a lesson of that person's").digest, "approved", "")
    return team


def all_rows(connection: psycopg.Connection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM preheat_team.{table}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def test_nobody_reads_rows_of_another_person(pushed: TestedTeam) -> None:
    for name in ("founder", "checker", "second"):
        with pushed.as_person(name) as connection:
            assert [all_rows(connection, table) for table in TABLES] == [0, 0, 0, 0, 0], name
    with pushed.as_person("first") as connection:
        assert [all_rows(connection, table) for table in TABLES] == [1, 2, 1, 1, 1]
    with pushed.as_person("viewer") as connection:
        for table in TABLES:
            with pytest.raises(errors.InsufficientPrivilege):
                all_rows(connection, table)


def test_the_owner_sees_own_rows_only_though_the_keeper_is_theirs(pushed: TestedTeam) -> None:
    with connect(pushed.address_of("founder"), OWNER_PASSWORD) as connection:
        rows.push_sessions(connection, new_machine(), [make_rows("founder-1")])
    with pushed.as_person("founder") as connection:
        assert connection.execute("SELECT session FROM preheat_team.sessions").fetchall() == [("founder-1",)]


ATTACKS = (
    "UPDATE preheat_team.sessions SET calls = 0",
    "UPDATE preheat_team.members SET role = 'owner'",
    "INSERT INTO preheat_team.members (login, name, role, made_login) VALUES (session_user, 'x', 'owner', false)",
    "INSERT INTO preheat_team.reviews (digest, repository, verdict, why, reviewer) VALUES ('', 'r', 'approved', '', 1)",
    "UPDATE preheat_team.reviews SET reviewer = 1",
    "DELETE FROM preheat_team.reviews",
    "TRUNCATE preheat_team.sessions CASCADE",
    "DROP POLICY own_rows ON preheat_team.sessions",
    "ALTER TABLE preheat_team.sessions DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE preheat_team.sessions NO FORCE ROW LEVEL SECURITY",
    "CREATE POLICY mine ON preheat_team.sessions USING (true)",
    "CREATE TABLE preheat_team.mine ()",
    "CREATE FUNCTION preheat_team.mine() RETURNS void LANGUAGE sql AS ''",
    "CREATE TRIGGER mine BEFORE INSERT ON preheat_team.sessions EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()",
    "SELECT preheat_team.end_membership(1, false)",
    "SELECT preheat_team.sum_sessions()",
    "SELECT preheat_team.merge_lessons()",
    "SELECT * FROM preheat_team.team",
    "SET ROLE preheat_first",
    "SET ROLE preheat_team_owner",
    "SET SESSION AUTHORIZATION preheat_first",
    "GRANT preheat_first TO CURRENT_USER",
    "CREATE ROLE preheat_mine",
    "ALTER FUNCTION preheat_team.numbers() SET search_path = public",
    "COPY preheat_team.sessions TO PROGRAM 'cat'",
)  # fmt: skip
"""What nobody but the keeper may do, whatever their role is."""


@pytest.mark.parametrize("name", ["checker", "second", "viewer"])
def test_what_a_role_may_not_do_is_refused(pushed: TestedTeam, name: str) -> None:
    with pushed.as_person(name) as connection:
        for attack in ATTACKS:
            with pytest.raises(REFUSED):
                connection.execute(attack.encode())
    assert [pushed.count(table) for table in TABLES] == [1, 2, 1, 1, 1]


def test_nobody_can_set_the_role_of_the_keeper(pushed: TestedTeam) -> None:
    with pushed.as_superuser() as connection:
        row = connection.execute(
            "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'preheat_team'"
        ).fetchone()
        assert row is not None
        keeper = row[0]
        assert connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname = %s", (keeper,)
        ).fetchone() == (False, False, False)
    for name in ("checker", "second", "viewer"):
        with pushed.as_person(name) as connection, pytest.raises(errors.InsufficientPrivilege):
            connection.execute(f"SET ROLE {keeper}".encode())


def test_nobody_inserts_a_row_as_another_person(pushed: TestedTeam) -> None:
    with pushed.as_person("second") as connection:
        for member in ("(SELECT 1)", "preheat_team.my_member() - 1", "0", "NULL"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(
                    "INSERT INTO preheat_team.transcripts (member, machine, session, content) "
                    f"VALUES ({member}, gen_random_uuid(), 'first-1', '')".encode()
                )


def test_the_time_of_a_push_is_the_servers(pushed: TestedTeam) -> None:
    with pushed.as_person("first") as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(
            "INSERT INTO preheat_team.lessons (machine, digest, repository, content, calls_for, sessions_for, calls_against, "
            "sessions_against, pushed_at) VALUES (gen_random_uuid(), '', 'r', '', 0, 0, 0, 0, '2001-01-01')"
        )


def test_nobody_deletes_rows_of_another_person(pushed: TestedTeam) -> None:
    for name in ("checker", "second", "founder"):
        with pushed.as_person(name) as connection:
            for table in TABLES:
                assert connection.execute(f"DELETE FROM preheat_team.{table}".encode()).rowcount == 0
    assert [pushed.count(table) for table in TABLES] == [1, 2, 1, 1, 1]


def test_a_leaky_function_sees_no_row_of_another_person(pushed: TestedTeam) -> None:
    """A function that tells everything it is asked, and costs nothing, would be asked first where rows are not secured."""
    seen: list[str] = []
    with pushed.as_person("second") as connection:
        connection.add_notice_handler(lambda notice: seen.append(notice.message_primary or ""))
        connection.execute(
            "CREATE FUNCTION pg_temp.tell(what text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS "
            "$$ BEGIN RAISE NOTICE '%', what; RETURN true; END $$"
        )
        assert connection.execute("SELECT * FROM preheat_team.sessions WHERE pg_temp.tell(session)").fetchall() == []
        assert connection.execute("SELECT * FROM preheat_team.lessons WHERE pg_temp.tell(content)").fetchall() == []
        connection.execute("CREATE TEMP VIEW mine AS SELECT * FROM preheat_team.sessions")
        assert connection.execute("SELECT * FROM mine WHERE pg_temp.tell(session)").fetchall() == []
        # By a division by zero, by a conversion that fails, and by what the planner knows of the values.
        assert connection.execute("SELECT 1 / (length(session) - 6) FROM preheat_team.sessions").fetchall() == []
        assert connection.execute("SELECT session::integer FROM preheat_team.sessions").fetchall() == []
        statistics = connection.execute("SELECT tablename FROM pg_stats WHERE schemaname = 'preheat_team'").fetchall()
        assert {name for (name,) in statistics} <= {"alembic_version"}
    assert seen == []


def test_functions_of_the_schema_call_nothing_that_a_person_made(pushed: TestedTeam) -> None:
    with pushed.as_person("second") as connection:
        connection.execute(
            "CREATE TEMP TABLE members AS SELECT 3 AS id, session_user::text AS login, 'owner' AS role, NULL AS left_at"
        )
        connection.execute("CREATE TEMP TABLE sessions (session text)")
        connection.execute("SET search_path = pg_temp, pg_catalog, preheat_team")
        assert connection.execute("SELECT preheat_team.my_role()").fetchone() == ("member",)
        connection.execute("SET preheat_team.as_owner = 'yes'")
        assert connection.execute("SELECT count(*) FROM preheat_team.sessions").fetchone() == (0,)


def test_every_table_is_secured_for_its_owner_too(team: TestedTeam) -> None:
    with team.as_superuser() as connection:
        found = connection.execute(
            "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class "
            "WHERE relnamespace = 'preheat_team'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'"
        ).fetchall()
        definers = connection.execute(
            "SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'preheat_team'::regnamespace AND prosecdef"
        ).fetchall()
        public = connection.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'preheat_team'::regnamespace "
            "AND EXISTS (SELECT 1 FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)"
        ).fetchall()
    assert {name for name, *_ in found} == {*TABLES, "team", "members", "reviews"}
    assert all(enabled and forced for _, enabled, forced in found)
    assert len(definers) == 17
    assert {tuple(config) for _, config in definers} == {("search_path=pg_catalog, pg_temp",)}
    assert public == []


# Reviews.
def test_a_member_or_a_reader_approves_nothing(pushed: TestedTeam) -> None:
    digest = make_lesson("a lesson of that person's").digest
    for name in ("second", "viewer"):
        for call in ("review_lesson(%s, 'approved', '')", "list_reviews()", "waiting_lessons()", "list_transcripts()"):
            with pushed.as_person(name) as connection, pytest.raises(errors.InsufficientPrivilege):
                connection.execute(f"SELECT preheat_team.{call}".encode(), (digest,) if "%s" in call else ())


def test_nobody_approves_a_lesson_that_only_they_proposed(team: TestedTeam) -> None:
    own = make_lesson("a lesson of Checker's")
    with team.as_person("checker") as connection:
        rows.push_lessons(connection, new_machine(), [own])
        with pytest.raises(psycopg.Error) as refused:
            lessons.review(connection, own.digest, "approved", "")
        assert refused.value.sqlstate == "PH004"
        lessons.review(connection, own.digest, "declined", "")
    with team.as_person("first") as connection:
        rows.push_lessons(connection, new_machine(), [own])
    with team.as_person("checker") as connection:
        lessons.review(connection, own.digest, "approved", "")
        assert [each.content for each in lessons.load_approved(connection)] == ["a lesson of Checker's"]


def test_reviews_are_only_added_to_even_by_the_keeper(pushed: TestedTeam) -> None:
    with pushed.as_superuser() as connection:
        for change in (
            "UPDATE preheat_team.reviews SET reviewer = 0",
            "DELETE FROM preheat_team.reviews",
            "TRUNCATE preheat_team.reviews",
        ):
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(change.encode())
            assert refused.value.sqlstate == "PH002"
    assert pushed.count("reviews", "reviewer = (SELECT id FROM preheat_team.members WHERE name = 'checker')") == 1


def test_what_was_approved_cannot_be_given_another_content(pushed: TestedTeam) -> None:
    approved = make_lesson("a lesson of that person's")
    with pushed.as_person("second") as connection, pytest.raises(errors.CheckViolation):
        connection.execute(
            "INSERT INTO preheat_team.lessons (machine, digest, repository, content, calls_for, sessions_for, calls_against, "
            "sessions_against) VALUES (gen_random_uuid(), %s, %s, 'another', 0, 0, 0, 0)",
            (approved.digest, approved.repository),
        )


def test_a_lesson_that_is_declined_or_withdrawn_is_no_longer_handed_on(pushed: TestedTeam) -> None:
    lesson = make_lesson("a lesson of that person's")
    with pushed.as_person("second") as connection:
        assert [each.digest for each in lessons.load_approved(connection)] == [lesson.digest]
    with pushed.as_person("checker") as connection:
        lessons.review(connection, lesson.digest, "declined", "no longer so")
    with pushed.as_person("second") as connection:
        assert lessons.load_approved(connection) == []
    with pushed.as_person("founder") as connection:
        lessons.review(connection, lesson.digest, "approved", "")
    with pushed.as_person("first") as connection:
        connection.execute("DELETE FROM preheat_team.lessons")
    with pushed.as_person("second") as connection:
        assert lessons.load_approved(connection) == []
    with pushed.as_person("checker") as connection:
        assert [each[2] for each in lessons.load_reviews(connection)] == ["", "", ""]
    assert pushed.count("lessons") == 0


def test_transcripts_are_read_by_reviewers_without_the_person(pushed: TestedTeam) -> None:
    with pushed.as_person("checker") as connection:
        ((session, *_),) = rows.list_transcripts(connection)
        assert rows.read_transcript(connection, session) == b"what that person typed"
    for name in ("second", "viewer"):
        with pushed.as_person(name) as connection, pytest.raises(errors.InsufficientPrivilege):
            rows.read_transcript(connection, "first-1")


# Leaving and being removed.
def test_who_is_removed_is_out_at_once_and_their_open_connection_too(pushed: TestedTeam) -> None:
    with pushed.as_person("first") as still_open:
        with open_server(pushed.address, OWNER_PASSWORD) as connection:
            people.remove(connection, "first", keep=False)
        with pytest.raises(psycopg.Error):
            all_rows(still_open, "sessions")
    with pytest.raises(psycopg.OperationalError), pushed.as_person("first"):
        pass
    assert [pushed.count(table) for table in TABLES] == [0, 0, 0, 0, 0]
    assert pushed.count("reviews") == 1


def test_who_is_let_in_under_the_name_of_somebody_who_left_sees_none_of_their_rows(pushed: TestedTeam) -> None:
    with pushed.as_person("first") as connection:
        people.leave(connection, keep=True)
        with pytest.raises(REFUSED):
            all_rows(connection, "sessions")
    assert [pushed.count(table, "member = 0") for table in ("sessions", "outcomes", "episodes", "lessons")] == [
        1,
        2,
        1,
        1,
    ]
    assert pushed.count("transcripts") == 0
    assert pushed.count("sessions", "session = 'first-1'") == 0
    with open_server(pushed.address, OWNER_PASSWORD) as connection:
        pushed.logins["first"] = people.invite(connection, "first", "member")
    with pushed.as_person("first") as connection:
        assert all_rows(connection, "sessions") == 0


def test_the_password_of_a_new_login_is_nowhere_on_the_server(team: TestedTeam) -> None:
    with team.as_superuser() as connection:
        stored = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname LIKE 'preheat\\_%%'").fetchall()
    for _, password in team.logins.values():
        assert password not in repr(stored)
    assert all(value is None or value.startswith("SCRAM-SHA-256$") for (value,) in stored)


def test_a_team_that_a_superuser_made_is_no_less_secured_for_the_others(empty_team: TestedTeam) -> None:
    admin = replace(empty_team.address, user=OWNER)
    with open_server(admin, empty_team.server.password) as connection:
        people.make_team(connection, "shop", 2, "root")
        for name in ("first", "second"):
            empty_team.logins[name] = people.invite(connection, name, "member")
        rows.push_sessions(connection, new_machine(), [make_rows("root-1")])
    with empty_team.as_person("first") as connection:
        rows.push_sessions(connection, new_machine(), [make_rows("first-1")])
        assert all_rows(connection, "sessions") == 1
    with empty_team.as_person("second") as connection:
        assert all_rows(connection, "sessions") == 0
        assert rows.load_numbers(connection)["team"][0].people == 2
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(f"SET ROLE {OWNER}".encode())
    with open_server(
        admin, empty_team.server.password
    ) as connection:  # what a superuser deletes is their own, by our code
        assert rows.delete_sessions(connection, ["first-1", "root-1"]) == 1
