"""`preheat admin dataset export` and `check`, as a person runs them: what goes in does not come out."""

import json
import os
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from preheat.agents.sources import read
from preheat.app.lab import dataset_survey
from preheat.app.sessions.archive import open_archive
from preheat.archive.analyses import SourceGroup
from preheat.errors import ArchiveUnusable
from preheat.ingest import stored_sessions
from preheat.ingest.stored_sessions import read_stored_sessions
from preheat.lab.dataset.names import Name, Names
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import Person
from tests.cli.test_export import checked

from .planted import SECRET, Identity, found_in

WORLD = (
    Identity("qalbo", "qanna", "qberg", "qorpo", "qhost", "qproja"),
    Identity("qelmo", "qedda", "qlund", "qurpo", "qmach", "qprojb"),
    Identity("qimko", "qidda", "qvist", "qarpo", "qserv", "qprojc"),
)
ROWS = ("sessions", "errors", "forms", "lessons", "templates")


def make_transcript(identity: Identity, number: int) -> ClaudeTranscript:
    """A session with somebody's name in every field that a transcript has."""
    folder, text = identity.folder, identity.text()
    return (
        ClaudeTranscript(
            session=f"{number:08x}-aaaa-4000-8000-00000000000{number}", project=folder,
            branch=f"{identity.account}/{identity.project}", model=f"{identity.company}-llm-1", version="2.1.7",
        )
        .prompt(text)
        .reasoning(text)
        .answer(text)
        .run("npm run build", f"built {text}")
        .answer("next")
        .run(f"./{identity.project}-tool --all", f"{identity.project}: {text}", 1)
        .answer("next")
        .call("Edit", {"file_path": f"{folder}/src/{identity.first}.py", "old_string": text, "new_string": text})
        .result("String to replace not found in file", is_error=True)
        .answer("next")
        .call(f"mcp__{identity.company}__ask", {identity.account: text})
        .result(text, outcome={"agentId": identity.account, identity.project: text})
        .answer("next")
        .run("git status --short", "M x")
        .answer("next")
        .run("frobnicate --once" if number % 3 == 1 else "true", "done")
        .compaction(text)
        .title(text)
        .inject(text)
        .prompt(f"thanks, {identity.first}")
    )  # fmt: skip


@pytest.fixture
def world(person: Person) -> Person:
    """Three projects of three people, two sessions each, read and learned from, with a template."""
    for number, identity in enumerate((*WORLD, *WORLD), 1):
        person.write(make_transcript(identity, number))
    assert person.run("sync").code == 0
    assert person.run("learn").code == 0
    return person


def export(person: Person, name: str, *options: str) -> str:
    folder = os.path.join(person.home, name)
    done = person.run("dataset", "export", folder, *options)
    assert done.code == 0, done.err
    return folder


