"""Hermes is found behind whatever starts it, with its own Python and its version, and without being started."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from preheat.agents.hermes.program import find_hermes, home_of, parse_release, profiles_of, search_places
from tests.agents.fake_hermes import add_package, launcher, make_hermes, make_python, packages_of, python_of


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a place") / "venv"
    make_hermes(folder)
    return folder


def surroundings(home: Path, *folders: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.pathsep.join(map(str, (*folders, "/usr/bin", "/bin")))}


LAUNCHERS: dict[str, Callable[[Path], str]] = {
    "a wrapper": lambda venv: f'#!/usr/bin/env bash\nunset PYTHONPATH\nexec "{venv}/bin/hermes" "$@"\n',
    "its interpreter and its script": lambda venv: f'#!/bin/sh\nexec "{venv}/bin/python" "{venv}/hermes" "$@"\n',
    "a long path": lambda venv: f"#!/bin/sh\n'''exec' \"{venv}/bin/python\" \"$0\" \"$@\"\n' '''\nimport sys\n",
    "activation": lambda venv: f'#!/bin/bash\nsource "{venv}/bin/activate"\nX=1 exec {str(venv)!r}/bin/hermes "$@"\n',
}


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_the_interpreter_is_found_through_launcher_scripts(kind: str, venv: Path, tmp_path: Path) -> None:
    """Installers write launcher scripts of several shapes."""
    launcher(tmp_path / "bin" / "hermes", LAUNCHERS[kind](venv))
    program = find_hermes(surroundings(tmp_path, tmp_path / "bin"))
    assert program is not None
    assert (program.interpreter, program.version) == (str(python_of(venv)), "0.19.0")
    assert program.command == str(tmp_path / "bin" / "hermes")
    assert program.home == str(tmp_path / ".hermes")


def test_the_interpreter_is_found_through_a_link_and_in_the_environment(venv: Path, tmp_path: Path) -> None:
    """A link as older installers and `uv tool` make it; or the environment's own folder is on the PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hermes").symlink_to(venv / "bin" / "hermes")
    for folder in (tmp_path / "bin", venv / "bin"):
        program = find_hermes(surroundings(tmp_path, folder))
        assert program is not None
        assert os.path.samefile(program.interpreter, python_of(venv))
        assert program.interpreter == str(python_of(venv))


def test_another_program_named_hermes_is_skipped(venv: Path, tmp_path: Path) -> None:
    """The first `hermes` on the PATH may be another program, or a script that starts itself."""
    launcher(tmp_path / "one" / "hermes", "\x7fELF no script at all")
    launcher(tmp_path / "two" / "hermes", f'#!/bin/sh\nexec "{tmp_path}/two/hermes" "$@"\n')
    program = find_hermes(surroundings(tmp_path, tmp_path / "one", tmp_path / "two", venv / "bin"))
    assert program is not None
    assert program.command == str(venv / "bin" / "hermes")
    assert find_hermes(surroundings(tmp_path, tmp_path / "one", tmp_path / "two")) is None


def test_usual_places_are_searched_without_a_path(tmp_path: Path) -> None:
    """In Hermes's home, and where `uv` and `pipx` install; all places are named when nothing is found."""
    environment = surroundings(tmp_path)
    assert find_hermes(environment) is None
    places = search_places(environment)
    assert places[0] == "`hermes` on the PATH"
    for venv in (
        tmp_path / ".local" / "share" / "uv" / "tools" / "hermes-agent",
        tmp_path / ".hermes" / "hermes-agent" / "venv",
    ):
        make_hermes(venv)
        program = find_hermes(environment)
        assert program is not None
        assert program.interpreter == str(python_of(venv))
        assert {str(python_of(venv)), str(venv / "bin" / "hermes")} & set(places)


def test_an_interpreter_is_asked_for_a_version_installed_elsewhere(venv: Path, tmp_path: Path) -> None:
    """No file beside the interpreter shows Hermes, but the interpreter can import it."""
    python = make_python(tmp_path / "other")
    (packages_of(tmp_path / "other") / "more.pth").write_text(f"{packages_of(venv)}\n")
    launcher(tmp_path / "bin" / "hermes", f"#!{python}\nimport hermes_cli\n")
    program = find_hermes(surroundings(tmp_path, tmp_path / "bin"))
    assert program is not None
    assert (program.interpreter, program.version) == (str(python), "0.19.0")
    add_package(tmp_path / "other", "hermes-agent", "0.17.1")
    again = find_hermes(surroundings(tmp_path, tmp_path / "bin"))
    assert again is not None
    assert again.release == (0, 17, 1)


def test_the_home_is_that_of_the_active_profile(tmp_path: Path) -> None:
    """By `HERMES_HOME`, the active profile, or a missing profile, as Hermes itself decides."""
    own = tmp_path / ".hermes"
    coder = own / "profiles" / "coder"
    coder.mkdir(parents=True)
    environment = surroundings(tmp_path)
    assert home_of(environment) == str(own)
    (own / "active_profile").write_text("coder\n")
    assert home_of(environment) == str(coder)
    assert home_of({**environment, "HERMES_HOME": str(own)}) == str(coder)
    assert home_of({**environment, "HERMES_HOME": str(own / "profiles" / "writer")}) == str(own / "profiles" / "writer")
    assert profiles_of({**environment, "HERMES_HOME": str(coder)}) == [str(own), str(coder)]
    for name in ("default", "gone", "../..", "\udcff"):
        (own / "active_profile").write_text(name, errors="surrogateescape")
        assert home_of(environment) == str(own)
    elsewhere = tmp_path / "data" / "profiles" / "x"
    elsewhere.mkdir(parents=True)
    assert profiles_of({**environment, "HERMES_HOME": str(elsewhere)}) == [str(tmp_path / "data"), str(elsewhere)]


def test_releases_compare_by_their_numbers() -> None:
    assert parse_release("0.19.0rc1") > parse_release("0.17") > parse_release("0.9.4")
    assert parse_release("v1.2") == (1, 2)
    assert parse_release("unknown") == ()
