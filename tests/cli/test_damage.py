"""A damaged archive or state: every command gives its answer or one clear line, and `doctor --repair` saves what is whole."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from preheat.archive.connect import connect
from preheat.archive.packing import compress, decompress
from preheat.state.connect import writing
from preheat.state.marks import set_mark
from preheat.testing.builders import ClaudeTranscript
from tests.shared import bound_by_permissions, needs_permissions
from tests.waiting import HUNG

from .conftest import Person

SESSIONS = 24
PAGE = 8192
SEEDS = range(int(os.environ.get("PREHEAT_ATTACKS", "12")))
READING: tuple[tuple[str, ...], ...] = (
    ("sessions", "list"),
    ("sessions", "list", "--json"),
    ("sessions", "show", "latest"),
    ("sessions", "search", "frobnicator"),
    ("export", "latest"),
    ("mistakes",),
    ("profile", "latest"),
    ("profile",),
    ("lessons", "list"),
    ("warm", "start", "--task", "mend the frobnicator"),
    ("scorecard", "latest"),
    ("doctor",),
    ("doctor", "--verify"),
    ("experiment", "list"),
    (),
)
WRITING: tuple[tuple[str, ...], ...] = (("sync",), ("learn",))


def _story(number: int) -> ClaudeTranscript:
    chance = random.Random(number)
    transcript = ClaudeTranscript(
        session=f"{number:08x}-5d6e-4f70-8a91-b2c3d4e5f607",
        started=1_767_606_000.0 + 1000 * number,
        project=f"/w/p{number % 3}",
    ).prompt(f"please mend the frobnicator number {number}")
    for step in range(4):
        noise = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz \n", k=chance.randrange(200, 4000)))
        transcript = transcript.answer(f"step {step}").run(f"make step-{step}", noise, exit_code=step % 2)
    return transcript.answer("all mended")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the archive of the first test is kept for the others."""
    return str(tmp_path_factory.mktemp("template") / "archive")


@pytest.fixture
def stored(person: Person, template: str) -> Person:
    """Sessions that were stored by several syncs and learned from; one was rated, and the agent has deleted its files."""
    if not os.path.exists(template):
        _store_sessions(person)
        shutil.move(person.folder, template)
    shutil.copytree(template, person.folder)
    os.makedirs(person.projects, exist_ok=True)
    assert person.run("sync").code == 0
    return person


def _store_sessions(person: Person) -> None:
    for start in range(0, SESSIONS, 6):
        for number in range(start, start + 6):
            person.write(_story(number))
        assert person.run("sync").code == 0
    assert person.run("learn").code == 0
    with writing(person.folder) as state:
        for number in range(40):
            set_mark(state, f"lesson-{number}", "pinned", "it is good " * 9, 5.0)
    shutil.rmtree(person.projects)
    os.makedirs(person.projects)
    assert person.run("sync").code == 0


def _sessions_with_whole_bytes(folder: str) -> set[str]:
    with closing(connect(folder)) as connection:
        return {row[0] for row in connection.execute("SELECT key FROM sessions")}