def contents(folder: str) -> dict[str, bytes]:
    root = Path(folder)
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def rows(folder: str, name: str) -> list[dict[str, Any]]:
    with open(os.path.join(folder, f"{name}.jsonl"), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.mark.parametrize("texts", [None, "none", "masked", "anonymised"])
def test_no_planted_name_is_in_any_exported_file(world: Person, texts: str | None) -> None:
    """Planted in every field of six sessions; searched for in every byte of every file and in the files' names."""
    options = ["--trajectories", "--texts", texts, "--yes"] if texts else []
    folder = export(world, "out", *options)
    found = contents(folder)
    assert {f"{name}.jsonl" for name in ROWS} | {"datasheet.md", "schema.json", "manifest.json"} <= set(found)
    for name, data in found.items():
        for identity in WORLD:
            assert found_in(f"{name}\n{data.decode()}", identity) == [], name
        assert SECRET not in data.decode()
        assert world.home not in data.decode()
    assert len(rows(folder, "sessions")) == 6
    assert len({row["project"] for row in rows(folder, "sessions")}) == 3
    assert world.run("dataset", "check", folder).code == 0


def test_the_same_salt_gives_the_same_bytes_and_another_one_other_names(world: Person) -> None:
    """Repeatable for whoever has the salt, and not to be joined by anybody else."""
    salt = os.path.join(world.home, "salt")
    options = ("--trajectories", "--texts", "anonymised", "--yes")
    first = contents(export(world, "one", *options, "--salt-file", salt))
    assert os.stat(salt).st_mode & 0o077 == 0
    assert contents(export(world, "two", *options, "--salt-file", salt)) == first
    other = export(world, "three", *options)
    names = {row["session"] for row in map(json.loads, first["sessions.jsonl"].splitlines())}
    assert names.isdisjoint(row["session"] for row in rows(other, "sessions"))
    salted = Path(salt).read_bytes()
    assert not any(salted in data or salted.hex().encode() in data for data in first.values())


def test_only_values_that_enough_projects_share_are_published(world: Person) -> None:
    """Forms, messages, tools, models and lessons of all three projects stand there; what one has alone is general or gone."""
    folder = export(world, "out")
    forms = {row["form"]: row["projects"] for row in rows(folder, "forms")}
    assert forms["npm run build"] == 3
    assert not [form for form in forms if "frobnicate" in form]
    assert all(number >= 3 for number in forms.values())
    assert {row["signature"] for row in rows(folder, "errors")} >= {"String to replace not found in file"}
    for row in rows(folder, "sessions"):
        assert set(row["tools"]) <= {"Bash", "Edit", "other", "mcp__<name>__ask", "mcp__<repository>__ask"}
        assert row["agent_version"] == "2.1.7"
    stricter = world.run("dataset", "export", os.path.join(world.home, "four"), "--min-projects", "4")
    assert stricter.code == 2
    assert "3 projects, and at least 4 are needed" in stricter.err


def test_an_export_of_fewer_projects_than_the_minimum_is_refused(world: Person) -> None:
    """Filters that leave one project leave somebody to point at."""
    done = world.run("dataset", "export", os.path.join(world.home, "out"), "--project", WORLD[0].project)
    assert done.code == 2
    assert "come from 1 project, and at least 3 are needed" in done.err
    assert not os.path.exists(os.path.join(world.home, "out"))


def test_rows_keep_to_the_schema_and_the_manifest_to_the_files(world: Person) -> None:
    """Every row of every file is valid by the schema beside it, and every digest is right."""
    folder = export(world, "out", "--trajectories")
    published = contents(folder)
    schema = json.loads(published["schema.json"])
    for name, top in schema["files"].items():
        for row in rows(folder, name.removesuffix(".jsonl")):
            jsonschema.validate(row, {**top, "$defs": schema["$defs"]})
    listed = json.loads(published["manifest.json"])["files"]
    assert set(listed) == set(published) - {"manifest.json", "datasheet.md"}
    for name, each in listed.items():
        assert each["sha256"] == sha256(published[name]).hexdigest()


def test_trajectories_are_valid_and_can_be_read_again(world: Person) -> None:
    """As the format's own validator wants them; our reader finds as many calls as the row says."""
    folder = export(world, "out", "--trajectories")
    calls = {row["session"]: row["calls"] + row["bookkeeping_calls"] for row in rows(folder, "sessions")}
    found = sorted(Path(folder, "trajectories").iterdir())
    assert {path.stem for path in found} == set(calls)
    for path in found:
        document = checked(path.read_bytes())
        assert document.extra is not None
        assert len(document.extra["outcomes"]) == calls[path.stem]
        [session] = read(str(path))
        assert session.id == path.stem
        assert sum(event.__struct_config__.tag == "call" for event in session.events) == calls[path.stem]


def test_nothing_is_left_behind_when_something_would_leak(world: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is known only after the files were made (here: a word of theirs) stops the export, whole."""
    real = dataset_survey.names_to_search

    def known(found: Any, allowed: Any = ()) -> Any:
        names = real(found, allowed)
        late = Names([Name("person", "sibling"), Name("project", "claude")])
        monkeypatch.setattr(names, "find", _later(names.find, late.find))
        return names

    monkeypatch.setattr(dataset_survey, "names_to_search", known)
    done = world.run("dataset", "export", os.path.join(world.home, "out"))
    assert done.code == 2
    assert "nothing was written" in done.err
    assert "sessions.jsonl:1: project `claude`" in done.err
    assert not [name for name in os.listdir(world.home) if "out" in name]


def _later(first: Any, then: Any) -> Any:
    """What the anonymiser does not know and the search does."""

    def find(text: str) -> Any:
        yield from first(text)
        if text == "claude_code":
            yield from then(text)

    return find


def test_check_names_the_file_and_the_line_of_a_leak(world: Person) -> None:
    """Something put in afterwards: found, with exit code 1; a changed file is told too, and a contact can be allowed."""
    folder = export(world, "out")
    with open(os.path.join(folder, "errors.jsonl"), "a", encoding="utf-8") as stream:
        stream.write(json.dumps({"signature": f"by {WORLD[0].first.title()}"}) + "\n")
    line = len(rows(folder, "errors"))
    done = world.run("dataset", "check", folder)
    assert done.code == 1
    assert f"errors.jsonl:{line}: person: {WORLD[0].first.title()}" in done.out
    assert "errors.jsonl: changed after it was written" in done.out
    clean = export(world, "clean")
    with open(os.path.join(clean, "datasheet.md"), "a", encoding="utf-8") as stream:
        stream.write("Ask data@example.org.\n")
    assert world.run("dataset", "check", clean).code == 1
    assert world.run("dataset", "check", clean, "--allow", "data@example.org").code == 0
    report = json.loads(world.run("dataset", "check", clean, "--json").out)
    assert report["leaks"][0]["sort"] == "email"


def test_a_dry_run_writes_nothing_and_reports_the_counts_of_a_real_one(world: Person) -> None:
    folder = os.path.join(world.home, "out")
    planned = json.loads(world.run("dataset", "export", folder, "--dry-run", "--json").out)
    assert not os.path.exists(folder)
    assert not [name for name in os.listdir(world.home) if ".new-" in name]
    real = json.loads(world.run("dataset", "export", folder, "--json").out)
    assert {**real, "folder": ""} == planned
    assert planned["sessions"] == 6
    assert planned["left_out"]["form"] == 2  # `frobnicate --once` of one project, `true` of two


def test_texts_are_written_only_with_yes_where_nobody_can_be_asked(world: Person) -> None:
    folder = os.path.join(world.home, "out")
    done = world.run("dataset", "export", folder, "--trajectories", "--texts", "anonymised")
    assert done.code == 2
    assert "--yes" in done.err
    assert not os.path.exists(folder)
    assert world.run("dataset", "export", folder, "--texts", "masked").code == 2


def test_bad_folders_and_salts_are_refused(world: Person, tmp_path: Path) -> None:
    """A folder with something in it, a salt that would be published, one that could be guessed, and no dataset at all."""
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("mine")
    assert "is there already" in world.run("dataset", "export", str(full)).err
    assert (full / "x").read_text() == "mine"
    inside = world.run("dataset", "export", str(tmp_path / "o"), "--salt-file", str(tmp_path / "o" / "salt"))
    assert "must not lie in the dataset" in inside.err
    (tmp_path / "short").write_bytes(b"abc")
    assert (
        "has 3 bytes" in world.run("dataset", "export", str(tmp_path / "o"), "--salt-file", str(tmp_path / "short")).err
    )
    assert "is no dataset" in world.run("dataset", "check", str(full)).err
    assert world.run("dataset", "export", str(tmp_path / "o"), "--templates", "nosuch").code == 2


def test_an_archive_without_sessions_sends_to_sync(person: Person) -> None:
    """A newcomer is sent to `preheat sync`, before the first one and after one that found nothing."""
    for _ in range(2):
        done = person.run("dataset", "export", os.path.join(person.home, "out"))
        assert done.code == 2
        assert "preheat sync" in done.err
        with closing(open_archive(person.folder)):
            pass  # an empty archive


def test_folders_of_one_name_are_one_project(world: Person) -> None:
    """Clones, worktrees and spellings must not make a project look like several."""
    with closing(open_archive(world.folder)) as connection:
        projects = dataset_survey.Projects(connection)
        assert (
            projects.project_of("/Users/a/git-sync")
            == projects.project_of("/home/b/GitSync")
            == projects.project_of("C:\\x\\git_sync")
        )
        assert projects.project_of("/Users/a") == projects.project_of("") == ""


def test_a_machine_that_is_called_like_a_member_of_a_trajectory_stops_no_export(world: Person) -> None:
    """`http://timestamp.…` stands in many a build; what the format itself says is nobody's. In a text it is still found."""
    transcript = ClaudeTranscript(session="0000000f-aaaa-4000-8000-00000000000f", project=WORLD[0].folder)
    world.write(
        transcript.prompt("sign it with http://timestamp.qert.example and ask observation@qorpo.io").answer("done")
    )
    assert world.run("sync").code == 0
    folder = export(world, "out", "--trajectories", "--texts", "anonymised", "--yes")
    path = next(
        path for path in sorted(Path(folder, "trajectories").iterdir()) if b'"message": "done"' in path.read_bytes()
    )
    assert b"timestamp.qert" not in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b'"message": "done"', b'"message": "by timestamp"'))
    done = world.run("dataset", "check", folder)
    assert done.code == 1
    assert ": host: timestamp" in done.out


