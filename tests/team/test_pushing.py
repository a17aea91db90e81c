"""What leaves a machine is what its person agreed to, once, and can be taken back."""

import json
import os
import stat
import subprocess
import sys
import time

import pytest

from preheat.app.team import local_rows
from preheat.archive.packing import compress
from preheat.errors import UserError
from preheat.model.pushed import PUSHED_TABLES, list_pushed_fields
from preheat.team_server.people import columns_of
from tests.team.builders import TestedTeam
from tests.team.colleagues import PRIVATE, REMOTE, Colleague
from tests.waiting import until


def stored_text(team: TestedTeam) -> str:
    """Everything that is stored of the team, as text."""
    with team.as_superuser() as connection:
        tables = [*PUSHED_TABLES, "members", "reviews", "team"]
        rows = [connection.execute(f"SELECT * FROM preheat_team.{table}".encode()).fetchall() for table in tables]
    return repr(rows)


def test_at_the_default_level_no_text_of_a_session_leaves_the_machine(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work()
    first.join()
    assert first.get("team", "push", "--yes") == {
        "sessions": 3, "unchanged": 0, "deleted": 0, "lessons": 0, "withdrawn": 0, "waiting": [],
    }  # fmt: skip
    found = stored_text(team)
    assert "src/checkout.py" in found
    assert REMOTE in found
    for private in (*PRIVATE, first.home, "00000001-"):
        assert private not in found, private
    assert [team.count(table) for table in PUSHED_TABLES] == [3, 12, 3, 0, 0]


def test_what_is_shown_before_a_push_is_what_is_stored_after_it(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work()
    first.approve_own("uv run pytest")
    first.join()
    plan = first.get("team", "push", "--dry-run")
    assert team.count("sessions") == 0
    shown = first.run("team", "push", "--dry-run").out
    for field in list_pushed_fields():
        assert (field.about in " ".join(shown.split())) == (field.level == "derived"), field.name
    first.get("team", "push", "--yes")
    assert {each["name"]: each["rows"] for each in plan["tables"]} == {
        table: team.count(table) for table in PUSHED_TABLES
    }
    sample = next(each["sample"] for each in plan["tables"] if each["name"] == "sessions")
    with team.as_superuser() as connection:
        names = ", ".join(sample)
        rows = connection.execute(f"SELECT {names} FROM preheat_team.sessions".encode()).fetchall()
    assert [str(each) for each in sample.values()] in [[str(each) for each in row] for row in rows]


def test_the_tables_have_the_fields_of_the_list_and_no_others(team: TestedTeam) -> None:
    with team.as_superuser() as connection:
        found = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'preheat_team'"
        ).fetchall()
    for table in PUSHED_TABLES:
        columns = {column for name, column in found if name == table}
        assert columns == {*columns_of(table), "member"} | (
            {"pushed_at"} if table in ("sessions", "lessons") else set()
        )


def test_without_an_agreement_nothing_is_sent(team: TestedTeam, colleagues: dict[str, Colleague]) -> None:
    first = colleagues["first"]
    first.work()
    first.join()
    refused = first.run("team", "push")
    assert (refused.code, team.count("sessions")) == (2, 0)
    assert "not agreed to what is pushed of `cart`" in refused.err
    assert first.run("team", "push", "--quiet").code == 0
    assert team.count("sessions") == 0


def test_on_a_terminal_the_password_is_asked_for_unseen_and_the_first_push_shows_every_field_and_asks(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work()
    joined = first.answer({"Password of this login:": first.password}, "team", "join", first.address)
    assert "You are `first` in the team `shop`" in joined
    assert first.password not in joined
    question = "Push this of `cart` to the team `shop`, now and from now on? [y/N]:"
    shown = " ".join(first.answer({question: "n"}, "team", "push").split())
    assert all(each.about in shown for each in list_pushed_fields() if each.level == "derived")
    assert team.count("sessions") == 0
    assert "3 sessions sent" in first.answer({question: "y"}, "team", "push")
    assert team.count("sessions") == 3
    assert question not in first.answer({}, "team", "push")


def test_a_new_project_waits_for_its_own_agreement_and_one_without_a_remote_is_not_pushed(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work()
    first.work(project=os.path.join(first.home, "taxes"), sessions=1)
    first.join()
    first.get("team", "push", "--yes")
    other = os.path.join(first.home, "work", "other")
    os.makedirs(other)
    os.rename(os.path.join(first.clone, ".git"), os.path.join(other, ".git"))
    with open(os.path.join(other, ".git", "config"), "w", encoding="utf-8") as file:
        file.write('[remote "origin"]\n\turl = https://forge.example/shop/other.git\n')
    first.work(project=other, sessions=1)
    report = first.get("team", "push")
    assert (report["sessions"], report["unchanged"], report["waiting"]) == (0, 3, ["other"])
    assert team.count("sessions", f"repository <> '{REMOTE}'") == 0
    levels = {
        each["name"]: (each["level"], each["is_agreed"], each["pushed"])
        for each in first.get("team", "status")["projects"]
    }
    assert levels == {"cart": ("derived", True, 3), "other": ("derived", False, 0), "taxes": ("nothing", True, 0)}
    assert first.get("team", "push", "--yes")["sessions"] == 1


def test_transcripts_go_without_secrets_to_reviewers_and_are_gone_when_the_level_is_lowered(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first, checker = colleagues["first"], colleagues["checker"]
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    first.work(good=f"GITHUB_TOKEN={token} uv run pytest", sessions=1)
    first.join()
    first.get("team", "push", "--yes")
    assert first.get("team", "allow", "cart", "transcripts")["is_agreed"] is False
    assert first.run("team", "push").code == 2
    assert team.count("transcripts") == 0
    first.get("team", "push", "--yes")
    checker.join()
    ((entry,),) = [checker.get("team", "transcripts")["transcripts"]]
    text = checker.run("team", "transcripts", entry["session"][:10]).out
    assert json.loads(text.splitlines()[0])["type"] == "session"
    assert "Make checkout step 1 work" in text
    assert token not in text
    assert first.home not in text
    first.get("team", "allow", "cart", "derived")
    first.get("team", "push", "--yes")
    assert (team.count("transcripts"), team.count("sessions")) == (0, 1)
    first.get("team", "allow", "cart", "nothing")
    assert first.get("team", "push")["deleted"] == 1
    assert [team.count(table) for table in PUSHED_TABLES] == [0, 0, 0, 0, 0]


def test_a_transcript_that_unpacks_to_far_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_rows, "_MOST_TRANSCRIPT", 1 << 20)
    assert len(local_rows.read_transcript(compress(bytes(1 << 20)))) == 1 << 20
    with pytest.raises(UserError, match="larger than 1 MB"):
        local_rows.read_transcript(compress(bytes((1 << 20) + 1)))
    with pytest.raises(UserError, match="damaged"):
        local_rows.read_transcript(b"no frame at all")


# Deleting.
def test_a_deleted_session_is_gone_from_the_server(team: TestedTeam, colleagues: dict[str, Colleague]) -> None:
    first = colleagues["first"]
    first.work()
    first.join()
    first.get("team", "push", "--yes")
    done = first.get("sessions", "delete", "00000002", "--yes")
    assert done["team"] == {"deleted": 1, "waiting": 0, "problem": ""}
    assert [team.count(table) for table in PUSHED_TABLES] == [2, 8, 2, 0, 0]
    assert first.get("team", "push")["sessions"] == 0
    assert team.count("sessions") == 2


def test_a_deletion_waits_while_the_server_is_away_and_is_done_by_the_next_push(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work()
    first.join()
    first.get("team", "push", "--yes")
    team.server.stop()
    try:
        done = first.get("sessions", "delete", "00000002", "--yes")
        assert (done["team"]["deleted"], done["team"]["waiting"]) == (0, 1)
        assert "cannot be reached" in done["team"]["problem"]
        status = first.run("team", "status", "--json")
        assert status.code == 1
        assert (json.loads(status.out)["waiting_deletions"], json.loads(status.out)["reachable"]) == (1, False)
        failed = first.run("team", "push")
        assert (failed.code, failed.err.count("\n")) == (2, 1)
        assert "nothing is lost" in failed.err
    finally:
        team.server.start()
    assert team.count("sessions") == 3
    report = first.get("team", "push")
    assert (report["deleted"], report["sessions"], report["unchanged"]) == (1, 0, 2)
    assert [team.count(table) for table in PUSHED_TABLES] == [2, 8, 2, 0, 0]
    assert first.get("team", "status")["waiting_deletions"] == 0


# Once.
def test_two_pushes_at_once_store_each_session_once(team: TestedTeam, colleagues: dict[str, Colleague]) -> None:
    first = colleagues["first"]
    first.work()
    first.join()
    processes = [first.start("team", "push", "--yes", "--json") for _ in range(2)]
    results = [first.finish(each) for each in processes]
    assert [each.code for each in results] == [0, 0], results
    assert sum(json.loads(each.out)["sessions"] for each in results) == 3
    assert [team.count(table) for table in PUSHED_TABLES] == [3, 12, 3, 0, 0]


def test_a_push_that_is_killed_in_the_middle_leaves_nothing_half_and_the_next_one_goes_on(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work()
    first.join()
    with team.as_superuser() as connection:
        with connection.transaction():
            connection.execute("LOCK TABLE preheat_team.episodes IN ACCESS EXCLUSIVE MODE")
            process = first.start("team", "push", "--yes")
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'preheat_team.episodes'::regclass"
            until(lambda: connection.execute(waiting).fetchone() == (1,), "the push to write its episodes")
            process.kill()
            process.communicate()
        open_ones = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'preheat_first'"
        until(lambda: connection.execute(open_ones).fetchone() == (0,), "the server to notice")
    assert team.count("sessions") == 0
    assert first.get("team", "push")["sessions"] == 3
    assert [team.count(table) for table in PUSHED_TABLES] == [3, 12, 3, 0, 0]


def test_the_same_session_on_two_machines_of_a_person_counts_once(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first, second, laptop = colleagues["first"], colleagues["second"], colleagues["viewer"]
    team.logins["viewer"] = team.logins["first"]
    for machine in (first, laptop):
        machine.name = "first"
        machine.work(sessions=1)
        machine.join()
        machine.get("team", "push", "--yes")
    second.work(sessions=2)
    second.join()
    second.get("team", "push", "--yes")
    assert team.count("sessions") == 4
    (whole,) = second.get("team", "status")["numbers"]["team"]
    assert (whole["people"], whole["sessions"], whole["calls"]) == (2, 3, 15)


def test_the_order_of_pushes_is_by_the_servers_clock(
    team: TestedTeam, colleagues: dict[str, Colleague], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = colleagues["first"]
    first.work(sessions=1)
    first.join()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 10 * 365 * 86400.0)
    first.get("team", "push", "--yes")
    monkeypatch.setattr(time, "time", real)
    with team.as_superuser() as connection:
        assert connection.execute("SELECT max(pushed_at) <= now() FROM preheat_team.sessions").fetchone() == (True,)
    assert abs(first.get("team", "status")["last_push"] - real()) < 86400


# In quiet times.
def test_the_idle_worker_pushes_and_pulls_where_the_person_wants_that(
    team: TestedTeam, colleagues: dict[str, Colleague]
) -> None:
    first = colleagues["first"]
    first.work(sessions=1)
    first.join()
    first.get("team", "push", "--yes")
    first.work(sessions=1)
    command = [sys.executable, "-m", "preheat.daemon.idle"]

    def run_idle() -> str:
        done = subprocess.run(command, env=first.environment, capture_output=True, text=True, check=True)
        return done.stdout

    assert "team" not in run_idle()
    assert team.count("sessions") == 1
    with open(os.path.join(first.archive, "settings.toml"), "w", encoding="utf-8") as file:
        file.write("[team]\nautomatic = true\n")
    assert "preheat team pull --quiet: ended with 0" in run_idle()
    assert team.count("sessions") == 2


def test_what_a_machine_keeps_of_its_team_is_for_its_owner_only(colleagues: dict[str, Colleague]) -> None:
    first = colleagues["first"]
    first.work(sessions=1)
    first.join()
    for name in ("team.json", "team-password"):
        assert stat.S_IMODE(os.stat(os.path.join(first.archive, name)).st_mode) == 0o600
    with open(os.path.join(first.archive, "team.json"), encoding="utf-8") as file:
        assert first.password not in file.read()
    for command in (("team", "status"), ("team", "push", "--dry-run"), ("team", "push", "--yes"), ("team", "pull")):
        for form in ((), ("--json",)):
            done = first.run(*command, *form)
            assert first.password not in done.out + done.err
