"""`preheat sessions compress` on the command line: the figures, the history it writes, and what it refuses."""

import json
import os
import stat
from pathlib import Path

from preheat.cli.template_build import _STRATEGIES as TRAINING
from preheat.compress import NAMES
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import FIRST, Person
from tests.compress.builders import working_day


def sync_working_day(person: Person) -> Person:
    person.write(working_day())
    assert person.run("sync").code == 0
    return person


def test_the_command_offers_every_strategy() -> None:
    """The command has its own list of names, so that its help imports no strategy."""
    assert TRAINING == NAMES


def test_compress_prints_tokens_and_each_kind_of_marker(person: Person) -> None:
    done = sync_working_day(person).run("compress", "latest")
    assert done.code == 0
    lines = dict(line.split("  ", 1) for line in done.out.splitlines() if "  " in line.strip())
    assert "markers" in done.out.splitlines()[0]
    assert any(line.startswith("tokens after") for line in lines)
    for sort in ("forms", "repairs", "instructions", "files", "checks"):
        assert sort in done.out


def test_compare_prints_all_strategies_side_by_side(person: Person) -> None:
    sync_working_day(person)
    done = person.run("compress", "latest", "--compare")
    assert done.out.splitlines()[0].split() == list(NAMES)
    figures = json.loads(person.run("compress", "latest", "--compare", "--keep", "3", "--json").out)["strategies"]
    assert [each["strategy"] for each in figures] == list(NAMES)
    none, mask, _, markers = figures
    assert none["tokens_after"] == none["tokens_before"] == markers["tokens_before"]
    assert markers["tokens_after"] < mask["tokens_after"] < none["tokens_after"]
    assert "messages" not in none


def test_the_history_is_written_and_overwrites_only_with_force(person: Person, tmp_path: Path) -> None:
    """JSON messages, of which the first is the prompt."""
    sync_working_day(person)
    path = tmp_path / "history.json"
    done = person.run("compress", "latest", "-o", str(path), "--json")
    written = json.loads(done.out)["written"]
    assert written == {"path": str(path), "bytes": os.path.getsize(path)}
    history = json.loads(path.read_text())
    assert history[0]["role"] == "user"
    assert history[0]["content"].startswith("make the parser")
    again = person.run("compress", "latest", "-o", str(path))
    assert again.code == 2
    assert "--force" in again.err
    assert person.run("compress", "latest", "-o", str(path), "--force").code == 0
    assert not stat.S_ISDIR(os.stat(path).st_mode)


def test_keep_decides_how_much_of_the_end_stays(person: Person) -> None:
    sync_working_day(person)
    kept = [
        json.loads(person.run("compress", "latest", "--strategy", "mask", "--keep", str(keep), "--json").out)
        for keep in (0, 4, 100)
    ]
    assert [each["keep"] for each in kept] == [0, 4, 100]
    assert kept[0]["tokens_after"] < kept[1]["tokens_after"] < kept[2]["tokens_after"]


def test_wrong_arguments_are_refused_in_one_line(person: Person, archived: Person) -> None:
    for arguments, message in (
        (("compress", "nothing-like-it"), "no session `nothing-like-it`"),
        (("compress", FIRST, "--strategy", "zip"), "zip"),
        (("compress", FIRST, "--compare", "-o", "x.json"), "--compare writes nothing"),
    ):
        done = person.run(*arguments)
        assert done.code == 2
        assert message in done.err


def test_a_session_without_messages_has_figures_and_no_history(person: Person, tmp_path: Path) -> None:
    """There are figures (all nought), but no history that could be written."""
    person.write(ClaudeTranscript().title("nothing yet"))
    person.run("sync")
    assert json.loads(person.run("compress", "latest", "--json").out)["tokens_before"] == 0
    done = person.run("compress", "latest", "-o", str(tmp_path / "history.json"))
    assert done.code == 2
    assert "no history to write" in done.err