def test_each_step_is_printed_where_there_is_no_terminal(world: Person) -> None:
    """A pipe that stays silent for a minute looks like one that hangs."""
    folder = os.path.join(world.home, "out")
    done = world.run("dataset", "export", folder, "--trajectories")
    assert "preheat: reading 6 sessions for the names in them\n" in done.err
    assert "preheat: writing 6 sessions as trajectories\n" in done.err
    assert "preheat: searching 14 files for " in done.err
    assert "preheat: reading 6 sessions" in world.run("dataset", "check", folder).err


def test_names_of_sessions_that_change_during_the_export_are_still_removed(
    world: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sync that runs beside takes sessions out of what was listed: they are read one by one."""
    whole = export(world, "whole", "--salt-file", os.path.join(world.home, "salt"), "--trajectories")
    for module in (stored_sessions, dataset_survey):
        monkeypatch.setattr(module, "load_group", lambda connection, units: SourceGroup([], [], {}, {}))
    changed = export(world, "changed", "--salt-file", os.path.join(world.home, "salt"), "--trajectories")
    assert contents(changed) == contents(whole)


def test_sessions_that_cannot_be_searched_for_names_are_reported(
    world: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search must not look more thorough than it was."""
    folder = export(world, "out")

    def damaged(agent: str, path: str, part: str, pieces: Any) -> Any:
        if "00000001-" in path:
            raise ArchiveUnusable("a part of the archive is damaged")
        return read_stored_sessions(agent, path, part, pieces)

    monkeypatch.setattr(stored_sessions, "read_stored_sessions", damaged)
    done = world.run("dataset", "check", folder)
    assert "1 session " in done.err
    assert "preheat admin doctor" in done.err
    assert json.loads(world.run("dataset", "check", folder, "--json").out)["unread"] == 1
    again = world.run("dataset", "export", os.path.join(world.home, "again"))
    assert again.code == 1
    assert "left out: claude_code:00000001-" in again.err