# Damage.
def _flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 1, 3, 20])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _overwrite(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    length = min(chance.choice([4, 100, 3000]), len(data) - at)
    data[at : at + length] = chance.randbytes(length)


def _truncate(data: bytearray, chance: random.Random) -> None:
    del data[chance.choice([0, 1, 50, 511, chance.randrange(len(data)), len(data) // PAGE // 2 * PAGE]) :]


def _zero_page(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(-(-len(data) // PAGE)) * PAGE
    data[at : at + PAGE] = bytes(PAGE)


def _swap_pages(data: bytearray, chance: random.Random) -> None:
    one, other = (chance.randrange(-(-len(data) // PAGE)) * PAGE for _ in range(2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


def _replace(data: bytearray, chance: random.Random) -> None:
    data[:] = chance.choice([b"not a database" * 1000, chance.randbytes(PAGE * 3), b"SQLite format 3\0", b"\0" * PAGE])


DAMAGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip, _flip, _flip, _overwrite, _truncate, _zero_page, _swap_pages, _replace,
)  # fmt: skip


def _damage(path: str, chance: random.Random) -> str:
    with open(path, "rb") as stream:
        data = bytearray(stream.read())
    kind = chance.choice(DAMAGES)
    kind(data, chance)
    with open(path, "wb") as stream:
        stream.write(data)
    return kind.__name__


def _check_outcome(person: Person, arguments: tuple[str, ...]) -> int:
    done = person.run(*arguments)  # an exception that no one foresaw is raised here
    if done.code == 2:
        assert len(done.err.splitlines()) == 1, (arguments, done.err)
        assert "preheat admin doctor --repair" in done.err or "newer Preheat" in done.err or "no session" in done.err, (
            done.err
        )
        assert "archive.db" in done.err or "state.db" in done.err or "no session" in done.err, done.err
    else:
        assert done.code in (0, 1), (arguments, done.err)
    return done.code


@pytest.mark.parametrize("seed", SEEDS)
def test_every_command_answers_or_names_the_damage_in_one_line_and_repair_mends_it(stored: Person, seed: int) -> None:
    chance = random.Random(seed)
    before = os.path.join(stored.home, "before")
    shutil.copytree(stored.folder, before)
    all_keys = _sessions_with_whole_bytes(before)
    path = os.path.join(stored.folder, "archive.db")
    _damage(path, chance)
    for arguments in (*READING, *WRITING):
        _check_outcome(stored, arguments)
    shutil.rmtree(stored.folder)
    shutil.copytree(before, stored.folder)
    kind = _damage(path, random.Random(seed))
    repaired = stored.run("doctor", "--repair", "--json")
    assert repaired.code in (0, 1), repaired.err
    report = json.loads(repaired.out)
    assert len(_sessions_with_whole_bytes(stored.folder)) == report["sessions"] or not report["damage"]
    if report["damage"]:
        assert os.path.exists(report["kept"])
        named = {loss["session"] for loss in report["lost"]}
        if kind not in ("_truncate", "_replace", "_swap_pages", "_zero_page"):
            assert _sessions_with_whole_bytes(stored.folder) | named >= all_keys
    assert stored.run("doctor", "--verify").code == 0
    assert stored.run("sync").code == 0


def _corrupt_file(path: str, data: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(data)


# Repair.
def test_repair_saves_all_sessions_when_only_the_tables_are_damaged(stored: Person) -> None:
    """The list of tables, which every query needs, is gone; the packs are whole."""
    keys = _sessions_with_whole_bytes(stored.folder)
    path = os.path.join(stored.folder, "archive.db")
    with open(path, "r+b") as stream:
        stream.write(bytes(PAGE))
    assert stored.run("sessions", "list").code == 2
    looked = json.loads(stored.run("doctor", "--repair", "--dry-run", "--json").out)
    assert (looked["sessions"], looked["lost"], looked["kept"]) == (SESSIONS, [], "")
    assert stored.run("sessions", "list").code == 2, "a dry run changes nothing"
    done = stored.run("doctor", "--repair")
    assert done.code == 0, done.err
    assert f"{SESSIONS} sessions were saved" in done.out
    assert _sessions_with_whole_bytes(stored.folder) == keys
    assert stored.run("doctor", "--verify").code == 0
    assert "Nothing to repair" in stored.run("doctor", "--repair").out
    (kept,) = [name for name in os.listdir(stored.folder) if ".damaged-" in name]
    assert os.path.getsize(os.path.join(stored.folder, kept)) == os.path.getsize(path) or kept


def test_repair_names_the_sessions_that_are_lost(stored: Person) -> None:
    with closing(connect(stored.folder)) as connection:
        pack, data = connection.execute("SELECT id, data FROM packs ORDER BY id LIMIT 1").fetchone()
        connection.execute("UPDATE packs SET data = ? WHERE id = ?", (data[:40] + bytes(200) + data[240:], pack))
        in_pack = {
            row[0]
            for row in connection.execute(
                "SELECT key FROM sessions JOIN segments USING (source_id) WHERE pack_id = ?", (pack,)
            )
        }
    done = stored.run("doctor", "--repair", "--json")
    report = json.loads(done.out)
    assert done.code == 1
    assert {loss["session"] for loss in report["lost"]} <= in_pack
    assert report["lost"]
    assert all(loss["source"].endswith(".jsonl") and loss["agent"] == "claude_code" for loss in report["lost"])
    assert report["sessions"] + len(report["lost"]) == SESSIONS


@pytest.mark.parametrize("length", [0, 1, 5000])
def test_a_file_that_lost_its_bytes_is_never_taken_for_a_new_archive(stored: Person, length: int) -> None:
    path = os.path.join(stored.folder, "archive.db")
    os.truncate(path, length)
    for arguments in (("sync",), ("sessions", "list"), ("doctor",)):
        done = stored.run(*arguments)
        assert done.code in (1, 2)
        assert "is damaged" in done.err + done.out
        assert "preheat admin doctor --repair" in done.err + done.out
        assert os.path.getsize(path) == length
    done = stored.run("doctor", "--repair")
    assert done.code in (0, 1)
    assert os.path.exists(os.path.join(stored.folder, f"archive.db.damaged-{_today()}"))
    assert stored.run("sync").code == 0


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def test_a_sync_notices_a_broken_page_that_it_does_not_need(stored: Person) -> None:
    path = os.path.join(stored.folder, "archive.db")
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes'").fetchone()[0]
    with open(path, "r+b") as stream:
        stream.seek((root - 1) * PAGE)
        stream.write(b"\xff" * PAGE)
    done = stored.spawn("sync")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "preheat admin doctor --repair" in done.err
    assert stored.run("doctor", "--repair").code == 0
    assert len(_sessions_with_whole_bytes(stored.folder)) == SESSIONS


def test_a_repair_that_was_killed_before_its_last_step_is_finished_by_the_next(stored: Person) -> None:
    path = os.path.join(stored.folder, "archive.db")
    shutil.copyfile(path, f"{path}.repaired")
    _corrupt_file(path, b"damaged")
    os.link(path, f"{path}.damaged-{_today()}")
    done = stored.run("doctor", "--repair", "--json")
    assert done.code == 0
    assert json.loads(done.out)["kept"] == f"{path}.damaged-{_today()}"
    assert len(_sessions_with_whole_bytes(stored.folder)) == SESSIONS
    os.rename(path, f"{path}.repaired")
    assert len(_sessions_with_whole_bytes(stored.folder)) == SESSIONS, "never an empty archive in its place"


def test_an_archive_without_labels_is_repaired_by_its_rows(stored: Person) -> None:
    """As Preheat 0.2 stored it: each pack one frame and nothing behind it."""
    with closing(connect(stored.folder)) as connection:
        for pack, data in connection.execute("SELECT id, data FROM packs").fetchall():
            connection.execute("UPDATE packs SET data = ? WHERE id = ?", (compress(decompress(data)), pack))
    path = os.path.join(stored.folder, "archive.db")
    with open(path, "r+b") as stream:
        stream.write(bytes(PAGE))
    assert stored.run("doctor", "--repair").code == 0
    assert len(_sessions_with_whole_bytes(stored.folder)) == SESSIONS


def test_what_was_forgotten_is_not_brought_back_by_a_repair(stored: Person) -> None:
    assert stored.run("forget", "latest", "--yes").code == 0
    keys = _sessions_with_whole_bytes(stored.folder)
    with closing(connect(stored.folder)) as connection:
        marks = connection.execute("SELECT digest FROM forgotten ORDER BY digest").fetchall()
    with open(os.path.join(stored.folder, "archive.db"), "r+b") as stream:
        stream.write(bytes(PAGE))
    assert stored.run("doctor", "--repair").code == 0
    assert _sessions_with_whole_bytes(stored.folder) == keys
    with closing(connect(stored.folder)) as connection:
        assert connection.execute("SELECT digest FROM forgotten ORDER BY digest").fetchall() == marks


def _spoil(folder: str) -> str:
    path = os.path.join(folder, "archive.db")
    with open(path, "r+b") as stream:
        stream.write(bytes(PAGE))
    return path


def test_a_repair_can_be_killed_at_any_moment_and_begun_again(stored: Person) -> None:
    path = _spoil(stored.folder)
    with open(path, "rb") as stream:
        damaged = stream.read()
    for number in range(4):
        running = subprocess.Popen(
            [sys.executable, "-m", "preheat", "doctor", "--repair"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.5 * number)
        running.kill()
        running.wait()
        with open(path, "rb") as stream:
            assert stream.read() == damaged or len(_sessions_with_whole_bytes(stored.folder)) == SESSIONS
    assert stored.run("doctor", "--repair").code == 0
    assert len(_sessions_with_whole_bytes(stored.folder)) == SESSIONS
    assert not [name for name in os.listdir(stored.folder) if "repair" in name]


@pytest.mark.skipif(os.name != "posix", reason="there is no such limit on this system")
def test_a_repair_on_a_full_disk_says_so_in_one_line_and_changes_nothing(stored: Person) -> None:
    path = _spoil(stored.folder)
    before = os.path.getsize(path)
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000)); "
        "from preheat.cli import main; sys.exit(main(['doctor', '--repair']))"
    )
    done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, timeout=HUNG)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "free some room" in done.stderr
    assert os.path.getsize(path) == before
    assert not [name for name in os.listdir(stored.folder) if "repair" in name or "damaged" in name]
    assert stored.run("doctor", "--repair").code == 0


# The state.
@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_state_is_named_in_one_line_and_repaired(stored: Person, seed: int) -> None:
    path = os.path.join(stored.folder, "state.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _damage(path, random.Random(seed))
    os.unlink(os.path.join(stored.folder, "archive.stamp"))  # nothing is wrong with the archive
    for arguments in (*READING, *WRITING):
        _check_outcome(stored, arguments)
    repaired = stored.run("doctor", "--repair", "--json")
    assert repaired.code in (0, 1), repaired.err
    report = json.loads(repaired.out)
    if report["state_damage"]:
        assert os.path.exists(report["state_kept"])
    assert stored.run("lessons", "list").code == 0
    assert stored.run("doctor", "--verify").code in (0, 1)


def test_a_persons_own_rows_survive_the_loss_of_the_list_of_tables(stored: Person) -> None:
    path = os.path.join(stored.folder, "state.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO marks VALUES ('lesson', 'pinned', 'good', 5.0)")
        connection.execute("INSERT INTO ratings VALUES ('s1', 1, 7.5, 'fine')")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "r+b") as stream:
        stream.write(bytes(4096))
    done = stored.run("lessons", "list")
    assert done.code == 2
    assert "`preheat admin doctor --repair`" in done.err
    report = json.loads(stored.run("doctor", "--repair", "--json").out)
    assert report["state_rows"]["marks"] == 41
    with closing(sqlite3.connect(path)) as connection:
        assert ("lesson", "pinned", "good", 5.0) in connection.execute("SELECT * FROM marks").fetchall()
        assert ("s1", 1, 7.5, "fine") in connection.execute("SELECT * FROM ratings").fetchall()


# Read-only.
def _make_read_only(folder: str) -> None:
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o400 if os.path.isfile(os.path.join(folder, name)) else 0o500)
    os.chmod(folder, 0o500)


@needs_permissions
@pytest.mark.parametrize("log", ["none", "of a killed process", "without its index"])
def test_a_read_only_archive_can_be_read_by_every_reading_command(stored: Person, log: str) -> None:
    path = os.path.join(stored.folder, "archive.db")
    for arguments in READING:
        stored.run(*arguments)  # imports what another user may not be allowed to read
    if log != "none":  # a process that is killed leaves its log
        _leave_log(path, with_index=log == "of a killed process")
    with bound_by_permissions(stored.home):
        _make_read_only(stored.folder)
        for arguments in READING:
            done = stored.run(*arguments)
            assert done.code in (0, 1), (arguments, done.err)
            assert not arguments or "cannot be written" not in done.err, "plain `preheat` says that it read nothing new"
        listed = stored.run("sessions", "list", "--json")
        for arguments in (("sync",), ("forget", "latest", "--yes")):
            done = stored.run(*arguments)
            assert done.code == 2, arguments
            assert len(done.err.splitlines()) == 1
            assert "cannot be written" in done.err, done.err
        os.chmod(stored.folder, 0o700)
    assert listed.code == 0
    assert ("in the log" in listed.out) is (log != "none")


def _leave_log(path: str, with_index: bool) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("UPDATE sessions SET title = 'in the log'")
    for name in ("-wal", "-shm") if with_index else ("-wal",):
        shutil.copyfile(f"{path}{name}", f"{path}{name}.copy")
    copy = f"{path}.copy"
    shutil.copyfile(path, copy)
    connection.close()
    for name in ("", "-wal", "-shm") if with_index else ("", "-wal"):
        os.replace(f"{path}{name}.copy", f"{path}{name}")


def test_an_archive_of_a_newer_preheat_is_refused_in_one_line(stored: Person) -> None:
    with closing(connect(stored.folder)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    done = stored.run("sessions", "list")
    assert (done.code, "newer Preheat" in done.err, len(done.err.splitlines())) == (2, True, 1)
    done = stored.run("doctor", "--repair")
    assert (done.code, "newer Preheat" in done.err) == (2, True)


@pytest.mark.parametrize("name", ["with space", "qu'o\"te", "what?x=1#frag", "100%25", "ünï"])
def test_the_folder_of_the_archive_may_have_any_name(
    person: Person, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREHEAT_HOME", os.path.join(person.home, name))
    person.write(_story(1))
    assert person.run("sync").code == 0
    assert person.run("sessions", "list").code == 0
    assert person.run("doctor", "--repair").code == 0
    assert os.listdir(os.path.join(person.home, name))
