"""The commands of version 0.1.0 and of the first implementations: each still works, and a person is told its name of now."""

import json

import click
import pytest

from preheat.cli.earlier_names import EARLIER, translate
from preheat.cli.root import root

from .conftest import Person
from .test_run import run_on_terminal

OF_0_1_0 = (
    "sync read sessions profile mistakes learn projects lessons warm compress replay why scorecard compare compress-check export "
    "dataset install uninstall status serve watch experiment lab rate ledger output tool mcp doctor forget demo completion"
)
OF_WARM = (
    "start load test extract build auto train list show diff history rollback delete restore export import review schema analyze "
    "compare compress-check create-template list-templates"
)


def find_command(words: list[str]) -> click.Command | None:
    command: click.Command | None = root
    for word in words:
        if not isinstance(command, click.Group):
            return None
        command = command.get_command(click.Context(command), word)
    return command


@pytest.mark.parametrize("words", [[name] for name in OF_0_1_0.split()] + [["warm", name] for name in OF_WARM.split()])
def test_every_command_of_0_1_0_is_found_under_its_name_of_now(words: list[str]) -> None:
    assert find_command(translate(words)) is not None


def test_every_earlier_name_leads_to_a_command_and_is_listed_nowhere() -> None:
    for before, after in EARLIER.items():
        assert find_command(after.split()) is not None, after
        assert find_command(before.split()) is None, before


def test_options_and_arguments_stay_as_they_were_typed() -> None:
    assert translate(["warm", "start", "--task", "learn"]) == ["start", "--task", "learn"]
    assert translate(["warm", "show", "compare"]) == ["templates", "show", "compare"]
    assert translate(["sessions", "search", "warm"]) == ["sessions", "search", "warm"]
    assert translate([]) == []


def test_a_program_gets_the_same_under_both_names_and_no_remark(archived: Person) -> None:
    assert archived.spawn("profile", "--json") == archived.spawn("report", "profile", "--json")
    assert archived.spawn("doctor").err == ""


def test_a_person_at_a_terminal_is_told_the_name_of_now(archived: Person) -> None:
    code, shown = run_on_terminal(["rate", "good", "0f3c"])
    assert code == 0
    assert shown.startswith("preheat: `preheat rate` is now `preheat sessions rate`\r\n")
    _, shown = run_on_terminal(["profile", "--json"])
    assert "is now" not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions", "show", "nothing", "--json"],
        ["mistakes", "--project", "nosuch", "--json"],
        ["sessions", "list", "--since", "soon", "--json"],
        ["bogus", "--json"],
        ["sync", "/nowhere", "--json"],
    ],
    ids=" ".join,
)
def test_an_error_is_json_where_json_was_asked_for(arguments: list[str], archived: Person) -> None:
    done = archived.run(*arguments)
    assert done.code == 2
    found = json.loads(done.out)
    assert found["exit_code"] == 2
    assert done.err == f"preheat: {found['error']}\n"


def test_json_after_two_dashes_is_an_argument(archived: Person) -> None:
    assert archived.run("sessions", "search", "--limit", "0", "--", "--json").out == ""
