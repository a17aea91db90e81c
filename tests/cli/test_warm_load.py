"""`preheat templates load`, the commands that `warm` shares with its neighbours, the older spellings, and who calls."""

import json
import os
from typing import Any

import pytest

from preheat.app.live.hooks import Hooks
from preheat.app.templates.uses import load_uses
from preheat.model.live import HookEvent
from preheat.settings import data_folder
from preheat.templates.store import TemplateStore
from tests.agents.codex_rollout import THREAD, Rollout
from tests.daemon.builders import WRONG, learned
from tests.ingest.test_learning import worked
from tests.templates.made import AT, lesson, template

from .builders import teach
from .conftest import FIRST, SECOND, Person, first_session


@pytest.fixture
def here(person: Person, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Person:
    """In a folder of a project, with a template of it."""
    folder = tmp_path / "harbour"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    monkeypatch.delenv("PREHEAT_CALLER", raising=False)
    TemplateStore(data_folder()).store(template("mine"), "built", AT)
    return person


def load_json(person: Person, *arguments: str) -> Any:
    done = person.run("warm", "load", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def start_session(cwd: str, session: str = "s1", task: str = "mend the pier") -> str:
    """What a session that starts there is given."""
    event = HookEvent(agent="claude_code", session=session, at=AT, name="session_start", source="startup", cwd=cwd)
    context = Hooks(data_folder()).choose_context(event, task)
    return context.text if context else ""


# Loading.
def test_new_sessions_start_with_what_is_loaded(here: Person) -> None:
    """By hooks and by `warm start`, from any folder of the project, until it is unloaded; each use is recorded."""
    assert load_json(here)["loaded"] is None
    assert start_session(os.getcwd()) == ""
    found = load_json(here, "mine")
    assert found["project"] == os.path.dirname(os.getcwd())
    assert found["loaded"]["digest"] == TemplateStore(data_folder()).state("mine").live
    assert "in use here: `make test` (9 of 10 ran" in start_session(os.getcwd())
    assert len(load_uses(data_folder())) == 1
    done = here.run("warm", "start", "--task", "mend the pier")
    assert "in use here: `make test` (9 of 10 ran" in done.out
    assert "which is loaded for this project" in done.err
    assert start_session(here.home) == ""
    assert load_json(here, "--none")["loaded"] is None
    assert start_session(os.getcwd()) == ""
    assert "No template was loaded" in here.run("warm", "load", "--none").out


def test_the_loaded_version_is_shown_and_stays(here: Person) -> None:
    """When the template is built again, sessions still get the old version, and a line names the newer one."""
    first = load_json(here, "mine")["loaded"]["digest"]
    TemplateStore(data_folder()).store(template("mine", lesson(use="make all")), "built", AT + 1)
    assert "in use here: `make test` (9 of 10 ran" in start_session(os.getcwd())
    printed = here.run("warm", "load").out
    assert f"mine@{first[:10]}" in printed
    assert "preheat templates load mine" in printed
    assert load_json(here, "mine")["loaded"]["newer"] is None
    assert "make all" in start_session(os.getcwd())


def test_without_the_loaded_template_sessions_start_with_what_was_learned(here: Person) -> None:
    """The template was deleted: `load` and `doctor` say so."""
    load_json(here, "mine")
    TemplateStore(data_folder()).delete("mine", AT + 2)
    assert start_session(os.getcwd()) == ""
    assert "cannot be used" in here.run("warm", "load").out
    assert load_json(here)["loaded"]["problem"]
    done = here.run("doctor", "--json")
    assert done.code == 1
    assert any("`preheat templates load --none`" in line for line in json.loads(done.out)["findings"])


def test_a_loaded_template_comes_with_where_the_last_session_stopped(here: Person) -> None:
    """For a task that goes on with it, and for no other."""
    learned(data_folder(), os.path.dirname(os.getcwd()), os.path.join(here.home, "earlier"))
    task = "go on with checkout.py"
    assert "src/checkout.py" in start_session(os.getcwd(), task=task)
    assert "src/checkout.py" not in start_session(os.getcwd(), task="write a page on harbours")
    load_json(here, "mine")
    text = start_session(os.getcwd(), task=task)
    assert "in use here: `make test` (9 of 10 ran" in text
    assert "src/checkout.py" in text
    assert f"`{WRONG}` fails here" not in text


def test_wrong_arguments_of_load_are_refused_in_one_line(here: Person) -> None:
    """An unknown name, both ways at once, a folder that is none."""
    for arguments, word in (
        (["nope"], "no template `nope`"),
        (["mine", "--none"], "not both"),
        (["mine", "--project", "nowhere"], "is not a folder"),
    ):
        done = here.run("warm", "load", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.count("\n") == 1
        assert word in done.err


def test_a_damaged_state_does_not_stop_sessions(here: Person) -> None:
    load_json(here, "mine")
    for name in os.listdir(data_folder()):
        if name.startswith("state.db-"):
            os.unlink(os.path.join(data_folder(), name))
    with open(os.path.join(data_folder(), "state.db"), "w", encoding="utf-8") as stream:
        stream.write("no database" * 100)
    assert start_session(os.getcwd()) == ""
    done = here.run("warm", "load")
    assert done.code == 2
    assert "is damaged" in done.err


# Other spellings.
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["warm", "analyze", FIRST], ["profile", FIRST]),
        (["warm", "analyze"], ["profile"]),
        (["warm", "compress-check"], ["compress-check"]),
        (["warm", "compress-check", FIRST], ["compress-check", FIRST]),
        (["warm", "list-templates"], ["warm", "list"]),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_analyze_and_compress_check_below_warm_give_the_same(
    archived: Person, ours: list[str], theirs: list[str]
) -> None:
    for more in ([], ["--json"]):
        assert archived.run(*ours, *more) == archived.run(*theirs, *more)


def test_two_sessions_are_compared_below_warm_too(person: Person) -> None:
    teach(person)
    pair = ("00000001", "00000002")
    assert person.run("warm", "compare", *pair, "--json") == person.run("compare", *pair, "--json")


def test_older_spellings_work_and_are_not_listed(person: Person) -> None:
    """Their help pages have the present names."""
    archived = teach(person)
    listing = archived.run("warm", "--help").out
    for name, present in (("create-template", "extract"), ("list-templates", "list")):
        assert f"  {name} " not in listing
        done = archived.run("warm", name, "--help")
        assert done.code == 0
        assert f"Usage: preheat templates {present}" in done.out
        assert f"  preheat templates {present}" in done.out.split("Examples:")[1]
    made = archived.run("warm", "create-template", "latest", "--name", "mine", "--description", "ours", "--json")
    assert made.code == 0, made.err
    assert json.loads(archived.run("warm", "list-templates", "--json").out)[0]["description"] == "ours"
    refused = archived.run("warm", "make-template")
    assert refused.code == 2
    assert "no command `make-template`" in refused.err


# Who calls.
def test_latest_is_the_newest_session_of_the_calling_agent(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sessions are read first; another agent's newer session does not count."""
    made = worked(1)
    person.write(made)
    assert person.run("warm", "extract", "latest", "--name", "mine").code == 2
    monkeypatch.setenv("PREHEAT_CALLER", "claude_code")
    done = person.run("warm", "extract", "latest", "--name", "mine")
    assert done.code == 0, done.err
    other = os.path.join(
        person.home, ".codex", "sessions", "2026", "03", "18", f"rollout-2026-03-18T00-00-00-{THREAD}.jsonl"
    )
    os.makedirs(os.path.dirname(other))
    with open(other, "wb") as stream:
        stream.write(b"\n".join(Rollout().prompt("Mend the pier.").lines) + b"\n")
    monkeypatch.delenv("PREHEAT_CALLER")
    assert person.run("sync").code == 0
    assert json.loads(person.run("profile", "latest", "--json").out)["agent"] == "codex"
    monkeypatch.setenv("PREHEAT_CALLER", "claude_code")
    assert json.loads(person.run("warm", "analyze", "latest", "--json").out)["agent"] == "claude_code"
    monkeypatch.setenv("PREHEAT_CALLER", "gemini")
    done = person.run("warm", "analyze", "latest")
    assert done.code == 2
    assert "gemini:latest" in done.err


def test_an_unknown_calling_agent_is_ignored(archived: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREHEAT_CALLER", "../x")
    assert json.loads(archived.run("warm", "analyze", "latest", "--json").out)["session"] == newest_session()


def test_the_newest_session_of_an_agent_can_be_named(archived: Person) -> None:
    assert json.loads(archived.run("profile", "claude_code:latest", "--json").out)["session"] == newest_session()
    done = archived.run("profile", "claude:latest")
    assert done.code == 2
    assert "claude:latest" in done.err


def newest_session() -> str:
    return max((first_session().started, FIRST), (1_768_000_000.0, SECOND))[1]
