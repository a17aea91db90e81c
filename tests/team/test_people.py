"""People come and go, and everything that goes wrong is said in one line."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from preheat.errors import UserError
from preheat.model.pushed import PUSHED_TABLES
from preheat.team.address import read_address
from preheat.team_server import connect as connecting
from preheat.team_server import people, rows, upgrade
from preheat.team_server.connect import HEAD, find_version, open_server
from tests.cli.conftest import CommandResult
from tests.team.builders import OWNER_PASSWORD, TestedTeam, make_rows, new_machine
from tests.team.colleagues import Colleague


def one_line(done: CommandResult) -> str:
    """The error of a command, which is one line without a password, and the exit code 2."""
    assert (done.code, done.err.count("\n"), done.err.startswith("preheat: ")) == (2, 1, True), done
    return done.err


# Making, joining, inviting.
def test_a_team_is_made_joined_and_left_by_commands(
    empty_team: TestedTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    founder = Colleague("founder", tmp_path, empty_team, monkeypatch, capsys)
    made = founder.get(
        "team", "init", founder.address, "--team", "shop", "--password-stdin", text=f"{OWNER_PASSWORD}\n"
    )
    assert made == {"team": "shop", "name": "preheat_team_owner", "role": "owner", "is_new": True}
    again = founder.get("team", "init", founder.address, "--password-stdin", text=f"{OWNER_PASSWORD}\n")
    assert (again["team"], again["is_new"]) == ("shop", False)
    invited = founder.run("team", "invite", "first")
    address, password = (line.strip() for line in invited.out.splitlines()[1::2])
    assert address.startswith("preheat team join postgresql://preheat_first@127.0.0.1:")
    assert password not in address
    first = Colleague("first", tmp_path, empty_team, monkeypatch, capsys)
    joined = first.get("team", "join", address.split()[-1], "--password-stdin", text=f"{password}\n")
    assert joined == {"team": "shop", "name": "first", "role": "member"}
    assert [(each["name"], each["role"]) for each in founder.get("team", "members")["members"]] == [
        ("preheat_team_owner", "owner"), ("first", "member"),
    ]  # fmt: skip
    assert "only the team's owner" in one_line(first.run("team", "members"))
    assert first.get("team", "leave", "--rows", "delete", "--yes") == {"left": "shop", "rows": "deleted"}
    assert first.get("team", "status") == {**first.get("team", "status"), "joined": False}
    assert not os.path.exists(os.path.join(first.archive, "team-password"))
    assert "cannot leave" in one_line(founder.run("team", "leave", "--rows", "delete", "--yes"))


def test_an_invitation_for_programs_has_the_password_in_a_file_only(
    colleagues: dict[str, Colleague], tmp_path: Path
) -> None:
    founder = colleagues["founder"]
    founder.join()
    refused = founder.run("team", "invite", "carl", "--json")
    assert (refused.code, "--password-file" in refused.err) == (2, True)
    path = tmp_path / "carl.txt"
    invited = founder.get("team", "invite", "carl", "--role", "reader", "--password-file", str(path))
    password = path.read_text().strip()
    assert path.stat().st_mode & 0o777 == 0o600
    assert password not in json.dumps(invited)
    address = read_address(invited["address"])
    with psycopg.connect(
        host=address.host, port=address.port, dbname=address.database, user=address.user, password=password
    ) as connection:
        assert connection.execute("SELECT preheat_team.my_role()").fetchone() == ("reader",)


def test_who_leaves_takes_the_rows_along_or_leaves_them_without_a_name(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    for name, wanted in (("first", "keep"), ("second", "delete")):
        colleague = colleagues[name]
        colleague.work()
        colleague.approve_own("uv run pytest")
        colleague.join()
        colleague.get("team", "allow", "cart", "transcripts")
        colleague.get("team", "push", "--yes")
        mine = f"member = (SELECT id FROM preheat_team.members WHERE name = '{name}')"
        before = [team.count(table, mine) for table in PUSHED_TABLES]
        assert all(before)
        colleague.get("team", "leave", "--rows", wanted, "--yes")
        assert [team.count(table, mine) for table in PUSHED_TABLES] == [0, 0, 0, 0, 0]
        if wanted == "keep":
            assert [team.count(table) for table in PUSHED_TABLES] == [*before[:4], 0]
            kept = before
    assert [team.count(table, "member = 0") for table in PUSHED_TABLES] == [*kept[:4], 0]
    with team.as_superuser() as connection:
        hashes = connection.execute("SELECT session, digest, origin FROM preheat_team.sessions").fetchall()
    assert all(len(session) == 36 and not digest and not origin for session, digest, origin in hashes)


def test_who_was_removed_is_told_so(team: TestedTeam, colleagues: dict[str, Colleague]) -> None:
    first, founder = colleagues["first"], colleagues["founder"]
    first.work(sessions=1)
    first.join()
    first.get("team", "push", "--yes")
    founder.join()
    assert founder.get("team", "remove", "first", "--rows", "delete", "--yes") == {
        "removed": "first",
        "rows": "deleted",
    }
    assert team.count("sessions") == 0
    assert "`preheat_first` may no longer log in" in one_line(first.run("team", "push"))
    assert first.run("team", "leave", "--offline").code == 0
    assert "there is no `first`" in one_line(founder.run("team", "remove", "first", "--rows", "keep", "--yes"))


# Bad input.
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://first:hush@db.example/x", "leave the password out"),
        ("https://db.example/x", "no address of a team's database"),
        ("postgresql://db.example/x", "no address of a team's database"),
        ("postgresql://first@db.example", "no address of a team's database"),
        ("postgresql://first@db.example:port/x", "no address"),
        ("postgresql://first@db.example/x?sslmode=maybe", "sslmode"),
        ("postgresql://first@db.example/x?options=-crow_security%3Doff", "no option of an address"),
    ],
)
def test_an_address_that_is_none_is_refused_without_its_password(address: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_address(address)
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_wrong_password_a_missing_database_and_a_database_without_a_team_are_told_apart(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    join = ("team", "join", "--password-stdin")
    assert "does not take the password" in one_line(first.run(*join, first.address, text="wrong\n"))
    elsewhere = first.address.rpartition("/")[0]
    password = f"{first.password}\n"
    assert "there is no database `nowhere`" in one_line(first.run(*join, f"{elsewhere}/nowhere", text=password))
    assert "there is no team in this database" in one_line(first.run(*join, f"{elsewhere}/postgres", text=password))
    assert "nobody can be asked" in one_line(first.run("team", "join", first.address))
    assert "in no team" in one_line(first.run("team", "pull"))


@pytest.mark.parametrize(("version", "said"), [("0001", "older"), ("9999", "newer")])
def test_tables_of_another_version_are_not_touched(
    team: TestedTeam, colleagues: dict[str, Colleague], version: str, said: str
) -> None:
    first, founder = colleagues["first"], colleagues["founder"]
    first.work(sessions=1)
    first.join()
    with team.as_superuser() as connection:
        connection.execute("UPDATE preheat_team.alembic_version SET version_num = %s", (version,))
    message = one_line(first.run("team", "push", "--yes"))
    assert said in message
    assert ("update this one" if said == "newer" else "`preheat team init` once more") in message
    if said == "newer":
        assert "newer" in one_line(
            founder.run("team", "init", founder.address, "--password-stdin", text=f"{OWNER_PASSWORD}\n")
        )
    assert team.count("sessions") == 0


def test_the_first_tables_are_upgraded_with_their_rows(empty_team: TestedTeam) -> None:
    with open_server(empty_team.address, OWNER_PASSWORD) as connection:
        keeper = people._make_keeper(connection)
        upgrade.upgrade(connection, keeper, "0001")
        assert find_version(connection) == "0001"
        with connection.transaction():
            connection.execute(f"SET LOCAL ROLE {keeper}".encode())
            connection.execute("INSERT INTO preheat_team.team (name, least_people) VALUES ('shop', 2)")
            connection.execute(
                "INSERT INTO preheat_team.members (login, name, role, made_login) "
                "VALUES (session_user, 'founder', 'owner', false)"
            )
            connection.execute(
                "INSERT INTO preheat_team.sessions SELECT id, gen_random_uuid(), 's1', 'd', 'o', 'derived', 'r', 'a', 'm', "
                "1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1 FROM preheat_team.members WHERE name = 'founder'"
            )
        assert people.make_team(connection, "another", 2, "founder") is False
        assert find_version(connection) == HEAD
        assert people.identify(connection).team == "shop"
    assert [empty_team.count(table) for table in ("sessions", "lessons", "reviews")] == [1, 0, 0]


def test_a_full_server_loses_nothing(team: TestedTeam, colleagues: dict[str, Colleague]) -> None:
    """The server says so by this code, wherever its disk is full."""
    first = colleagues["first"]
    first.work()
    first.join()
    with team.as_superuser() as connection:
        connection.execute(
            "CREATE FUNCTION public.fill() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER fill BEFORE INSERT ON preheat_team.episodes FOR EACH ROW EXECUTE FUNCTION public.fill()"
        )
        assert "is full" in one_line(first.run("team", "push", "--yes"))
        assert team.count("sessions") == 0
        connection.execute("DROP FUNCTION public.fill() CASCADE")
    assert first.get("team", "push")["sessions"] == 3


def test_a_slow_server_is_given_up_and_nothing_is_lost(
    team: TestedTeam, colleagues: dict[str, Colleague], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = colleagues["first"]
    first.work(sessions=1)
    first.join()
    monkeypatch.setattr(connecting, "LOCK_SECONDS", 1)
    with team.as_superuser() as connection, connection.transaction():
        connection.execute("LOCK TABLE preheat_team.outcomes IN ACCESS EXCLUSIVE MODE")
        assert "too slow now" in one_line(first.run("team", "push", "--yes"))
    assert team.count("sessions") == 0
    assert first.get("team", "push")["sessions"] == 1


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.socket() as listener:  # the system takes the connection, and nobody reads from it
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = read_address(f"postgresql://first@127.0.0.1:{listener.getsockname()[1]}/preheat")
        with pytest.raises(connecting.TeamUnreachable, match="did not answer"), open_server(address, "", seconds=2):
            pass


def test_a_login_without_the_rights_of_an_owner_is_told_which_it_needs(
    empty_team: TestedTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    founder = Colleague("founder", tmp_path, empty_team, monkeypatch, capsys)
    with empty_team.as_superuser() as connection:
        connection.execute("ALTER ROLE preheat_team_owner NOCREATEROLE")
    init = ("team", "init", founder.address, "--password-stdin")
    assert "ALTER ROLE preheat_team_owner CREATEROLE" in one_line(founder.run(*init, text=f"{OWNER_PASSWORD}\n"))
    with empty_team.as_superuser() as connection:
        connection.execute(f"REVOKE CREATE ON DATABASE {empty_team.address.database} FROM preheat_team_owner".encode())
    assert "GRANT CREATE ON DATABASE" in one_line(founder.run(*init, text=f"{OWNER_PASSWORD}\n"))


def test_numbers_never_show_fewer_people_than_the_owner_said(
    empty_team: TestedTeam,
) -> None:
    with open_server(empty_team.address, OWNER_PASSWORD) as connection:
        people.make_team(connection, "shop", 3, "founder")
        for name in ("first", "second", "carl", "dora"):
            empty_team.logins[name] = people.invite(connection, name, "member")
    repositories = {
        "founder": ("a", "b"), "first": ("a", "b"), "second": ("a", "c"), "carl": ("b",),
    }  # fmt: skip
    for name, used in repositories.items():
        with empty_team.as_person(name) as connection:
            batch = [make_rows(f"{name} {each}", repository=each) for each in used]
            rows.push_sessions(connection, new_machine(), batch)
    with empty_team.as_person("dora") as connection:
        found = rows.load_numbers(connection)
        # `c` is one person's; `a` and `b` are three people's. One of them hides `c`, else it would be what is left of the whole.
        assert [(each.name, each.people, each.sessions) for each in found["repository"]] == [("", 3, 4), ("b", 3, 3)]
        assert sum(each.sessions for each in found["repository"]) == found["team"][0].sessions
    with empty_team.as_person("carl") as connection:
        people.leave(connection, keep=False)
    with empty_team.as_person("second") as connection:
        connection.execute("DELETE FROM preheat_team.sessions")
    with empty_team.as_person("dora") as connection:
        assert all(found == () for found in rows.load_numbers(connection).values())


# The driver.
def test_only_a_machine_in_a_team_needs_the_driver(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from preheat.cli import main\n"
        "print([main(each) for each in (['sync', '--quiet'], ['team', 'status'], ['team', 'push', '--yes'])])\n"
        "print(main(['team', 'join', 'postgresql://first@127.0.0.1/preheat', '--password-stdin']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "HOME": str(tmp_path), "PREHEAT_HOME": str(tmp_path / "archive")},
        capture_output=True, text=True, input="hush\n",
    )  # fmt: skip
    assert done.stdout.splitlines()[-2:] == ["[0, 0, 2]", "2"], done.stderr
    assert done.stderr.splitlines()[-1] == (
        "preheat: a team needs the driver of PostgreSQL: pip install 'preheat[postgresql]'"
    )
